"""Boards whose members stand differently in the rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from connector.model import Board, Standing


def restand(board: Board, standings: Mapping[int, Standing]) -> Board:
    """Return the board with new standings for the members with these ids; the rest keep theirs."""
    if not standings:
        return board
    members = tuple(
        replace(member, standing=standings[member.id]) if member.id in standings else member
        for member in board.pool.members
    )
    return replace(board, pool=replace(board.pool, members=members))


def restand_one(board: Board, member_id: int, **changes: Any) -> Board:
    """Return the board with some fields of one member's standing changed."""
    standing = standing_of(board, member_id)
    return restand(board, {member_id: replace(standing, **changes)})


def standing_of(board: Board, member_id: int) -> Standing:
    """Return how a member of the board stands."""
    return next(one.standing for one in board.pool.members if one.id == member_id)
