"""Tell workflows that wait who got their lead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from connector import questions, setbacks
from connector.backoff import gave_up, retry_at
from connector.errors import CrmError, CrmNever, CrmPaced, CrmUnreachable
from connector.ports import Crm, Verdict
from connector.store import callbacks
from connector.store.callbacks import Callback
from connector.store.database import Database, Session
from connector.store.lanes import Claim

LONGEST_WORK = timedelta(seconds=20)  # after that no further call is started within one claim
# Told before the CRM has noted that it waits, a workflow is refused for the moment only.
SETTLES = timedelta(minutes=10)


@dataclass(slots=True, kw_only=True)
class Told:
    """How each callback of a batch went."""

    done: list[tuple[Callback, Verdict]] = field(default_factory=list)
    failed: list[tuple[Callback, CrmError]] = field(default_factory=list)
    expired: list[Callback] = field(default_factory=list)
    untried: list[Callback] = field(default_factory=list)
    pause: CrmError | None = None


def tell(
    database: Database,
    claim: Claim,
    crm: Crm,
    *,
    clock: Callable[[], datetime],
    chance: float,
    is_stopping: Callable[[], bool],
) -> Told | None:
    """Work a claimed batch of callbacks; None when the claim was lost meanwhile."""
    told = Told()
    give_up_at = clock() + LONGEST_WORK
    waiting = list(claim.callbacks)
    while waiting and not told.pause and clock() <= give_up_at and not is_stopping():
        _tell(database, waiting.pop(0), crm, told, clock())
    told.untried += waiting
    with database.write() as session:
        now = clock()
        if not setbacks.hand_back(session, claim, told.pause, now=now):
            return None
        _record(session, told, now=now, chance=chance)
    return told


def _tell(database: Database, one: Callback, crm: Crm, told: Told, now: datetime) -> None:
    if one.expires_at <= now:
        told.expired.append(one)
        return
    verdict = questions.verdict_of(database, one.record, crm)
    if verdict is None:  # the lead was taken back meanwhile
        told.untried.append(one)
        return
    try:
        crm.tell(one.callback_id, verdict)
    except (CrmPaced, CrmUnreachable) as pause:
        told.pause = pause
        told.untried.append(one)
    except CrmError as error:
        told.failed.append((one, error))
    else:
        told.done.append((one, verdict))


def _record(session: Session, told: Told, *, now: datetime, chance: float) -> None:
    for one, verdict in told.done:
        callbacks.answer(session, one.id, asdict(verdict))
    for one in told.expired:
        callbacks.end(session, one.id, "expired")
    callbacks.give_back(session, [one.id for one in told.untried])
    for one, error in told.failed:
        postpone(session, [one], error, now=now, chance=chance)


def postpone(
    session: Session, failed: Sequence[Callback], error: CrmError, *, now: datetime, chance: float
) -> None:
    """Try again later; a workflow that waits no longer, or fails for a day, is given up."""
    words = error.crm_message or error.message
    for one in failed:
        is_final = isinstance(error, CrmNever) and now - one.created_at >= SETTLES
        if is_final or (one.failing_since and gave_up(now, one.failing_since)):
            callbacks.end(session, one.id, "dead", words)
            continue
        callbacks.postpone(
            session,
            [one.id],
            due_at=retry_at(now, attempts=one.attempts, chance=chance),
            failing_since=one.failing_since or now,
            error=words,
        )
