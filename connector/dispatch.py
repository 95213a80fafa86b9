"""Decide leads and record it, in the caller's transaction: the one way to an assignment.

Intake and the REST API both come through here. A lead that was decided before answers with that
decision; held leads go first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from connector import held, recording, routing, sticky
from connector.errors import Conflict
from connector.model import (
    Assignment,
    Decision,
    Lead,
    NoneAvailable,
    Reason,
    Record,
    Route,
    Skip,
    Status,
    User,
)
from connector.recording import Made, Place, Round
from connector.sticky import Known
from connector.store import assignments, pools, users
from connector.store.database import Session
from connector.store.facts import lead_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One lead on its way to a pool."""

    lead: Lead
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A lead that nobody could take, in a pool that holds none. Nothing is recorded."""

    lead: Lead
    pool_id: str
    reason: Reason
    skipped: tuple[Skip, ...]
    decided_at: datetime


def assign(
    session: Session,
    pool_id: str,
    leads: Sequence[Lead],
    *,
    now: datetime,
    actor: str | None = None,
) -> list[Assignment | Refused]:
    """Assign the leads in the pool, in order: the same as one after the other by itself.

    Raises ``NotFound`` for an unknown pool, ``Conflict`` (``pool_archived``) for an archived one.
    """
    wanted = [Request(lead=lead, route=Route(pool_id=pool_id)) for lead in leads]
    opened = _open(session, wanted, now)
    pool = opened.boards[pool_id].pool
    if pool.archived_at:
        raise Conflict(f"Pool {pool.name} is archived; it takes no leads.", code="pool_archived")
    return _decide_all(opened, wanted, may_refuse=True, actor=actor)


def assign_routed(
    session: Session,
    leads: Sequence[Lead],
    *,
    default_pool: str | None,
    now: datetime,
    actor: str | None = None,
    lock_too: Sequence[str] = (),
    may_refuse: bool = False,
) -> list[Assignment | Refused]:
    """Assign the leads in the pools that territories, else the default pool, name.

    A lead for which there is no pool is held without one. A pool that refuses leads holds them
    unless ``may_refuse``: an event of a CRM has no caller who could be told. ``lock_too`` names
    pools that the caller writes to afterwards: locked all at once, no two callers can deadlock.
    """
    rules = routing.read(session, default_pool)
    bound = routing.bound(session, leads)
    requests = [Request(lead=lead, route=bound.get(lead.id) or rules.route(lead)) for lead in leads]
    opened = _open(session, requests, now, lock_too)
    return _decide_all(opened, requests, may_refuse=may_refuse, actor=actor)


def route_held(session: Session, *, default_pool: str | None, now: datetime) -> int:
    """Bring leads that are held without a pool to the pool that takes them now, oldest first.

    At most a page; call it until it brings none.
    """
    rules = routing.read(session, default_pool)
    after = ""
    while waiting := assignments.poolless_held(session, after=after, limit=held.AT_ONCE):
        placed = [row for row in waiting if rules.route(lead_of(row)).pool_id]
        if placed:
            leads = [lead_of(row) for row in placed]
            assign_routed(session, leads, default_pool=default_pool, now=now)
            assignments.leave(session, [row.id for row in placed])
            return len(placed)
        after = waiting[-1].id
    return 0


def leave_pool(session: Session, pool_id: str, *, default_pool: str | None, now: datetime) -> None:
    """Bring the held leads of an archived pool to where leads like them go now."""
    while waiting := assignments.held(
        session, pool_id, connections=None, after_sequence=0, limit=held.AT_ONCE
    ):
        assignments.leave(session, [row.id for row in waiting])
        leads = [sticky.lead_again(row) for row in waiting]
        assign_routed(session, leads, default_pool=default_pool, now=now)


def next_users(session: Session, pool_id: str, count: int, *, now: datetime) -> list[User | None]:
    """Who would get the next ``count`` leads now; None where nobody could. Changes nothing.

    Raises like ``assign``.
    """
    opened = recording.look(session, pool_id, now=now)
    pool = opened.boards[pool_id].pool
    if pool.archived_at:
        raise Conflict(f"Pool {pool.name} is archived; it takes no leads.", code="pool_archived")
    plain = Lead(id="the next lead")
    found: list[User | None] = []
    for _ in range(count):
        made = opened.decide(plain, pool_id, Route(pool_id=pool_id))
        opened.note(made)  # and never written
        found.append(made.decision.user)
    return found


def _open(
    session: Session, requests: Sequence[Request], now: datetime, lock_too: Sequence[str] = ()
) -> Round:
    pool_ids = {request.route.pool_id for request in requests if request.route.pool_id}
    slots = [request.lead.slot for request in requests if request.lead.slot]
    opened = recording.open_round(session, {*pool_ids, *lock_too}, now=now, slots=slots)
    held.release(opened, like=[request.lead for request in requests])
    pools.lock_records(session, [r.lead.record for r in requests if r.lead.record])
    return opened


def _decide_all(
    opened: Round, requests: Sequence[Request], *, may_refuse: bool, actor: str | None
) -> list[Assignment | Refused]:
    """Decide one after the other, write at once, and answer in order."""
    answers = _standing(opened, requests)
    leads = [request.lead for request in requests]
    waiting = held.kin(opened, leads)
    known = sticky.look_up(opened.session, [*leads, *map(lead_of, waiting)])
    asked_for = [request.lead.preferred for request in requests if request.lead.preferred]
    opened.include([*known.people.values(), *asked_for])
    found: list[Assignment | Refused | Place] = []

    def note(made: Made) -> Place:
        place = opened.note(made)
        known.note(made.decision)
        answers.keep(made.decision, place)
        return place

    for request in requests:
        stands = answers.find(request, opened)
        if stands and not request.lead.again:
            found.append(stands)
            continue
        outcome = _decide(opened, request, known, may_refuse)
        if stands and _still_waits(outcome):
            found.append(stands)  # and keeps its place in the queue
            continue
        if isinstance(outcome, Refused):
            found.append(outcome)
            continue
        found.append(note(Made(replace(outcome.decision, actor=actor), outcome.board)))
        for made in held.follow(opened, known, waiting, outcome.decision):
            note(made)
    rows = opened.write()
    of_held = {row.pool_id for row in rows.values() if row.status is Status.HELD and row.pool_id}
    held.note_opening(opened, of_held)
    return [rows[one] if isinstance(one, tuple) else one for one in found]


def _still_waits(outcome: Made | Refused) -> bool:
    return isinstance(outcome, Refused) or outcome.decision.status is Status.HELD


def _decide(opened: Round, request: Request, known: Known, may_refuse: bool) -> Made | Refused:
    lead = known.complete(request.lead)
    pool_id = request.route.pool_id
    if pool_id is None:
        waiting = Decision(
            lead=lead,
            pool_id=None,
            status=Status.HELD,
            reason=request.route.reason or Reason.NO_POOL,
            decided_at=opened.now,
            route=request.route,
        )
        return Made(waiting, None)
    made = opened.decide(lead, pool_id, request.route)
    policies = opened.boards[pool_id].pool.policies
    refuses = may_refuse and policies.none_available is NoneAvailable.REFUSE
    # A full pool holds its leads for the next day, whatever happens to those that nobody can take.
    if made.decision.reason is not Reason.NO_MEMBER_AVAILABLE or not refuses:
        return made
    return Refused(
        lead=lead,
        pool_id=pool_id,
        reason=made.decision.reason,
        skipped=made.decision.skipped,
        decided_at=opened.now,
    )


@dataclass(slots=True, kw_only=True)
class _Answers:
    """First answers that still hold: a lead's own in its pool, or its CRM record's in any."""

    by_lead: dict[tuple[str | None, str], Assignment | Place] = field(default_factory=dict)
    by_record: dict[Record, Assignment | Place] = field(default_factory=dict)

    def find(self, request: Request, opened: Round) -> Assignment | Place | None:
        """What was decided of the lead before, in its pool or those it falls back to."""
        lead, pool_id = request.lead, request.route.pool_id
        if lead.record and lead.record in self.by_record:
            return self.by_record[lead.record]
        chain = (pool_id, *opened.fallbacks(pool_id)) if pool_id else (None,)
        return next(
            (self.by_lead[one, lead.id] for one in chain if (one, lead.id) in self.by_lead), None
        )

    def keep(self, decision: Decision, place: Place) -> None:
        """Let the next request for the same lead get the same answer."""
        self.by_lead[decision.pool_id, decision.lead.id] = place
        if decision.lead.record:
            self.by_record[decision.lead.record] = place


def _standing(opened: Round, requests: Iterable[Request]) -> _Answers:
    asked = [request for request in requests if not request.lead.anew]
    lead_ids = [request.lead.id for request in asked]
    places: set[str | None] = {*opened.boards, *(None for r in asked if r.route.pool_id is None)}
    rows = [
        row
        for pool_id in places
        for row in assignments.current_of_leads(opened.session, pool_id, lead_ids).values()
    ]
    of_records = _current_of_records(
        opened.session, [r.lead.record for r in asked if r.lead.record]
    )
    people = users.find(
        opened.session, {row.user_id for row in (*rows, *of_records) if row.user_id}
    )

    def stands(row: Assignment) -> bool:
        return row.status is not Status.UNDONE and (
            row.user_id is None or people[row.user_id].active
        )

    answers = _Answers()
    answers.by_lead = {(row.pool_id, row.lead_id): row for row in rows if stands(row)}
    with_pool = {request.lead.record for request in asked if request.route.pool_id}
    answers.by_record = {
        row.record: row
        for row in of_records
        # Held without a pool, and now there is one: that row does not stand.
        if row.record and stands(row) and (row.pool_id or row.record not in with_pool)
    }
    return answers


def _current_of_records(session: Session, records: Iterable[Record]) -> list[Assignment]:
    ids: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        ids[record.connection, record.object_type].append(record.id)
    return [
        row
        for (connection, object_type), some in ids.items()
        for row in assignments.current_of_records(session, connection, object_type, some).values()
    ]
