"""Leads that nobody could take yet, in the order in which they go out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, func, literal, or_, select, update

from connector.model import Assignment, Lead, Slot, Status
from connector.model.keys import company_key, domain_key, email_key
from connector.store.assignment_rows import read, select_rows
from connector.store.columns import Words
from connector.store.database import Session, chunks
from connector.store.tables import assignments


def waits() -> ColumnElement[bool]:
    """The condition of a row whose lead waits.

    The word stands in the statement itself, so that every plan may use the indexes of held rows.
    """
    held = literal(Status.HELD, Words(), literal_execute=True)
    return assignments.c.current & (assignments.c.status == held)


_KINSHIP: tuple[tuple[Column[Any], Callable[[Lead], str | None]], ...] = (
    (assignments.c.email_key, lambda lead: email_key(lead.email)),
    (assignments.c.company_key, lambda lead: company_key(lead.company)),
    (assignments.c.domain_key, lambda lead: domain_key(lead.email)),
)


def held(
    session: Session,
    pool_id: str,
    *,
    connections: Collection[str | None] | None,
    after_sequence: int,
    limit: int,
    like: Sequence[Lead] = (),
) -> list[Assignment]:
    """Read the leads that wait in this pool behind a sequence, oldest first.

    Only meetings, those of the given ``connections`` and those of the same person or company as one
    of ``like``, unless ``connections`` is None; a None among them stands for leads without a CRM
    record.
    """
    query = select_rows().where(
        waits(), assignments.c.pool_id == pool_id, assignments.c.sequence > after_sequence
    )
    if connections is not None:
        connection = assignments.c.connection
        of_these = [
            assignments.c.starts_at.is_not(None),
            connection.in_([name for name in connections if name is not None]),
        ]
        if None in connections:
            of_these.append(connection.is_(None))
        for column, key in _KINSHIP:
            if known := {one for lead in like if (one := key(lead))}:
                of_these.append(column.in_(sorted(known)))
        query = query.where(or_(*of_these))
    return read(session, query.order_by(assignments.c.sequence).limit(limit))


def held_slots(session: Session, pool_ids: Iterable[str]) -> list[Slot]:
    """Read when the meetings take place that wait in these pools."""
    columns = assignments.c
    query = select(columns.starts_at, columns.ends_at).where(
        _waits_in(pool_ids), columns.starts_at.is_not(None)
    )
    return [Slot(starts_at=row.starts_at, ends_at=row.ends_at) for row in session.execute(query)]


def poolless_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait without a pool, oldest first, behind the id ``after``."""
    query = select_rows().where(waits(), assignments.c.pool_id.is_(None))
    return read(session, _behind(query, after, limit))


def leave(session: Session, assignment_ids: Iterable[str]) -> None:
    """Take rows out of their queue: another row speaks for their leads, or is about to."""
    for chunk in chunks(sorted(set(assignment_ids))):
        here = assignments.c.id.in_(chunk)
        session.execute(update(assignments).where(here).values(current=False))


def all_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait, with a pool or without, oldest first, behind the id ``after``."""
    return read(session, _behind(select_rows().where(waits()), after, limit))


def pools_with_held(session: Session, pool_ids: Collection[str]) -> list[str]:
    """List those of the pools in which leads wait, the one whose lead waits longest first."""
    columns = assignments.c
    query = (
        select(columns.pool_id)
        .where(_waits_in(pool_ids))
        .group_by(columns.pool_id)
        .order_by(func.min(columns.assigned_at), columns.pool_id)
    )
    return list(session.scalars(query))


def _waits_in(pool_ids: Iterable[str]) -> ColumnElement[bool]:
    # Every row of a pool has a sequence. Asked for, it lets SQLite, which has no statistics here,
    # prefer the index of held rows to that of the pool's whole history.
    columns = assignments.c
    return waits() & columns.pool_id.in_(sorted(pool_ids)) & (columns.sequence >= 1)


def _behind(query: Select[Any], after: str, limit: int) -> Select[Any]:
    # Ids begin with the moment, so their order is that of the history.
    return query.where(assignments.c.id > after).order_by(assignments.c.id).limit(limit)
