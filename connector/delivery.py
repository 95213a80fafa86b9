"""Decisions become owners in the CRM: look, write, look at what came of it, record.

Before a write the record is read: an owner who is there already wins, and a reply that was lost is
found. So sending the same batch twice does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from connector import setbacks
from connector.errors import CrmError, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.model import (
    EventKind,
    LeadEvent,
)
from connector.ports import GONE, OVERRIDDEN, Crm, CrmRecord, Outcome, OwnerWrite, Result
from connector.reading import read_each
from connector.settling import Settled, record
from connector.store import assignments, users
from connector.store.database import Database, Session
from connector.store.lanes import Claim
from connector.store.outbox import OutboxItem

LONGEST_WORK = timedelta(seconds=20)  # after that no further call is started within one claim


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
        record(session, claim.connection, settled, now=now, chance=chance)
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
                    outcomes = crm.write_owners(object_type, _writes(batch, records))
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
        if seen and (moved := _moved(item, seen)):
            settled.moved.append((item, moved))
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


def _moved(item: OutboxItem, seen: CrmRecord) -> LeadEvent | None:
    """What intake is told of a record that was merged into another or takes no owner any more."""
    about = partial(LeadEvent, object_type=item.object_type)
    if seen.survivor_id and seen.survivor_id != item.record_id:
        return about(
            key=f"merged:{item.assignment_id}:{seen.survivor_id}",
            kind=EventKind.MERGED,
            record_id=seen.survivor_id,
            merged_ids=(item.record_id,),
        )
    if seen.closed:
        key = f"closed:{item.assignment_id}"
        return about(key=key, kind=EventKind.CHANGED, record_id=item.record_id)
    return None


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


def _writes(items: Sequence[OutboxItem], records: Mapping[str, CrmRecord]) -> list[OwnerWrite]:
    return [
        OwnerWrite(
            record_id=item.record_id,
            owner_id=item.owner_id,
            seen_at=records[item.record_id].modified_at,
            was_overridden=item.last_error == OVERRIDDEN,
        )
        for item in items
    ]
