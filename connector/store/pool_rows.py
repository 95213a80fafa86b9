"""Pools and members as the model knows them, built from rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select

from connector.model import Member, Pool, Strategy
from connector.store import users
from connector.store.database import Session, chunks
from connector.store.tables import pool_members
from connector.store.tables import user_owners as owner_rows
from connector.store.tables import users as user_rows


def read(session: Session, rows: Sequence[Row[Any]]) -> list[Pool]:
    """Build pools with members from rows of their table; three statements for up to 500."""
    members = _members(session, [row.id for row in rows])
    return [
        Pool(
            id=row.id,
            name=row.name,
            strategy=Strategy(row.strategy),
            created_at=row.created_at,
            members=tuple(members.get(row.id, ())),
        )
        for row in rows
    ]


def _members(session: Session, pool_ids: Sequence[str]) -> dict[str, list[Member]]:
    members: dict[str, list[Member]] = {}
    for chunk in chunks(pool_ids):
        here = pool_members.c.pool_id.in_(chunk)
        people = session.execute(
            select(user_rows)
            .join(pool_members, pool_members.c.user_id == user_rows.c.id)
            .where(here)
            .distinct()
        ).all()
        owners = session.execute(
            select(owner_rows)
            .join(pool_members, pool_members.c.user_id == owner_rows.c.user_id)
            .where(here)
        ).all()
        known = users.from_rows(people, owners)
        rows = session.execute(select(pool_members).where(here).order_by(pool_members.c.position))
        for row in rows:
            members.setdefault(row.pool_id, []).append(
                Member(
                    id=row.id,
                    user=known[row.user_id],
                    position=row.position,
                    weight=row.weight,
                    active=row.active,
                    owed=row.owed,
                )
            )
    return members
