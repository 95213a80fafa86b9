"""Pools, whose turn is next in each, and the locks that keep decisions apart."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, case, select, text, true, union, update

from connector.errors import unknown_pool
from connector.model import Board, Pool, Record
from connector.store.database import Session, chunks, is_postgres
from connector.store.pool_edits import (
    MemberChange,
    NewMember,
    NewPool,
    PoolChange,
    apply,
    insert_pool,
)
from connector.store.pool_rows import read, read_board, standings_of, state_of
from connector.store.tables import pool_members, pool_state, round_robin_pools

__all__ = [
    "MemberChange",
    "NewMember",
    "NewPool",
    "PoolChange",
    "archive",
    "board",
    "change",
    "create",
    "due_openings",
    "family",
    "get",
    "listed",
    "lock",
    "lock_records",
    "lock_users",
    "named",
    "of_users",
    "save",
    "set_opening",
]

STATE = ("last_assigned_member_id", "last_sequence", "turns", "period_start")
USER_LOCKS = 64

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


def create(session: Session, new: NewPool, now: datetime) -> Pool:
    """Make a pool. Raises ``Conflict`` (``member_exists``) or ``BadInput`` for its fallback."""
    return _there(get(session, insert_pool(session, new, now)))


def change(session: Session, pool_id: str, change: PoolChange, now: datetime) -> Pool:
    """Change a pool, all or nothing. Its lock is held; the standings are left to the engine.

    Raises ``NotFound`` (``pool_not_found``, ``member_not_found``), ``Conflict``
    (``member_exists``) or ``BadInput`` (``order_incomplete``, or a fallback that cannot be).
    """
    pool = get(session, pool_id)
    if pool is None:
        raise unknown_pool(pool_id)
    apply(session, pool, change, now)
    return _there(get(session, pool_id))


def archive(session: Session, pool_id: str, now: datetime) -> None:
    """Take a pool out of use: no longer listed or found by name; its history stays readable."""
    columns = round_robin_pools.c
    session.execute(
        update(round_robin_pools)
        .where(columns.id == pool_id, columns.archived_at.is_(None))
        .values(archived_at=now)
    )


def get(session: Session, pool_id: str) -> Pool | None:
    """Read one pool with its members, archived or not."""
    rows = session.execute(select(round_robin_pools).where(round_robin_pools.c.id == pool_id)).all()
    return next(iter(read(session, rows)), None)


def named(session: Session, name_or_id: str, *, archived: bool = False) -> Pool | None:
    """Read the pool of this id, else the oldest of this name; an archived one only if asked to."""
    rows = session.execute(
        select(round_robin_pools)
        .where((round_robin_pools.c.id == name_or_id) | (round_robin_pools.c.name == name_or_id))
        .where(true() if archived else round_robin_pools.c.archived_at.is_(None))
        .order_by(
            case((round_robin_pools.c.id == name_or_id, 0), else_=1),
            round_robin_pools.c.created_at,
            round_robin_pools.c.id,
        )
        .limit(1)
    ).all()
    return next(iter(read(session, rows)), None)


def names(session: Session) -> dict[str, str]:
    """The ids of all pools in use, by id and by folded name; of two the same, the oldest."""
    known: dict[str, str] = {}
    columns = round_robin_pools.c
    rows = session.execute(
        select(columns.id, columns.name)
        .where(columns.archived_at.is_(None))
        .order_by(columns.created_at, columns.id)
    ).all()
    for row in rows:
        known.setdefault(row.name.strip().casefold(), row.id)
    return known | {row.id: row.id for row in rows}


def listed(session: Session, after: tuple[datetime, str] | None, limit: int) -> list[Pool]:
    """Read pools in use with members, oldest first, behind the (created_at, id) of ``after``."""
    columns = (round_robin_pools.c.created_at, round_robin_pools.c.id)
    in_use = round_robin_pools.c.archived_at.is_(None)
    query = select(round_robin_pools).where(in_use).order_by(*columns).limit(limit)
    if after is not None:
        moment, pool_id = after
        query = query.where(
            (columns[0] > moment) | ((columns[0] == moment) & (columns[1] > pool_id))
        )
    return read(session, session.execute(query).all())


def all_ids(session: Session) -> list[str]:
    """List all pools, archived ones too, oldest first."""
    columns = round_robin_pools.c
    return list(session.scalars(select(columns.id).order_by(columns.created_at, columns.id)))


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


def lock_users(session: Session, user_ids: Iterable[str]) -> None:
    """Keep decisions of other pools that these users' own quotas or meetings depend on out.

    After the pools are locked, before records are, all users of a transaction in one call. Users
    share a bounded number of locks, whatever the size of the company.
    """
    buckets = {_lock_key(user_id) % USER_LOCKS for user_id in user_ids}
    _lock_each(session, (f"users:{bucket}" for bucket in buckets))


def lock_records(session: Session, records: Iterable[Record]) -> None:
    """Keep other decisions of these CRM records out, in whatever pool, until the transaction ends.

    After the pools are locked and before anything of the records is read.
    """
    _lock_each(session, (f"record:{record.lead_id}" for record in records))


def board(session: Session, pool_id: str, *, now: datetime) -> Board | None:
    """Read all that a decision depends on, without takings and meetings; archived pools too.

    To decide on it, ``lock`` the pool before. Absences that ended a day before ``now`` are left
    out.
    """
    row = session.execute(
        select(round_robin_pools, *(pool_state.c[name] for name in STATE))
        .join(pool_state, pool_state.c.pool_id == round_robin_pools.c.id)
        .where(round_robin_pools.c.id == pool_id)
    ).one_or_none()
    return read_board(session, row, now) if row else None


def save(session: Session, before: Board, after: Board) -> None:
    """Write what differs of the rotation's state and of members' standings, and nothing else.

    ``before`` is what the database has. Only under the lock with which it was read.
    """
    pool_id = after.pool.id
    state = state_of(after)
    if state != state_of(before):
        session.execute(update(pool_state).where(pool_state.c.pool_id == pool_id).values(state))
    were = standings_of(before)
    changed = [
        {"member": member_id} | standing
        for member_id, standing in standings_of(after).items()
        if standing != were.get(member_id)
    ]
    if changed:
        here = pool_members.c.id == bindparam("member")
        session.execute(update(pool_members).where(here), changed)


def set_opening(session: Session, pool_id: str, at: datetime | None) -> None:
    """Note when a held lead of the pool may find somebody; None: no clock brings that."""
    here = pool_state.c.pool_id == pool_id
    session.execute(update(pool_state).where(here).values(opens_at=at))


def due_openings(session: Session, now: datetime) -> list[str]:
    """List the pools whose opening has come, the longest due first."""
    columns = pool_state.c
    query = select(columns.pool_id).where(columns.opens_at <= now)
    return list(session.scalars(query.order_by(columns.opens_at, columns.pool_id)))


def family(session: Session, pool_ids: Iterable[str]) -> set[str]:
    """Find all pools that a fallback connects with these, in either direction, these included."""
    columns = round_robin_pools.c
    links = session.execute(
        select(columns.id, columns.fallback_pool_id).where(columns.fallback_pool_id.is_not(None))
    )
    neighbours: dict[str, set[str]] = defaultdict(set)
    for row in links:
        neighbours[row.id].add(row.fallback_pool_id)
        neighbours[row.fallback_pool_id].add(row.id)
    found: set[str] = set()
    ahead = set(pool_ids)
    while ahead:
        found |= ahead
        ahead = {near for one in ahead for near in neighbours[one]} - found
    return found


def of_users(session: Session, user_ids: Iterable[str]) -> set[str]:
    """Find all pools, archived ones too, where one of these is a member or the fallback user."""
    found: set[str] = set()
    pools = round_robin_pools.c
    for chunk in chunks(sorted(set(user_ids))):
        found.update(
            session.scalars(
                union(
                    select(pool_members.c.pool_id).where(pool_members.c.user_id.in_(chunk)),
                    select(pools.id).where(pools.fallback_user_id.in_(chunk)),
                )
            )
        )
    return found


def _there(pool: Pool | None) -> Pool:
    if pool is None:
        raise LookupError("the pool vanished inside its own transaction")
    return pool


def _lock_each(session: Session, names: Iterable[str]) -> None:
    keys = sorted({_lock_key(name) for name in names})
    if keys and is_postgres(session):
        session.execute(_LOCK_EACH, {"keys": keys})


def _lock_key(name: str) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
