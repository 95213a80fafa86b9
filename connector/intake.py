"""Events become decisions: read the records, then decide and record in one commit.

For each record the CRM is asked how it stands now; the event only says where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from connector import dispatch, kinship, rewriting, routing, verdicts
from connector.model import Assignment, WriteBack
from connector.ports import Crm
from connector.reading import read_each
from connector.sorting import Plan, Seen, sort
from connector.store import assignments, inbox, lanes, outbox
from connector.store.database import Database, Session
from connector.store.inbox import InboxItem
from connector.store.lanes import Claim


def take_in(
    database: Database, claim: Claim, crm: Crm, *, default_pool: str | None, now: datetime
) -> Plan | None:
    """Work a claimed batch of events; None when the claim was lost and nothing was recorded.

    Raises ``CrmError`` when the records cannot be read; the events are untouched then.
    """
    return work(
        database,
        claim.connection,
        claim.inbox,
        crm,
        default_pool=default_pool,
        now=now,
        may_record=lambda session: lanes.release(session, claim, now=now),
    )


def work(
    database: Database,
    connection: str,
    events: Sequence[InboxItem],
    crm: Crm,
    *,
    default_pool: str | None,
    now: datetime,
    may_record: Callable[[Session], bool],
) -> Plan | None:
    """Work events of one connection and object type, however they were taken.

    ``may_record`` is the first statement of the transaction that records; on False nothing is.
    """
    plan = Plan()
    items = _without_noise(database, connection, events, crm, plan)
    object_type = events[0].event.object_type
    with database.read() as session:
        rules = routing.read(session, default_pool)
    ids = list(dict.fromkeys(item.event.record_id for item in items))
    records, unreadable = read_each(crm, object_type, ids, fields=rules.fields)
    readable = [item for item in items if item.event.record_id not in unreadable]
    seen = Seen(connection=connection, object_type=object_type, records=records, related={})
    seen = kinship.look_up(database, readable, seen, rules, crm)
    with database.write() as session:
        if not may_record(session):
            return None
        plan.unreadable = unreadable
        for item in items:
            if refusal := unreadable.get(item.event.record_id):
                inbox.kill(session, [item.id], str(refusal), now)
        sort(session, readable, seen, plan)
        _record(session, connection, plan, default_pool=default_pool, now=now)
    return plan


def _without_noise(
    database: Database,
    connection: str,
    items: Sequence[InboxItem],
    crm: Crm,
    plan: Plan,
) -> list[InboxItem]:
    """The events for which the CRM must be asked: not of a foreign account, not our own echo."""
    account = crm.account_id() if any(item.event.account for item in items) else None
    foreign = [item for item in items if account and item.event.account not in (None, account)]
    plan.ignore(foreign, "other_portal")
    own = [item for item in items if item not in foreign]
    ids = {item.event.record_id for item in own if item.event.owner_id}
    with database.read() as session:
        object_type = items[0].event.object_type
        current = assignments.current_of_records(session, connection, object_type, ids)
    echoes = [item for item in own if _is_echo(item, current)]
    plan.ignore(echoes, "own_echo")
    return [item for item in own if item not in echoes]


def _is_echo(item: InboxItem, current: Mapping[str, Assignment]) -> bool:
    """Does the event only tell the owner that we wrote?"""
    row = current.get(item.event.record_id)
    wrote = row is not None and row.write_back in (WriteBack.PENDING, WriteBack.DONE)
    return wrote and row is not None and item.event.owner_id == row.owner_id


def _record(
    session: Session, connection: str, plan: Plan, *, default_pool: str | None, now: datetime
) -> None:
    changed = [row for row, _ in (*plan.followed, *plan.closed)]
    dispatch.assign_routed(
        session,
        plan.to_decide,
        default_pool=default_pool,
        now=now,
        lock_too=[row.pool_id for row in changed if row.pool_id],
    )
    for row, owner in plan.followed:
        verdicts.follow(session, row, owner, now=now)
    for row, why in plan.closed:
        verdicts.close(session, row, why, now=now)
    _pass_on(session, plan.inherited, now)
    rewriting.write_again(session, plan.rewrite, now=now)
    inbox.add(session, connection, plan.successors, now)
    inbox.finish(session, plan.taken_in, now)
    for reason, ids in plan.ignored.items():
        inbox.ignore(session, ids, reason, now)


def _pass_on(session: Session, rows: Sequence[Assignment], now: datetime) -> None:
    """Turn and quota stay with the user, who has the survivor; the dead record is not written."""
    open_ids = [row.id for row in rows if row.write_back is WriteBack.PENDING]
    outbox.withdraw(session, [row.record for row in rows if row.record], now)
    assignments.set_write_back(session, open_ids, WriteBack.NONE)
