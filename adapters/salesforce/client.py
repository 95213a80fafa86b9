"""The calls to Salesforce, made with simple-salesforce.

The only file that knows the library. None of its exceptions leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import format_datetime
from functools import partial
from typing import Any, TypeVar

from requests import RequestException
from simple_salesforce.api import Salesforce
from simple_salesforce.exceptions import SalesforceError
from simple_salesforce.format import format_soql
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random

from adapters.salesforce import owners, transport
from connector.errors import CrmAgain, CrmForbidden, CrmUnreachable
from connector.ports import OwnerWrite

_T = TypeVar("_T")

_QUICK_TRIES = 2
_WORTH_TRYING_SECONDS = 1.0


class Call:
    """simple-salesforce for the length of one call: its deadline and its log-ins are counted."""

    def __init__(self, session: transport.OrgSession, *, version: str) -> None:
        token = session.token
        self._session = session
        self._version = version
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

    @property
    def org_id(self) -> str | None:
        """The org that let us in, in 18 characters; None when it did not say."""
        return self._session.token.org_id

    def left(self) -> float:
        """Seconds until the call must have ended."""
        return self._session.left()

    def beside(self) -> Call:
        """Return the same call for another thread: it ends at the same moment."""
        return Call(self._session.beside(), version=self._version)

    def query(self, soql: str, *, with_deleted: bool = False) -> list[Mapping[str, Any]]:
        """Return the rows of all pages. ``with_deleted``: those in the recycle bin, too."""
        return self._quickly(lambda: self._pages(soql, with_deleted=with_deleted))

    def users(self, owner_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the users with these checked ids."""
        listed = ",".join(f"'{owner_id}'" for owner_id in owner_ids)
        return self.query(f"SELECT Id,IsActive FROM User WHERE Id IN ({listed})")  # noqa: S608

    def describe(self, object_type: str) -> Mapping[str, Any]:
        """Return what the org says of an object type that may stand in an address.

        Raise ``CrmForbidden`` for one that is hidden from the integration user.
        """
        try:
            found = self._quickly(lambda: self._restful(f"sobjects/{object_type}/describe"))
        except CrmUnreachable as error:
            if error.code != "NOT_FOUND":
                raise
            raise CrmForbidden(
                f"Salesforce shows no {object_type} to this connection. Check the integration "
                "user's permissions for the object type, and SALESFORCE_OBJECTS.",
                code=error.code,
                crm_message=error.crm_message,
            ) from None
        return found if isinstance(found, dict) else {}

    def update(self, body: Mapping[str, Any]) -> object:
        """Send one collections update, once."""
        return self._restful(
            "composite/sobjects", method="PATCH", json=body, headers=owners.WRITE_HEADERS
        )

    def update_one(self, object_type: str, write: OwnerWrite) -> None:
        """Send the update of one record, once; only if it was not changed after ``seen_at``.

        Raises ``errors.RecordRefused`` when the answer is about this record only.
        """
        headers = dict(owners.WRITE_HEADERS)
        if write.seen_at:
            seen_at = write.seen_at.astimezone(UTC)
            headers["If-Unmodified-Since"] = format_datetime(seen_at, usegmt=True)
        self._restful(
            f"sobjects/{object_type}/{write.record_id}",
            method="PATCH",
            json={"OwnerId": write.owner_id},
            headers=headers,
            record_id=write.record_id,  # for our session, not for Salesforce
        )

    def _pages(self, soql: str, *, with_deleted: bool) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        page = _translated(lambda: self._salesforce.query(soql, include_deleted=with_deleted))
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


def literal(text: str) -> str:
    """Any text as a quoted value of a query."""
    return str(format_soql("{}", text))


def pattern(text: str) -> str:
    """Any text as a quoted pattern of LIKE that finds it anywhere within a value."""
    return str(format_soql("'%{:like}%'", text))


def _translated(ask: Callable[[], _T]) -> _T:
    """Run a call of the library. Refusals are ours already; what is left is an odd answer."""
    try:
        return ask()
    except (SalesforceError, RequestException, ValueError, TypeError, RecursionError):
        raise CrmAgain("Salesforce's answer cannot be read.", code="no_json") from None
