"""Pools, members and boards as the model knows them, built from rows and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, select, union

from connector.model import (
    Board,
    ManualPolicy,
    Member,
    NoneAvailable,
    Period,
    Policies,
    Pool,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    Standing,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
    User,
)
from connector.store import user_rows
from connector.store.database import Session, chunks
from connector.store.tables import pool_members, round_robin_pools


def read(session: Session, rows: Sequence[Row[Any]]) -> list[Pool]:
    """Build pools with members from rows of their table; four statements for up to 500."""
    made: list[Pool] = []
    for chunk in chunks(rows):
        ids = [row.id for row in chunk]
        people = user_rows.read(session, _people(ids))
        members = _members(session, ids, people)
        made += [_pool(row, members[row.id]) for row in chunk]
    return made


def read_board(session: Session, row: Row[Any], now: datetime) -> Board:
    """Build the board of a pool from its row joined with its state; four statements."""
    people = user_rows.read(session, _people([row.id]), now)
    return Board(
        pool=_pool(row, _members(session, [row.id], people)[row.id]),
        last_assigned_member_id=row.last_assigned_member_id,
        last_sequence=row.last_sequence,
        turns=row.turns,
        period_start=row.period_start,
        fallback_user=people.get(row.fallback_user_id),
    )


def state_of(board: Board) -> dict[str, Any]:
    """Turn what the rotation changes of a board, besides standings, into columns."""
    return {
        "last_assigned_member_id": board.last_assigned_member_id,
        "last_sequence": board.last_sequence,
        "turns": board.turns,
        "period_start": board.period_start,
    }


def standings_of(board: Board) -> dict[int, dict[str, Any]]:
    """Turn each member's standing into columns, by member id."""
    return {member.id: asdict(member.standing) for member in board.pool.members}


def _people(pool_ids: Sequence[str]) -> Select[Any]:
    """Ask for the ids of these pools' members and fallback users."""
    pools = round_robin_pools.c
    either = union(
        select(pool_members.c.user_id).where(pool_members.c.pool_id.in_(pool_ids)),
        select(pools.fallback_user_id).where(
            pools.id.in_(pool_ids), pools.fallback_user_id.is_not(None)
        ),
    )
    return select(either.subquery().c.user_id)


def _members(
    session: Session, pool_ids: Sequence[str], people: Mapping[str, User]
) -> dict[str, list[Member]]:
    rows = session.execute(
        select(pool_members)
        .where(pool_members.c.pool_id.in_(pool_ids))
        .order_by(pool_members.c.pool_id, pool_members.c.position)
    )
    members: dict[str, list[Member]] = defaultdict(list)
    for row in rows:
        members[row.pool_id].append(
            Member(
                id=row.id,
                user=people[row.user_id],
                position=row.position,
                weight=row.weight,
                active=row.active,
                daily_quota=row.daily_quota,
                standing=Standing(
                    received=row.received,
                    owed=row.owed,
                    balance=row.balance,
                    taken=row.taken,
                    share=row.share,
                    in_period=row.in_period,
                    last_turn=row.last_turn,
                    away=row.away,
                ),
            )
        )
    return members


def _pool(row: Row[Any], members: Sequence[Member]) -> Pool:
    return Pool(
        id=row.id,
        name=row.name,
        strategy=Strategy(row.strategy),
        created_at=row.created_at,
        members=tuple(members),
        daily_quota=row.daily_quota,
        period=Period(row.period),
        time_zone=row.time_zone,
        policies=_policies(row),
        archived_at=row.archived_at,
    )


def _policies(row: Row[Any]) -> Policies:
    steps = row.sticky_steps
    return Policies(
        skip=SkipPolicy(row.skip),
        accrue_max=row.accrue_max,
        returning=ReturnPolicy(row._mapping["return"]),
        none_available=NoneAvailable(row.none_available),
        fallback_user_id=row.fallback_user_id,
        fallback_pool_id=row.fallback_pool_id,
        sticky=StickyPolicy(row.sticky),
        sticky_steps=Policies().sticky_steps if steps is None else tuple(map(StickyStep, steps)),
        sticky_turn=StickyTurn(row.sticky_turn),
        manual=ManualPolicy(row.manual),
        reject=RejectPolicy(row.reject),
        quota_window=QuotaWindow(row.quota_window),
        leave_buffer_hours=row.leave_buffer_hours,
    )
