"""Whose turn it is.

Strict rotation is a cursor: the member who was assigned last. The turn is whoever comes next by
position, and wraps. So the place survives edits of the others, and a member appended at the end is
asked at the end of the round.
"""

from __future__ import annotations

from dataclasses import replace

from connector.model import Board, Member


def order(board: Board) -> tuple[Member, ...]:
    """All members, the one whose turn is next first."""
    members = board.pool.members
    last = next((m.position for m in members if m.id == board.last_assigned_member_id), 0)
    behind = tuple(member for member in members if member.position > last)
    return behind + members[: len(members) - len(behind)]


def pay_owed_turn(board: Board, member_id: int) -> Board:
    """The board with one turn fewer owed to the member. The rotation keeps its place."""
    members = tuple(
        replace(member, owed=member.owed - 1) if member.id == member_id else member
        for member in board.pool.members
    )
    return replace(board, pool=replace(board.pool, members=members))
