"""Whose turn it is, and what a turn costs.

The strategies differ in whom they put first. Under all of them a turn is counted in the member's
standing and in the ledger of fair shares. All functions are pure. The board's last sequence is
moved by the decision, not here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connector.engine import least_assigned, ledger, strict, weighted
from connector.engine.standings import restand, restand_one
from connector.model import Board, Member, Skip, Standing, Strategy, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Who gets a lead by turn, and the board afterwards."""

    member: Member  # as before the pick
    owed: bool  # a turn that came back or was kept, served before the rotation
    turn: Turn
    board: Board
    passed: tuple[Skip, ...]  # who can take the lead, but had this turn in advance


def order(board: Board, able: Collection[int], now: datetime) -> tuple[Member, ...]:
    """All members, the one who would get the next lead first.

    ``able`` are the ids of those who can take it. They come first, the others behind them.
    """
    match board.pool.strategy:
        case Strategy.STRICT:
            return strict.order(board, able)
        case Strategy.WEIGHTED:
            return weighted.order(board, able)
        case Strategy.LEAST_ASSIGNED:
            return least_assigned.order(board, able, now)


def take(board: Board, able: Collection[int], skips: Mapping[int, Skip], now: datetime) -> Pick:
    """Give one lead by turn to one of the able members, of whom there is at least one.

    ``skips`` says by member id why the others cannot take it.
    """
    member = order(board, able, now)[0]
    owed = member.standing.owed > 0
    passed: tuple[Skip, ...] = ()
    match board.pool.strategy:
        case Strategy.STRICT:
            passed = strict.passed_over(board, member, able)
            after = strict.serve(board, member, able, skips)
        case Strategy.WEIGHTED:
            after = board
        case Strategy.LEAST_ASSIGNED:
            after = least_assigned.serve(board, member, able, skips, now)
    if not owed:
        after = replace(after, last_assigned_member_id=member.id)
    turn, after = _charge(after, member, ledger.shares_of(board, able), now)
    return Pick(member=member, owed=owed, turn=turn, board=after, passed=passed)


def charge(board: Board, member_id: int, now: datetime) -> tuple[Turn, Board]:
    """Charge a turn to a member who got a lead by other ways. The rotation keeps its place."""
    member = next(one for one in board.pool.members if one.id == member_id)
    match board.pool.strategy:
        case Strategy.STRICT:
            board = strict.owe(board, member_id, -1)
        case Strategy.WEIGHTED:
            pass
        case Strategy.LEAST_ASSIGNED:
            board = least_assigned.count(board, member_id, now)
    return _charge(board, member, ledger.latest_shares(board), now)


def give_back(board: Board, turn: Turn, now: datetime, *, owe: bool = True) -> Board:
    """Undo what a turn cost, since its lead came back. Nothing when the member has left.

    With ``owe=False`` the member is not owed a turn under ``strict``; all else comes back.
    """
    member = next((one for one in board.pool.members if one.id == turn.member_id), None)
    if member is None:
        return board
    # A turn from before leads were counted may come back, too.
    board = restand_one(board, member.id, received=max(0, member.standing.received - 1))
    match board.pool.strategy:
        case Strategy.STRICT:
            board = strict.owe(board, member.id, 1) if owe else board
        case Strategy.WEIGHTED:
            pass
        case Strategy.LEAST_ASSIGNED:
            board = least_assigned.uncount(board, turn, now)
    return ledger.take_back(board, turn)


def reseat(before: Board, after: Board, now: datetime) -> Board:
    """Seat the members again after an edit. Whose turn it is among the others does not change.

    ``after`` has the new configuration, and the old standings of those who stay. A new strategy
    starts even: only what was received before stays known.
    """
    after = replace(after, last_assigned_member_id=_last_who_stays(before, after))
    if before.pool.strategy is not after.pool.strategy:
        return _start_even(after)
    after = ledger.part_with_leavers(before, after)
    if after.pool.strategy is Strategy.LEAST_ASSIGNED:
        return least_assigned.let_in(before, after, now)
    return after


def _charge(
    board: Board, member: Member, shares: Mapping[int, int], now: datetime
) -> tuple[Turn, Board]:
    """Count the next turn of the board as the member's, its lead shared like this."""
    turn = Turn(
        member_id=member.id,
        user_id=member.user.id,
        sequence=board.last_sequence + 1,
        at=now,
        shares=shares,
    )
    received, last = member.standing.received + 1, max(member.standing.last_turn, turn.sequence)
    board = restand_one(board, member.id, received=received, last_turn=last)
    return turn, ledger.book(ledger.share_among(board, shares), member.id)


def _start_even(board: Board) -> Board:
    standings = {
        one.id: Standing(received=one.standing.received, last_turn=one.standing.last_turn)
        for one in board.pool.members
    }
    return replace(restand(board, standings), turns=0, period_start=None)


def _last_who_stays(before: Board, after: Board) -> int | None:
    """Find behind whom the rotation goes on: the last one, else the nearest ahead who stays.

    None lets it start anew.
    """
    stay = {member.id for member in after.pool.members}
    nearest = None
    for member in before.pool.members:
        if member.id in stay:
            nearest = member.id
        if member.id == before.last_assigned_member_id:
            return nearest
    return None
