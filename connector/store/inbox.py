"""Events that came in: each stored once, worked off in batches of one connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select, update

from connector.model import EventKind, LeadEvent
from connector.store import suspects
from connector.store.database import Session, chunks, insert_on
from connector.store.tables import inbox


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A stored event that is to be worked off."""

    id: int
    event: LeadEvent
    attempts: int  # this one included
    failing_since: datetime | None


def add(
    session: Session,
    connection: str,
    events: Sequence[LeadEvent],
    now: datetime,
    *,
    due_at: datetime | None = None,
) -> int:
    """Store the events that were not seen before and count them; ignored ones are kept as such.

    They are due now, or at ``due_at``.
    """
    if not events:
        return 0
    rows = [
        {
            "connection": connection,
            "event_key": event.key,
            "kind": event.kind,
            "object_type": event.object_type,
            "record_id": event.record_id,
            "occurred_at": event.occurred_at,
            "owner_id": event.owner_id,
            "account": event.account,
            "merged_ids": list(event.merged_ids) or None,
            "pool": event.pool,
            "payload": dict(event.payload),
            "received_at": now,
            "status": "ignored" if event.ignored else "ready",
            "reason": event.ignored,
            "due_at": due_at or now,
            "finished_at": now if event.ignored else None,
        }
        for event in events
    ]
    stored = insert_on(session, inbox).on_conflict_do_nothing().returning(inbox.c.id)
    return len(session.execute(stored, rows).all())


def due(session: Session, connection: str, now: datetime, limit: int) -> list[InboxItem]:
    """Take due events, oldest first, all of the object type of the oldest; counts the attempt.

    Counted now and not later, so that an event that kills its process is counted too.
    """
    oldest = (
        select(inbox.c.object_type)
        .where(is_due(connection, now))
        .order_by(inbox.c.id)
        .limit(1)
        .scalar_subquery()
    )
    found = session.execute(
        select(inbox)
        .where(is_due(connection, now), inbox.c.object_type == oldest)
        .order_by(inbox.c.id)
        .limit(limit)
    ).all()
    rows = suspects.apart(found, lambda row: row.reason)
    for chunk in chunks([row.id for row in rows]):
        session.execute(
            update(inbox).where(inbox.c.id.in_(chunk)).values(attempts=inbox.c.attempts + 1)
        )
    return [_item(row) for row in rows]


def find(session: Session, connection: str, key: str) -> InboxItem | None:
    """Read the event of this key, if it is not worked off yet."""
    row = session.execute(
        select(inbox).where(
            inbox.c.connection == connection, inbox.c.event_key == key, inbox.c.status == "ready"
        )
    ).one_or_none()
    return _item(row) if row else None


def newest_at(session: Session, connection: str) -> datetime | None:
    """When the newest event of a connection came; None when none came yet."""
    columns = inbox.c
    newest = select(columns.received_at).where(columns.connection == connection)
    return session.scalar(newest.order_by(columns.id.desc()).limit(1))


def make_due(session: Session, ids: Iterable[int], now: datetime) -> None:
    """Let events be worked now that were put off."""
    _set(session, ids, due_at=now)


def finish(session: Session, ids: Iterable[int], now: datetime) -> None:
    """Mark events as worked off."""
    _set(session, ids, status="done", finished_at=now, failing_since=None)


def ignore(session: Session, ids: Iterable[int], reason: str, now: datetime) -> None:
    """Mark events that turned out to mean nothing to us, with the machine word for why."""
    _set(session, ids, status="ignored", reason=reason, finished_at=now, failing_since=None)


def kill(session: Session, ids: Iterable[int], error: str, now: datetime) -> None:
    """Give up on events; they stay in sight with the error."""
    _set(session, ids, status="dead", reason=error, finished_at=now)


def postpone(
    session: Session,
    ids: Iterable[int],
    *,
    due_at: datetime,
    failing_since: datetime | None,
    error: str,
) -> None:
    """Try again at ``due_at``; an earlier ``failing_since`` stands, None says it is no failure."""
    since = func.coalesce(inbox.c.failing_since, failing_since, type_=inbox.c.failing_since.type)
    _set(session, ids, due_at=due_at, failing_since=since, reason=error)


def give_back(session: Session, ids: Iterable[int]) -> None:
    """Put events back as if they had not been taken: still due, the attempt does not count."""
    _set(session, ids, attempts=_one_less(), failing_since=None)


def is_due(connection: str | ColumnElement[str], now: datetime) -> ColumnElement[bool]:
    """Select the events of a connection that can be worked off now."""
    return (
        (inbox.c.connection == connection) & (inbox.c.status == "ready") & (inbox.c.due_at <= now)
    )


def _one_less() -> ColumnElement[int]:
    return inbox.c.attempts - 1


def _set(session: Session, ids: Iterable[int], **values: Any) -> None:
    for chunk in chunks(sorted(set(ids))):
        session.execute(
            update(inbox).where(inbox.c.id.in_(chunk), inbox.c.status == "ready").values(values)
        )


def _item(row: Row[Any]) -> InboxItem:
    event = LeadEvent(
        key=row.event_key,
        kind=EventKind(row.kind),
        object_type=row.object_type,
        record_id=row.record_id,
        occurred_at=row.occurred_at,
        owner_id=row.owner_id,
        account=row.account,
        merged_ids=tuple(row.merged_ids or ()),
        pool=row.pool,
        payload=row.payload,
    )
    return InboxItem(
        id=row.id, event=event, attempts=row.attempts + 1, failing_since=row.failing_since
    )
