"""A pool's history without a database: rows as the store would keep them, and what follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from connector.engine import bookings, returns, rotation
from connector.engine.decide import decide
from connector.engine.replay import Tape, Told
from connector.model import (
    Assignment,
    Board,
    Decision,
    ExistingOwner,
    GivenBack,
    Lead,
    ManualPolicy,
    RejectPolicy,
    Skip,
    SkipReason,
    Status,
    User,
    WriteBack,
)
from tests.builders import NOON

# What a row has from its decision under the same name.
_SAME = (
    *("pool_id", "status", "reason", "sticky_step", "turn", "counted", "stands_in_for", "actor"),
    *("note", "skipped", "checks", "order", "order_after", "route", "gives_back"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One call of a ``Tape``: its method and arguments."""

    name: str
    row: Assignment | None = None
    told: Told | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def play(self, tape: Tape) -> None:
        arguments = [one for one in (self.row, self.told) if one is not None]
        getattr(tape, self.name)(*arguments, **self.more)


@dataclass(slots=True)
class History:
    """A pool that is worked with; each step is noted so that it can be played again."""

    board: Board
    now: datetime = NOON
    rows: list[Assignment] = field(default_factory=list)  # as they stand now
    told: dict[str, Told] = field(default_factory=dict)  # row id -> what its decision was given
    events: list[Event] = field(default_factory=list)
    begins: Board = field(init=False)

    def __post_init__(self) -> None:
        self.begins = self.board

    @property
    def last(self) -> Assignment:
        return self.rows[-1]

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def assign(self, lead: Lead) -> Assignment:
        return self._note(*decide(lead, self.board, self.now))

    def reject(self, row: Assignment) -> Assignment:
        lead = self._freed(row)
        if row.user_id:
            lead = replace(lead, excluded={**lead.excluded, row.user_id: SkipReason.EXCLUDED})
        credit = self.board.pool.policies.reject is RejectPolicy.CREDIT
        given = given_back(row, turn=credit)
        made = returns.to_the_next(
            lead, self.board, self.now, given=given, status=Status.REJECTED, route=row.route
        )
        return self._note(*made)

    def move(self, row: Assignment, user: User | None) -> Assignment:
        moves = self.board.pool.policies.manual is ManualPolicy.MOVE
        carried = None if moves else row.turn
        made = returns.to_user(
            self._freed(row),
            self.board,
            self.now,
            user=user,
            given=given_back(row, turn=moves),
            carried=carried,
            route=row.route,
        )
        return self._note(*made, carried=row.turn)

    def undo(self, row: Assignment, owner: ExistingOwner | None = None) -> Assignment:
        """Undone; or with an owner whom the CRM shows: kept."""
        made = returns.to_nobody(
            replace(self._freed(row), existing_owner=owner),
            self.board,
            self.now,
            given=given_back(row, turn=True),
            status=Status.KEPT if owner else Status.UNDONE,
            route=row.route,
        )
        return self._note(*made)

    def refuse(self, row: Assignment) -> Assignment:
        """The CRM refuses the row's user: the next one gets the lead, in the same row."""
        known = tuple(one for one in row.skipped if one.reason is SkipReason.REFUSED_BY_CRM)
        skip = Skip(user_id=row.user_id or "", reason=SkipReason.REFUSED_BY_CRM, detail="no")
        given, refused = given_back(row, turn=True), (*known, skip)
        lead = self.told[row.id].lead
        decision, self.board = returns.amend(
            lead, self.board, self.now, row=row, given=given, refused=refused
        )
        after = replace(
            row_of(decision, row.sequence),
            assigned_at=row.assigned_at,
            lead_id=row.lead_id,
        )
        more = {"before": row, "given": given, "refused": refused, "at": self.now}
        event = Event(name="amended", row=after, told=self.told[row.id], more=more)
        self.events.append(event)
        self.told[row.id] = replace(self.told[row.id], lead=decision.lead)
        self.rows[self.rows.index(row)] = after
        return after

    def give_back(self, row: Assignment) -> None:
        """The row's record is gone: its turn and quota come back, and no decision follows."""
        given = given_back(row, turn=True)
        self.board = bookings.take_back(self.board, given, Lead(id=""), self.now)
        self.events.append(Event(name="returned", more={"given": given, "at": self.now}))
        place = self.rows.index(row)
        self.rows[place] = replace(row, counted=False, turn=None, current=False)

    def edit(self, after: Board) -> None:
        """Pool, members or users were changed; ``after`` has the old standings."""
        self.board = rotation.reseat(self.board, after, self.now)
        self.events.append(Event(name="edited", more={"after": after, "at": self.now}))

    def _freed(self, row: Assignment) -> Lead:
        lead = self.told[row.id].lead
        return replace(lead, preferred=None, existing_owner=None, candidates=())

    def _note(self, decision: Decision, board: Board, **more: Any) -> Assignment:
        row = row_of(decision, board.last_sequence)
        told = Told(
            lead=decision.lead,
            elsewhere=self.board.elsewhere,
            meetings=self.board.meetings,
            gives_back=decision.gives_back,
            **more,
        )
        if decision.gives_back:
            self.rows = [
                replace(one, current=False) if one.id == decision.gives_back.assignment_id else one
                for one in self.rows
            ]
        self.board = board
        self.told[row.id] = told
        self.rows.append(row)
        self.events.append(Event(name="decided", row=row, told=told))
        return row


def play(begins: Board, events: Iterable[Event]) -> Board:
    """The board that the events make of it. Raises ``Differs``."""
    tape = Tape(begins)
    for event in events:
        event.play(tape)
    return tape.board


def given_back(row: Assignment, *, turn: bool) -> GivenBack:
    return GivenBack(
        assignment_id=row.id,
        user_id=row.user_id,
        turn=row.turn if turn else None,
        counted_at=row.assigned_at if row.counted else None,
    )


def row_of(decision: Decision, sequence: int | None) -> Assignment:
    """The decision as a history row of that sequence, which is its id too."""
    same = {name: getattr(decision, name) for name in _SAME}
    lead = decision.lead
    return Assignment(
        id=f"row {sequence}",
        sequence=sequence,
        lead_id=lead.id,
        kind=lead.kind,
        user_id=decision.user.id if decision.user else None,
        user_name=decision.user.name if decision.user else None,
        assigned_at=decision.decided_at,
        record=lead.record,
        email=lead.email,
        company=lead.company,
        attributes=lead.attributes,
        slot=lead.slot,
        owner_id=None,
        current=True,
        write_back=WriteBack.NONE,
        facts={},
        **same,
    )
