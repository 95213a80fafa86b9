"""Where a pool's leads may fall back to when nobody there can take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from connector.errors import BadInput, Pointer
from connector.model import NoneAvailable, Policies
from connector.store.database import Session
from connector.store.tables import round_robin_pools, users


def check_fallbacks(
    session: Session, pool_id: str, values: Mapping[str, Any], before: Policies | None = None
) -> None:
    """Refuse new values of a pool that would make its fallback lead nowhere.

    Raises ``BadInput`` when the user or pool is unknown, the pool is archived, the pools would fall
    back in a circle, or a pool that falls back names neither.
    """
    was = before or Policies()
    user_id = values.get("fallback_user_id")
    other_id = values.get("fallback_pool_id")
    if user_id is not None and not session.scalar(select(users.c.id).where(users.c.id == user_id)):
        raise _refused("fallback_user_id", f"there is no user {user_id!r}")
    if other_id is not None:
        _check_pool(session, pool_id, other_id)
    policy = values.get("none_available", was.none_available)
    named = [
        values.get("fallback_user_id", was.fallback_user_id),
        values.get("fallback_pool_id", was.fallback_pool_id),
    ]
    if policy == NoneAvailable.FALLBACK and not any(named):
        raise _refused("none_available", "needs fallback_user_id or fallback_pool_id")


def _check_pool(session: Session, pool_id: str, other_id: str) -> None:
    columns = round_robin_pools.c
    rows = session.execute(select(columns.id, columns.fallback_pool_id, columns.archived_at))
    there = {row.id: row for row in rows}
    if other_id not in there and other_id != pool_id:
        detail = f"there is no pool {other_id!r}; give the pool's id, GET /round-robin/pools"
        raise _refused("fallback_pool_id", detail)
    seen = {pool_id}
    following: str | None = other_id
    while following is not None:
        if following in seen:
            raise _refused("fallback_pool_id", "the pools would fall back in a circle")
        seen.add(following)
        following = there[following].fallback_pool_id
    if there[other_id].archived_at:
        raise _refused("fallback_pool_id", f"pool {other_id} is archived")


def _refused(column: str, detail: str) -> BadInput:
    return BadInput(f"/{column}: {detail}", errors=[Pointer(f"/{column}", detail)])
