"""Decisions become owners in the CRM: look, write, look at what came of it, record.

Before a write the record is read: an owner who is there already wins, and a reply that was lost is
found. So sending the same batch twice does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connector import edits, setbacks, verdicts
from connector.errors import CrmError, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.model import (
    Assignment,
    EventKind,
    ExistingOwner,
    LeadEvent,
    Record,
    Skip,
    SkipReason,
)
from connector.ports import Crm, CrmRecord, Outcome, OwnerWrite, Result
from connector.reading import read_each
from connector.store import assignments, inbox, outbox, pools, users
from connector.store.database import Database, Session
from connector.store.lanes import Claim
from connector.store.outbox import OutboxItem

GONE = "record_gone"
# Users whom one record may turn down before it is a dead letter, and who are inactive by its word.
MOST_REFUSALS = {Result.REFUSED_OWNER: 1, Result.INACTIVE_OWNER: 5}
MOST_CREDIBLE = 2
LONGEST_WORK = timedelta(seconds=20)  # after that no further call is started within one claim


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
    merged: list[tuple[OutboxItem, str]] = field(default_factory=list)  # with the survivor's id
    leavers: list[OutboxItem] = field(default_factory=list)  # their user was switched off meanwhile
    pause: CrmError | None = None
    reads_people: bool = False  # what the CRM's directory says of a user may change with it


def deliver(
    database: Database,
    claim: Claim,
    crm: Crm,
    *,
    clock: Callable[[], datetime],
    chance: float,
    is_stopping: Callable[[], bool],
) -> Settled | None:
    """Work a claimed batch of owner writes; None when the claim was lost meanwhile.

    No further call is started once ``is_stopping``.
    """
    settled = Settled(reads_people=crm.capabilities.people)
    with database.read() as session:
        settled.leavers = _leavers(session, claim.outbox)
    present = [item for item in claim.outbox if item not in settled.leavers]
    if present:
        give_up_at = clock() + LONGEST_WORK
        _send(present, crm, settled, lambda: clock() <= give_up_at and not is_stopping())
    with database.write() as session:
        now = clock()
        if not setbacks.hand_back(session, claim, settled.pause, now=now):
            return None
        _record(session, claim.connection, settled, now=now, chance=chance)
    return settled


def _leavers(session: Session, items: Sequence[OutboxItem]) -> list[OutboxItem]:
    """The writes whose user was made inactive since the decision."""
    rows = assignments.find(session, [item.assignment_id for item in items])
    people = users.find(session, {row.user_id for row in rows.values() if row.user_id})
    active = {row.id for row in rows.values() if row.user_id and people[row.user_id].active}
    return [item for item in items if item.assignment_id not in active]


def _send(
    items: Sequence[OutboxItem], crm: Crm, settled: Settled, may_go_on: Callable[[], bool]
) -> None:
    """Read, compare and write. A batch that is refused as a whole is cut in halves."""
    object_type = items[0].object_type
    waiting = [list(items)]
    try:
        ids = [item.record_id for item in items]
        records, unreadable = read_each(crm, object_type, ids)
        for item in items:
            if item.record_id in unreadable:
                settled.never.append(failed(item, Result.NEVER, unreadable[item.record_id]))
        readable = [item for item in items if item.record_id not in unreadable]
        waiting = [_compare(readable, records, settled)]
        while waiting and may_go_on():
            batch = waiting[0]
            if batch:
                try:
                    outcomes = crm.write_owners(object_type, [_write_of(item) for item in batch])
                except CrmNever as refusal:
                    waiting[:1] = _halves(batch, refusal, settled)
                    continue
                _note(batch, outcomes, settled)
            del waiting[0]
    except (CrmPaced, CrmUnreachable) as pause:
        settled.pause = pause
    except CrmForbidden as closed:
        settled.closed.extend(failed(item, Result.AGAIN, closed) for item in waiting[0])
        del waiting[0]
    except CrmError as failure:
        # The outcome is unknown: the next try reads first.
        settled.again.extend(failed(item, Result.AGAIN, failure) for item in waiting[0])
        del waiting[0]
    settled.untried.extend(item for batch in waiting for item in batch)


def _compare(
    items: Sequence[OutboxItem], records: Mapping[str, CrmRecord], settled: Settled
) -> list[OutboxItem]:
    """The writes that are still to be made, given how the records stand."""
    to_write: list[OutboxItem] = []
    for item in items:
        seen = records.get(item.record_id)
        if seen and seen.survivor_id and seen.survivor_id != item.record_id:
            settled.merged.append((item, seen.survivor_id))
        elif seen is None:
            gone = Outcome(
                record_id=item.record_id,
                result=Result.NEVER,
                code=GONE,
                message="The record does not exist any more.",
            )
            settled.never.append((item, gone))
        elif seen.owner_id == item.owner_id and seen.owner_stays:
            settled.done.append(item)
        elif seen.owner_stays and seen.owner_id not in item.replaces:
            settled.kept.append((item, seen))
        else:
            to_write.append(item)
    return to_write


def _halves(batch: list[OutboxItem], refusal: CrmNever, settled: Settled) -> list[list[OutboxItem]]:
    """A refused batch as two; a refused single write is a dead letter."""
    if len(batch) == 1:
        settled.never.append(failed(batch[0], Result.NEVER, refusal))
        return []
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


def failed(item: OutboxItem, result: Result, error: CrmError) -> tuple[OutboxItem, Outcome]:
    """The outcome of one write of a call that failed as a whole."""
    # A missing permission is named in our own sentence only.
    ours = isinstance(error, CrmForbidden) or not error.crm_message
    words = error.message if ours else error.crm_message
    return item, Outcome(record_id=item.record_id, result=result, code=error.code, message=words)


def _note(batch: Sequence[OutboxItem], outcomes: Sequence[Outcome], settled: Settled) -> None:
    for item, outcome in zip(batch, outcomes, strict=True):
        match outcome.result:
            case Result.DONE:
                settled.done.append(item)
            case Result.AGAIN:
                settled.again.append((item, outcome))
            case Result.NEVER:
                settled.never.append((item, outcome))
            case Result.REFUSED_OWNER | Result.INACTIVE_OWNER:
                settled.refused.append((item, outcome))


def _record(
    session: Session, connection: str, settled: Settled, *, now: datetime, chance: float
) -> None:
    rows = _lock(session, settled)
    for item, outcome in settled.never:
        row = rows.get(item.assignment_id)
        if row and outcome.code == GONE:
            verdicts.return_turn(session, row, now=now)
    _follow_merges(session, connection, settled.merged, now)
    outbox.settle_done(session, settled.done, now)
    outbox.kill(session, {i: (o.code or "refused", o.message) for i, o in settled.never}, now)
    outbox.give_back(session, settled.untried)
    setbacks.postpone_writes(session, settled.again, now=now, chance=chance)
    setbacks.keep_closed_writes(session, settled.closed, now=now)
    _keep_existing_owners(session, connection, settled, now)
    _pass_on_refused(session, connection, settled, now)
    _pass_on_leavers(session, settled.leavers, now)


def _follow_merges(
    session: Session, connection: str, merged: Sequence[tuple[OutboxItem, str]], now: datetime
) -> None:
    """A record was merged into another: intake sees to the survivor, as if the CRM had told us."""
    records = [
        Record(connection=connection, object_type=item.object_type, id=item.record_id)
        for item, _ in merged
    ]
    outbox.withdraw(session, records, now)
    events = [
        LeadEvent(
            key=f"merged:{item.assignment_id}:{survivor_id}",
            kind=EventKind.MERGED,
            object_type=item.object_type,
            record_id=survivor_id,
            merged_ids=(item.record_id,),
        )
        for item, survivor_id in merged
    ]
    inbox.add(session, connection, events, now)


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


def _write_of(item: OutboxItem) -> OwnerWrite:
    return OwnerWrite(record_id=item.record_id, owner_id=item.owner_id)
