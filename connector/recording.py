"""Write decisions down: turn, history row and owner write, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from connector.engine.decide import advance, decide
from connector.errors import unknown_pool
from connector.model import (
    Assignment,
    Board,
    Decision,
    ExistingOwner,
    Lead,
    Skip,
    SkipReason,
    Status,
    WriteBack,
)
from connector.store import assignments, outbox, pools
from connector.store.database import Session
from connector.store.outbox import WantedOwner


def locked_board(session: Session, pool_id: str) -> Board:
    """All that a decision of the pool depends on; nobody else decides there until the commit.

    Raises ``NotFound`` for an unknown pool.
    """
    pools.lock(session, [pool_id])
    board = pools.board(session, pool_id, lock=True)
    if board is None:
        raise unknown_pool(pool_id)
    return board


def write(
    session: Session, board: Board | None, decisions: Sequence[Decision], now: datetime
) -> list[Assignment]:
    """Turns, history and owner writes of the decisions, which follow each other on the board."""
    if not decisions:
        return []
    first = board.last_sequence + 1 if board else None
    rows = assignments.record(session, decisions, first_sequence=first)
    if board:
        for decision in decisions:
            board = advance(board, decision)
        pools.save_state(session, board)
    _want_owners(session, rows, now)
    return rows


def record(session: Session, decision: Decision, *, now: datetime) -> Assignment:
    """Record one ready-made decision, such as an owner whom somebody set in the CRM."""
    if decision.pool_id is None:
        return write(session, None, [decision], now)[0]
    board = locked_board(session, decision.pool_id)
    return write(session, board, [decision], now)[0]


def write_again(session: Session, rows: Sequence[Assignment], *, now: datetime) -> None:
    """Queue the owner writes of assignments that the CRM lost: same user, no turn."""
    assignments.set_write_back(session, [row.id for row in rows], WriteBack.PENDING)
    _want_owners(session, [replace(row, write_back=WriteBack.PENDING) for row in rows], now)


def pass_on(
    session: Session, row: Assignment, passed: Skip, *, now: datetime, may_hold: bool = True
) -> bool:
    """Give an assignment whose user cannot have it to the next one: same id, same sequence.

    Nobody else can take it: it is held, unless that may not be; then nothing changes, and False.
    """
    if row.pool_id is None:
        raise ValueError("only an assignment in a pool can pass to the next user")
    board = locked_board(session, row.pool_id)
    known = [s for s in row.skipped if s.reason is SkipReason.REFUSED_BY_CRM] + [passed]
    excluded = {skip.user_id: skip.reason for skip in known}
    decision = decide(replace(lead_of(row), excluded=excluded), board, now, route=row.route)
    others = (skip for skip in decision.skipped if skip.user_id not in excluded)
    decision = replace(decision, skipped=(*known, *others))
    if decision.status is Status.HELD and not may_hold:
        return False
    state = replace(advance(board, decision), last_sequence=board.last_sequence)
    pools.save_state(session, state)
    _want_owners(session, [assignments.amend(session, row.id, decision)], now)
    return True


def lead_of(row: Assignment, *, existing_owner: ExistingOwner | None = None) -> Lead:
    """The lead of a history row, with what was known of it then."""
    return Lead(
        id=row.lead_id,
        kind=row.kind,
        record=row.record,
        email=row.email,
        company=row.company,
        attributes=row.attributes,
        existing_owner=existing_owner,
    )


def _want_owners(session: Session, rows: Sequence[Assignment], now: datetime) -> None:
    """Queue the owner writes of the rows; a row without one takes back what was queued before."""
    silent = [row for row in rows if row.write_back is not WriteBack.PENDING]
    outbox.withdraw(session, [row.record for row in silent if row.record], now)
    wanted = [
        WantedOwner(
            connection=row.record.connection,
            object_type=row.record.object_type,
            record_id=row.record.id,
            owner_id=row.owner_id,
            assignment_id=row.id,
        )
        for row in rows
        if row.record and row.owner_id and row.write_back is WriteBack.PENDING
    ]
    outbox.add(session, wanted, now)
