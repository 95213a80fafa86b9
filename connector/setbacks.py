"""What follows for a connection and its items when a call to the CRM fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from connector.backoff import gave_up, probe_at, retry_at
from connector.errors import CrmError, CrmPaced, CrmUnreachable
from connector.model import Outcome, Result
from connector.store import inbox, lanes, outbox
from connector.store.database import Session
from connector.store.inbox import InboxItem
from connector.store.lanes import Claim
from connector.store.outbox import OutboxItem

GAVE_UP = "gave_up"


def hand_back(session: Session, claim: Claim, error: CrmError | None, *, now: datetime) -> bool:
    """Release the lane, paused if the error asks for it. False: the claim is no longer ours."""
    match error:
        case CrmPaced(pause_seconds=seconds):
            until = now + timedelta(seconds=seconds)
            return lanes.pause(session, claim, until=until, reason=_words(error), probe=False)
        case CrmUnreachable():
            until = probe_at(now, probes=claim.probes)
            return lanes.pause(session, claim, until=until, reason=_words(error), probe=True)
    return lanes.release(session, claim, now=now)


def postpone_events(
    session: Session, items: Sequence[InboxItem], error: CrmError, *, now: datetime, chance: float
) -> None:
    """Try the events again later. A pause does not count; after a day of failures they are dead."""
    if isinstance(error, CrmPaced | CrmUnreachable):
        return inbox.give_back(session, [item.id for item in items])
    hopeless = [i for i in items if i.failing_since and gave_up(now, i.failing_since)]
    others = [item for item in items if item not in hopeless]
    inbox.kill(session, [item.id for item in hopeless], f"{GAVE_UP}: {_words(error)}", now)
    # One moment for all, so that the batch stays one call.
    due = retry_at(now, attempts=max((i.attempts for i in others), default=1), chance=chance)
    return inbox.postpone(session, [item.id for item in others], due_at=due, now=now)


def postpone_writes(
    session: Session,
    failed: Sequence[tuple[OutboxItem, Outcome]],
    *,
    now: datetime,
    chance: float,
) -> None:
    """The same for owner writes of which the CRM's words are known."""
    hopeless = [
        (item, Outcome(record_id=o.record_id, result=Result.NEVER, code=GAVE_UP, message=o.message))
        for item, o in failed
        if item.failing_since and gave_up(now, item.failing_since)
    ]
    outbox.kill(session, hopeless, now)
    dead = {item.id for item, _ in hopeless}
    others = [(item, outcome) for item, outcome in failed if item.id not in dead]
    due = retry_at(now, attempts=max((i.attempts for i, _ in others), default=1), chance=chance)
    outbox.postpone(session, others, due_at=due, now=now)


def _words(error: CrmError) -> str:
    return f"{error.message} {error.crm_message or ''}".strip()
