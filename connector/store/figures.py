"""Numbers for monitoring: what waits, what came out lately.

Each is one statement over an index and never reads the whole history, so that asking every few
seconds costs little, whatever the age of the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Table, case, func, select

from connector.store.database import Session
from connector.store.tables import (
    assignments,
    call_limits,
    inbox,
    lanes,
    outbox,
    pool_state,
    round_robin_pools,
)
from connector.store.waiting import waits

NEWEST = 1000  # events that are looked at, since no index leads to a time


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFigures:
    """One pool; id and name are empty for the leads that wait without a pool."""

    id: str
    name: str
    decisions: int  # since the pool was made
    held: int
    oldest_held_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What a connection's inbox or outbox still has to do."""

    waiting: int  # due or due later
    due: int
    oldest_at: datetime | None  # of those that wait
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A pause of a connection."""

    until: datetime
    reason: str | None
    is_probed: bool  # the CRM cannot be reached or does not let us in, else it asked for a pause


NOTHING = Backlog(waiting=0, due=0, oldest_at=None, dead=0)


def of_pools(session: Session) -> list[PoolFigures]:
    """Every pool, oldest first; then what waits without one, if anything does."""
    columns = assignments.c
    waiting = session.execute(
        select(columns.pool_id, func.count(), func.min(columns.assigned_at))
        .where(waits())
        .group_by(columns.pool_id)
    )
    held: dict[str | None, tuple[int, datetime | None]] = {
        pool_id: (number, oldest) for pool_id, number, oldest in waiting
    }
    pools = round_robin_pools.c
    known = session.execute(
        select(pools.id, pools.name, pool_state.c.last_sequence)
        .join(pool_state, pool_state.c.pool_id == pools.id)
        .order_by(pools.created_at, pools.id)
    )
    found = [(row.id, row.name, row.last_sequence, *held.get(row.id, (0, None))) for row in known]
    if None in held:
        found.append(("", "", 0, *held[None]))
    return [
        PoolFigures(id=pool_id, name=name, decisions=last, held=number, oldest_held_at=oldest)
        for pool_id, name, last, number, oldest in found
    ]


def of_inbox(session: Session, *, now: datetime) -> dict[str, Backlog]:
    """Events that wait and events given up on, by connection."""
    return _backlogs(session, inbox, inbox.c.received_at, now)


def of_outbox(session: Session, *, now: datetime) -> dict[str, Backlog]:
    """Owner writes that wait and dead letters, by connection."""
    return _backlogs(session, outbox, outbox.c.created_at, now)


def pauses(session: Session, *, now: datetime) -> dict[str, float]:
    """Every connection that a worker knows, with the seconds for which it is paused."""
    rows = session.execute(select(lanes.c.connection, lanes.c.paused_until)).all()
    return {name: max(0.0, (until - now).total_seconds()) if until else 0.0 for name, until in rows}


def rest(session: Session, connection: str, *, now: datetime) -> Rest | None:
    """The pause that the connection has now; None when it has none."""
    columns = lanes.c
    row = session.execute(
        select(columns.paused_until, columns.pause_reason, columns.probes).where(
            columns.connection == connection, columns.paused_until > now
        )
    ).one_or_none()
    if row is None:
        return None
    return Rest(until=row.paused_until, reason=row.pause_reason, is_probed=row.probes > 0)


def limits(session: Session) -> dict[tuple[str, str], tuple[int, int]]:
    """What the CRMs told of their limits last, by (connection, limit): (calls left, at most)."""
    columns = call_limits.c
    rows = session.execute(
        select(columns.connection, columns.name, columns.left, columns.most).order_by(
            columns.connection, columns.name
        )
    )
    return {(row.connection, row.name): (row.left, row.most) for row in rows}


def decisions_since(session: Session, since: datetime) -> dict[tuple[str, str], int]:
    """How many history rows came since then, by (pool id, reason)."""
    pools, rows = round_robin_pools.c, assignments.c
    found = session.execute(
        select(pools.id, rows.reason, func.count().label("number"))
        .join(assignments, (rows.pool_id == pools.id) & (rows.assigned_at >= since))
        .group_by(pools.id, rows.reason)
    )
    return {(row.id, row.reason): row.number for row in found}


def events_since(session: Session, since: datetime) -> dict[tuple[str, str, str], int]:
    """How many of the newest events came since then, by (connection, outcome, reason).

    The reason is the machine word for which an event is ignored; "" for every other outcome.
    """
    why = case((inbox.c.status == "ignored", func.coalesce(inbox.c.reason, "")), else_="")
    newest = (
        select(inbox.c.connection, inbox.c.status, inbox.c.received_at, why.label("why"))
        .order_by(inbox.c.id.desc())
        .limit(NEWEST)
        .subquery()
    )
    rows = session.execute(
        select(newest.c.connection, newest.c.status, newest.c.why, func.count().label("number"))
        .where(newest.c.received_at >= since)
        .group_by(newest.c.connection, newest.c.status, newest.c.why)
    )
    return {(row.connection, row.status, row.why): row.number for row in rows}


def _backlogs(
    session: Session, table: Table, since: Column[datetime], now: datetime
) -> dict[str, Backlog]:
    columns = table.c
    is_due = case((columns.due_at <= now, 1), else_=0)
    ready = session.execute(
        select(columns.connection, func.count(), func.sum(is_due), func.min(since))
        .where(columns.status == "ready")
        .group_by(columns.connection)
    )
    waiting: dict[str, tuple[int, int, datetime | None]] = {
        name: (number, due, oldest) for name, number, due, oldest in ready
    }
    given_up = session.execute(
        select(columns.connection, func.count())
        .where(columns.status == "dead")
        .group_by(columns.connection)
    )
    dead: dict[str, int] = dict(given_up.all())
    found = {}
    for name in waiting.keys() | dead.keys():
        number, due, oldest = waiting.get(name, (0, 0, None))
        found[name] = Backlog(waiting=number, due=due, oldest_at=oldest, dead=dead.get(name, 0))
    return found
