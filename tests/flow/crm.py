"""A CRM in memory behind the port, for tests of what the core makes of a CRM's answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from connector.errors import CrmAgain, CrmError, CrmForbidden
from connector.model import Availability, EventKind, LeadEvent, Presence, Related
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
    Result,
    Verdict,
)


@dataclass
class Row:
    owner_id: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    survivor_id: str | None = None
    merged_ids: tuple[str, ...] = ()
    changed_at: datetime | None = None  # None: polling does not show it
    is_new: bool = False
    closed: str | None = None
    goes_on_in: tuple[tuple[str, str], ...] = ()
    modified_at: datetime | None = None


class MemoryCrm:
    """Keeps records; refuses, loses or fails what ``script`` says; counts its calls."""

    def __init__(self, *, limit: int = 100) -> None:
        self.capabilities = Capabilities(read_batch=limit, write_batch=limit, related=True)
        self.rows: dict[str, Row] = {}
        self.inactive: set[str] = set()  # owner ids
        self.refuse: dict[str, Outcome] = {}  # record id -> what a write comes to
        self.deny: dict[str, Outcome] = {}  # the same by owner id
        self.read_errors: list[CrmError | None] = []
        self.write_errors: list[CrmError | None] = []
        self.lose_replies = 0
        self.bad_ids: Mapping[str, CrmError] = {}  # a batch with one of these fails as a whole
        self.before_write: Callable[[], None] = lambda: None
        self.before_read: Callable[[], None] = lambda: None
        self.reads: list[list[str]] = []
        self.writes: list[list[OwnerWrite]] = []
        self.account: str | None = None
        self.links: dict[str, Sequence[Related]] = {}  # record id -> what it is linked to
        self.looked_up: list[list[str]] = []
        self.link_errors: list[CrmError | None] = []
        self.fields_asked: set[str] = set()
        self.users: dict[str, CrmUser] = {}
        self.directory_reads = 0
        self.people_errors: list[CrmError | None] = []
        self.before_people: Callable[[], None] = lambda: None
        self.told: list[tuple[str, Verdict]] = []
        self.tell_errors: list[CrmError | None] = []
        self.closed: set[str] = set()  # object types without permission
        self.availability_problem: str | None = None
        self.poll_page = 2
        self.polls: list[tuple[str, Mark]] = []
        self.change_errors: list[CrmError | None] = []
        self.before_changes: Callable[[], None] = lambda: None
        self.worries: list[Concern] = []

    def create(self, *ids: str, owner: str | None = None, **attributes: str) -> None:
        for record_id in ids:
            self.rows[record_id] = Row(owner_id=owner, attributes=attributes)

    def owners(self) -> dict[str, str | None]:
        return {record_id: row.owner_id for record_id, row in self.rows.items()}

    def account_id(self) -> str | None:
        return self.account

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        self.reads.append(list(ids))
        self.before_read()
        self.fields_asked |= set(fields)
        self._check_permission(object_type)
        self._fail(self.read_errors, ids)
        return {one: self._seen(one) for one in ids if one in self.rows}

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        self.before_write()
        self.writes.append(list(writes))
        self._check_permission(object_type)
        self._fail(self.write_errors, [write.record_id for write in writes])
        outcomes = [self._write(write) for write in writes]
        if self.lose_replies:
            self.lose_replies -= 1
            raise CrmAgain("the connection dropped before the answer")
        return outcomes

    def related(
        self, object_type: str, records: Mapping[str, CrmRecord]
    ) -> Mapping[str, Sequence[Related]]:
        self.looked_up.append(list(records))
        if self.link_errors and (error := self.link_errors.pop(0)):
            raise error
        return {one: self.links[one] for one in records if one in self.links}

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        self.before_people()
        self.directory_reads += 1
        self._fail(self.people_errors, [])
        wanted = self.users if owner_ids is None else set(owner_ids) & self.users.keys()
        return {one: self._person(one) for one in wanted}

    def hire(self, *owner_ids: str) -> None:
        """Let the directory list these people, of whom it can be asked from now on."""
        self.capabilities = replace(self.capabilities, people=True)
        for one in owner_ids:
            self.users[one] = CrmUser(owner_id=one, name=one, availability=Availability())

    def say(self, owner_id: str, *, away: bool = False, **of_availability: Any) -> None:
        """``say("h-A", away=True)``: what the CRM tells of a person from now on."""
        status = Presence.AWAY if away else Presence.AVAILABLE
        told = Availability(status=status, **of_availability)
        self.users[owner_id] = replace(self.users[owner_id], availability=told)

    def person(self, owner_id: str) -> CrmUser | None:
        return self.users.get(owner_id)

    def tell(self, callback_id: str, verdict: Verdict) -> None:
        if self.tell_errors and (error := self.tell_errors.pop(0)):
            raise error
        self.told.append((callback_id, verdict))

    def unowned(
        self, object_type: str, since: datetime, *, after: str | None = None
    ) -> Sequence[str]:
        later = sorted(one for one, row in self.rows.items() if not row.owner_id)
        return [one for one in later if after is None or one > after][:2]

    def stamp(self, *ids: str, at: datetime, is_new: bool = False) -> None:
        """Let these records have changed at that moment, as polling shows them."""
        self.capabilities = replace(self.capabilities, changes=True)
        for record_id in ids:
            self.rows[record_id].changed_at = at
            self.rows[record_id].is_new = is_new

    def changes(self, object_type: str, mark: Mark) -> Changes:
        self.polls.append((object_type, mark))
        self.before_changes()
        self._check_permission(object_type)
        self._fail(self.change_errors, [])
        stamped = sorted(
            (row.changed_at, record_id) for record_id, row in self.rows.items() if row.changed_at
        )
        later = [one for one in stamped if one > (mark.at, mark.record_id)]
        page = later[: self.poll_page]
        events = [self._change(object_type, at, record_id) for at, record_id in page]
        return Changes(
            events=events,
            mark=Mark(at=page[-1][0], record_id=page[-1][1]) if page else mark,
            is_all=len(page) < self.poll_page,
            settled={
                one.key: "owned_already"
                for one in events
                if one.kind is EventKind.CHANGED and self._seen(one.record_id).owner_stays
            },
        )

    def concerns(self, ours: Ours) -> Sequence[Concern]:
        return self.worries

    def close(self) -> None:
        pass

    def _check_permission(self, object_type: str) -> None:
        if object_type in self.closed:
            raise CrmForbidden(f"the token lacks the scope for {object_type}")

    def _fail(self, script: list[CrmError | None], ids: Sequence[str]) -> None:
        if script and (error := script.pop(0)):
            raise error
        for record_id in ids:
            if record_id in self.bad_ids:
                raise self.bad_ids[record_id]

    def _person(self, owner_id: str) -> CrmUser:
        person = self.users[owner_id]
        return replace(person, active=person.active and owner_id not in self.inactive)

    def _change(self, object_type: str, at: datetime, record_id: str) -> LeadEvent:
        row = self.rows[record_id]
        return LeadEvent(
            key=f"poll:{object_type}:{record_id}:{at.isoformat()}",
            kind=EventKind.CREATED if row.is_new else EventKind.CHANGED,
            object_type=object_type,
            record_id=record_id,
            owner_id=row.owner_id,
        )

    def _seen(self, record_id: str) -> CrmRecord:
        row = self.rows[record_id]
        return CrmRecord(
            id=record_id,
            owner_id=row.owner_id,
            owner_stays=bool(row.owner_id) and row.owner_id not in self.inactive,
            email=row.attributes.get("email"),
            attributes=row.attributes,
            survivor_id=row.survivor_id,
            merged_ids=row.merged_ids,
            closed=row.closed,
            goes_on_in=row.goes_on_in,
            modified_at=row.modified_at,
        )

    def _write(self, write: OwnerWrite) -> Outcome:
        if write.owner_id in self.inactive:
            return Outcome(
                record_id=write.record_id,
                result=Result.INACTIVE_OWNER,
                code="INACTIVE",
                message="that user is inactive",
                is_listed=True,
            )
        if write.owner_id in self.deny:
            return replace(self.deny[write.owner_id], record_id=write.record_id)
        if write.record_id in self.refuse:
            return replace(self.refuse[write.record_id], record_id=write.record_id)
        self.rows[write.record_id].owner_id = write.owner_id
        return Outcome(record_id=write.record_id, result=Result.DONE)
