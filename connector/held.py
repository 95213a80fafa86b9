"""Leads that nobody could take: assigned by themselves, oldest first, once somebody can."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice

from connector import sticky
from connector.engine.decide import decide
from connector.engine.eligibility import refusal
from connector.engine.quotas import pool_full, quota_reached
from connector.model import Assignment, Board, Decision, Lead, Record, Route, Status
from connector.model.keys import keys
from connector.recording import Made, Round, open_round
from connector.sticky import Known
from connector.store import assignments, pools
from connector.store.database import Session

AT_ONCE = 500  # leads in one look at the queue


def release_due(session: Session, pool_id: str, *, now: datetime) -> int:
    """Assign the held leads of a pool whose opening is due; how many there were."""
    opened = open_round(session, [pool_id], now=now)
    return release(opened, look_again=[pool_id])


def release(opened: Round, *, look_again: Iterable[str] = (), like: Sequence[Lead] = ()) -> int:
    """Assign the held leads of the round's pools that somebody can take now, oldest first.

    Each that goes out is a new row; those that still find nobody keep theirs. The next opening is
    noted for the pools where leads waited, and for those of ``look_again``. Whoever has a person
    gets their leads even when away: so those of the same people as ``like`` are looked at anyway.
    """
    waiting = assignments.pools_with_held(opened.session, list(opened.boards))
    released = 0
    after = dict.fromkeys(waiting, 0)
    while page := _page(opened, after, like):
        leads = [sticky.lead_again(row) for row in page]
        known = sticky.look_up(opened.session, leads)
        wished = [lead.preferred for lead in leads if lead.preferred]
        opened.include([*known.people.values(), *wished])
        for row, lead in zip(page, leads, strict=True):
            pool_id = _pool_of(row)
            made = opened.decide(known.complete(lead), pool_id, row.route or Route(pool_id=pool_id))
            if made.decision.status is not Status.HELD:
                opened.note(made)
                known.note(made.decision)
                released += 1
            after[pool_id] = row.sequence or 0
        opened.write()
    note_opening(opened, {*waiting, *look_again})
    return released


def note_opening(opened: Round, pool_ids: Collection[str]) -> None:
    """Note when it is worth looking at these pools' held leads again; never if there are none."""
    if not pool_ids:
        return
    waiting = assignments.pools_with_held(opened.session, list(pool_ids))
    for pool_id in sorted(pool_ids):
        at = min(_openings(opened, pool_id), default=None) if pool_id in waiting else None
        pools.set_opening(opened.session, pool_id, at)


def _openings(opened: Round, pool_id: str) -> Iterator[datetime]:
    """The moments at which somebody who cannot take leads now may; none: no clock brings that."""
    meetings = assignments.held_slots(opened.session, [pool_id])
    for board in _boards(opened, pool_id):
        full = pool_full(board, opened.now)
        if full and full[1]:
            yield full[1]
        for member in board.pool.members:
            skip = refusal(member, Lead(id="probe"), board, opened.now)
            if skip and skip.until:
                yield skip.until
            # Whoever is away now may be there when a meeting takes place.
            limit = quota_reached(member, board, opened.now) if meetings else None
            if limit and limit.until:
                yield limit.until


def kin(opened: Round, leads: Sequence[Lead]) -> list[Assignment]:
    """Held leads of the same people or companies as these, oldest first."""
    if not any(keys(lead.email, lead.company) for lead in leads):
        return []
    waiting = assignments.pools_with_held(opened.session, list(opened.boards))
    queues = [
        assignments.held(
            opened.session, one, connections=(), after_sequence=0, limit=AT_ONCE, like=leads
        )
        for one in waiting
    ]
    return list(merge(*queues, key=lambda row: row.assigned_at))


def follow(
    opened: Round, known: Known, waiting: list[Assignment], decision: Decision
) -> Iterator[Made]:
    """Held leads of ``kin`` that now go to whoever just got one of theirs; they wait no longer."""
    theirs = keys(decision.lead.email, decision.lead.company)
    for row in [row for row in waiting if theirs & keys(row.email, row.company)]:
        pool_id = _pool_of(row)
        lead = known.complete(sticky.lead_again(row))
        made = opened.decide(lead, pool_id, row.route or Route(pool_id=pool_id))
        if made.decision.status is not Status.HELD:
            waiting.remove(row)
            yield made


def _page(opened: Round, after: dict[str, int], like: Sequence[Lead]) -> list[Assignment]:
    """The next held leads of these pools behind the sequence of each, oldest first.

    Meetings, those of the same people as ``like``, and of the others those whom somebody can take
    now.
    """
    queues = [
        assignments.held(
            opened.session,
            pool_id,
            connections=_served(opened, pool_id),
            after_sequence=sequence,
            limit=AT_ONCE,
            like=like,
        )
        for pool_id, sequence in after.items()
    ]
    return list(islice(merge(*queues, key=lambda row: row.assigned_at), AT_ONCE))


def _pool_of(row: Assignment) -> str:
    if row.pool_id is None:
        raise ValueError("a lead waits in a pool here")
    return row.pool_id


def _boards(opened: Round, pool_id: str) -> list[Board]:
    """The pool and those it falls back to."""
    return [opened.boards[one] for one in (pool_id, *opened.fallbacks(pool_id))]


def _served(opened: Round, pool_id: str) -> frozenset[str | None]:
    """The connections whose leads somebody can take now; None stands for leads without a record."""
    found: set[str | None] = set()
    for board in _boards(opened, pool_id):
        people = [member.user for member in board.pool.members]
        if board.fallback_user:
            people.append(board.fallback_user)
        for name in {None, *(name for user in people for name in user.owners)} - found:
            record = Record(connection=name, object_type="", id="") if name else None
            decision, _ = decide(Lead(id="probe", record=record), board, opened.now)
            if decision.status is not Status.HELD:
                found.add(name)
    return frozenset(found)
