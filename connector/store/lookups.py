"""Whom a person, a company or a lead had last, in any pool and connection.

Histories are long, and one mail domain may have much of it: each look-up asks an index for the
newest row of each key, and reads no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, column, select, values

from connector.model import Assignment, Record
from connector.store.assignment_rows import read, select_rows
from connector.store.columns import Words
from connector.store.database import Session, chunks
from connector.store.facts import lead_of
from connector.store.tables import assignments


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Who got the newest lead of a person or a company."""

    lead_id: str
    user_id: str  # the user who stays with it, also when somebody stood in
    assignment_id: str


def by_email(session: Session, keys: Iterable[str]) -> dict[str, Found]:
    """Find who has each person, by the ``email_key`` of ``connector.model.keys``."""
    return _who_has(session, assignments.c.email_key, keys)


def by_company(session: Session, keys: Iterable[str]) -> dict[str, Found]:
    """Find who has each company, by its ``company_key``."""
    return _who_has(session, assignments.c.company_key, keys)


def by_domain(session: Session, keys: Iterable[str]) -> dict[str, Found]:
    """Find who has each company, by the ``domain_key`` of an e-mail."""
    return _who_has(session, assignments.c.domain_key, keys)


def last_of_leads(
    session: Session, lead_ids: Iterable[str], records: Iterable[Record]
) -> dict[str, Assignment]:
    """Read the newest row of each lead in any pool, current or not, by lead id.

    Its status tells whether the lead was given back. A record's row stands under
    ``record.lead_id``.
    """
    columns = assignments.c
    newest = _newest(session, columns.lead_id, lead_ids)
    for connection, object_type, ids in by_type(records):
        of_type = (columns.connection == connection) & (columns.object_type == object_type)
        found = _newest(session, columns.record_id, ids, of_type)
        for record_id, assignment_id in found.items():
            record = Record(connection=connection, object_type=object_type, id=record_id)
            other = newest.get(record.lead_id, "")
            newest[record.lead_id] = max(assignment_id, other)
    rows = find(session, newest.values())
    return {lead_id: rows[assignment_id] for lead_id, assignment_id in newest.items()}


def find(session: Session, assignment_ids: Iterable[str]) -> dict[str, Assignment]:
    """Read rows by id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(assignment_ids))):
        query = select_rows().where(assignments.c.id.in_(chunk))
        found |= {row.id: row for row in read(session, query)}
    return found


def speaker(session: Session, row: Assignment) -> Assignment | None:
    """Find the row that speaks in the place of one that does no longer; the newest, if several.

    It is one of the same lead in the same pool or in one that it fell back to, any if the lead had
    no pool, or one of the same CRM record anywhere.
    """
    columns = assignments.c
    is_of_it = columns.lead_id == row.lead_id
    if record := row.record:
        of_type = (columns.connection == record.connection) & (
            columns.object_type == record.object_type
        )
        is_of_it |= of_type & (columns.record_id == record.id)
    query = select_rows().where(columns.current, is_of_it).order_by(columns.id.desc())
    for found in read(session, query):
        if record and found.record == record:
            return found
        if row.pool_id in (None, found.pool_id, lead_of(found).fallback_from):
            return found
    return None


def by_type(records: Iterable[Record | None]) -> list[tuple[str, str, list[str]]]:
    """Group the ids of records by connection and object type, all in a fixed order."""
    groups: dict[tuple[str, str], set[str]] = {}
    for record in records:
        if record:
            groups.setdefault((record.connection, record.object_type), set()).add(record.id)
    return [(*key, sorted(groups[key])) for key in sorted(groups)]


def _who_has(session: Session, key: Column[str], keys: Iterable[str]) -> dict[str, Found]:
    columns = assignments.c
    speaks = columns.current & columns.sticky_user_id.is_not(None)
    newest = _newest(session, key, keys, speaks)
    found: dict[str, Found] = {}
    for chunk in chunks(sorted(set(newest.values()))):
        rows = session.execute(
            select(columns.id, key.label("key"), columns.lead_id, columns.sticky_user_id).where(
                columns.id.in_(chunk)
            )
        )
        for row in rows:
            found[row.key] = Found(
                lead_id=row.lead_id, user_id=row.sticky_user_id, assignment_id=row.id
            )
    return found


def _newest(
    session: Session, key: Column[str], keys: Iterable[str], *conditions: ColumnElement[bool]
) -> dict[str, str]:
    """Find the id of the newest row of each key; one step down an index each."""
    found: dict[str, str] = {}
    for chunk in chunks(sorted(set(keys))):
        wanted = values(column("key", Words), name="wanted").data([(one,) for one in chunk]).cte()
        # "From key to key, last first" and not "is key": only the key's own index has that order.
        # Else PostgreSQL may look for the newest among all rows, when a typical key has many.
        newest = (
            select(assignments.c.id)
            .where(key.between(wanted.c.key, wanted.c.key), *conditions)
            .order_by(key.desc(), assignments.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        rows = session.execute(select(wanted.c.key, newest.label("id")))
        found |= {row.key: row.id for row in rows if row.id is not None}
    return found
