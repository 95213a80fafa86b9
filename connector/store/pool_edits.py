"""Making pools and changing who is in them, without moving whose turn is next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import case, delete, insert, update

from connector.errors import BadInput, Conflict, NotFound, Pointer
from connector.model import Member, Pool, Strategy
from connector.store import users
from connector.store.database import Session, chunks
from connector.store.tables import pool_members, pool_state, round_robin_pools

_OUT_OF_THE_WAY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMember:
    """Someone who joins a pool; an unknown user is made, named by the id unless ``name`` is."""

    user_id: str
    weight: int = 1
    active: bool = True
    name: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """New values for a member; None leaves the old one."""

    user_id: str
    weight: int | None = None
    active: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """What changes in a pool: removed, then added, then updated, then ordered."""

    name: str | None = None
    remove_members: Sequence[str] = ()
    add_members: Sequence[NewMember] = ()
    update_members: Sequence[MemberChange] = ()
    order: Sequence[str] | None = None  # user ids, each member once


def insert_pool(session: Session, name: str, members: Sequence[NewMember], now: datetime) -> str:
    """Write a new pool and return its id."""
    pool_id = str(uuid4())
    session.execute(
        insert(round_robin_pools).values(
            id=pool_id, name=name, strategy=Strategy.STRICT, created_at=now
        )
    )
    session.execute(insert(pool_state).values(pool_id=pool_id))
    _refuse_double(members, there=())
    _add(session, pool_id, members, first_position=1, now=now)
    return pool_id


def apply(
    session: Session, pool: Pool, cursor: int | None, change: PoolChange, now: datetime
) -> None:
    """Write a change of a locked pool whose last assigned member is ``cursor``.

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
    if change.name is not None:
        session.execute(
            update(round_robin_pools)
            .where(round_robin_pools.c.id == pool.id)
            .values(name=change.name)
        )
    _remove(session, pool, gone, cursor)
    last = pool.members[-1].position if pool.members else 0
    _add(session, pool.id, change.add_members, first_position=last + 1, now=now)
    for update_ in change.update_members:
        _update(session, pool.id, update_)
    _number(session, pool.id, change.order or after)


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
                f"User {member.user_id} would be a member of the pool twice.",
                code="member_exists",
            )
        seen.add(member.user_id)


def _remove(session: Session, pool: Pool, gone: set[str], cursor: int | None) -> None:
    if not gone:
        return
    ids = [member.id for member in pool.members if member.user.id in gone]
    if cursor in ids:
        session.execute(
            update(pool_state)
            .where(pool_state.c.pool_id == pool.id)
            .values(last_assigned_member_id=_before(pool.members, cursor, gone))
        )
    for chunk in chunks(ids):
        session.execute(delete(pool_members).where(pool_members.c.id.in_(chunk)))


def _before(members: Sequence[Member], cursor: int | None, gone: set[str]) -> int | None:
    """Find the nearest member ahead of the cursor who stays; None lets the rotation start anew."""
    nearest = None
    for member in members:
        if member.id == cursor:
            break
        if member.user.id not in gone:
            nearest = member.id
    return nearest


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
            }
            for position, new in enumerate(members, start=first_position)
        ],
    )


def _update(session: Session, pool_id: str, change: MemberChange) -> None:
    wanted = {"weight": change.weight, "active": change.active}
    values = {name: value for name, value in wanted.items() if value is not None}
    if values:
        session.execute(
            update(pool_members)
            .where(pool_members.c.pool_id == pool_id, pool_members.c.user_id == change.user_id)
            .values(values)
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
