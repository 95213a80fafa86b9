"""Records that other automation of the org writes too: each by a call of its own, and looked at.

A collections update cannot say "only if nobody changed it since", a call for one record can.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from adapters.salesforce.client import Call
from adapters.salesforce.errors import RecordRefused
from connector.errors import CrmAgain, CrmError
from connector.ports import OVERRIDDEN, CrmRecord, Outcome, OwnerWrite, Result

_THREADS = 5  # calls that the smallest orgs (developer, trial) let run for long at once
_SHARE_KEPT = 0.2  # of the call's time, for the last answers and the look after them
_MOST_FAILURES = 3  # calls without an answer that makes sense, before the others are left

Look = Callable[[Collection[str]], Mapping[str, CrmRecord]]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What the threads of one batch share; each operation on it is atomic."""

    object_type: str
    waiting: deque[OwnerWrite]
    seconds_kept: float
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failures: list[CrmAgain] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


def write(
    call: Call, object_type: str, writes: Sequence[OwnerWrite], *, look: Look
) -> list[Outcome]:
    """Write each record, once, unless it was changed meanwhile, and look at the owners after.

    What there was no time for is told as such. Raises ``CrmError`` once a call fails for the whole
    connection; then some of the records have been written.
    """
    outcomes = _send(call, object_type, writes)
    done = [one for one in writes if outcomes[one.record_id].result is Result.DONE]
    outcomes |= _overridden(done, look) if done else {}
    return [outcomes[one.record_id] for one in writes]


def _send(call: Call, object_type: str, writes: Sequence[OwnerWrite]) -> dict[str, Outcome]:
    batch = _Batch(object_type, deque(writes), call.left() * _SHARE_KEPT)
    calls = [call.beside() for _ in range(min(_THREADS, len(writes)))]
    with ThreadPoolExecutor(len(calls), "guarded") as threads:
        working = [threads.submit(_work, one, batch) for one in calls]
    for thread in working:
        thread.result()
    return {one.record_id: _not_sent(one) for one in batch.waiting} | batch.outcomes


def _work(call: Call, batch: _Batch) -> None:
    """Send what is waiting, until there is nothing, no time, or no use in it."""
    try:
        while not batch.over.is_set() and call.left() > batch.seconds_kept:
            try:
                write = batch.waiting.popleft()
            except IndexError:
                return
            batch.outcomes[write.record_id] = _write_one(call, batch, write)
    except CrmError:
        batch.over.set()
        raise


def _write_one(call: Call, batch: _Batch, write: OwnerWrite) -> Outcome:
    try:
        call.update_one(batch.object_type, write)
    except RecordRefused as refusal:
        return refusal.outcome
    except CrmAgain as failure:
        batch.failures.append(failure)
        if len(batch.failures) >= _MOST_FAILURES:
            batch.over.set()
        return Outcome(
            record_id=write.record_id,
            result=Result.AGAIN,
            code=failure.code,
            message=failure.crm_message or failure.message,
        )
    return Outcome(record_id=write.record_id, result=Result.DONE)


def _not_sent(write: OwnerWrite) -> Outcome:
    return Outcome(
        record_id=write.record_id,
        result=Result.AGAIN,
        code="not_sent",
        message="The time for one batch was over, or Salesforce failed, before it was its turn.",
    )


def _overridden(done: Sequence[OwnerWrite], look: Look) -> dict[str, Outcome]:
    """Those of the written records that somebody else owns a moment later.

    Automation that does so twice is not fought. When the look fails, all count as written: the
    CRM's next event or the next resync finds what differs.
    """
    try:
        records = look([one.record_id for one in done])
    except CrmError:
        return {}
    return {
        one.record_id: Outcome(
            record_id=one.record_id,
            result=Result.NEVER if one.was_overridden else Result.AGAIN,
            code=OVERRIDDEN,
            message=f"Automation of the org (a flow, a trigger or an assignment rule) gave the "
            f"record to {seen.owner_id} right after it was given to {one.owner_id}.",
        )
        for one in done
        if (seen := records.get(one.record_id))
        and not seen.survivor_id
        and seen.owner_id != one.owner_id
    }
