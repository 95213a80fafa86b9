"""Small pools for the rotation alone: who is there, who can take the next lead, who gets it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from connector.engine import rotation
from connector.model import Board, Member, Policies, Pool, Skip, SkipReason, Strategy
from tests.builders import NOON, user


def board_of(strategy: Strategy, weights: Mapping[str, int], **changes: Any) -> Board:
    """``board_of(Strategy.WEIGHTED, {"A": 3, "B": 1}, skip=SkipPolicy.HOLD)``."""
    of_pool = {name: changes.pop(name) for name in ("period", "time_zone") if name in changes}
    members = tuple(
        Member(id=place, user=user(name), position=place, weight=weight)
        for place, (name, weight) in enumerate(weights.items(), 1)
    )
    pool = Pool(
        id="pool",
        name="Pool",
        strategy=strategy,
        created_at=NOON,
        members=members,
        policies=Policies(**changes),
        **of_pool,
    )
    return Board(pool=pool)


def member_of(board: Board, name: str) -> Member:
    return next(one for one in board.pool.members if one.user.id == name)


def take(
    board: Board,
    away: Collection[str] = "",
    *,
    reason: SkipReason = SkipReason.ABSENT,
    now: datetime = NOON,
) -> rotation.Pick:
    """The next lead by turn, while those ``away`` are skipped for the reason."""
    skips = {
        one.id: Skip(user_id=one.user.id, reason=reason)
        for one in board.pool.members
        if one.user.id in away
    }
    able = {one.id for one in board.pool.members if one.weight} - set(skips)
    pick = rotation.take(board, able, skips, now)
    return replace(pick, board=replace(pick.board, last_sequence=board.last_sequence + 1))


def deal(
    board: Board, leads: int, away: Collection[str] = "", **changes: Any
) -> tuple[list[str], Board]:
    """Who gets so many leads in a row, and the board after them."""
    names = []
    for _ in range(leads):
        pick = take(board, away, **changes)
        names.append(pick.member.user.id)
        board = pick.board
    return names, board


def word(board: Board, leads: int, away: Collection[str] = "", **changes: Any) -> str:
    return "".join(deal(board, leads, away, **changes)[0])
