"""Strict rotation: exactly in order, from just behind the member who was last.

A turn that is owed is served before the rotation and does not move its place. A member who had a
turn in advance (``owed`` is below 0) is passed over, once for each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from connector.engine.standings import restand, restand_one, standing_of
from connector.model import Board, Member, Policies, Skip, SkipPolicy, SkipReason


def order(board: Board, able: Collection[int]) -> tuple[Member, ...]:
    """All members: the able ones, next first; then the others as the rotation comes to them."""
    return tuple(
        sorted(_round(board), key=lambda one: (one.id not in able, max(-1, -one.standing.owed)))
    )


def passed_over(board: Board, winner: Member, able: Collection[int]) -> tuple[Skip, ...]:
    """Return those who can take the winner's lead but had this turn in advance."""
    passes = _passes(board, winner)
    return tuple(
        Skip(user_id=one.user.id, reason=SkipReason.TURN_USED, detail="had this turn in advance")
        for one in _round(board)
        if one.id in able and one.id != winner.id and passes[one.id]
    )


def serve(board: Board, winner: Member, able: Collection[int], skips: Mapping[int, Skip]) -> Board:
    """Serve an owed turn; else note what it means for those whom the rotation passes over."""
    if winner.standing.owed > 0:
        return owe(board, winner.id, -1)
    passes = _passes(board, winner)
    most = _most_kept(board.pool.policies)
    standings = {}
    for one in board.pool.members:
        owed = one.standing.owed
        if one.id in able:
            owed += passes[one.id]
        elif 0 < most > owed and one.id in skips and _is_kept(skips[one.id]):
            owed = min(most, owed + passes[one.id])
        if owed != one.standing.owed:
            standings[one.id] = replace(one.standing, owed=owed)
    return restand(board, standings)


def owe(board: Board, member_id: int, turns: int) -> Board:
    """Owe the member more turns; fewer, when negative."""
    return restand_one(board, member_id, owed=standing_of(board, member_id).owed + turns)


def _round(board: Board) -> tuple[Member, ...]:
    """Return all members, from just behind the one who was last."""
    members = board.pool.members
    last = next((m.position for m in members if m.id == board.last_assigned_member_id), 0)
    behind = tuple(member for member in members if member.position > last)
    return behind + members[: len(members) - len(behind)]


def _passes(board: Board, winner: Member) -> dict[int, int]:
    """Count how often the rotation passes over each member until the winner's turn.

    It goes round once for each turn that the winner had in advance. An owed turn passes over
    nobody.
    """
    if winner.standing.owed > 0:
        return dict.fromkeys((one.id for one in board.pool.members), 0)
    rounds = -winner.standing.owed
    ids = [one.id for one in _round(board)]
    ahead = ids.index(winner.id)
    return {member_id: rounds + (place < ahead) for place, member_id in enumerate(ids)}


def _is_kept(skip: Skip) -> bool:
    """Say whether a turn may be kept for someone who is skipped for this reason.

    A full quota, a pause or weight 0 owes nobody anything.
    """
    return skip.reason in {
        SkipReason.ABSENT,
        SkipReason.AWAY,
        SkipReason.BUSY,
        SkipReason.HOLIDAY,
        SkipReason.OUTSIDE_HOURS,
    }


def _most_kept(policies: Policies) -> int:
    match policies.skip:
        case SkipPolicy.LOSE:
            return 0
        case SkipPolicy.HOLD:
            return 1
        case SkipPolicy.ACCRUE:
            return policies.accrue_max
