"""Leads that nobody could take: assigned by themselves, oldest first, once somebody can."""

from __future__ import annotations

from datetime import datetime

from connector import recording
from connector.engine.decide import advance, decide
from connector.engine.eligibility import refusal
from connector.model import Assignment, Board, Decision, Lead, Record, Status
from connector.store import assignments, pools
from connector.store.database import Session

AT_ONCE = 500  # leads in one look at the queue


def can_release(session: Session, pool_id: str) -> bool:
    """Is there a held lead that somebody could take now? Only looks."""
    board = pools.board(session, pool_id, lock=False)
    return board is not None and bool(_waiting(session, board, limit=1))


def release(session: Session, board: Board, *, now: datetime) -> list[Assignment]:
    """Assign the held leads of a locked board that somebody can take now, at most ``AT_ONCE``.

    Each that goes out is a new row; those that still find nobody keep theirs.
    """
    decisions: list[Decision] = []
    state = board
    for row in _waiting(session, board, limit=AT_ONCE):
        decision = decide(recording.lead_of(row), state, now, route=row.route)
        if decision.status is not Status.HELD:
            decisions.append(decision)
            state = advance(state, decision)
    return recording.write(session, board, decisions, now)


def _waiting(session: Session, board: Board, *, limit: int) -> list[Assignment]:
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
