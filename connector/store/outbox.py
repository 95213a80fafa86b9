"""Owner writes that must go out: the wanted owner of each record, not a list of events.

A newer decision replaces the row and raises its version; what came of a call counts only for the
version that was sent, so that a row replaced during the call stays ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Row, case, func, literal, select, tuple_, update

from connector.model import Record, WriteBack
from connector.store import suspects
from connector.store.columns import Words
from connector.store.database import Session, chunks, insert_on, is_postgres
from connector.store.tables import assignments, outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedOwner:
    """The owner that a record is to get."""

    connection: str
    object_type: str
    record_id: str
    owner_id: str
    assignment_id: str
    replaces: tuple[str, ...] = ()  # the owner ids of ours that may be written over
    rewritten: bool = False  # it was written before, and the CRM lost it


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """One owner write as it stands."""

    id: int
    connection: str
    object_type: str
    record_id: str
    owner_id: str
    assignment_id: str
    replaces: tuple[str, ...]
    version: int
    status: str  # ready, done, kept, dead, withdrawn
    attempts: int  # as taken by `due`: this one included
    failing_since: datetime | None
    due_at: datetime
    last_error: str | None
    crm_message: str | None
    rewritten: bool
    created_at: datetime
    finished_at: datetime | None


def add(session: Session, wanted: Sequence[WantedOwner], now: datetime) -> None:
    """Ask for these owners, due now, in place of what was wanted for the same records before."""
    newest = {(want.connection, want.object_type, want.record_id): want for want in wanted}
    if not newest:
        return
    keys = sorted(newest)
    for chunk in chunks(keys):
        columns = tuple_(outbox.c.connection, outbox.c.object_type, outbox.c.record_id)
        _lock(session, outbox.c.id, columns.in_(chunk))
    rows = [
        {
            "connection": key[0],
            "object_type": key[1],
            "record_id": key[2],
            "owner_id": newest[key].owner_id,
            "assignment_id": newest[key].assignment_id,
            "replaces": list(newest[key].replaces) or None,
            "rewritten": newest[key].rewritten,
            "status": "ready",
            "due_at": now,
            "created_at": now,
        }
        for key in keys
    ]
    fresh = insert_on(session, outbox)
    session.execute(
        fresh.on_conflict_do_update(
            index_elements=["connection", "object_type", "record_id"],
            set_={
                "owner_id": fresh.excluded.owner_id,
                "assignment_id": fresh.excluded.assignment_id,
                "replaces": fresh.excluded.replaces,
                "rewritten": fresh.excluded.rewritten,
                "version": outbox.c.version + 1,
                "status": "ready",
                "attempts": 0,
                "failing_since": None,
                "due_at": fresh.excluded.due_at,
                "last_error": None,
                "crm_message": None,
                "created_at": fresh.excluded.created_at,
                "finished_at": None,
            },
        ),
        rows,
    )


def withdraw(session: Session, records: Iterable[Record], now: datetime) -> None:
    """Want no owner for these records any more; a call that is on its way counts for nothing."""
    keys = sorted({(one.connection, one.object_type, one.id) for one in records})
    for chunk in chunks(keys):
        columns = tuple_(outbox.c.connection, outbox.c.object_type, outbox.c.record_id)
        here = columns.in_(chunk) & (outbox.c.status == "ready")
        _lock(session, outbox.c.id, here)
        session.execute(
            update(outbox)
            .where(here)
            .values(status="withdrawn", version=outbox.c.version + 1, finished_at=now)
        )


def still_wanted(session: Session, items: Sequence[OutboxItem]) -> set[str]:
    """The assignments of those writes that nothing newer replaced since they were taken."""
    found: set[str] = set()
    for chunk in chunks(sorted((item.id, item.version) for item in items)):
        _lock(session, outbox.c.id, outbox.c.id.in_([key for key, _ in chunk]))
        same = tuple_(outbox.c.id, outbox.c.version).in_(chunk) & (outbox.c.status == "ready")
        found.update(session.scalars(select(outbox.c.assignment_id).where(same)))
    return found


def due(session: Session, connection: str, now: datetime, limit: int) -> list[OutboxItem]:
    """Take due writes, oldest first, all of the object type of the oldest; counts the attempt."""
    items = peek(session, connection, now, limit)
    return take(session, items)


def settle_done(session: Session, items: Sequence[OutboxItem], now: datetime) -> None:
    """Note that the CRM has the owner."""
    _settle(session, items, WriteBack.DONE, now, {"last_error": None, "crm_message": None})


def settle_kept(session: Session, items: Sequence[OutboxItem], now: datetime) -> None:
    """Note that an owner who appeared meanwhile stays."""
    _settle(session, items, WriteBack.KEPT, now, {"last_error": None, "crm_message": None})


def kill(
    session: Session, failures: Mapping[OutboxItem, tuple[str, str | None]], now: datetime
) -> None:
    """Give up on writes, each with (machine word, the CRM's own text); they stay in sight."""
    items = list(failures)
    words = {
        "last_error": _each({item.id: error for item, (error, _) in failures.items()}),
        "crm_message": _each({item.id: message for item, (_, message) in failures.items()}),
    }
    _settle(session, items, WriteBack.DEAD, now, words)


def postpone(
    session: Session,
    items: Sequence[OutboxItem],
    *,
    due_at: datetime,
    failing_since: datetime | None,
    error: str,
    crm_message: str | None = None,
) -> None:
    """Try again at ``due_at``; an earlier ``failing_since`` stands, None says it is no failure."""
    column = outbox.c.failing_since
    _change(
        session,
        items,
        due_at=due_at,
        failing_since=func.coalesce(column, failing_since, type_=column.type),
        last_error=error,
        crm_message=crm_message,
    )


def give_back(session: Session, items: Sequence[OutboxItem]) -> None:
    """Put writes back as if they had not been taken: still due, the attempt does not count."""
    _change(session, items, attempts=outbox.c.attempts - 1, failing_since=None)


def of_records(
    session: Session, connection: str, object_type: str, record_ids: Iterable[str]
) -> dict[str, OutboxItem]:
    """Read what is or was last wanted for each record, by record id."""
    found: dict[str, OutboxItem] = {}
    for chunk in chunks(sorted(set(record_ids))):
        rows = session.execute(
            select(outbox).where(
                outbox.c.connection == connection,
                outbox.c.object_type == object_type,
                outbox.c.record_id.in_(chunk),
            )
        )
        found |= {row.record_id: _item(row) for row in rows}
    return found


def of_assignments(session: Session, assignment_ids: Iterable[str]) -> dict[str, OutboxItem]:
    """Read the owner write of each assignment, by its id, unless a newer one replaced it."""
    found: dict[str, OutboxItem] = {}
    for chunk in chunks(sorted(set(assignment_ids))):
        rows = session.execute(select(outbox).where(outbox.c.assignment_id.in_(chunk)))
        found |= {row.assignment_id: _item(row) for row in rows}
    return found


def peek(session: Session, connection: str, now: datetime, limit: int) -> list[OutboxItem]:
    """Read and lock what ``due`` would take, without taking it."""
    oldest = (
        select(outbox.c.object_type)
        .where(is_due(connection, now))
        .order_by(outbox.c.id)
        .limit(1)
        .scalar_subquery()
    )
    rows = session.execute(
        select(outbox)
        .where(is_due(connection, now), outbox.c.object_type == oldest)
        .order_by(outbox.c.id)
        .limit(limit)
        .with_for_update()
    )
    return suspects.apart([_item(row) for row in rows], lambda item: item.last_error)


def take(session: Session, items: Sequence[OutboxItem]) -> list[OutboxItem]:
    """Count the attempt on peeked writes. Counted now, so that a crash counts too."""
    _change(session, items, attempts=outbox.c.attempts + 1)
    return [replace(item, attempts=item.attempts + 1) for item in items]


def is_due(connection: str | ColumnElement[str], now: datetime) -> ColumnElement[bool]:
    """Select the writes of a connection that can go out now."""
    return (
        (outbox.c.connection == connection)
        & (outbox.c.status == "ready")
        & (outbox.c.due_at <= now)
    )


def _each(words: Mapping[int, str | None]) -> ColumnElement[str] | None:
    """Give each row its own words."""
    if not words:
        return None
    return case({key: literal(word, Words()) for key, word in words.items()}, value=outbox.c.id)


def _settle(
    session: Session,
    items: Sequence[OutboxItem],
    outcome: WriteBack,
    now: datetime,
    words: Mapping[str, Any],
) -> None:
    if not items:
        return
    # Assignments before outbox, each by id: the order in which decisions lock them too.
    assignment_ids = sorted({item.assignment_id for item in items})
    for chunk in chunks(assignment_ids):
        _lock(session, assignments.c.id, assignments.c.id.in_(chunk))
    _change(session, items, status=outcome, finished_at=now, failing_since=None, **words)
    sent_again: set[str] = set()
    for row_ids in chunks([item.id for item in items]):
        query = select(outbox.c.assignment_id).where(
            outbox.c.id.in_(row_ids), outbox.c.status == "ready"
        )
        sent_again.update(session.scalars(query))
    for chunk in chunks([key for key in assignment_ids if key not in sent_again]):
        session.execute(
            update(assignments).where(assignments.c.id.in_(chunk)).values(write_back=outcome)
        )


def _change(session: Session, items: Sequence[OutboxItem], **values: Any) -> None:
    """Change the rows that are still ready and of the version that was taken."""
    for chunk in chunks(sorted((item.id, item.version) for item in items)):
        _lock(session, outbox.c.id, outbox.c.id.in_([key for key, _ in chunk]))
        session.execute(
            update(outbox)
            .where(tuple_(outbox.c.id, outbox.c.version).in_(chunk), outbox.c.status == "ready")
            .values(values)
        )


def _lock(session: Session, key: Column[Any], condition: ColumnElement[bool]) -> None:
    """Lock rows in the order of their key, so that transactions never wait in a circle."""
    if is_postgres(session):
        session.execute(select(key).where(condition).order_by(key).with_for_update())


def _item(row: Row[Any]) -> OutboxItem:
    return OutboxItem(**(dict(row._mapping) | {"replaces": tuple(row.replaces or ())}))
