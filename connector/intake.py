"""Events become decisions: read the records, then decide and record in one commit.

For each record the CRM is asked how it stands now; the event only says where to look. So an event
that comes twice, late or out of order does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from connector import dispatch, recording, verdicts
from connector.model import (
    Assignment,
    EventKind,
    ExistingOwner,
    Lead,
    Record,
    Status,
    User,
    WriteBack,
)
from connector.ports import Crm, CrmRecord
from connector.reading import read_each
from connector.store import assignments, inbox, lanes, users
from connector.store.database import Database, Session
from connector.store.facts import lead_of
from connector.store.inbox import InboxItem
from connector.store.lanes import Claim

_WRITTEN = (WriteBack.DONE, WriteBack.DEAD)


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a batch of events comes to. Every event ends in ``ignored`` or ``taken_in``."""

    to_decide: list[Lead] = field(default_factory=list)
    followed: list[tuple[Assignment, ExistingOwner]] = field(default_factory=list)  # set by people
    rewrite: list[Assignment] = field(default_factory=list)  # owner writes that got lost
    taken_in: list[int] = field(default_factory=list)  # inbox ids
    ignored: dict[str, list[int]] = field(default_factory=dict)  # reason -> inbox ids

    def ignore(self, items: Sequence[InboxItem], reason: str) -> None:
        """Nothing follows from these events, for this reason."""
        self.ignored.setdefault(reason, []).extend(item.id for item in items)


def take_in(
    database: Database, claim: Claim, crm: Crm, *, default_pool: str | None, now: datetime
) -> Plan | None:
    """Work a claimed batch of events; None when the claim was lost and nothing was recorded.

    Raises ``CrmError`` when the records cannot be read; the events are untouched then.
    """
    plan = Plan()
    items = _without_noise(database, claim, crm, plan)
    object_type = claim.inbox[0].event.object_type
    ids = list(dict.fromkeys(item.event.record_id for item in items))
    found, unreadable = read_each(crm, object_type, ids)
    with database.write() as session:
        if not lanes.release(session, claim, now=now):
            return None
        for item in items:
            if refusal := unreadable.get(item.event.record_id):
                inbox.kill(session, [item.id], str(refusal), now)
        readable = [item for item in items if item.event.record_id not in unreadable]
        _sort(session, claim.connection, readable, found, plan)
        _record(session, plan, default_pool=default_pool, now=now)
    return plan


def _without_noise(database: Database, claim: Claim, crm: Crm, plan: Plan) -> list[InboxItem]:
    """The events for which the CRM must be asked: not of a foreign account, not our own echo."""
    items = claim.inbox
    account = crm.account_id() if any(item.event.account for item in items) else None
    foreign = [item for item in items if account and item.event.account not in (None, account)]
    plan.ignore(foreign, "other_portal")
    own = [item for item in items if item not in foreign]
    ids = {item.event.record_id for item in own if item.event.owner_id}
    with database.read() as session:
        object_type = items[0].event.object_type
        current = assignments.current_of_records(session, claim.connection, object_type, ids)
    echoes = [item for item in own if _is_echo(item, current.get(item.event.record_id))]
    plan.ignore(echoes, "own_echo")
    return [item for item in own if item not in echoes]


def _is_echo(item: InboxItem, row: Assignment | None) -> bool:
    """Does the event only tell the owner that we wrote?"""
    wrote = row is not None and row.write_back in (WriteBack.PENDING, WriteBack.DONE)
    return wrote and row is not None and item.event.owner_id == row.owner_id


def _sort(
    session: Session,
    connection: str,
    items: Sequence[InboxItem],
    found: Mapping[str, CrmRecord],
    plan: Plan,
) -> None:
    if not items:
        return
    object_type = items[0].event.object_type
    alive = {asked: seen.survivor_id or seen.id for asked, seen in found.items()}
    current = assignments.current_of_records(session, connection, object_type, set(alive.values()))
    people = users.by_owner(session, connection, {r.owner_id for r in found.values() if r.owner_id})
    known = users.find(session, {row.user_id for row in current.values() if row.user_id})
    by_record: dict[str, list[InboxItem]] = {}
    for item in items:
        if item.event.record_id in found:
            by_record.setdefault(alive[item.event.record_id], []).append(item)
        else:
            plan.ignore([item], "record_gone")
    for record_id, events in by_record.items():
        seen = found[events[0].event.record_id]
        record = Record(connection=connection, object_type=object_type, id=record_id)
        owner = people.get(seen.owner_id) if seen.owner_id else None
        lead = _lead(record, seen, owner)
        row = current.get(record_id)
        if seen.owner_stays:
            _sort_owned(lead, row, events, plan)
        else:
            user = known.get(row.user_id) if row and row.user_id else None
            _sort_unowned(lead, row, user, events, plan)


def _sort_owned(
    lead: Lead,
    row: Assignment | None,
    events: Sequence[InboxItem],
    plan: Plan,
) -> None:
    """A real person owns the record and keeps it; what is left is to know it."""
    owner = lead.existing_owner
    if owner is None:
        raise ValueError("an owned record has an owner")
    if row is None and all(item.event.kind is EventKind.CHANGED for item in events):
        return plan.ignore(events, "owned_already")
    if row and row.owner_id is None and owner.owner_id in lead_of(row).replaces:
        # Whoever gave it back shows in the CRM until the next owner is written.
        return plan.ignore(events, "nothing_new")
    if row is None or row.status in (Status.HELD, Status.UNDONE):
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
    cleared = any(
        item.event.kind is EventKind.OWNER_CHANGED and item.event.owner_id == "" for item in events
    )
    if row is None:
        plan.to_decide.append(lead)
    elif row.status is Status.HELD and row.pool_id:
        return plan.ignore(events, "held_already")
    elif row.write_back is WriteBack.PENDING and user and user.active:
        return plan.ignore(events, "write_pending")
    elif row.write_back in _WRITTEN and user and user.active and not cleared:
        plan.rewrite.append(row)  # same user, no turn
    else:
        plan.to_decide.append(replace(lead, anew=_why_anew(row, user, cleared=cleared)))
    plan.taken_in.extend(item.id for item in events)
    return None


def _why_anew(row: Assignment, user: User | None, *, cleared: bool) -> str:
    """Why the earlier decision of an unowned lead does not count."""
    if row.status is Status.HELD:
        return "it was held without a pool"
    if row.status is Status.UNDONE:
        return "its assignment was undone"
    if user and not user.active:
        return f"{user.name} had this lead before and is no longer active"
    name = user.name if user else "somebody else"
    if cleared:
        return f"{name} had this lead before; the owner was cleared in the CRM"
    return f"{name} owned the record before and does no longer"


def _record(session: Session, plan: Plan, *, default_pool: str | None, now: datetime) -> None:
    dispatch.assign_routed(
        session,
        plan.to_decide,
        default_pool=default_pool,
        now=now,
        lock_too=[row.pool_id for row, _ in plan.followed if row.pool_id],
    )
    for row, owner in plan.followed:
        verdicts.follow(session, row, owner, now=now)
    recording.write_again(session, plan.rewrite, now=now)
    inbox.finish(session, plan.taken_in, now)
    for reason, ids in plan.ignored.items():
        inbox.ignore(session, ids, reason, now)


def _lead(record: Record, seen: CrmRecord, owner: User | None) -> Lead:
    existing = None
    if seen.owner_stays and seen.owner_id:
        existing = ExistingOwner(owner_id=seen.owner_id, user=owner)
    return Lead(
        id=record.lead_id,
        record=record,
        email=seen.email,
        company=seen.company,
        attributes=seen.attributes,
        existing_owner=existing,
    )
