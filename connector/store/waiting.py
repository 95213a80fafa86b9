"""Leads that nobody could take yet, in the order in which they go out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Select, or_, select, update

from connector.model import Assignment, Status
from connector.store.assignment_rows import read, select_rows
from connector.store.database import Session, chunks
from connector.store.tables import assignments


def held(
    session: Session, pool_id: str, *, connections: Collection[str | None], limit: int
) -> list[Assignment]:
    """Read the leads of these connections that wait in this pool, oldest first.

    None among ``connections`` stands for leads without a CRM record.
    """
    connection = assignments.c.connection
    named = connection.in_([name for name in connections if name is not None])
    of_these = or_(named, connection.is_(None)) if None in connections else named
    query = select_rows().where(_waits(), assignments.c.pool_id == pool_id, of_these)
    return read(session, query.order_by(assignments.c.sequence).limit(limit))


def poolless_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait without a pool, oldest first, behind the id ``after``."""
    query = select_rows().where(_waits(), assignments.c.pool_id.is_(None))
    return read(session, _behind(query, after, limit))


def leave_poolless(session: Session, assignment_ids: Iterable[str]) -> None:
    """Take rows out of the queue without a pool: their leads have a row in a pool now."""
    for chunk in chunks(sorted(set(assignment_ids))):
        here = assignments.c.id.in_(chunk) & assignments.c.pool_id.is_(None)
        session.execute(update(assignments).where(here).values(current=False))


def all_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait, with a pool or without, oldest first, behind the id ``after``."""
    return read(session, _behind(select_rows().where(_waits()), after, limit))


def pools_with_held(session: Session) -> list[str]:
    """List the pools in which leads wait."""
    query = select(assignments.c.pool_id).where(_waits(), assignments.c.pool_id.is_not(None))
    return list(session.scalars(query.distinct().order_by(assignments.c.pool_id)))


def _behind(query: Select[Any], after: str, limit: int) -> Select[Any]:
    # Ids begin with the moment, so their order is that of the history.
    return query.where(assignments.c.id > after).order_by(assignments.c.id).limit(limit)


def _waits() -> ColumnElement[bool]:
    return assignments.c.current & (assignments.c.status == Status.HELD)
