"""Workflows of a CRM that asked who gets a lead: what they were told, or that they still wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, exists, select, update

from connector.model import Record
from connector.store.database import Session, insert_on
from connector.store.tables import assignments, callbacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """One question of a workflow. ``answer``: what it was told; None: it waits."""

    id: int
    callback_id: str  # the CRM's
    record: Record
    answer: Mapping[str, str] | None
    attempts: int  # to tell it, this one included
    failing_since: datetime | None
    created_at: datetime
    expires_at: datetime  # it goes on by itself then


def add(
    session: Session,
    callback_id: str,
    record: Record,
    *,
    now: datetime,
    due_at: datetime,
    expires_at: datetime,
) -> Callback:
    """Keep a question, or find it as it stands when it was asked before."""
    session.execute(
        insert_on(session, callbacks).on_conflict_do_nothing(),
        [
            {
                "connection": record.connection,
                "callback_id": callback_id,
                "object_type": record.object_type,
                "record_id": record.id,
                "status": "waiting",
                "due_at": due_at,
                "created_at": now,
                "expires_at": expires_at,
            }
        ],
    )
    row = session.execute(
        select(callbacks).where(
            callbacks.c.connection == record.connection, callbacks.c.callback_id == callback_id
        )
    ).one()
    return _callback(row)


def due(session: Session, connection: str, now: datetime, limit: int) -> list[Callback]:
    """Take workflows that can be told, or have waited too long; counts the attempt."""
    rows = session.execute(
        select(callbacks)
        .where(is_due(connection, now))
        .order_by(callbacks.c.id)
        .limit(limit)
        .with_for_update()
    ).all()
    _set(session, [row.id for row in rows], attempts=callbacks.c.attempts + 1)
    return [_callback(row, attempts=row.attempts + 1) for row in rows]


def is_due(connection: str | ColumnElement[str], now: datetime) -> ColumnElement[bool]:
    """Select the workflows of a connection that wait and can be told, or no longer wait."""
    has_owner = exists().where(
        assignments.c.connection == callbacks.c.connection,
        assignments.c.object_type == callbacks.c.object_type,
        assignments.c.record_id == callbacks.c.record_id,
        assignments.c.current,
        assignments.c.owner_id.is_not(None),
    )
    return (
        (callbacks.c.connection == connection)
        & (callbacks.c.status == "waiting")
        & (callbacks.c.due_at <= now)
        & (has_owner | (callbacks.c.expires_at <= now))
    )


def answer(session: Session, key: int, told: Mapping[str, str]) -> None:
    """Remember what the workflow was told; asked again, it is told the same."""
    _set(session, [key], status="answered", answer=dict(told), last_error=None)


def hand_over(session: Session, key: int, now: datetime) -> None:
    """The workflow was told to wait: from now on the worker may tell it more."""
    _set(session, [key], due_at=now)


def postpone(
    session: Session, keys: Sequence[int], *, due_at: datetime, failing_since: datetime, error: str
) -> None:
    """Try again at ``due_at``."""
    _set(session, keys, due_at=due_at, failing_since=failing_since, last_error=error)


def give_back(session: Session, keys: Sequence[int]) -> None:
    """Put callbacks back as if they had not been taken."""
    _set(session, keys, attempts=callbacks.c.attempts - 1)


def end(session: Session, key: int, status: str, error: str | None = None) -> None:
    """It waits no longer: ``dead`` with the CRM's words, or ``expired``."""
    _set(session, [key], status=status, last_error=error)


def _set(session: Session, keys: Sequence[int], **values: Any) -> None:
    if keys:
        session.execute(
            update(callbacks)
            .where(callbacks.c.id.in_(list(keys)), callbacks.c.status == "waiting")
            .values(values)
        )


def _callback(row: Row[Any], *, attempts: int | None = None) -> Callback:
    return Callback(
        id=row.id,
        callback_id=row.callback_id,
        record=Record(connection=row.connection, object_type=row.object_type, id=row.record_id),
        answer=row.answer,
        attempts=row.attempts if attempts is None else attempts,
        failing_since=row.failing_since,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
