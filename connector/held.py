"""Leads that nobody could take: assigned by themselves, oldest first, once somebody can."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from connector import sticky
from connector.engine.decide import decide
from connector.engine.eligibility import refusal
from connector.engine.quotas import pool_full
from connector.model import Assignment, Board, Lead, Record, Route, Status
from connector.recording import Round, open_round
from connector.store import assignments, pools
from connector.store.database import Session
from connector.store.facts import lead_of

AT_ONCE = 500  # leads in one look at the queue


def release_due(session: Session, pool_id: str, *, now: datetime) -> int:
    """Assign the held leads of a pool whose opening is due; how many there were."""
    opened = open_round(session, [pool_id], now=now)
    released = release(opened)
    note_opening(opened, [pool_id])
    return released


def release(opened: Round) -> int:
    """Assign the held leads of the round's pools that somebody can take now, oldest first.

    Each that goes out is a new row; those that still find nobody keep theirs.
    """
    waiting = assignments.pools_with_held(opened.session, list(opened.boards))
    released = sum(_release_pool(opened, pool_id) for pool_id in waiting)
    if waiting:
        note_opening(opened, waiting)
    return released


def note_opening(opened: Round, pool_ids: Collection[str]) -> None:
    """Note when it is worth looking at these pools' held leads again; never if there are none."""
    waiting = assignments.pools_with_held(opened.session, list(pool_ids))
    for pool_id in pool_ids:
        at = _next_opening(opened, pool_id) if pool_id in waiting else None
        pools.set_opening(opened.session, pool_id, at)


def _next_opening(opened: Round, pool_id: str) -> datetime | None:
    """When somebody who cannot take leads now may; None: no clock brings that."""
    moments: list[datetime] = []
    for board in _boards(opened, pool_id):
        full = pool_full(board, opened.now)
        if full and full[1]:
            moments.append(full[1])
        for member in board.pool.members:
            skip = refusal(member, Lead(id="probe"), board, opened.now)
            if skip and skip.until:
                moments.append(skip.until)
    return min(moments, default=None)


def _release_pool(opened: Round, pool_id: str) -> int:
    released = 0
    after = 0
    while page := _page(opened, pool_id, after):
        leads = [lead_of(row) for row in page]
        known = sticky.look_up(opened.session, leads)
        for row, lead in zip(page, leads, strict=True):
            route = row.route or Route(pool_id=pool_id)
            made = opened.decide(known.complete(lead), pool_id, route)
            if made.decision.status is not Status.HELD:
                opened.note(made)
                known.note(made.decision)
                released += 1
        opened.write()
        after = page[-1].sequence or 0
    return released


def _page(opened: Round, pool_id: str, after: int) -> list[Assignment]:
    """Held leads, oldest first: meetings, and of the others those whom somebody can take now."""
    able = {
        connection
        for board in _boards(opened, pool_id)
        for connection in _connections_served(board, opened.now)
    }
    return assignments.held(
        opened.session, pool_id, connections=able, after_sequence=after, limit=AT_ONCE
    )


def _boards(opened: Round, pool_id: str) -> list[Board]:
    """The pool and those it falls back to."""
    return [opened.boards[one] for one in (pool_id, *opened.fallbacks(pool_id))]


def _connections_served(board: Board, now: datetime) -> frozenset[str | None]:
    """The connections whose leads somebody can take now; None stands for leads without a record."""
    people = [member.user for member in board.pool.members]
    fallback = board.fallback_user
    names = {name for user in people for name in user.owners} | set(
        fallback.owners if fallback else ()
    )
    probes: dict[str | None, Lead] = {None: Lead(id="probe")}
    for name in names:
        probes[name] = Lead(id="probe", record=Record(connection=name, object_type="", id=""))
    return frozenset(
        name
        for name, probe in probes.items()
        if decide(probe, board, now)[0].status is not Status.HELD
    )
