"""The outbound half: records read and owners written with simple-salesforce.

The only file that knows the library. None of its exceptions leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from requests import RequestException
from simple_salesforce.api import Salesforce
from simple_salesforce.exceptions import SalesforceError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random

from adapters.salesforce import ids as record_ids
from adapters.salesforce import owners, records, transport
from adapters.salesforce.auth import LogIn
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import CrmAgain, CrmForbidden, CrmNever
from connector.model import Related
from connector.ports import (
    Capabilities,
    CrmRecord,
    CrmUser,
    Outcome,
    OwnerWrite,
    Result,
    Verdict,
)

_T = TypeVar("_T")

_QUICK_TRIES = 2
_WORTH_TRYING_SECONDS = 1.0


class SalesforceCrm:
    """One connected org. Shared by threads; each call has a session of its own."""

    capabilities = Capabilities(read_batch=200, write_batch=200)
    availability_problem: str | None = None

    def __init__(
        self,
        settings: SalesforceSettings,
        *,
        clock: Callable[[], datetime],
        call_seconds: float = transport.CALL_SECONDS,
    ) -> None:
        """Open nothing yet. Raise ``BadSettings`` when these settings can never log in."""
        self._connections = transport.pool()
        self._log_in = LogIn(
            settings, clock=clock, post=partial(transport.post_form, self._connections)
        )
        self._clock = clock
        self._call_seconds = call_seconds
        self._version = settings.api_version.removeprefix("v")
        self._unassigned = frozenset(
            record_ids.full_id(raw) or raw for raw in settings.unassigned_owners
        )
        self._directory = owners.Directory(clock)
        self._fields: dict[str, tuple[str, ...]] = {}  # object types with hidden fields

    def read_records(
        self,
        object_type: str,
        ids: Sequence[str],
        *,
        fields: Collection[str] = (),  # noqa: ARG002 - one that is hidden fails the whole query
    ) -> Mapping[str, CrmRecord]:
        """One query for all. An id that cannot be one of this object type is never sent."""
        records.check_object_type(object_type)
        asked = {
            raw: id18 for raw in ids if (id18 := record_ids.record_id(object_type, raw)) is not None
        }
        if not asked:
            return {}
        call = self._call()
        rows = self._rows(call, object_type, sorted(set(asked.values())))
        found = {record_ids.record_id(object_type, str(row.get("Id"))): row for row in rows}
        unassigned = self._unassigned | {call.user_id}
        return {
            raw: records.from_row(found[id18], object_type, raw, unassigned=unassigned)
            for raw, id18 in asked.items()
            if id18 in found
        }

    def related(self, object_type: str, ids: Collection[str]) -> dict[str, Sequence[Related]]:  # noqa: ARG002
        """Nothing: see ``capabilities``."""
        return {}

    def people(self, owner_ids: Collection[str] | None = None) -> dict[str, CrmUser]:  # noqa: ARG002
        """Nobody: see ``capabilities``."""
        return {}

    def person(self, owner_id: str) -> CrmUser | None:  # noqa: ARG002
        """Nobody: see ``capabilities``."""
        return None

    def tell(self, callback_id: str, verdict: Verdict) -> None:  # noqa: ARG002
        """No workflow of Salesforce waits for a verdict."""
        raise CrmNever("Salesforce takes no callbacks.")

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """One collections update, preceded by at most one look at the new owners."""
        records.check_object_type(object_type)
        targets: dict[str, str] = {}
        for write in writes:
            record_id, owner_id = _checked(object_type, write)
            if record_id and owner_id:
                targets[record_id] = owner_id  # a record twice in one update is an error there
        settled = self._write(object_type, targets) if targets else {}
        return [_outcome(object_type, write, targets, settled) for write in writes]

    def unowned(self, object_type: str, since: datetime, *, after: str | None = None) -> list[str]:
        """By one query in the order of ids, whoever owns them; up to 200."""
        records.check_object_type(object_type)
        rows = self._call().query(records.created_soql(object_type, since, after))
        return [str(row["Id"]) for row in rows if row.get("Id")]

    def account_id(self) -> None:
        """None: the org of a message is checked when it comes in."""

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def _write(self, object_type: str, targets: Mapping[str, str]) -> dict[str, Outcome]:
        call = self._call()
        active = self._directory.active(sorted(set(targets.values())), call.users)
        settled: dict[str, Outcome] = {}
        fit: dict[str, str] = {}
        for record_id, owner_id in targets.items():
            refusal = owners.unfit(record_id, owner_id, active=active[owner_id])
            if refusal:
                settled[record_id] = refusal
            else:
                fit[record_id] = owner_id
        if not fit:
            return settled
        reply = call.update(owners.body(object_type, fit))
        for outcome in owners.outcomes(reply, list(fit)):
            if outcome.result is Result.INACTIVE_OWNER:
                self._directory.forget()
            settled[outcome.record_id] = outcome
        return settled

    def _rows(self, call: Call, object_type: str, id18s: Sequence[str]) -> list[Mapping[str, Any]]:
        """Query the records; where fields are hidden from the integration user, without those."""
        everything = records.fields(object_type)
        wanted = self._fields.get(object_type, everything)
        try:
            return call.query(records.soql(object_type, wanted, id18s))
        except CrmNever as error:
            if error.code != "INVALID_FIELD":
                raise
        narrowed = records.visible(everything, call.describe(object_type))
        try:
            rows = call.query(records.soql(object_type, narrowed, id18s))
        except CrmNever as error:
            if error.code != "INVALID_FIELD":
                raise
            raise CrmForbidden(
                f"Salesforce hides the owner of {object_type} records, or another field that "
                "cannot be left out. Let the integration user read it.",
                code=error.code,
                crm_message=error.crm_message,
            ) from None
        self._fields[object_type] = narrowed
        return rows

    def _call(self) -> Call:
        session = transport.OrgSession(
            self._connections, self._log_in, clock=self._clock, seconds=self._call_seconds
        )
        return Call(session, version=self._version)


class Call:
    """simple-salesforce for the length of one call: its deadline and its log-ins are counted."""

    def __init__(self, session: transport.OrgSession, *, version: str) -> None:
        token = session.token
        self._session = session
        self._salesforce = Salesforce(
            session_id=token.access_token,
            instance_url=token.instance_url,
            version=version,
            session=session,
        )
        session.library_origin = f"https://{self._salesforce.sf_instance}"

    @property
    def user_id(self) -> str | None:
        """The integration user."""
        return self._session.token.user_id

    def query(self, soql: str) -> list[Mapping[str, Any]]:
        """Return the rows of all pages."""
        return self._quickly(lambda: self._pages(soql))

    def users(self, owner_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the users with these checked ids."""
        listed = ",".join(f"'{owner_id}'" for owner_id in owner_ids)
        return self.query(f"SELECT Id,IsActive FROM User WHERE Id IN ({listed})")  # noqa: S608

    def describe(self, object_type: str) -> Mapping[str, Any]:
        """Return what the org says of an object type."""
        found = self._quickly(lambda: self._restful(f"sobjects/{object_type}/describe"))
        return found if isinstance(found, dict) else {}

    def update(self, body: Mapping[str, Any]) -> object:
        """Send one collections update, once."""
        return self._restful(
            "composite/sobjects", method="PATCH", json=body, headers=owners.WRITE_HEADERS
        )

    def _pages(self, soql: str) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        page = _translated(lambda: self._salesforce.query(soql))
        while True:
            if not isinstance(page, dict) or not isinstance(page.get("records"), list):
                raise CrmAgain("Salesforce's answer to a query has no records.", code="no_json")
            rows.extend(row for row in page["records"] if isinstance(row, dict))
            following = page.get("nextRecordsUrl")
            if page.get("done", True) or not following:
                return rows
            page = _translated(
                partial(self._salesforce.query_more, str(following), identifier_is_url=True)
            )

    def _restful(self, path: str, **kwargs: Any) -> object:
        return _translated(lambda: self._salesforce.restful(path, **kwargs))

    def _quickly(self, read: Callable[[], _T]) -> _T:
        """Try a read once more after a failure that may be gone at once."""

        def is_over(state: RetryCallState) -> bool:
            spent = self._session.left() < _WORTH_TRYING_SECONDS
            return state.attempt_number >= _QUICK_TRIES or spent

        retrying = Retrying(
            stop=is_over,
            wait=wait_random(0.05, 0.25),
            retry=retry_if_exception_type(CrmAgain),
            reraise=True,
        )
        return retrying(read)


def _translated(ask: Callable[[], _T]) -> _T:
    """Run a call of the library. Refusals are ours already; what is left is an odd answer."""
    try:
        return ask()
    except (SalesforceError, RequestException, ValueError, TypeError, RecursionError):
        raise CrmAgain("Salesforce's answer cannot be read.", code="no_json") from None


def _checked(object_type: str, write: OwnerWrite) -> tuple[str | None, str | None]:
    return record_ids.record_id(object_type, write.record_id), record_ids.user_id(write.owner_id)


def _outcome(
    object_type: str,
    write: OwnerWrite,
    targets: Mapping[str, str],
    settled: Mapping[str, Outcome],
) -> Outcome:
    """Return what became of one write, under the id it came with."""
    record_id, owner_id = _checked(object_type, write)
    if record_id is None:
        return Outcome(
            record_id=write.record_id,
            result=Result.NEVER,
            code="bad_record_id",
            message=f"That is no id of a Salesforce {object_type}.",
        )
    if owner_id is None:
        return Outcome(
            record_id=write.record_id,
            result=Result.INACTIVE_OWNER,
            is_listed=True,  # no list of users ever holds it
            code="bad_owner_id",
            message="The owner must be a Salesforce user: an id that starts with 005.",
        )
    if targets[record_id] != owner_id:
        return Outcome(
            record_id=write.record_id,
            result=Result.AGAIN,
            code="superseded",
            message="A later write of the same batch gives the record to someone else.",
        )
    return replace(settled[record_id], record_id=write.record_id)
