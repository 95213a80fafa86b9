"""Pools, whose turn is next in each, and the lock that keeps decisions apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import case, func, select, text, update

from connector.errors import NotFound
from connector.model import Board, Pool, Record, Status
from connector.store.database import Session, chunks, is_postgres
from connector.store.pool_edits import MemberChange, NewMember, PoolChange, apply, insert_pool
from connector.store.pool_rows import read
from connector.store.tables import assignments, pool_members, pool_state, round_robin_pools

__all__ = [
    "MemberChange",
    "NewMember",
    "PoolChange",
    "board",
    "change",
    "counts",
    "create",
    "get",
    "listed",
    "lock",
    "named",
    "owe",
    "save_state",
]

# A process frozen inside a transaction must not hold a pool for ever: PostgreSQL ends it.
_LIMITS = text(
    "SELECT set_config('lock_timeout', '30s', true),"
    " set_config('idle_in_transaction_session_timeout', '60s', true)"
)
_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
# In the order of the keys, so that transactions never wait in a circle.
_LOCK_EACH = text(
    "SELECT pg_advisory_xact_lock(key) FROM (SELECT unnest(CAST(:keys AS bigint[])) AS key"
    " ORDER BY key) AS keys"
)


def create(session: Session, name: str, members: Sequence[NewMember], now: datetime) -> Pool:
    """Make a pool. Raises ``Conflict`` (``member_exists``) for the same user twice."""
    return _there(get(session, insert_pool(session, name, members, now)))


def change(session: Session, pool_id: str, change: PoolChange, now: datetime) -> Pool:
    """Change a pool, all or nothing; whose turn is next among those who stay does not move.

    Locks the pool. Raises ``NotFound`` (``pool_not_found``, ``member_not_found``), ``Conflict``
    (``member_exists``) or ``BadInput`` (``order_incomplete``).
    """
    locked = board(session, pool_id, lock=True)
    if locked is None:
        raise NotFound(f"There is no pool {pool_id}.", code="pool_not_found")
    apply(session, locked.pool, locked.last_assigned_member_id, change, now)
    return _there(get(session, pool_id))


def get(session: Session, pool_id: str) -> Pool | None:
    """Read one pool with its members."""
    rows = session.execute(select(round_robin_pools).where(round_robin_pools.c.id == pool_id)).all()
    return next(iter(read(session, rows)), None)


def named(session: Session, name_or_id: str) -> Pool | None:
    """Read the pool of this id, else the oldest of this name."""
    rows = session.execute(
        select(round_robin_pools)
        .where((round_robin_pools.c.id == name_or_id) | (round_robin_pools.c.name == name_or_id))
        .order_by(
            case((round_robin_pools.c.id == name_or_id, 0), else_=1),
            round_robin_pools.c.created_at,
            round_robin_pools.c.id,
        )
        .limit(1)
    ).all()
    return next(iter(read(session, rows)), None)


def listed(session: Session, after: tuple[datetime, str] | None, limit: int) -> list[Pool]:
    """Read pools with members, oldest first, behind the (created_at, id) of ``after``."""
    columns = (round_robin_pools.c.created_at, round_robin_pools.c.id)
    query = select(round_robin_pools).order_by(*columns).limit(limit)
    if after is not None:
        moment, pool_id = after
        query = query.where(
            (columns[0] > moment) | ((columns[0] == moment) & (columns[1] > pool_id))
        )
    return read(session, session.execute(query).all())


def lock(session: Session, pool_ids: Iterable[str]) -> None:
    """Keep every other decision and edit of these pools out until the transaction ends.

    Comes before anything of the pools is read, else the read may be older than the lock. Take all
    pools of a transaction in one call: they are locked in one fixed order, so that transactions
    never wait in a circle. On SQLite the transaction itself is the lock.
    """
    if not is_postgres(session):
        return
    keys = sorted({_lock_key(f"pool:{pool_id}") for pool_id in pool_ids})
    if keys:
        session.execute(_LIMITS)
    for key in keys:
        session.execute(_LOCK, {"key": key})


def lock_records(session: Session, records: Iterable[Record]) -> None:
    """Keep other decisions of these CRM records out, in whatever pool, until the transaction ends.

    After the pools are locked and before anything of the records is read.
    """
    keys = sorted({_lock_key(f"record:{record.lead_id}") for record in records})
    if keys and is_postgres(session):
        session.execute(_LOCK_EACH, {"keys": keys})


def board(session: Session, pool_id: str, *, lock: bool) -> Board | None:
    """Read all that a decision depends on; with ``lock`` nobody else decides until the commit."""
    if lock:
        _lock_pools(session, [pool_id])
    row = session.execute(
        select(round_robin_pools, pool_state.c.last_assigned_member_id, pool_state.c.last_sequence)
        .join(pool_state, pool_state.c.pool_id == round_robin_pools.c.id)
        .where(round_robin_pools.c.id == pool_id)
    ).one_or_none()
    if row is None:
        return None
    return Board(
        pool=read(session, [row])[0],
        last_assigned_member_id=row.last_assigned_member_id,
        last_sequence=row.last_sequence,
    )


def save_state(session: Session, board: Board) -> None:
    """Write back whose turn was last, the last sequence and each member's owed turns.

    Only under the lock with which the board was read.
    """
    session.execute(
        update(pool_state)
        .where(pool_state.c.pool_id == board.pool.id)
        .values(
            last_assigned_member_id=board.last_assigned_member_id,
            last_sequence=board.last_sequence,
        )
    )
    before = session.execute(
        select(pool_members.c.id, pool_members.c.owed).where(
            pool_members.c.pool_id == board.pool.id
        )
    )
    owed = {row.id: row.owed for row in before}
    changed = {
        member.id: member.owed
        for member in board.pool.members
        if owed.get(member.id, member.owed) != member.owed
    }
    for chunk in chunks(list(changed)):
        session.execute(
            update(pool_members)
            .where(pool_members.c.id.in_(chunk))
            .values(owed=case({key: changed[key] for key in chunk}, value=pool_members.c.id))
        )


def counts(session: Session, pool_id: str) -> dict[str, int]:
    """Count the leads that each user was assigned in this pool."""
    rows = session.execute(
        select(assignments.c.user_id, func.count().label("leads"))
        .where(assignments.c.pool_id == pool_id, assignments.c.status == Status.ASSIGNED)
        .group_by(assignments.c.user_id)
    )
    return {row.user_id: row.leads for row in rows}


def owe(session: Session, pool_id: str, user_id: str) -> None:
    """Give the user one turn of this pool before the rotation goes on, if still a member.

    Locks the pool: take all pools of the transaction with ``lock`` first when there are several.
    """
    lock(session, [pool_id])
    session.execute(
        update(pool_members)
        .where(pool_members.c.pool_id == pool_id, pool_members.c.user_id == user_id)
        .values(owed=pool_members.c.owed + 1)
    )


_lock_pools = lock  # `board` has a parameter of that name


def _there(pool: Pool | None) -> Pool:
    if pool is None:
        raise LookupError("the pool vanished inside its own transaction")
    return pool


def _lock_key(name: str) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
