"""Decide leads of a pool and record it, in the caller's transaction.

The one way to an assignment: intake, the REST API and the release of held leads all come through
here. A lead that was decided before answers with that decision; held leads go first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from connector.engine.decide import advance, decide
from connector.engine.eligibility import refusal
from connector.engine.territories import default_route, route
from connector.errors import NotFound
from connector.model import (
    Assignment,
    Board,
    Decision,
    ExistingOwner,
    Lead,
    Outcome,
    Reason,
    Record,
    Route,
    Skip,
    SkipReason,
    Status,
    Territory,
    WriteBack,
)
from connector.store import assignments, outbox, pools, territories, users
from connector.store.database import Session
from connector.store.outbox import WantedOwner

HELD_AT_ONCE = 500  # rows in one look at the held queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One lead on its way to a pool. ``anew``: an earlier decision no longer stands."""

    lead: Lead
    route: Route
    anew: bool = False

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
    anew: frozenset[str] = frozenset(),
    lock_too: Sequence[str] = (),
) -> list[Assignment]:
    """Assign the leads in the pools that territories, else the default pool, name.

    A lead for which there is no pool is held without one.
    ``anew`` holds the ids of leads whose earlier decision no longer stands. ``lock_too`` names
    pools that the caller writes to afterwards: locked all at once, no two callers can deadlock.
    """
    rules = routing(session, default_pool)
    requests = [Request(lead=lead, route=rules.route(lead), anew=lead.id in anew) for lead in leads]
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


def release_held(session: Session, pool_id: str, *, now: datetime) -> list[Assignment]:
    """Assign held leads of the pool that somebody can take now, oldest first, at most a page."""
    return _release_page(session, _locked_board(session, pool_id), now)


def can_release(session: Session, pool_id: str) -> bool:
    """Is there a held lead that somebody could take now? Only looks."""
    board = pools.board(session, pool_id, lock=False)
    return board is not None and bool(_held_for(session, board, limit=1))


def route_held(session: Session, *, default_pool: str | None, now: datetime) -> list[Assignment]:
    """Bring leads that are held without a pool to the pool that takes them now, oldest first.

    At most a page; call it until nothing comes back.
    """
    rules = routing(session, default_pool)
    after = ""
    while held := assignments.poolless_held(session, after=after, limit=HELD_AT_ONCE):
        placed = [lead for row in held if rules.route(lead := lead_of(row)).pool_id]
        if placed:
            return assign_routed(session, placed, default_pool=default_pool, now=now)
        after = held[-1].id
    return []


def record(session: Session, decision: Decision, *, now: datetime) -> Assignment:
    """Record one ready-made decision, such as an owner whom somebody set in the CRM."""
    if decision.pool_id is None:
        return _write(session, None, [decision], now)[0]
    board = _locked_board(session, decision.pool_id)
    return _write(session, board, [decision], now)[0]


def write_again(session: Session, rows: Sequence[Assignment], *, now: datetime) -> None:
    """Queue the owner writes of assignments that the CRM lost: same user, no turn."""
    assignments.set_write_back(session, [row.id for row in rows], WriteBack.PENDING)
    _want_owners(session, [replace(row, write_back=WriteBack.PENDING) for row in rows], now)


def amend(session: Session, row: Assignment, refusal: Outcome, *, now: datetime) -> Assignment:
    """Decide an assignment again whose user the CRM refused: same id, same sequence, next user."""
    if row.pool_id is None or row.user_id is None:
        raise ValueError("only an assignment in a pool can pass to the next user")
    board = _locked_board(session, row.pool_id)
    words = refusal.message or refusal.code
    refused = Skip(user_id=row.user_id, reason=SkipReason.REFUSED_BY_CRM, detail=words)
    lead = replace(lead_of(row), excluded={row.user_id: refused.reason})
    decision = decide(lead, board, now, route=row.route)
    refusals = [refused, *(s for s in row.skipped if s.reason is SkipReason.REFUSED_BY_CRM)]
    known = {skip.user_id for skip in refusals}
    others = (skip for skip in decision.skipped if skip.user_id not in known)
    decision = replace(decision, skipped=(*refusals, *others))
    state = replace(advance(board, decision), last_sequence=board.last_sequence)
    pools.save_state(session, state)
    amended = assignments.amend(session, row.id, decision)
    _want_owners(session, [amended], now)
    return amended


def _in_pool(
    session: Session, pool_id: str, requests: Sequence[Request], now: datetime
) -> list[Assignment]:
    board = _locked_board(session, pool_id)
    while _release_page(session, board, now):
        board = _locked_board(session, pool_id)
    found = _standing(session, pool_id, requests)
    fresh = {request.key: request for request in reversed(requests) if request.key not in found}
    decisions: list[Decision] = []
    state = board
    for request in _with_earlier_users(session, list(fresh.values())[::-1]):
        decisions.append(decide(request.lead, state, now, route=request.route))
        state = advance(state, decisions[-1])
    rows = _write(session, board, decisions, now)
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
    rows = _write(session, None, decisions, now)
    found |= dict(zip(fresh, rows, strict=True))
    return [found[request.key] for request in requests]


def _release_page(session: Session, board: Board, now: datetime) -> list[Assignment]:
    """Decide the oldest held leads again. Those that still find nobody keep their row."""
    decisions: list[Decision] = []
    state = board
    for row in _held_for(session, board, limit=HELD_AT_ONCE):
        decision = decide(lead_of(row), state, now, route=row.route)
        if decision.status is not Status.HELD:
            decisions.append(decision)
            state = advance(state, decision)
    return _write(session, board, decisions, now)


def _held_for(session: Session, board: Board, *, limit: int) -> list[Assignment]:
    """Held leads, oldest first, of those connections whose leads somebody can take now."""
    able = _connections_served(board)
    return assignments.held(session, board.pool.id, connections=able, limit=limit) if able else []


def _connections_served(board: Board) -> frozenset[str | None]:
    """The connections whose leads somebody can take now; None stands for leads without a record."""
    everywhere = {name for member in board.pool.members for name in member.user.owners}
    probes: dict[str | None, Lead] = {None: Lead(id="probe")}
    for name in everywhere:
        probes[name] = Lead(id="probe", record=Record(connection=name, object_type="", id=""))
    return frozenset(
        name
        for name, probe in probes.items()
        if any(refusal(member, probe) is None for member in board.pool.members)
    )


def _standing(
    session: Session, pool_id: str | None, requests: Iterable[Request]
) -> dict[Record | str, Assignment]:
    """First answers that still hold: the lead's own in this pool, or its CRM record's in any."""
    asked = [request for request in requests if not request.anew]
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
    asked = [request.lead for request in requests if not request.anew]
    earlier = assignments.earlier_users(
        session, [lead.id for lead in asked], [lead.record for lead in asked if lead.record]
    )
    people = users.find(session, set(earlier.values()))
    found: list[Request] = []
    for request in requests:
        record = request.lead.record
        user_id = earlier.get(record.lead_id if record else request.lead.id)
        if user_id and not request.anew:
            lead = replace(request.lead, earlier_user=people[user_id])
            request = replace(request, lead=lead)
        found.append(request)
    return found


def _write(
    session: Session, board: Board | None, decisions: Sequence[Decision], now: datetime
) -> list[Assignment]:
    """Turns, history and owner writes of the decisions, which follow each other on the board."""
    if not decisions:
        return []
    first = board.last_sequence + 1 if board else None
    rows = assignments.record(session, decisions, first_sequence=first)
    if board:
        for decision in decisions:
            board = advance(board, decision)
        pools.save_state(session, board)
    _want_owners(session, rows, now)
    return rows


def _want_owners(session: Session, rows: Sequence[Assignment], now: datetime) -> None:
    """Queue the owner writes of the rows; a row without one takes back what was queued before."""
    writes = [row for row in rows if row.write_back is WriteBack.PENDING]
    others = [row.record for row in rows if row.record and row not in writes]
    outbox.withdraw(session, others, now)
    wanted = [
        WantedOwner(
            connection=row.record.connection,
            object_type=row.record.object_type,
            record_id=row.record.id,
            owner_id=row.owner_id,
            assignment_id=row.id,
        )
        for row in writes
        if row.record and row.owner_id
    ]
    outbox.add(session, wanted, now)


def _locked_board(session: Session, pool_id: str) -> Board:
    pools.lock(session, [pool_id])
    board = pools.board(session, pool_id, lock=True)
    if board is None:
        raise NotFound(
            f"There is no pool {pool_id!r}. GET /round-robin/pools lists them.",
            code="pool_not_found",
        )
    return board


def lead_of(row: Assignment, *, existing_owner: ExistingOwner | None = None) -> Lead:
    """The lead of a history row, with what was known of it then."""
    return Lead(
        id=row.lead_id,
        kind=row.kind,
        record=row.record,
        email=row.email,
        company=row.company,
        attributes=row.attributes,
        existing_owner=existing_owner,
    )
