"""How evenly a pool shared its leads: since its members joined, and over a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from connector.engine import ledger
from connector.model import Assignment, Board, Member, Reason, Turn

# These leads go to whoever is next in turn. Any other lead makes nobody wait.
_BY_ROTATION = frozenset({Reason.FALLBACK, Reason.OWED, Reason.ROTATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a member had of the pool's leads by turn since joining."""

    fair_share: Fraction  # of the leads that they could take
    received: int  # without those that came back
    balance: Fraction  # fair share minus received


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReport:
    """What a member had of the pool's leads by turn in a time, in leads."""

    user_id: str
    received: int = 0  # without those that came back
    fair_share: float = 0.0  # of the leads that they could take
    balance: float = 0.0  # fair share minus received
    longest_wait: int = 0  # most leads in a row that they could have taken and others got
    worst_distance: float = 0.0  # the largest balance, either way, at any moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How evenly the leads of a time were shared."""

    members: tuple[MemberReport, ...]  # those of the pool by position, then those who left
    leads: int  # by turn, without those that came back
    worst_distance: float  # of any member


def standings(board: Board) -> dict[str, Share]:
    """Say for each member of the board, by user id, how they stand against their fair share."""
    balances = ledger.balances(board)
    return {
        one.user.id: Share(
            fair_share=balances[one.id] + one.standing.received,
            received=one.standing.received,
            balance=balances[one.id],
        )
        for one in board.pool.members
    }


def report(
    rows: Iterable[Assignment], members: Sequence[Member], *, returned: Collection[int] = ()
) -> Report:
    """Say how evenly the rows' leads by turn were shared. Reads the rows once, oldest first.

    ``members`` are those of the pool now. ``returned`` are the sequences of rows whose turn came
    back without a later row that says so. Who could not take leads was owed none: an absence is
    not unfair.
    """
    tallies = {member.id: _Tally(member.user.id) for member in members}
    for row in rows:
        if row.gives_back and row.gives_back.turn:
            _count(tallies, row.gives_back.turn, -1)
        # A turn of another sequence is an earlier one that goes on standing behind the lead.
        if row.turn and row.turn.sequence == row.sequence and row.sequence not in returned:
            _count(tallies, row.turn, 1)
            if row.reason in _BY_ROTATION:
                _wait(tallies, row.turn)
    reports = tuple(tally.report() for tally in tallies.values() if tally.user_id)
    return Report(
        members=reports,
        leads=sum(one.received for one in reports),
        worst_distance=max((one.worst_distance for one in reports), default=0.0),
    )


@dataclass(slots=True)
class _Tally:
    """What is known of one member so far."""

    user_id: str | None = None  # None: has left, and had no lead yet that would tell the user
    received: int = 0
    fair_share: float = 0.0
    waiting: int = 0
    longest_wait: int = 0
    worst_distance: float = 0.0

    def report(self) -> MemberReport:
        return MemberReport(
            user_id=self.user_id or "",
            received=self.received,
            fair_share=self.fair_share,
            balance=self.fair_share - self.received,
            longest_wait=self.longest_wait,
            worst_distance=self.worst_distance,
        )


def _count(tallies: dict[int, _Tally], turn: Turn, leads: int) -> None:
    """Count a lead, or count it no longer, for the one who got it and for all who shared it."""
    winner = tallies.setdefault(turn.member_id, _Tally())
    winner.user_id = turn.user_id
    winner.received += leads
    total = sum(turn.shares.values())
    for member_id, weight in turn.shares.items():
        tally = tallies.setdefault(member_id, _Tally())
        tally.fair_share += leads * weight / total
    for member_id in {turn.member_id, *turn.shares}:
        tally = tallies[member_id]
        distance = abs(tally.fair_share - tally.received)
        tally.worst_distance = max(tally.worst_distance, distance)


def _wait(tallies: dict[int, _Tally], turn: Turn) -> None:
    """Let all wait who could have taken the lead, but for the one who got it."""
    for member_id in turn.shares:
        tally = tallies[member_id]
        tally.waiting = 0 if member_id == turn.member_id else tally.waiting + 1
        tally.longest_wait = max(tally.longest_wait, tally.waiting)
