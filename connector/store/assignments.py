"""What was decided: the history of every lead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from connector.errors import StoreUnavailable
from connector.model import Assignment, Decision, Record, Status, WriteBack
from connector.store.assignment_rows import assignment_of, row_of
from connector.store.database import Session, chunks
from connector.store.tables import assignments, users

_HAD_A_USER = (Status.ASSIGNED, Status.KEPT, Status.REASSIGNED)


def record(
    session: Session, decisions: Sequence[Decision], *, first_sequence: int | None
) -> list[Assignment]:
    """Write one history row for each decision, in order; earlier rows of their leads step back.

    All decisions belong to one pool, whose lock is held, and sequences count up from
    ``first_sequence``; it is None for decisions without a pool. An earlier row is one of the same
    lead in the same pool or without a pool, or of the same CRM record anywhere; its write, if still
    pending, is no longer expected. Raises ``StoreUnavailable`` when another pool recorded the same
    CRM record in the same moment: try again.
    """
    if not decisions:
        return []
    pool_id = decisions[0].pool_id
    if any(decision.pool_id != pool_id for decision in decisions):
        raise ValueError("record() takes the decisions of one pool at a time")
    if (first_sequence is None) != (pool_id is None):
        raise ValueError("decisions of a pool need a first sequence, others have none")
    _supersede(session, pool_id, decisions)
    rows = [row_of(decision, number) for number, decision in enumerate(decisions)]
    if first_sequence is not None:
        for number, row in enumerate(rows):
            row["sequence"] = first_sequence + number
    _let_the_last_speak(rows)
    try:
        session.execute(insert(assignments), rows)
    except IntegrityError as error:
        if "uq_assignments_current" not in str(error.orig) and "UNIQUE" not in str(error.orig):
            raise
        raise StoreUnavailable(
            "Another decision for the same lead was recorded in this moment. Try again."
        ) from error
    names = {d.user.id: d.user.name for d in decisions if d.user}
    return [assignment_of(row, names.get(row["user_id"])) for row in rows]


def amend(session: Session, assignment_id: str, decision: Decision) -> Assignment:
    """Put a new decision in the place of a recorded one: same id, sequence, lead and moment.

    For an owner whom the CRM refused. The pool's lock is held. Raises ``LookupError`` for an
    unknown id.
    """
    changed = row_of(decision, 0)
    columns = ("status", "reason", "sticky_step", "user_id", "owner_id", "member_id", "write_back")
    session.execute(
        update(assignments)
        .where(assignments.c.id == assignment_id)
        .values({column: changed[column] for column in columns} | {"trace": changed["trace"]})
    )
    amended = get(session, assignment_id)
    if amended is None:
        raise LookupError(f"there is no assignment {assignment_id}")
    return amended


def get(session: Session, assignment_id: str) -> Assignment | None:
    """Read one row."""
    return next(iter(_read(session, _rows().where(assignments.c.id == assignment_id))), None)


def current_of_leads(
    session: Session, pool_id: str | None, lead_ids: Iterable[str]
) -> dict[str, Assignment]:
    """Read the row that speaks for each lead in this pool (None: without a pool), by lead id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(lead_ids))):
        query = _rows().where(
            assignments.c.current,
            assignments.c.pool_id == pool_id,
            assignments.c.lead_id.in_(chunk),
        )
        found |= {row.lead_id: row for row in _read(session, query)}
    return found


def current_of_records(
    session: Session, connection: str, object_type: str, record_ids: Iterable[str]
) -> dict[str, Assignment]:
    """Read the row that speaks for each CRM record, in whatever pool, by record id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(record_ids))):
        query = _rows().where(
            assignments.c.current,
            assignments.c.connection == connection,
            assignments.c.object_type == object_type,
            assignments.c.record_id.in_(chunk),
        )
        found |= {row.record.id: row for row in _read(session, query) if row.record}
    return found


def earlier_users(
    session: Session, lead_ids: Iterable[str], records: Iterable[Record]
) -> dict[str, str]:
    """Find the user of the newest row that gave each lead to one, in any pool: lead id → user id.

    A record's answer stands under ``record.lead_id``.
    """
    columns = assignments.c
    newest: dict[str, str] = {}
    given = (
        select(columns.lead_id, columns.record_id, columns.user_id)
        .where(columns.user_id.is_not(None), columns.status.in_(_HAD_A_USER))
        .order_by(columns.assigned_at, columns.id)  # the newest overwrites
    )
    for chunk in chunks(sorted(set(lead_ids))):
        for row in session.execute(given.where(columns.lead_id.in_(chunk))):
            newest[row.lead_id] = row.user_id
    for connection, object_type, ids in _by_type(records):
        for chunk in chunks(ids):
            query = given.where(
                columns.connection == connection,
                columns.object_type == object_type,
                columns.record_id.in_(chunk),
            )
            for row in session.execute(query):
                record = Record(connection=connection, object_type=object_type, id=row.record_id)
                newest[record.lead_id] = row.user_id
    return newest


def find(session: Session, assignment_ids: Iterable[str]) -> dict[str, Assignment]:
    """Read rows by id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(assignment_ids))):
        query = _rows().where(assignments.c.id.in_(chunk))
        found |= {row.id: row for row in _read(session, query)}
    return found


def held(
    session: Session, pool_id: str, *, connections: Collection[str | None], limit: int
) -> list[Assignment]:
    """Read the leads of these connections that wait in this pool, oldest first.

    None among ``connections`` stands for leads without a CRM record.
    """
    connection = assignments.c.connection
    named = connection.in_([name for name in connections if name is not None])
    of_these = or_(named, connection.is_(None)) if None in connections else named
    query = _rows().where(_waits(), assignments.c.pool_id == pool_id, of_these)
    return _read(session, query.order_by(assignments.c.sequence).limit(limit))


def poolless_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait without a pool, oldest first, behind the id ``after``."""
    query = _rows().where(_waits(), assignments.c.pool_id.is_(None))
    return _read(session, _behind(query, after, limit))


def leave_poolless(session: Session, assignment_ids: Iterable[str]) -> None:
    """Take rows out of the queue without a pool: their leads have a row in a pool now."""
    for chunk in chunks(sorted(set(assignment_ids))):
        here = assignments.c.id.in_(chunk) & assignments.c.pool_id.is_(None)
        session.execute(update(assignments).where(here).values(current=False))


def all_held(session: Session, *, after: str, limit: int) -> list[Assignment]:
    """Read the leads that wait, with a pool or without, oldest first, behind the id ``after``."""
    return _read(session, _behind(_rows().where(_waits()), after, limit))


def pools_with_held(session: Session) -> list[str]:
    """List the pools in which leads wait."""
    query = select(assignments.c.pool_id).where(_waits(), assignments.c.pool_id.is_not(None))
    return list(session.scalars(query.distinct().order_by(assignments.c.pool_id)))


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
    query = _rows().where(columns.pool_id == pool_id)
    if lead_id is not None:
        query = query.where(columns.lead_id == lead_id)
    if user_id is not None:
        query = query.where(columns.user_id == user_id)
    if since is not None:
        query = query.where(columns.assigned_at >= since)
    if until is not None:
        query = query.where(columns.assigned_at < until)
    if before_sequence is not None:
        query = query.where(columns.sequence < before_sequence)
    return _read(session, query.order_by(columns.sequence.desc()).limit(limit))


def set_write_back(session: Session, assignment_ids: Iterable[str], write_back: WriteBack) -> None:
    """Note how far the owner writes of these rows have come."""
    for chunk in chunks(sorted(set(assignment_ids))):
        session.execute(
            update(assignments).where(assignments.c.id.in_(chunk)).values(write_back=write_back)
        )


def _supersede(session: Session, pool_id: str | None, decisions: Sequence[Decision]) -> None:
    columns = assignments.c
    lead_ids = sorted({decision.lead.id for decision in decisions})
    of_lead: list[ColumnElement[bool]] = [columns.pool_id.is_(None)]
    if pool_id is not None:
        of_lead.append(columns.pool_id == pool_id)
    earlier: set[str] = set()
    for chunk in chunks(lead_ids):
        query = select(columns.id).where(columns.current, columns.lead_id.in_(chunk), or_(*of_lead))
        earlier.update(session.scalars(query))
    for connection, object_type, ids in _by_type(d.lead.record for d in decisions):
        for chunk in chunks(ids):
            query = select(columns.id).where(
                columns.current,
                columns.connection == connection,
                columns.object_type == object_type,
                columns.record_id.in_(chunk),
            )
            earlier.update(session.scalars(query))
    for chunk in chunks(sorted(earlier)):
        here = columns.id.in_(chunk)
        # Locked in one order everywhere, so that transactions never wait in a circle.
        session.execute(select(columns.id).where(here).order_by(columns.id).with_for_update())
        session.execute(update(assignments).where(here).values(current=False))
        session.execute(
            update(assignments)
            .where(here, columns.write_back == WriteBack.PENDING)
            .values(write_back=WriteBack.NONE)
        )


def _let_the_last_speak(rows: list[dict[str, Any]]) -> None:
    """Of rows for one lead or record in the same call only the last is current."""
    leads: set[str] = set()
    records: set[tuple[str, str, str]] = set()
    for row in reversed(rows):
        record = (row["connection"], row["object_type"], row["record_id"])
        seen = row["lead_id"] in leads or (record[2] is not None and record in records)
        row["current"] = not seen
        leads.add(row["lead_id"])
        records.add(record)


def _by_type(records: Iterable[Record | None]) -> list[tuple[str, str, list[str]]]:
    groups: dict[tuple[str, str], set[str]] = {}
    for record in records:
        if record:
            groups.setdefault((record.connection, record.object_type), set()).add(record.id)
    return [(*key, sorted(groups[key])) for key in sorted(groups)]


def _rows() -> Select[Any]:
    return select(assignments, users.c.name.label("user_name")).join_from(
        assignments, users, users.c.id == assignments.c.user_id, isouter=True
    )


def _behind(query: Select[Any], after: str, limit: int) -> Select[Any]:
    # Ids begin with the moment, so their order is that of the history.
    return query.where(assignments.c.id > after).order_by(assignments.c.id).limit(limit)


def _waits() -> ColumnElement[bool]:
    return assignments.c.current & (assignments.c.status == Status.HELD)


def _read(session: Session, query: Select[Any]) -> list[Assignment]:
    return [assignment_of(row._mapping, row.user_name) for row in session.execute(query)]
