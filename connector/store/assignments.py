"""What was decided: the history of every lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from sqlalchemy import ColumnElement, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from connector.errors import StoreUnavailable
from connector.model import Assignment, Board, Decision, Status, WriteBack
from connector.store.assignment_rows import assignment_of, read, row_of, select_rows
from connector.store.database import Session, chunks
from connector.store.history import (
    all_rows,
    at_sequence,
    first_broken_seal,
    has_newer,
    history,
    of_lead,
    rows_between,
)
from connector.store.lookups import (
    Found,
    by_company,
    by_domain,
    by_email,
    by_type,
    find,
    last_of_leads,
    speaker,
)
from connector.store.tables import assignments
from connector.store.waiting import (
    all_held,
    held,
    held_slots,
    leave,
    poolless_held,
    pools_with_held,
)

__all__ = [
    "Found",
    "all_held",
    "all_rows",
    "amend",
    "at_sequence",
    "by_company",
    "by_domain",
    "by_email",
    "current_anywhere",
    "current_of_leads",
    "current_of_records",
    "current_of_user",
    "find",
    "first_broken_seal",
    "get",
    "has_newer",
    "held",
    "held_slots",
    "history",
    "last_of_leads",
    "leave",
    "of_lead",
    "poolless_held",
    "pools_with_held",
    "record",
    "rows_between",
    "set_write_back",
    "speaker",
    "uncount",
]

# What an amendment replaces: the outcome, not who asked for it and when.
_OUTCOME = (
    "status",
    "reason",
    "sticky_step",
    "user_id",
    "owner_id",
    "member_id",
    "sticky_user_id",
    "counted",
    "write_back",
    "trace",
)


def record(
    session: Session,
    decisions: Sequence[Decision],
    *,
    first_sequence: int | None,
    boards: Sequence[Board] = (),
) -> list[Assignment]:
    """Write one history row for each decision, in order; earlier rows of their leads step back.

    All decisions belong to one pool, whose lock is held, and sequences count up from
    ``first_sequence``; it is None for decisions without a pool. ``boards`` are those that the
    decisions were made from, one for each; a decision that no board was asked for needs none.

    An earlier row is one of the same lead in the same pool, in the one it fell back from, without a
    pool or held in any, or of the same CRM record anywhere; its write, if still pending, is no
    longer expected. A row that a decision gives back no longer counts towards quotas. Raises
    ``StoreUnavailable`` when another pool recorded the same CRM record in the same moment: try
    again.
    """
    if not decisions:
        return []
    pool_id = decisions[0].pool_id
    if any(decision.pool_id != pool_id for decision in decisions):
        raise ValueError("record() takes the decisions of one pool at a time")
    if (first_sequence is None) != (pool_id is None):
        raise ValueError("decisions of a pool need a first sequence, others have none")
    if boards and len(boards) != len(decisions):
        raise ValueError("give the board of each decision, or none")
    _supersede(session, pool_id, decisions)
    uncount(session, [made.gives_back.assignment_id for made in decisions if made.gives_back])
    rows = [row_of(made, board=board) for made, board in zip_longest(decisions, boards)]
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


def amend(
    session: Session, assignment_id: str, decision: Decision, board: Board | None
) -> Assignment:
    """Put a new decision in the place of a recorded one: same id, sequence, lead and moment.

    For an owner whom the CRM refused. The pool's lock is held. Raises ``LookupError`` for an
    unknown id.
    """
    changed = row_of(decision, board=board)
    session.execute(
        update(assignments)
        .where(assignments.c.id == assignment_id)
        .values({column: changed[column] for column in _OUTCOME})
    )
    amended = get(session, assignment_id)
    if amended is None:
        raise LookupError(f"there is no assignment {assignment_id}")
    return amended


def get(session: Session, assignment_id: str) -> Assignment | None:
    """Read one row."""
    return next(iter(read(session, select_rows().where(assignments.c.id == assignment_id))), None)


def current_of_leads(
    session: Session, pool_id: str | None, lead_ids: Iterable[str]
) -> dict[str, Assignment]:
    """Read the row that speaks for each lead in this pool (None: without a pool), by lead id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(lead_ids))):
        query = select_rows().where(
            assignments.c.current,
            assignments.c.pool_id == pool_id,
            assignments.c.lead_id.in_(chunk),
        )
        found |= {row.lead_id: row for row in read(session, query)}
    return found


def current_anywhere(session: Session, lead_ids: Iterable[str]) -> list[Assignment]:
    """Read the rows that speak for these leads, in whatever pool, oldest first."""
    found: list[Assignment] = []
    for chunk in chunks(sorted(set(lead_ids))):
        query = select_rows().where(assignments.c.current, assignments.c.lead_id.in_(chunk))
        found += read(session, query.order_by(assignments.c.id))
    return found


def current_of_records(
    session: Session, connection: str, object_type: str, record_ids: Iterable[str]
) -> dict[str, Assignment]:
    """Read the row that speaks for each CRM record, in whatever pool, by record id."""
    found: dict[str, Assignment] = {}
    for chunk in chunks(sorted(set(record_ids))):
        query = select_rows().where(
            assignments.c.current,
            assignments.c.connection == connection,
            assignments.c.object_type == object_type,
            assignments.c.record_id.in_(chunk),
        )
        found |= {row.record.id: row for row in read(session, query) if row.record}
    return found


def current_of_user(
    session: Session, pool_id: str, user_id: str, limit: int, *, after_sequence: int = 0
) -> list[Assignment]:
    """Read the rows that gave a user leads of this pool, oldest first, behind a sequence.

    What an owner in the CRM keeps was not given by the pool.
    """
    query = select_rows().where(
        assignments.c.current,
        assignments.c.pool_id == pool_id,
        assignments.c.user_id == user_id,
        assignments.c.status != Status.KEPT,
        assignments.c.sequence > after_sequence,
    )
    return read(session, query.order_by(assignments.c.sequence).limit(limit))


def uncount(session: Session, assignment_ids: Iterable[str]) -> None:
    """Let these rows no longer count towards quotas."""
    for chunk in chunks(sorted(set(assignment_ids))):
        session.execute(
            update(assignments).where(assignments.c.id.in_(chunk)).values(counted=False)
        )


def set_write_back(session: Session, assignment_ids: Iterable[str], write_back: WriteBack) -> None:
    """Note how far the owner writes of these rows have come."""
    for chunk in chunks(sorted(set(assignment_ids))):
        session.execute(
            update(assignments).where(assignments.c.id.in_(chunk)).values(write_back=write_back)
        )


def _supersede(session: Session, pool_id: str | None, decisions: Sequence[Decision]) -> None:
    columns = assignments.c
    lead_ids = sorted({decision.lead.id for decision in decisions})
    # A lead waits in one place only.
    of_lead: list[ColumnElement[bool]] = [columns.pool_id.is_(None), columns.status == Status.HELD]
    places = {pool_id, *(decision.lead.fallback_from for decision in decisions)} - {None}
    if places:
        of_lead.append(columns.pool_id.in_(sorted(str(place) for place in places)))
    earlier: set[str] = set()
    for chunk in chunks(lead_ids):
        query = select(columns.id).where(columns.current, columns.lead_id.in_(chunk), or_(*of_lead))
        earlier.update(session.scalars(query))
    for connection, object_type, ids in by_type(d.lead.record for d in decisions):
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
