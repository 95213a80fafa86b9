"""What became of a batch of owner writes is recorded: turns, users and records follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from connector import edits, setbacks, verdicts
from connector.errors import CrmError
from connector.model import Assignment, ExistingOwner, LeadEvent, Record, Skip, SkipReason
from connector.ports import GONE, CrmRecord, Outcome, Result
from connector.store import assignments, inbox, outbox, pools, users
from connector.store.database import Session
from connector.store.outbox import OutboxItem

# Users whom one record may turn down before it is a dead letter, and who are inactive by its word.
MOST_REFUSALS = {Result.REFUSED_OWNER: 1, Result.INACTIVE_OWNER: 5}
MOST_CREDIBLE = 2


@dataclass(slots=True, kw_only=True)
class Settled:
    """How each owner write of a batch ended, and whether the connection must pause."""

    done: list[OutboxItem] = field(default_factory=list)
    kept: list[tuple[OutboxItem, CrmRecord]] = field(default_factory=list)
    refused: list[tuple[OutboxItem, Outcome]] = field(default_factory=list)
    never: list[tuple[OutboxItem, Outcome]] = field(default_factory=list)
    again: list[tuple[OutboxItem, Outcome]] = field(default_factory=list)
    closed: list[tuple[OutboxItem, Outcome]] = field(default_factory=list)  # no permission
    untried: list[OutboxItem] = field(default_factory=list)
    moved: list[tuple[OutboxItem, LeadEvent]] = field(default_factory=list)  # and what that tells
    leavers: list[OutboxItem] = field(default_factory=list)  # their user was switched off meanwhile
    pause: CrmError | None = None
    reads_people: bool = False  # what the CRM's directory says of a user may change with it


def record(
    session: Session, connection: str, settled: Settled, *, now: datetime, chance: float
) -> None:
    """Put down how each write ended, in the transaction that gives the claim back."""
    rows = _lock(session, settled)
    for item, outcome in settled.never:
        row = rows.get(item.assignment_id)
        if row and outcome.code == GONE:
            verdicts.return_turn(session, row, now=now)
    _follow(session, connection, settled.moved, now)
    outbox.settle_done(session, settled.done, now)
    outbox.kill(session, {i: (o.code or "refused", o.message) for i, o in settled.never}, now)
    outbox.give_back(session, settled.untried)
    setbacks.postpone_writes(session, settled.again, now=now, chance=chance)
    setbacks.keep_closed_writes(session, settled.closed, now=now)
    _keep_existing_owners(session, connection, settled, now)
    _pass_on_refused(session, connection, settled, now)
    _pass_on_leavers(session, settled.leavers, now)


def _follow(
    session: Session, connection: str, moved: Sequence[tuple[OutboxItem, LeadEvent]], now: datetime
) -> None:
    """Nothing is written to these records; intake sees to them, as if the CRM had told us."""
    records = [
        Record(connection=connection, object_type=item.object_type, id=item.record_id)
        for item, _ in moved
    ]
    outbox.withdraw(session, records, now)
    inbox.add(session, connection, [event for _, event in moved], now)


def _lock(session: Session, settled: Settled) -> dict[str, Assignment]:
    """The rows of which more is to be said, with all pools locked that this touches."""
    changed = [item for item, _ in (*settled.kept, *settled.refused, *settled.never)]
    rows = assignments.find(session, [i.assignment_id for i in (*changed, *settled.leavers)])
    pool_ids = {row.pool_id for row in rows.values() if row.pool_id}
    refused = {rows[i.assignment_id].user_id for i, _ in settled.refused if i.assignment_id in rows}
    pool_ids |= pools.of_users(session, {one for one in refused if one})
    pools.lock(session, pool_ids | pools.family(session, pool_ids))
    return assignments.find(session, rows)  # as they are under the lock


def _keep_existing_owners(
    session: Session, connection: str, settled: Settled, now: datetime
) -> None:
    """An owner who appeared meanwhile stays; the turn goes back to the user we had chosen."""
    items = [item for item, _ in settled.kept]
    rows = assignments.find(session, outbox.still_wanted(session, items))
    outbox.settle_kept(session, items, now)
    owner_ids = {seen.owner_id for _, seen in settled.kept if seen.owner_id}
    people = users.by_owner(session, connection, owner_ids)
    for item, seen in settled.kept:
        row = rows.get(item.assignment_id)
        if row is None or seen.owner_id is None:
            continue
        owner = ExistingOwner(owner_id=seen.owner_id, user=people.get(seen.owner_id))
        verdicts.keep(session, row, owner, now=now)


def _pass_on_refused(session: Session, connection: str, settled: Settled, now: datetime) -> None:
    """A user whom the CRM calls inactive is inactive there from now on; the next gets the lead.

    What its directory said it may take back, where that is read again and again.

    A record that turns down one user after the other may be the fault itself, and must not switch
    off the pool: of the third nothing more is believed, and after the fifth it is a dead letter.
    """
    items = [item for item, _ in settled.refused]
    rows = assignments.find(session, outbox.still_wanted(session, items))
    for item, outcome in settled.refused:
        row = rows.get(item.assignment_id)
        if row is None or row.user_id is None or row.pool_id is None:
            continue
        refusals = sum(skip.reason is SkipReason.REFUSED_BY_CRM for skip in row.skipped)
        is_credible = outcome.is_listed or refusals < MOST_CREDIBLE
        is_inactive = outcome.result is Result.INACTIVE_OWNER and is_credible
        may_pass = outcome.is_listed or refusals < MOST_REFUSALS[outcome.result]
        if may_pass and is_inactive:
            unlisted = outcome.is_listed and settled.reads_people
            edits.refuse_user(session, [row.user_id], connection, now=now, unlisted=unlisted)
        passed = Skip(
            user_id=row.user_id,
            reason=SkipReason.REFUSED_BY_CRM,
            detail=outcome.message or outcome.code,
        )
        # Held, the lead would come back to the same user, whom the record refuses again.
        if not may_pass or not verdicts.pass_on(
            session, row, passed, now=now, may_hold=is_inactive
        ):
            outbox.kill(session, {item: (outcome.code or "refused", outcome.message)}, now)


def _pass_on_leavers(session: Session, leavers: Sequence[OutboxItem], now: datetime) -> None:
    rows = assignments.find(session, outbox.still_wanted(session, leavers))
    for item in leavers:
        row = rows.get(item.assignment_id)
        if row and row.user_id and row.pool_id:
            detail = "made inactive before the owner was written"
            passed = Skip(user_id=row.user_id, reason=SkipReason.INACTIVE, detail=detail)
            verdicts.pass_on(session, row, passed, now=now)
