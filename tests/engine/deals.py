"""Small pools for the rotation alone: who is there, who can take the next lead, who gets it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from connector.engine import ledger, rotation
from connector.model import Board, Member, Policies, Pool, Skip, SkipReason, Strategy
from tests.builders import NOON, user


def pool_of(strategy: Strategy, who: str | Mapping[str, int], **changes: Any) -> Board:
    """``pool_of(Strategy.WEIGHTED, {"A": 3, "B": 1})`` or ``pool_of(Strategy.STRICT, "ABC")``.

    The rest are fields of the pool and its policies.
    """
    weights = who if isinstance(who, Mapping) else dict.fromkeys(who, 1)
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


def standing_as(board: Board, **standings: Mapping[str, Any]) -> Board:
    """The board with ``A={"in_period": 3}`` in the standing of A."""
    members = tuple(
        replace(one, standing=replace(one.standing, **standings.get(one.user.id, {})))
        for one in board.pool.members
    )
    return replace(board, pool=replace(board.pool, members=members))


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
    return replace(pick, board=counted(pick.board))


def counted(board: Board) -> Board:
    """The board after a decision has used its number."""
    return replace(board, last_sequence=board.last_sequence + 1)


def deal(board: Board, leads: int, away: Collection[str] = "", **changes: Any) -> tuple[str, Board]:
    """Who gets so many leads in a row, as a word, and the board after them."""
    names = []
    for _ in range(leads):
        pick = take(board, away, **changes)
        names.append(pick.member.user.id)
        board = pick.board
    return "".join(names), board


def charge(board: Board, name: str, now: datetime = NOON) -> Board:
    """The board after the user got a lead by other ways."""
    return counted(rotation.charge(board, member_of(board, name).id, now)[1])


def edit(board: Board, *, remove: str = "", order: str = "", now: datetime = NOON, **changes: Any):
    """The board after an edit of the pool.

    ``order`` names all who are in it then; unknown names join. ``A={"weight": 3}`` changes A; other
    changes are of the pool.
    """
    there = {one.user.id: one for one in board.pool.members if one.user.id not in remove}
    of_members = {
        name: changes.pop(name) for name in list(changes) if isinstance(changes[name], dict)
    }
    of_pool = {name: value for name, value in changes.items() if name not in of_members}
    newest = max((one.id for one in board.pool.members), default=0) + 1
    members = []
    for place, name in enumerate(order or there, 1):
        one = there.get(name) or Member(id=newest + place, user=user(name), position=place)
        members.append(replace(one, position=place, **of_members.get(name, {})))
    pool = replace(board.pool, members=tuple(members), **of_pool)
    return rotation.reseat(board, replace(board, pool=pool), now)


def balances(board: Board) -> dict[str, float]:
    """Fair share minus received, by user id."""
    exact = ledger.balances(board)
    return {one.user.id: float(exact[one.id]) for one in board.pool.members}
