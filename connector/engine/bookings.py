"""What a decision leaves on the board besides the turn: its place in quotas and meetings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from connector.engine import rotation
from connector.model import Board, Decision, GivenBack, Lead, Slot

REMEMBERED = timedelta(hours=26)  # no quota looks back further: a day may have 25 hours


def book(board: Board, decision: Decision, *, at: datetime) -> Board:
    """The board with the decision's lead in the quotas and meetings of its user."""
    user = decision.user
    if user is None:
        return board
    if decision.counted:
        board = replace(board, takings=_with(board.takings, user.id, at))
    if decision.lead.slot:
        slots = (*board.meetings.get(user.id, ()), decision.lead.slot)
        board = replace(board, meetings={**board.meetings, user.id: slots})
    return board


def take_back(
    board: Board, given: GivenBack, lead: Lead, now: datetime, *, owe: bool = True
) -> Board:
    """The board after an earlier assignment of the lead returned its turn and its quota.

    ``owe=False``: under ``strict`` the turn is over all the same.
    """
    if given.turn:
        board = rotation.give_back(board, given.turn, now, owe=owe)
    if given.user_id is None:
        return board
    if given.counted_at:
        moments = list(board.takings.get(given.user_id, ()))
        if given.counted_at in moments:
            moments.remove(given.counted_at)
        board = replace(board, takings={**board.takings, given.user_id: tuple(moments)})
    if lead.slot:
        return replace(board, meetings=_without(board.meetings, given.user_id, lead.slot))
    return board


def _with(
    takings: Mapping[str, tuple[datetime, ...]], user_id: str, at: datetime
) -> dict[str, tuple[datetime, ...]]:
    recent = [moment for moment in takings.get(user_id, ()) if moment > at - REMEMBERED]
    return {**takings, user_id: tuple(sorted([*recent, at]))}


def _without(
    meetings: Mapping[str, tuple[Slot, ...]], user_id: str, slot: Slot
) -> dict[str, tuple[Slot, ...]]:
    slots = list(meetings.get(user_id, ()))
    if slot in slots:
        slots.remove(slot)
    return {**meetings, user_id: tuple(slots)}
