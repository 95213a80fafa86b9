"""How far the changes of each object type were read, and when they are asked for again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, false, or_, select, update

from connector.ports import Mark
from connector.store.database import Session, insert_on
from connector.store.tables import poll_marks

Polls = Mapping[str, Collection[str]]  # the object types that are polled, by connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reading stands, and where the next one begins once this one is at its end."""

    mark: Mark
    again_from: datetime | None = None  # None: no reading goes on


def ensure(session: Session, polls: Polls, *, since: datetime, now: datetime) -> None:
    """Make the marks that are not there yet: due now, to be read from ``since`` on."""
    rows = [
        {
            "connection": connection,
            "object_type": object_type,
            "read_until": since,
            "record_id": "",
            "due_at": now,
        }
        for connection, object_types in sorted(polls.items())
        for object_type in sorted(object_types)
    ]
    if rows:
        session.execute(insert_on(session, poll_marks).on_conflict_do_nothing(), rows)


def is_due(
    connection: str | ColumnElement[str], polls: Polls, now: datetime
) -> ColumnElement[bool]:
    """Select the marks of a connection that are due, of the object types that are polled."""
    polled = [
        and_(poll_marks.c.connection == name, poll_marks.c.object_type.in_(sorted(object_types)))
        for name, object_types in sorted(polls.items())
    ]
    return and_(
        poll_marks.c.connection == connection, poll_marks.c.due_at <= now, or_(false(), *polled)
    )


def due(session: Session, connection: str, polls: Polls, now: datetime) -> str:
    """The object type that has been due for longest; "" when there is none."""
    longest = session.scalar(
        select(poll_marks.c.object_type)
        .where(is_due(connection, polls, now))
        .order_by(poll_marks.c.due_at, poll_marks.c.object_type)
        .limit(1)
    )
    return longest or ""


def place(session: Session, connection: str, object_type: str) -> Place:
    """Where the reading of an object type stands, for which there is a mark."""
    row = session.execute(select(poll_marks).where(_is(connection, object_type))).one()
    mark = Mark(at=row.read_until, record_id=row.record_id)
    return Place(mark=mark, again_from=row.again_from)


def move(session: Session, connection: str, object_type: str, to: Place) -> None:
    """Remember how far was read, in the transaction that stores what was read."""
    session.execute(
        update(poll_marks)
        .where(_is(connection, object_type))
        .values(read_until=to.mark.at, record_id=to.mark.record_id, again_from=to.again_from)
    )


def plan(session: Session, connection: str, object_type: str, due_at: datetime) -> None:
    """Say when the object type is read again."""
    session.execute(update(poll_marks).where(_is(connection, object_type)).values(due_at=due_at))


def _is(connection: str, object_type: str) -> ColumnElement[bool]:
    return and_(poll_marks.c.connection == connection, poll_marks.c.object_type == object_type)
