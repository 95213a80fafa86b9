"""The outbound half of one org, by the promises of ``connector.ports.Crm``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from adapters.salesforce import backlog, concerns, records, transport
from adapters.salesforce import ids as record_ids
from adapters.salesforce.auth import LogIn
from adapters.salesforce.client import Call
from adapters.salesforce.links import Links
from adapters.salesforce.reading import Reader
from adapters.salesforce.settings import SalesforceSettings
from adapters.salesforce.users import Users
from adapters.salesforce.writing import Writer
from connector.errors import CrmNever
from connector.model import Related
from connector.ports import (
    Capabilities,
    Changes,
    Concern,
    CrmRecord,
    CrmUser,
    Mark,
    Ours,
    Outcome,
    OwnerWrite,
    Shared,
    Verdict,
)


class SalesforceCrm:
    """One connected org. Shared by threads; each call has a session of its own."""

    # With two queries for each look at the users, 576 calls of a day's allowance; 864 with
    # Omni-Channel.
    capabilities = Capabilities(
        read_batch=200,
        write_batch=200,
        related=True,
        people=True,
        people_every=timedelta(minutes=5),
        changes=True,
    )

    def __init__(
        self,
        settings: SalesforceSettings,
        shared: Shared,
        *,
        clock: Callable[[], datetime],
        call_seconds: float = transport.CALL_SECONDS,
    ) -> None:
        """Open nothing yet. Raise ``BadSettings`` when these settings can never log in."""
        self._settings = settings
        self._shared = shared
        self._connections = transport.pool()
        self._log_in = LogIn(
            settings, shared, clock=clock, post=partial(transport.post_form, self._connections)
        )
        self._clock = clock
        self._call_seconds = call_seconds
        self._unassigned = frozenset(
            record_ids.full_id(raw) or raw for raw in settings.unassigned_owners
        )
        self._reader = Reader(routed=settings.objects, unassigned=self._unassigned, clock=clock)
        self._writer = Writer(self._reader, settings.guarded_objects, clock)
        self._links = Links(unassigned=self._unassigned, clock=clock)
        self._users = Users(settings, self._unassigned)

    @property
    def availability_problem(self) -> str | None:
        """Why ``people`` told less of it than it might; None: nothing."""
        return self._users.problem

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        """One query for all, two more where some were merged into others.

        An id that cannot be one of this object type is never sent.
        """
        records.check_object_type(object_type)
        asked = {
            raw: id18 for raw in ids if (id18 := record_ids.record_id(object_type, raw)) is not None
        }
        if not asked:
            return {}
        return self._reader.read(self._call(), object_type, asked, fields=fields)

    def related(
        self, object_type: str, records: Mapping[str, CrmRecord]
    ) -> Mapping[str, Sequence[Related]]:
        """By the ids that a record holds, its e-mail and its web domain: two queries a step.

        Of several found for one step those whose owner stays come first, then who was changed last.
        """
        return self._links.of(self._call(), object_type, records) if records else {}

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        """One query for the users, one each for out-of-office times and presence."""
        return self._users.read(self._call, owner_ids)

    def person(self, owner_id: str) -> CrmUser | None:
        """By a query of its own; rarely asked, since no workflow of Salesforce waits for one."""
        return self._users.person(self._call, owner_id)

    def tell(self, callback_id: str, verdict: Verdict) -> None:  # noqa: ARG002
        """No workflow of Salesforce waits for a verdict."""
        raise CrmNever("Salesforce takes no callbacks.")

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """One collections update, preceded by at most one look at the new owners.

        Records of guarded object types by a call each, and a look at them afterwards.
        """
        records.check_object_type(object_type)
        return self._writer.write(self._call, object_type, writes)

    def unowned(self, object_type: str, since: datetime, *, after: str | None = None) -> list[str]:
        """By one query in the order of ids, whoever owns them; up to 200."""
        records.check_object_type(object_type)
        return backlog.unowned(self._call(), object_type, since, after)

    def changes(self, object_type: str, mark: Mark) -> Changes:
        """By one query on the moment of the last change of any kind; up to 2,000 records."""
        records.check_object_type(object_type)
        return backlog.changes(self._call(), object_type, mark, self._unassigned)

    def concerns(self, ours: Ours) -> Sequence[Concern]:
        """What an org gets wrong most: whose leads are kept, and what the user may not do."""
        return concerns.concerns(
            self._call(), self._settings, self._unassigned, ours=ours, now=self._clock()
        )

    def account_id(self) -> None:
        """None: the org of a message is checked when it comes in."""

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def _call(self) -> Call:
        session = transport.OrgSession(
            self._connections,
            self._log_in,
            clock=self._clock,
            note_limits=self._shared.note_limits,
            seconds=self._call_seconds,
        )
        return Call(session, version=self._settings.api_version.removeprefix("v"))
