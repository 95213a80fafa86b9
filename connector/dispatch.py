"""Decide leads and record it, in the caller's transaction: the one way to an assignment.

Intake and the REST API both come through here. A lead that was decided before answers with that
decision; held leads go first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from connector import held, recording
from connector.engine.decide import advance, decide
from connector.engine.territories import default_route, route
from connector.model import (
    Assignment,
    Decision,
    Lead,
    Reason,
    Record,
    Route,
    Status,
    Territory,
)
from connector.store import assignments, pools, territories, users
from connector.store.database import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One lead on its way to a pool."""

    lead: Lead
    route: Route

    @property
    def key(self) -> Record | str:
        """What makes two requests the same lead: the CRM record, else our lead id."""
        return self.lead.record or self.lead.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The territories and the default pool as they are now."""

    rules: tuple[Territory, ...]
    fallback: Route

    def route(self, lead: Lead) -> Route:
        """Which pool the lead goes to."""
        return route(lead, self.rules, self.fallback)


def routing(session: Session, default_pool: str | None) -> Routing:
    """Read how leads are routed. ``default_pool`` is a name or an id."""
    pool = pools.named(session, default_pool) if default_pool else None
    fallback = default_route(pool.id if pool else None, named=bool(default_pool))
    return Routing(rules=tuple(territories.listed(session)), fallback=fallback)


def assign(
    session: Session, pool_id: str, leads: Sequence[Lead], *, now: datetime
) -> list[Assignment]:
    """Assign the leads in the pool, in order. Raises ``NotFound`` for an unknown pool."""
    wanted = [Request(lead=lead, route=Route(pool_id=pool_id)) for lead in leads]
    return _in_pool(session, pool_id, wanted, now)


def assign_routed(
    session: Session,
    leads: Sequence[Lead],
    *,
    default_pool: str | None,
    now: datetime,
    lock_too: Sequence[str] = (),
) -> list[Assignment]:
    """Assign the leads in the pools that territories, else the default pool, name.

    A lead for which there is no pool is held without one. ``lock_too`` names pools that the caller
    writes to afterwards: locked all at once, no two callers can deadlock.
    """
    rules = routing(session, default_pool)
    requests = [Request(lead=lead, route=rules.route(lead)) for lead in leads]
    by_pool: dict[str | None, list[Request]] = defaultdict(list)
    for request in requests:
        by_pool[request.route.pool_id].append(request)
    pools.lock(session, {*filter(None, by_pool), *lock_too})
    found: dict[Record | str, Assignment] = {}
    for pool_id, group in by_pool.items():
        rows = (
            _in_pool(session, pool_id, group, now)
            if pool_id
            else _without_pool(session, group, now)
        )
        found |= {request.key: row for request, row in zip(group, rows, strict=True)}
    return [found[request.key] for request in requests]


def route_held(session: Session, *, default_pool: str | None, now: datetime) -> list[Assignment]:
    """Bring leads that are held without a pool to the pool that takes them now, oldest first.

    At most a page; call it until nothing comes back.
    """
    rules = routing(session, default_pool)
    after = ""
    while waiting := assignments.poolless_held(session, after=after, limit=held.AT_ONCE):
        placed = [row for row in waiting if rules.route(recording.lead_of(row)).pool_id]
        if placed:
            leads = [recording.lead_of(row) for row in placed]
            rows = assign_routed(session, leads, default_pool=default_pool, now=now)
            assignments.leave_poolless(session, [row.id for row in placed])
            return rows
        after = waiting[-1].id
    return []


def _in_pool(
    session: Session, pool_id: str, requests: Sequence[Request], now: datetime
) -> list[Assignment]:
    board = recording.locked_board(session, pool_id)
    while held.release(session, board, now=now):
        board = recording.locked_board(session, pool_id)
    pools.lock_records(session, [r.lead.record for r in requests if r.lead.record])
    found = _standing(session, pool_id, requests)
    fresh: dict[Record | str, Request] = {}
    for request in requests:
        if request.key not in found:
            fresh.setdefault(request.key, request)
    decisions: list[Decision] = []
    state = board
    for request in _with_earlier_users(session, list(fresh.values())):
        decisions.append(decide(request.lead, state, now, route=request.route))
        state = advance(state, decisions[-1])
    rows = recording.write(session, board, decisions, now)
    found |= {
        (decision.lead.record or decision.lead.id): row
        for decision, row in zip(decisions, rows, strict=True)
    }
    return [found[request.key] for request in requests]


def _without_pool(session: Session, requests: Sequence[Request], now: datetime) -> list[Assignment]:
    found = _standing(session, None, requests)
    fresh = {request.key: request for request in requests if request.key not in found}
    decisions = [
        Decision(
            lead=request.lead,
            pool_id=None,
            status=Status.HELD,
            reason=request.route.reason or Reason.NO_POOL,
            decided_at=now,
            route=request.route,
        )
        for request in fresh.values()
    ]
    rows = recording.write(session, None, decisions, now)
    found |= dict(zip(fresh, rows, strict=True))
    return [found[request.key] for request in requests]


def _standing(
    session: Session, pool_id: str | None, requests: Iterable[Request]
) -> dict[Record | str, Assignment]:
    """First answers that still hold: the lead's own in this pool, or its CRM record's in any."""
    asked = [request for request in requests if not request.lead.anew]
    by_lead = assignments.current_of_leads(session, pool_id, [r.lead.id for r in asked])
    by_record = _current_by_record(session, [r.lead.record for r in asked if r.lead.record])
    rows = {
        request.key: row
        for request in asked
        if (row := by_record.get(request.key) or by_lead.get(request.lead.id))
    }
    people = users.find(session, {row.user_id for row in rows.values() if row.user_id})
    return {
        key: row
        for key, row in rows.items()
        if (row.pool_id or not pool_id)  # held without a pool, and now there is one
        and (row.user_id is None or people[row.user_id].active)
    }


def _current_by_record(
    session: Session, records: Iterable[Record]
) -> dict[Record | str, Assignment]:
    ids: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        ids[record.connection, record.object_type].append(record.id)
    found: dict[Record | str, Assignment] = {}
    for (connection, object_type), some in ids.items():
        rows = assignments.current_of_records(session, connection, object_type, some)
        found |= {row.record: row for row in rows.values() if row.record}
    return found


def _with_earlier_users(session: Session, requests: Sequence[Request]) -> list[Request]:
    asked = [request.lead for request in requests if not request.lead.anew]
    earlier = assignments.earlier_users(
        session, [lead.id for lead in asked], [lead.record for lead in asked if lead.record]
    )
    people = users.find(session, set(earlier.values()))
    found: list[Request] = []
    for request in requests:
        record = request.lead.record
        user_id = earlier.get(record.lead_id if record else request.lead.id)
        if user_id and not request.lead.anew:
            lead = replace(request.lead, earlier_user=people[user_id])
            request = replace(request, lead=lead)
        found.append(request)
    return found
