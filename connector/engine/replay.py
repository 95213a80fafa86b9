"""Play a pool's history again: the same functions must come to the same decisions and board.

A ``Tape`` takes what happened one by one, in order. What it cannot agree with it says in a sentence
that names the sequence, and then the audit of that pool ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connector.engine import bookings, returns, rotation
from connector.engine.decide import decide
from connector.model import (
    Assignment,
    Board,
    Decision,
    GivenBack,
    Lead,
    Reason,
    Skip,
    Slot,
    Status,
    Turn,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a recorded decision was given besides the board."""

    lead: Lead
    elsewhere: Mapping[str, tuple[datetime, ...]]
    meetings: Mapping[str, tuple[Slot, ...]]
    gives_back: GivenBack | None = None
    carried: Turn | None = None  # of the assignment that came back, where its turn stays used


_COMPARED = (
    "status",
    "reason",
    "turn",
    "sticky_step",
    "stands_in_for",
    "skipped",
    "checks",
    "order",
    "order_after",
)


class Differs(Exception):
    """The history says one thing, the rules another. The message tells both."""


@dataclass(slots=True)
class Tape:
    """The board of a pool as its history makes it, step by step."""

    board: Board

    def decided(self, row: Assignment, told: Told) -> None:
        """A decision was recorded. Raises ``Differs`` when the rules say otherwise."""
        expected = self.board.last_sequence + 1
        if row.sequence != expected:
            raise Differs(f"the decision with sequence {expected} is missing")
        decision, after = _decide(row, told, self._with(told))
        _compare(row, decision)
        self._keep(after)

    def amended(
        self,
        row: Assignment,
        told: Told,
        *,
        before: Assignment,
        given: GivenBack,
        refused: tuple[Skip, ...],
        at: datetime,
    ) -> None:
        """The row took the place of how it was ``before``. Raises ``Differs``."""
        decision, after = returns.amend(
            told.lead, self._with(told), at, row=before, given=given, refused=refused
        )
        _compare(row, decision)
        self._keep(after)

    def returned(self, given: GivenBack, at: datetime) -> None:
        """A turn came back outside of a decision."""
        self.board = bookings.take_back(self.board, given, Lead(id=""), at)

    def edited(self, after: Board, at: datetime) -> None:
        """Pool, members or users were changed; ``after`` has the old standings and counts."""
        self.board = rotation.reseat(self.board, after, at)

    def _with(self, told: Told) -> Board:
        return replace(self.board, elsewhere=told.elsewhere, meetings=told.meetings)

    def _keep(self, board: Board) -> None:
        self.board = replace(board, elsewhere={}, meetings={})


def _decide(row: Assignment, told: Told, board: Board) -> tuple[Decision, Board]:
    """Decide again by the way that the row shows was taken."""
    lead, given, at = told.lead, told.gives_back, row.assigned_at
    if given is None:
        return decide(lead, board, at, route=row.route)
    if row.status in (Status.UNDONE, Status.KEPT):
        return returns.to_nobody(lead, board, at, given=given, status=row.status, route=row.route)
    if row.reason is Reason.MANUAL:
        return returns.to_user(
            lead,
            board,
            at,
            user=lead.preferred,
            given=given,
            carried=told.carried,
            route=row.route,
        )
    return returns.to_the_next(lead, board, at, given=given, status=row.status, route=row.route)


def _compare(row: Assignment, decision: Decision) -> None:
    user_id = decision.user.id if decision.user else None
    for name, recorded, computed in (
        ("user", row.user_id, user_id),
        *((name, getattr(row, name), getattr(decision, name)) for name in _COMPARED),
    ):
        if recorded != computed:
            raise Differs(
                f"sequence {row.sequence}: {name} is recorded as {_said(recorded)}, "
                f"the rules say {_said(computed)}"
            )


def _said(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
