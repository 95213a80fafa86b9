"""Fewest first: whoever has the fewest leads in the period, then who has waited longest.

Under ``return: level`` a member who is new or was away enters at the level of the others: with
their lowest count, and behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from connector.engine.periods import period_start
from connector.engine.standings import restand, restand_one, standing_of
from connector.model import Board, Member, ReturnPolicy, Skip, SkipReason, Standing, Turn

_AWAY = frozenset({SkipReason.ABSENT, SkipReason.AWAY, SkipReason.HOLIDAY, SkipReason.INACTIVE})


def order(board: Board, able: Collection[int], now: datetime) -> tuple[Member, ...]:
    """All members: the able ones, next first; then the others by the same rule."""
    places = {
        one.id: (one.id not in able, one.standing.in_period, one.standing.last_turn, one.position)
        for one in _entered(_current(board, now), able).pool.members
    }
    return tuple(sorted(board.pool.members, key=lambda one: places[one.id]))


def serve(
    board: Board, winner: Member, able: Collection[int], skips: Mapping[int, Skip], now: datetime
) -> Board:
    """Count the lead, and note who was away."""
    board = _entered(_current(board, now), able)
    left = {
        one.id: replace(one.standing, away=True)
        for one in board.pool.members
        if one.id in skips and skips[one.id].reason in _AWAY
    }
    return count(restand(board, left), winner.id, now)


def count(board: Board, member_id: int, now: datetime) -> Board:
    """Count one lead more in the period."""
    board = _current(board, now)
    return restand_one(board, member_id, in_period=standing_of(board, member_id).in_period + 1)


def uncount(board: Board, turn: Turn, now: datetime) -> Board:
    """Count the lead no longer, if its turn was in this period, and put the member first in ties.

    So whoever gave a lead back is next, as they were before it.
    """
    board = _current(board, now)
    counted = standing_of(board, turn.member_id).in_period
    if counted == 0 or (board.period_start and turn.at < board.period_start):
        return board
    return restand_one(board, turn.member_id, in_period=counted - 1, last_turn=0)


def let_in(before: Board, after: Board, now: datetime) -> Board:
    """Let newcomers enter like members who were away. A new zone does not clear the counts."""
    there = {member.id for member in before.pool.members}
    new = {one.id: Standing(away=True) for one in after.pool.members if one.id not in there}
    after = restand(after, new)
    if before.pool.period is after.pool.period and before.period_start == _start(before, now):
        return replace(after, period_start=_start(after, now))
    return after


def _start(board: Board, now: datetime) -> datetime | None:
    return period_start(board.pool.period, now, ZoneInfo(board.pool.time_zone or "UTC"))


def _current(board: Board, now: datetime) -> Board:
    """Return the board as it counts now: when a period has begun, everyone starts at 0."""
    start = _start(board, now)
    if start == board.period_start:
        return board
    zero = {one.id: replace(one.standing, in_period=0) for one in board.pool.members}
    return replace(restand(board, zero), period_start=start)


def _entered(board: Board, able: Collection[int]) -> Board:
    """Return the board with the able members who were away back in, at the level of the others."""
    here = [one for one in board.pool.members if one.id in able]
    back = [one for one in here if one.standing.away]
    level = min((one.standing.in_period for one in here if not one.standing.away), default=0)
    if board.pool.policies.returning is ReturnPolicy.NONE:
        return restand(board, {one.id: replace(one.standing, away=False) for one in back})
    return restand(
        board,
        {
            one.id: replace(
                one.standing,
                away=False,
                in_period=max(one.standing.in_period, level),
                last_turn=board.last_sequence,
            )
            for one in back
        },
    )
