"""Decide on locked boards and write it down: turns, history rows, owner writes. One commit or none.

A ``Round`` holds the boards of all pools that a transaction may decide in. Decisions are made on it
one after the other and written at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from connector.engine import bookings
from connector.engine.decide import decide
from connector.errors import unknown_pool
from connector.model import (
    Assignment,
    Board,
    Decision,
    GivenBack,
    Lead,
    NoneAvailable,
    Reason,
    Route,
    SkipReason,
    Slot,
    Status,
    User,
    WriteBack,
)
from connector.store import assignments, occupancy, outbox, pools
from connector.store.database import Session
from connector.store.facts import lead_of
from connector.store.outbox import WantedOwner

Place = tuple[str | None, int]  # where ``Round.write`` will have the row of a decision
Noted = tuple[Decision, Board | None]  # a decision and the board it was made on


class Made(NamedTuple):
    """A decision and how the board of its pool stands afterwards; None without a pool."""

    decision: Decision
    board: Board | None


@dataclass(slots=True, kw_only=True)
class Round:
    """The boards of one transaction, as they stand after each decision made so far."""

    session: Session
    now: datetime
    boards: dict[str, Board]
    _slots: Sequence[Slot] = ()  # when the meetings of this round take place
    _read: dict[str, Board] = field(default_factory=dict)  # as the database has them
    _noted: dict[str | None, list[Noted]] = field(default_factory=lambda: defaultdict(list))
    _opened: set[str] = field(default_factory=set)  # pools to which something came back
    _freed: set[str] = field(default_factory=set)  # users who have more room in all their pools

    def decide(self, lead: Lead, pool_id: str, route: Route) -> Made:
        """Who gets the lead in the pool, or in the pools it falls back to. Changes nothing."""
        first = Made(*decide(lead, self.boards[pool_id], self.now, route=route))
        # A lead that somebody gave back never leaves its pool.
        stays = SkipReason.EXCLUDED in lead.excluded.values()
        if first.decision.reason is not Reason.NO_MEMBER_AVAILABLE or stays:
            return first
        passed = [*route.passed, _nobody(self.boards[pool_id], first.decision)]
        handed_on = replace(lead, fallback_from=pool_id)
        others = list(self.fallbacks(pool_id))
        for other in others:
            there = replace(route, pool_id=other, passed=tuple(passed))
            made = Made(*decide(handed_on, self.boards[other], self.now, route=there))
            if made.decision.status is not Status.HELD:
                return made
            passed.append(_nobody(self.boards[other], made.decision))
        told = (*passed[len(route.passed) + 1 :], *self._closed_behind((pool_id, *others)))
        route = replace(route, passed=(*route.passed, *told))
        return Made(replace(first.decision, route=route), first.board)

    def note(self, made: Made) -> Place:
        """Let a decision be: the board moves on, and ``write`` has the row at this place."""
        decision, pool_id = made.decision, made.decision.pool_id
        if pool_id and made.board:
            self._noted[pool_id].append((decision, self.boards[pool_id]))
            self.boards[pool_id] = made.board
            self._tell_other_pools(decision)
        else:
            self._noted[None].append((decision, None))
        if decision.gives_back and pool_id:
            self._came_back(pool_id, decision.gives_back, decision.lead)
        return pool_id, len(self._noted[pool_id]) - 1

    def include(self, people: Iterable[User]) -> None:
        """Read what the leads depend on that go to users who are no members of these pools.

        That is how much of their own quotas they have used, and their meetings.
        """
        people = list(people)
        limited = {user.id for user in people if user.daily_quota is not None}
        guests = {user.id for user in people} if self._slots else limited
        if not guests:
            return
        pools.lock_users(self.session, guests)
        for pool_id, board in self.boards.items():
            known = occupancy.with_takings(self.session, board, self.now, also=limited)
            known = occupancy.with_meetings(self.session, known, self._slots, also=guests)
            self.boards[pool_id] = replace(  # what this round booked is newer
                board,
                takings={**known.takings, **board.takings},
                elsewhere={**known.elsewhere, **board.elsewhere},
                meetings={**known.meetings, **board.meetings},
            )

    def take_back(self, pool_id: str, given: GivenBack, lead: Lead, *, owe: bool = True) -> None:
        """Let an earlier assignment return its turn and its quota to the pool."""
        board = self.boards[pool_id]
        self.boards[pool_id] = bookings.take_back(board, given, lead, self.now, owe=owe)
        self._came_back(pool_id, given, lead)

    def write(self) -> dict[Place, Assignment]:
        """Write what was noted since the last time, and how the boards stand now."""
        rows: dict[Place, Assignment] = {}
        for pool_id, noted in self._noted.items():
            written = assignments.record(
                self.session,
                [decision for decision, _ in noted],
                boards=[board for _, board in noted if board],
                first_sequence=self._read[pool_id].last_sequence + 1 if pool_id else None,
            )
            rows |= {(pool_id, place): row for place, row in enumerate(written)}
        for pool_id, board in self.boards.items():
            if board != self._read[pool_id]:
                pools.save(self.session, self._read[pool_id], board)
        opened = self._opened | pools.of_users(self.session, self._freed)
        for pool_id in sorted(opened):  # what came back may serve a lead that waits
            pools.set_opening(self.session, pool_id, self.now)
        want_owners(self.session, list(rows.values()), self.now)
        self._read = dict(self.boards)
        self._noted.clear()
        self._opened.clear()
        self._freed.clear()
        return rows

    def fallbacks(self, pool_id: str) -> Iterator[str]:
        """The pools that a lead falls back to, one after the other."""
        seen = {pool_id}
        while True:
            policies = self.boards[pool_id].pool.policies
            following = policies.fallback_pool_id
            if policies.none_available is not NoneAvailable.FALLBACK or not following:
                return
            if following in seen or following not in self.boards:
                return
            if self.boards[following].pool.archived_at:
                return
            seen.add(following)
            yield following
            pool_id = following

    def _closed_behind(self, chain: Sequence[str]) -> tuple[str, ...]:
        """A sentence for an archived pool to which the last of these pools would fall back."""
        following = self.boards[chain[-1]].pool.policies.fallback_pool_id
        board = self.boards.get(following or "")
        if board is None or not board.pool.archived_at:
            return ()
        return (f"{board.pool.name}: the pool is archived",)

    def _came_back(self, pool_id: str, given: GivenBack, lead: Lead) -> None:
        """Note where leads may wait for what an assignment returned."""
        self._opened.add(pool_id)
        members = self.boards[pool_id].pool.members
        limited = {one.user.id for one in members if one.user.daily_quota is not None}
        if given.user_id and (lead.slot or given.user_id in limited):
            self._freed.add(given.user_id)

    def _tell_other_pools(self, decision: Decision) -> None:
        """A user's own quota and meetings hold in all pools."""
        user = decision.user
        if user is None:
            return
        for pool_id, board in self.boards.items():
            if pool_id == decision.pool_id:
                continue
            if decision.counted and user.daily_quota is not None:
                times = (*board.elsewhere.get(user.id, ()), self.now)
                board = replace(board, elsewhere={**board.elsewhere, user.id: times})
            if decision.lead.slot:
                slots = (*board.meetings.get(user.id, ()), decision.lead.slot)
                board = replace(board, meetings={**board.meetings, user.id: slots})
            self.boards[pool_id] = board


def open_round(
    session: Session, pool_ids: Iterable[str], *, now: datetime, slots: Sequence[Slot] = ()
) -> Round:
    """Lock the pools, those they fall back to and those that fall back to them, and read them.

    Nobody else decides there until the commit. Raises ``NotFound`` for an unknown pool.
    """
    wanted = sorted(set(pool_ids))
    family = sorted(pools.family(session, wanted) | set(wanted))
    pools.lock(session, family)
    boards = _boards(session, family, wanted, now)
    times = [*slots, *assignments.held_slots(session, family)]
    shared = {
        member.user.id
        for board in boards.values()
        for member in board.pool.members
        if times or member.user.daily_quota is not None
    }
    pools.lock_users(session, shared)
    return _round(session, boards, times, now)


def look(session: Session, pool_id: str, *, now: datetime) -> Round:
    """The same without any lock, only to try decisions on. Raises like ``open_round``."""
    family = sorted(pools.family(session, [pool_id]) | {pool_id})
    return _round(session, _boards(session, family, [pool_id], now), [], now)


def _boards(
    session: Session, pool_ids: Sequence[str], wanted: Sequence[str], now: datetime
) -> dict[str, Board]:
    boards: dict[str, Board] = {}
    for pool_id in pool_ids:
        board = pools.board(session, pool_id, now=now)
        if board:
            boards[pool_id] = board
        elif pool_id in wanted:
            raise unknown_pool(pool_id)
    return boards


def _round(
    session: Session, boards: dict[str, Board], times: Sequence[Slot], now: datetime
) -> Round:
    for pool_id, board in boards.items():
        board = occupancy.with_takings(session, board, now)
        boards[pool_id] = occupancy.with_meetings(session, board, times)
    return Round(session=session, now=now, boards=boards, _slots=times, _read=dict(boards))


def want_owners(
    session: Session,
    rows: Sequence[Assignment],
    now: datetime,
    *,
    rewritten: Collection[str] = (),
) -> None:
    """Queue the owner writes of the rows; a row without one takes back what was queued before.

    ``rewritten`` are the ids of those that the CRM lost.
    """
    silent = [row for row in rows if row.write_back is not WriteBack.PENDING]
    outbox.withdraw(session, [row.record for row in silent if row.record], now)
    wanted = [
        WantedOwner(
            connection=row.record.connection,
            object_type=row.record.object_type,
            record_id=row.record.id,
            owner_id=row.owner_id,
            replaces=lead_of(row).replaces,
            assignment_id=row.id,
            rewritten=row.id in rewritten,
        )
        for row in rows
        if row.record and row.owner_id and row.write_back is WriteBack.PENDING
    ]
    outbox.add(session, wanted, now)


def _nobody(board: Board, decision: Decision) -> str:
    """Why a pool passed the lead on, for those who look at the route."""
    why = ", ".join(f"{skip.user_id} {skip.reason}" for skip in decision.skipped[:10])
    return f"{board.pool.name}: {why or decision.reason}"
