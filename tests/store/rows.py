"""Rows put straight into tables, where how they came about does not matter."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import insert

from connector.store.database import Session
from connector.store.tables import assignments, inbox, outbox, pool_state, round_robin_pools, users
from tests.store.builders import NOW


def pool(session: Session, name: str, *, decisions: int = 0) -> str:
    """Make a pool that has decided so often, without its history."""
    pool_id = f"id-of-{name}"
    values = {"id": pool_id, "name": name, "strategy": "strict", "created_at": NOW}
    session.execute(insert(round_robin_pools), [values])
    session.execute(insert(pool_state), [{"pool_id": pool_id, "last_sequence": decisions}])
    return pool_id


def history(
    session: Session, pool_id: str | None, *, at: list[datetime], first: int = 1, **more: Any
) -> list[str]:
    """Write one history row for each moment, held unless told otherwise; return their ids."""
    rows = [
        {
            "id": str(uuid4()),
            "pool_id": pool_id,
            "sequence": sequence if pool_id else None,
            "lead_id": f"L{sequence}",
            "kind": "lead",
            "status": "held",
            "reason": "no_member_available",
            "assigned_at": moment,
            "attributes": {},
            "current": True,
            "write_back": "none",
            "trace": {},
        }
        | more
        for sequence, moment in enumerate(at, first)
    ]
    session.execute(insert(assignments), rows)
    return [str(row["id"]) for row in rows]


def user(session: Session, user_id: str) -> str:
    """Make a user."""
    session.execute(insert(users), [{"id": user_id, "name": user_id, "created_at": NOW}])
    return user_id


def events(
    session: Session,
    connection: str,
    status: str,
    *,
    at: list[datetime],
    due: datetime = NOW,
    reason: str | None = None,
) -> None:
    """Store one event for each moment at which it was received."""
    rows = [
        {
            "connection": connection,
            "event_key": str(uuid4()),
            "kind": "created",
            "object_type": "contacts",
            "record_id": "1",
            "payload": {},
            "received_at": moment,
            "status": status,
            "reason": reason,
            "due_at": due,
        }
        for moment in at
    ]
    session.execute(insert(inbox), rows)


def writes(
    session: Session,
    connection: str,
    status: str,
    *,
    at: list[datetime],
    assignment_id: str,
    due: datetime = NOW,
) -> None:
    """Store one owner write for each moment at which it was asked for."""
    rows = [
        {
            "connection": connection,
            "object_type": "contacts",
            "record_id": str(uuid4()),
            "assignment_id": assignment_id,
            "owner_id": "5501",
            "status": status,
            "due_at": due,
            "created_at": moment,
        }
        for moment in at
    ]
    session.execute(insert(outbox), rows)
