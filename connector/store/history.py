"""The past of a pool or a lead, as people and programs read it."""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from connector.model import Assignment
from connector.store.assignment_rows import PAGE, read, select_rows, streamed
from connector.store.database import Session
from connector.store.seals import is_broken
from connector.store.tables import assignments


def history(
    session: Session,
    pool_id: str,
    *,
    lead_id: str | None = None,
    user_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before_sequence: int | None = None,
    limit: int = 100,
) -> list[Assignment]:
    """Read a pool's rows, newest first; ``since`` is inclusive, ``until`` is not."""
    columns = assignments.c
    query = _between(pool_id, since, until)
    if lead_id is not None:
        query = query.where(columns.lead_id == lead_id)
    if user_id is not None:
        query = query.where(columns.user_id == user_id)
    if before_sequence is not None:
        query = query.where(columns.sequence < before_sequence)
    return read(session, query.order_by(columns.sequence.desc()).limit(limit))


def of_lead(session: Session, lead_id: str, *, before: str | None, limit: int) -> list[Assignment]:
    """Read a lead's rows in all pools and without one, newest first, older than the id ``before``.

    Ids begin with the moment, so their order is that of the history.
    """
    columns = assignments.c
    query = select_rows().where(columns.lead_id == lead_id)
    if before is not None:
        query = query.where(columns.id < before)
    return read(session, query.order_by(columns.id.desc()).limit(limit))


def rows_between(
    session: Session, pool_id: str, since: datetime | None, until: datetime | None
) -> Generator[Assignment]:
    """Read a pool's rows of a period page by page, oldest first; ends as in ``history``."""
    query = _between(pool_id, since, until)
    return streamed(session, query.order_by(assignments.c.sequence))


def at_sequence(session: Session, pool_id: str, sequence: int) -> Assignment | None:
    """Read one row of a pool by its number."""
    columns = assignments.c
    query = select_rows().where(columns.pool_id == pool_id, columns.sequence == sequence)
    return next(iter(read(session, query)), None)


def all_rows(session: Session, pool_id: str, after_sequence: int) -> Generator[Assignment]:
    """Read a pool's rows behind a sequence page by page, oldest first."""
    query = _between(pool_id, None, None).where(assignments.c.sequence > after_sequence)
    return streamed(session, query.order_by(assignments.c.sequence))


def first_broken_seal(session: Session, pool_id: str, after_sequence: int) -> int | None:
    """Find the first row that says something else of its lead than once was written: its number."""
    columns = assignments.c
    query = select(assignments).where(columns.pool_id == pool_id, columns.sequence > after_sequence)
    by_page = query.order_by(columns.sequence).execution_options(yield_per=PAGE)
    with session.execute(by_page) as rows:
        return next((row.sequence for row in rows if is_broken(row._mapping)), None)


def has_newer(session: Session, row: Assignment) -> bool:
    """Tell whether a newer row of the same lead or record is anywhere."""
    columns = assignments.c
    of_it = columns.lead_id == row.lead_id
    if row.record:
        of_it |= (
            (columns.connection == row.record.connection)
            & (columns.object_type == row.record.object_type)
            & (columns.record_id == row.record.id)
        )
    return session.scalar(select(columns.id).where(of_it, columns.id > row.id).limit(1)) is not None


def _between(pool_id: str, since: datetime | None, until: datetime | None) -> Select[Any]:
    query = select_rows().where(assignments.c.pool_id == pool_id)
    if since is not None:
        query = query.where(assignments.c.assigned_at >= since)
    if until is not None:
        query = query.where(assignments.c.assigned_at < until)
    return query
