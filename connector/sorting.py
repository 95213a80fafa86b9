"""What events come to, given how their records stand in the CRM now. Reads, writes nothing.

The event only says where to look. So one that comes twice, late or out of order does no harm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connector.errors import CrmNever
from connector.model import (
    Assignment,
    EventKind,
    ExistingOwner,
    Lead,
    LeadEvent,
    Record,
    Related,
    Status,
    StickyStep,
    User,
    WriteBack,
)
from connector.ports import CrmRecord
from connector.store import assignments, users
from connector.store.database import Session
from connector.store.facts import lead_of
from connector.store.inbox import InboxItem

_WRITTEN = (WriteBack.DONE, WriteBack.DEAD)
_DELETED = "the record was deleted in the CRM"


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a batch of events comes to. Every event ends in ``ignored`` or ``taken_in``."""

    to_decide: list[Lead] = field(default_factory=list)
    followed: list[tuple[Assignment, ExistingOwner]] = field(default_factory=list)  # set by people
    rewrite: list[Assignment] = field(default_factory=list)  # owner writes that got lost
    closed: list[tuple[Assignment, str]] = field(default_factory=list)  # open no more, and why
    inherited: list[Assignment] = field(default_factory=list)  # of merged records: user lives on
    successors: list[LeadEvent] = field(default_factory=list)  # what goes on in other records
    taken_in: list[int] = field(default_factory=list)  # inbox ids
    ignored: dict[str, list[int]] = field(default_factory=dict)  # reason -> inbox ids
    unreadable: Mapping[str, CrmNever] = field(default_factory=dict)  # record id -> the refusal

    def ignore(self, items: Sequence[InboxItem], reason: str) -> None:
        """Nothing follows from these events, for this reason."""
        self.ignored.setdefault(reason, []).extend(item.id for item in items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the CRM says of the records of a batch of one object type."""

    connection: str
    object_type: str
    records: Mapping[str, CrmRecord]  # by the id asked for; one that is missing does not exist
    related: Mapping[str, Sequence[Related]]  # by living id, of those that were looked up

    def record(self, record_id: str) -> Record:
        """The record of this id."""
        return Record(connection=self.connection, object_type=self.object_type, id=record_id)


@dataclass(slots=True, kw_only=True)
class _Living:
    """A record that exists, the events about it, and the records that it took over by merges."""

    seen: CrmRecord
    events: list[InboxItem] = field(default_factory=list)
    dead_ids: set[str] = field(default_factory=set)


def sort(session: Session, items: Sequence[InboxItem], seen: Seen, plan: Plan) -> None:
    """Put what follows from the events into the plan."""
    living, gone = _by_record(items, seen)
    dead_ids = {dead_id for one in living.values() for dead_id in one.dead_ids}
    rows = assignments.current_of_records(
        session, seen.connection, seen.object_type, {*living, *gone, *dead_ids}
    )
    owner_ids = {one.seen.owner_id for one in living.values() if one.seen.owner_id}
    owners = users.by_owner(session, seen.connection, owner_ids)
    known = users.find(session, {_user_id(row) for row in rows.values()} - {""})
    for record_id, events in gone.items():
        _sort_gone(rows.get(record_id), events, seen.records.get(record_id), plan)
    for record_id, one in living.items():
        lead = _lead(seen, record_id, one, owners)
        row = rows.get(record_id)
        merged = [rows[dead_id] for dead_id in sorted(one.dead_ids) if dead_id in rows]
        if one.seen.owner_stays:
            _close_merged(merged, lead, None, plan)
            _sort_owned(lead, row, one.events, plan)
        else:
            heir = _heir(merged, known) if _may_inherit(row, one.events) else None
            _close_merged(merged, lead, heir, plan)
            if heir:
                lead = replace(lead, heir=known[_user_id(heir)], heir_of=heir.record)
            user = known.get(_user_id(row)) if row else None
            _sort_unowned(lead, row, user, one.events, plan)


def asked_pool(events: Sequence[InboxItem]) -> str | None:
    """The pool that a workflow asks for in these events, the last if there are several."""
    return next((item.event.pool for item in reversed(events) if item.event.pool), None)


def _is_cleared(events: Sequence[InboxItem]) -> bool:
    """Does one of the events say that the owner was taken away?"""
    return any(
        item.event.kind is EventKind.OWNER_CHANGED and item.event.owner_id == "" for item in events
    )


def _by_record(
    items: Sequence[InboxItem], seen: Seen
) -> tuple[dict[str, _Living], dict[str, list[InboxItem]]]:
    """The events by the record that lives now, and those of records that are gone or closed."""
    living: dict[str, _Living] = {}
    gone: dict[str, list[InboxItem]] = defaultdict(list)
    for item in items:
        asked = item.event.record_id
        found = seen.records.get(asked)
        if found is None or found.closed:
            gone[asked].append(item)
            continue
        alive = found.survivor_id or found.id
        one = living.setdefault(alive, _Living(seen=found))
        one.events.append(item)
        one.dead_ids |= {asked, *item.event.merged_ids, *found.merged_ids} - {alive}
    return living, gone


def _lead(seen: Seen, record_id: str, one: _Living, owners: Mapping[str, User]) -> Lead:
    record, found = seen.record(record_id), one.seen
    existing = None
    if found.owner_stays and found.owner_id:
        existing = ExistingOwner(owner_id=found.owner_id, user=owners.get(found.owner_id))
    related = tuple(seen.related.get(record_id, ()))
    return Lead(
        id=record.lead_id,
        record=record,
        kind=found.kind,
        slot=found.slot,
        email=found.email or _told(related, StickyStep.PERSON, "email"),
        company=found.company or _told(related, StickyStep.COMPANY, "name"),
        attributes=found.attributes,
        existing_owner=existing,
        related=related,
        asked_pool=asked_pool(one.events),
    )


def _told(related: Collection[Related], step: StickyStep, what: str) -> str | None:
    """What a linked record tells, so that our own history knows the person or company by it."""
    found = (getattr(one, what) for one in related if one.step is step)
    return next(filter(None, found), None)


def _sort_gone(
    row: Assignment | None, events: Sequence[InboxItem], closed: CrmRecord | None, plan: Plan
) -> None:
    """The record does not exist any more, or takes no owner: what is open about it is closed."""
    if closed:
        plan.successors.extend(_successor(*one) for one in closed.goes_on_in)
    if row is None or not _is_open(row):
        return plan.ignore(events, "record_closed" if closed else "record_gone")
    plan.closed.append((row, closed.closed if closed and closed.closed else _DELETED))
    plan.taken_in.extend(item.id for item in events)
    return None


def _successor(object_type: str, record_id: str) -> LeadEvent:
    """A record in which the work of a closed one goes on counts as new."""
    return LeadEvent(
        key=f"successor:{object_type}:{record_id}",
        kind=EventKind.CREATED,
        object_type=object_type,
        record_id=record_id,
    )


def _is_open(row: Assignment) -> bool:
    return row.status is Status.HELD or row.write_back is WriteBack.PENDING


def _is_free(row: Assignment) -> bool:
    return row.status in (Status.HELD, Status.UNDONE)


def _may_inherit(row: Assignment | None, events: Sequence[InboxItem]) -> bool:
    """Does nobody have the record, and is that by nobody's wish?"""
    if row and row.status is Status.UNDONE and row.actor:
        return False
    return (row is None or _is_free(row)) and not _is_cleared(events)


def _user_id(row: Assignment) -> str:
    """Who has the lead of the row, or had it until its record was closed; "" for nobody."""
    if row.status is Status.UNDONE and row.actor is None and row.gives_back:
        return row.gives_back.user_id or ""
    return row.user_id or ""


def _heir(merged: Sequence[Assignment], known: Mapping[str, User]) -> Assignment | None:
    """Of merged records the newest whose user is still there: that user has the survivor."""
    had = [row for row in merged if _user_id(row) and known[_user_id(row)].active]
    return max(had, key=lambda row: row.assigned_at, default=None)


def _close_merged(
    merged: Sequence[Assignment], survivor: Lead, heir: Assignment | None, plan: Plan
) -> None:
    """Nothing is written to a record that was merged away, and none of them waits any more."""
    for row in merged:
        if heir and row.id == heir.id:
            plan.inherited.append(row)
        elif _is_open(row):
            plan.closed.append((row, f"the record was merged into {survivor.id}"))


def _sort_owned(
    lead: Lead, row: Assignment | None, events: Sequence[InboxItem], plan: Plan
) -> None:
    """A real person owns the record and keeps it; what is left is to know it."""
    owner = lead.existing_owner
    if owner is None:
        raise ValueError("an owned record has an owner")
    news = (EventKind.CREATED, EventKind.OWNER_CHANGED)
    if row is None and all(item.event.kind not in news for item in events):
        return plan.ignore(events, "owned_already")
    if row and row.owner_id is None and owner.owner_id in lead_of(row).replaces:
        # Whoever gave it back shows in the CRM until the next owner is written.
        return plan.ignore(events, "nothing_new")
    if row is None or _is_free(row):
        # The engine keeps the owner and says so.
        anew = f"an owner appeared while it was {row.status}" if row else None
        plan.to_decide.append(replace(lead, anew=anew))
    elif row.owner_id == owner.owner_id:
        return plan.ignore(events, "nothing_new")
    elif row.write_back is WriteBack.PENDING:
        return plan.ignore(events, "write_pending")  # the write will find this owner
    else:
        plan.followed.append((row, owner))
    plan.taken_in.extend(item.id for item in events)
    return None


def _sort_unowned(
    lead: Lead,
    row: Assignment | None,
    user: User | None,
    events: Sequence[InboxItem],
    plan: Plan,
) -> None:
    """Nobody owns the record: route it, unless a decision stands that is on its way to the CRM."""
    cleared = _is_cleared(events)
    if row is None:
        plan.to_decide.append(lead)
    elif row.status is Status.HELD and row.pool_id and not lead.heir:
        if not _is_newly_linked(lead, row):
            return plan.ignore(events, "held_already")
        plan.to_decide.append(replace(lead, again=True))
    elif row.write_back is WriteBack.PENDING and user and user.active:
        return plan.ignore(events, "write_pending")
    elif row.write_back in _WRITTEN and user and user.active and not cleared:
        plan.rewrite.append(row)  # same user, no turn
    else:
        plan.to_decide.append(replace(lead, anew=_why_anew(row, user, cleared=cleared)))
    plan.taken_in.extend(item.id for item in events)
    return None


def _is_newly_linked(lead: Lead, row: Assignment) -> bool:
    """Does somebody own its person or company in the CRM of whom was not known when it was held?"""
    before = {one.owner_id for one in lead_of(row).related if one.owner_stays}
    return any(one.owner_stays and one.owner_id not in before for one in lead.related)


def _why_anew(row: Assignment, user: User | None, *, cleared: bool) -> str:
    """Why the earlier decision of an unowned lead does not count."""
    if row.status is Status.HELD:
        return "it was held without a pool" if row.pool_id is None else "it was held"
    if row.status is Status.UNDONE:
        return "its assignment was undone"
    if user and not user.active:
        return f"{user.name} had this lead before and is no longer active"
    name = user.name if user else "somebody else"
    if cleared:
        return f"{name} had this lead before; the owner was cleared in the CRM"
    return f"{name} owned the record before and does no longer"
