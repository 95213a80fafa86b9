"""The CRM has its own view of an assignment: another owner, a refusal, a record that is gone.

An owner of the CRM is a new history row; a user whom it refuses is replaced under the same id and
sequence; a turn that nobody got anything for goes back.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from connector import held
from connector.changes import freed, given_back, move, to_nobody, write
from connector.engine import returns
from connector.model import (
    Assignment,
    EntryKind,
    ExistingOwner,
    Skip,
    SkipReason,
    Status,
)
from connector.recording import open_round, want_owners
from connector.store import assignments, images, journal
from connector.store.assignment_rows import outcome
from connector.store.database import Session
from connector.store.facts import lead_of


def follow(session: Session, row: Assignment, owner: ExistingOwner, *, now: datetime) -> None:
    """Somebody set another owner in the CRM: history, turn and quota follow.

    Nothing when a newer row speaks for the lead meanwhile: it will find the owner there.
    """
    opened = open_round(session, [row.pool_id] if row.pool_id else [], now=now)
    standing = assignments.get(session, row.id)  # as it is under the lock
    if standing is None or not standing.current:
        return
    row = standing
    lead = replace(freed(row), existing_owner=owner)
    move(opened, row, lead, owner.user, None, "the owner was set in the CRM")


def keep(session: Session, row: Assignment, owner: ExistingOwner, *, now: datetime) -> Assignment:
    """An owner appeared in the CRM before ours was written: it stays, our turn goes back."""
    opened = open_round(session, [row.pool_id] if row.pool_id else [], now=now)
    lead = replace(freed(row), existing_owner=owner)
    return write(opened, to_nobody(opened, row, lead, Status.KEPT), None, None)


def close(session: Session, row: Assignment, why: str, *, now: datetime) -> None:
    """The record is no more: nobody has or awaits the lead; turn and quota go back, once."""
    opened = open_round(session, [row.pool_id] if row.pool_id else [], now=now)
    standing = assignments.get(session, row.id)  # as it is under the lock
    if standing and standing.current and standing.status is not Status.UNDONE:
        lead = freed(standing)
        write(opened, to_nobody(opened, standing, lead, Status.UNDONE), None, why)


def return_turn(session: Session, row: Assignment, *, now: datetime) -> None:
    """Nobody got anything for this turn, since its record is gone: turn and quota go back, once."""
    pool_id = row.pool_id
    if pool_id is None:
        return
    opened = open_round(session, [pool_id], now=now)
    row = assignments.get(session, row.id) or row  # as it is under the lock
    given = given_back(row, turn=True)
    if not row.current or not (given.turn or given.counted_at):
        return
    opened.take_back(pool_id, given, lead_of(row))
    assignments.uncount(session, [row.id])
    journal.add(
        session,
        pool_id,
        kind=EntryKind.RETURNED,
        after_sequence=opened.boards[pool_id].last_sequence,
        at=now,
        actor=None,
        body={"sequence": row.sequence, "given": images.given_back(given)},
    )
    opened.write()


def pass_on(
    session: Session, row: Assignment, passed: Skip, *, now: datetime, may_hold: bool = True
) -> bool:
    """Give an assignment whose user cannot have it to the next one: same id, same sequence.

    Nobody else can take it: it is held, unless that may not be; then nothing changes, and False.
    """
    if row.pool_id is None or row.sequence is None:
        raise ValueError("only an assignment in a pool can pass to the next user")
    opened = open_round(session, [row.pool_id], now=now)
    before = opened.boards[row.pool_id]
    known = tuple(skip for skip in row.skipped if skip.reason is SkipReason.REFUSED_BY_CRM)
    decision, after = returns.amend(
        lead_of(row),
        before,
        now,
        row=row,
        given=given_back(row, turn=True),
        refused=(*known, passed),
    )
    if decision.status is Status.HELD and not may_hold:
        return False
    opened.boards[row.pool_id] = after
    journal.add(
        session,
        row.pool_id,
        kind=EntryKind.AMENDED,
        after_sequence=before.last_sequence,
        at=now,
        actor=None,
        body={
            "sequence": row.sequence,
            "refused": images.skips((*known, passed)),
            "was": outcome(row),
        },
    )
    amended = assignments.amend(session, row.id, decision, board=before)
    opened.write()
    want_owners(session, [amended], now)
    if decision.status is Status.HELD:
        held.note_opening(opened, [row.pool_id])
    return True
