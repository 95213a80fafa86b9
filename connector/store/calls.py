"""What all processes know of the calls to a CRM: how many may be made now, what limits are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import select, update

from connector.pacing import Bucket
from connector.ports import Limit
from connector.store.database import Session, insert_on
from connector.store.tables import call_buckets, call_limits, lanes

_LARGEST = 2**31 - 1  # of the columns; a CRM may tell anything


def pause_left(session: Session, connection: str, now: datetime) -> float:
    """Seconds for which the connection still rests; 0 when it does not, or no worker knows it."""
    until = session.scalar(select(lanes.c.paused_until).where(lanes.c.connection == connection))
    return max(0.0, (until - now).total_seconds()) if until else 0.0


def lock_bucket(session: Session, connection: str, name: str) -> Bucket | None:
    """The bucket, which nobody else can change until the transaction ends; None for a new one."""
    key = {"connection": connection, "name": name}
    query = select(call_buckets).filter_by(**key).with_for_update()
    row = session.execute(query).one_or_none()
    return Bucket(tokens=row.tokens, filled_at=row.filled_at) if row else None


def make_bucket(session: Session, connection: str, name: str, bucket: Bucket) -> Bucket:
    """Make a bucket and lock it; whoever came first made it."""
    row = {"connection": connection, "name": name, **asdict(bucket)}
    session.execute(insert_on(session, call_buckets).values(row).on_conflict_do_nothing())
    return lock_bucket(session, connection, name) or bucket


def save_bucket(session: Session, connection: str, name: str, bucket: Bucket) -> None:
    """Keep what a locked bucket holds now."""
    columns = call_buckets.c
    session.execute(
        update(call_buckets)
        .where(columns.connection == connection, columns.name == name)
        .values(**asdict(bucket))
    )


def note_limits(
    session: Session, connection: str, limits: Sequence[Limit], *, now: datetime
) -> None:
    """Remember what the CRM still takes, in place of what it told before."""
    rows = {
        limit.name: {
            "connection": connection,
            "name": limit.name,
            "most": _fitting(limit.most),
            "left": _fitting(limit.left),
            "told_at": now,
        }
        for limit in limits
    }
    if not rows:
        return
    fresh = insert_on(session, call_limits)
    told = {name: fresh.excluded[name] for name in ("most", "left", "told_at")}
    session.execute(
        fresh.on_conflict_do_update(index_elements=["connection", "name"], set_=told),
        [rows[name] for name in sorted(rows)],  # in order, so that no two lock each other out
    )


def _fitting(number: int) -> int:
    return min(max(number, 0), _LARGEST)
