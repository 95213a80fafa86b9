"""What follows for a connection and its items when a call to the CRM fails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from connector.backoff import gave_up, probe_at, retry_at
from connector.errors import CrmError, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.ports import Outcome
from connector.store import inbox, lanes, marks, outbox
from connector.store.database import Session
from connector.store.inbox import InboxItem
from connector.store.lanes import Claim
from connector.store.outbox import OutboxItem

GAVE_UP = "gave_up"
DIRECTORY_AGAIN = timedelta(minutes=1)
POLL_AGAIN = timedelta(minutes=1)
POLL_CLOSED = timedelta(minutes=15)
DIRECTORY_REFUSED = timedelta(minutes=2)


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
    if isinstance(error, CrmForbidden):
        due = _closed_until(items, now)
        return inbox.postpone(
            session,
            [item.id for item in items],
            due_at=due,
            failing_since=None,
            error=error.code,
        )
    hopeless = [item for item in items if _is_hopeless(item.failing_since, now)]
    others = [item for item in items if item not in hopeless]
    inbox.kill(session, [item.id for item in hopeless], f"{GAVE_UP}: {_words(error)}", now)
    # One moment for all, so that the batch stays one call.
    due = retry_at(now, attempts=max((i.attempts for i in others), default=1), chance=chance)
    return inbox.postpone(
        session,
        [item.id for item in others],
        due_at=due,
        failing_since=now,
        error=error.code,
    )


def postpone_directory(session: Session, claim: Claim, error: CrmError, *, now: datetime) -> None:
    """Read the CRM's users later: first of all after a pause, else the leads come first.

    A refusal is not expected to pass soon.
    """
    match error:
        case CrmPaced() | CrmUnreachable():
            due_at = now
        case CrmForbidden() | CrmNever():
            due_at = now + DIRECTORY_REFUSED
        case _:
            due_at = now + DIRECTORY_AGAIN
    lanes.plan_directory(session, claim, due_at)


def postpone_poll(session: Session, claim: Claim, error: CrmError, *, now: datetime) -> None:
    """Ask later what changed: after a pause at once. Other object types do not wait for it."""
    match error:
        case CrmPaced() | CrmUnreachable():
            due_at = now
        case CrmForbidden() | CrmNever():
            due_at = now + POLL_CLOSED
        case _:
            due_at = now + POLL_AGAIN
    marks.plan(session, claim.connection, claim.poll, due_at)


def postpone_writes(
    session: Session,
    failed: Sequence[tuple[OutboxItem, Outcome]],
    *,
    now: datetime,
    chance: float,
) -> None:
    """The same for owner writes of which the CRM's words are known."""
    hopeless = {i: (GAVE_UP, o.message) for i, o in failed if _is_hopeless(i.failing_since, now)}
    outbox.kill(session, hopeless, now)
    others = [(item, outcome) for item, outcome in failed if item not in hopeless]
    due = retry_at(now, attempts=max((i.attempts for i, _ in others), default=1), chance=chance)
    by_words: dict[tuple[str, str | None], list[OutboxItem]] = defaultdict(list)
    for item, outcome in others:
        by_words[outcome.code or "failed", outcome.message].append(item)
    for (code, message), items in by_words.items():
        outbox.postpone(
            session, items, due_at=due, failing_since=now, error=code, crm_message=message
        )


def keep_closed_writes(
    session: Session, closed: Sequence[tuple[OutboxItem, Outcome]], *, now: datetime
) -> None:
    """Let writes wait for a permission; asked for at growing gaps, never given up."""
    if not closed:
        return
    items = [item for item, _ in closed]
    _, outcome = closed[0]  # one call was refused, so the words are the same for all
    outbox.postpone(
        session,
        items,
        due_at=_closed_until(items, now),
        failing_since=None,
        error=outcome.code or "closed",
        crm_message=outcome.message,
    )


def _closed_until(items: Sequence[InboxItem] | Sequence[OutboxItem], now: datetime) -> datetime:
    return probe_at(now, probes=max((item.attempts for item in items), default=1) - 1)


def _is_hopeless(failing_since: datetime | None, now: datetime) -> bool:
    return failing_since is not None and gave_up(now, failing_since)


def _words(error: CrmError) -> str:
    return f"{error.message} {error.crm_message or ''}".strip()
