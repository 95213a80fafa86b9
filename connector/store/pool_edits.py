"""Making pools and changing them and who is in them; whose turn is next is not decided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import DefaultClause, Table, case, delete, insert, update

from connector.errors import BadInput, Conflict, NotFound, Pointer
from connector.model import Pool, Strategy
from connector.store import users
from connector.store.database import Session, chunks
from connector.store.fallbacks import check_fallbacks
from connector.store.tables import pool_members, pool_state, round_robin_pools

_OUT_OF_THE_WAY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMember:
    """Someone who joins a pool; an unknown user is made, named by the id unless ``name`` is."""

    user_id: str
    weight: int = 1
    active: bool = True
    daily_quota: int | None = None
    name: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """New values of a member's columns: ``weight``, ``active``, ``daily_quota``.

    None is no quota, and the default of the others.
    """

    user_id: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPool:
    """A pool to be made: ``values`` are of its columns by name, those left out take defaults."""

    values: Mapping[str, Any]
    members: Sequence[NewMember] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """What changes in a pool: its columns; members removed, then added, updated and ordered.

    None in ``values`` takes back a limit, a zone or a fallback; of a policy it is the default.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    remove_members: Sequence[str] = ()
    add_members: Sequence[NewMember] = ()
    update_members: Sequence[MemberChange] = ()
    order: Sequence[str] | None = None  # user ids, each member once
    redistribute: bool = False  # the leads of those removed; not done here


def insert_pool(session: Session, new: NewPool, now: datetime) -> str:
    """Write a new pool and return its id."""
    pool_id = str(uuid4())
    _refuse_double(new.members, there=())
    check_fallbacks(session, pool_id, new.values)
    row = _columns(round_robin_pools, new.values)
    session.execute(
        insert(round_robin_pools).values(
            {"strategy": Strategy.STRICT} | row | {"id": pool_id, "created_at": now}
        )
    )
    session.execute(insert(pool_state).values(pool_id=pool_id))
    _add(session, pool_id, new.members, first_position=1, now=now)
    return pool_id


def apply(session: Session, pool: Pool, change: PoolChange, now: datetime) -> None:
    """Write a change of a locked pool.

    Raises before anything is written, so that all of it happens or nothing.
    """
    gone = _leaving(pool, change.remove_members)
    stay = [member for member in pool.members if member.user.id not in gone]
    _refuse_double(change.add_members, there=[member.user.id for member in stay])
    after = [member.user.id for member in stay] + [new.user_id for new in change.add_members]
    for update_ in change.update_members:
        if update_.user_id not in after:
            raise _no_member(pool, update_.user_id)
    if change.order is not None and sorted(change.order) != sorted(after):
        detail = "must name every member of the pool exactly once: " + ", ".join(sorted(after))
        raise BadInput(
            f"/order: {detail}", code="order_incomplete", errors=[Pointer("/order", detail)]
        )
    check_fallbacks(session, pool.id, change.values, before=pool.policies)
    if change.values:
        session.execute(
            update(round_robin_pools)
            .where(round_robin_pools.c.id == pool.id)
            .values(_columns(round_robin_pools, change.values))
        )
    _remove(session, pool, gone)
    last = pool.members[-1].position if pool.members else 0
    _add(session, pool.id, change.add_members, first_position=last + 1, now=now)
    for update_ in change.update_members:
        _update(session, pool.id, update_)
    if gone or change.order is not None:
        _number(session, pool.id, change.order or after)


def _columns(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Let None be the default of each column that has one."""
    row = dict(values)
    for name, value in values.items():
        default = table.c[name].server_default
        if value is None and isinstance(default, DefaultClause):
            row[name] = default.arg
        elif isinstance(value, tuple):
            row[name] = list(value)
    return row


def _leaving(pool: Pool, user_ids: Iterable[str]) -> set[str]:
    members = {member.user.id for member in pool.members}
    gone: set[str] = set()
    for user_id in user_ids:
        if user_id not in members or user_id in gone:
            raise _no_member(pool, user_id)
        gone.add(user_id)
    return gone


def _no_member(pool: Pool, user_id: str) -> NotFound:
    return NotFound(f"User {user_id} is no member of pool {pool.name}.", code="member_not_found")


def _refuse_double(members: Iterable[NewMember], *, there: Iterable[str]) -> None:
    seen = set(there)
    for member in members:
        if member.user_id in seen:
            raise Conflict(
                f"User {member.user_id} would be a member of the pool twice. For more leads give "
                "them a greater weight, under the strategy weighted.",
                code="member_exists",
            )
        seen.add(member.user_id)


def _remove(session: Session, pool: Pool, gone: set[str]) -> None:
    ids = [member.id for member in pool.members if member.user.id in gone]
    for chunk in chunks(ids):
        session.execute(delete(pool_members).where(pool_members.c.id.in_(chunk)))


def _add(
    session: Session,
    pool_id: str,
    members: Sequence[NewMember],
    *,
    first_position: int,
    now: datetime,
) -> None:
    if not members:
        return
    users.ensure(session, [(new.user_id, new.name, new.email) for new in members], now)
    session.execute(
        insert(pool_members),
        [
            {
                "pool_id": pool_id,
                "user_id": new.user_id,
                "position": position,
                "weight": new.weight,
                "active": new.active,
                "daily_quota": new.daily_quota,
            }
            for position, new in enumerate(members, start=first_position)
        ],
    )


def _update(session: Session, pool_id: str, change: MemberChange) -> None:
    if change.values:
        session.execute(
            update(pool_members)
            .where(pool_members.c.pool_id == pool_id, pool_members.c.user_id == change.user_id)
            .values(_columns(pool_members, change.values))
        )


def _number(session: Session, pool_id: str, user_ids: Sequence[str]) -> None:
    """Number the members from 1 in this order.

    In two steps, since the unique key on positions holds after each row and not only at the end.
    """
    here = pool_members.c.pool_id == pool_id
    position = pool_members.c.position
    session.execute(update(pool_members).where(here).values(position=position + _OUT_OF_THE_WAY))
    places = {user_id: place for place, user_id in enumerate(user_ids, start=1)}
    for chunk in chunks(user_ids):
        wanted = case({key: places[key] for key in chunk}, value=pool_members.c.user_id)
        session.execute(
            update(pool_members)
            .where(here, pool_members.c.user_id.in_(chunk))
            .values(position=wanted)
        )
