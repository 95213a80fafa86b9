"""A batch is the same as its leads one after the other."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some
from sqlalchemy import select

from connector import dispatch
from connector.dispatch import Refused
from connector.model import Lead, Record, Slot
from connector.store import assignments, pools, users
from connector.store.database import Session, connect
from connector.store.tables import pool_state
from tests.builders import NOON, user
from tests.flow.conftest import Team

SLOTS = [
    Slot(starts_at=NOON + timedelta(hours=hour), ends_at=NOON + timedelta(hours=hour + 1))
    for hour in (2, 2.5, 30)
]
records = some.sampled_from([None, None, "1", "2"]).map(
    lambda one: one and Record(connection="hubspot", object_type="contacts", id=one)
)
ids = some.sampled_from(["L1", "L2", "L3", "L4", "L5", "L6"])
preferred = some.sampled_from([None, None, user("A")])
leads = some.builds(
    Lead,
    id=ids,
    email=some.sampled_from([None, None, "kim@firm.com", "lee@firm.com"]),
    company=some.sampled_from([None, None, "Firm", "Other"]),
    record=records,
    preferred=preferred,
)
meetings = some.builds(
    Lead,
    id=ids,
    email=some.sampled_from([None, "kim@firm.com"]),
    record=records,
    preferred=preferred,
    slot=some.sampled_from(SLOTS),
)
worlds = some.fixed_dictionaries(
    {
        "strategy": some.sampled_from(["strict", "weighted", "least_assigned"]),
        "none_available": some.sampled_from(["hold", "fallback", "refuse"]),
        "sticky": some.sampled_from(["active", "available", "off"]),
        "sticky_turn": some.sampled_from(["free", "counted"]),
        "skip": some.sampled_from(["lose", "hold"]),
        "daily_quota": some.sampled_from([None, None, 3]),
    }
)
quotas = some.sampled_from([None, None, 0, 1, 2])


def settle(team: Team, world: dict[str, Any], limits: tuple[Any, ...], away: str) -> str:
    """Make the pool with one that it may fall back to; one user has a quota over both."""
    other = team.pool("BD", name="Other")
    fallback = {"fallback_pool_id": other} if world["none_available"] == "fallback" else {}
    pool = team.pool("ABC", weights="321", **world, **fallback)
    team.put_user("B", daily_quota=limits[0])
    team.change(pool, members={"A": {"daily_quota": limits[1]}, "C": {"weight": 0}})
    if away:
        team.absent(away, hours=3)
    return pool


def shown(session: Session, now: datetime) -> list[Any]:
    """All that the pools say after it, without ids of rows."""
    seen: list[Any] = []
    for pool_id in pools.all_ids(session):
        board = pools.board(session, pool_id, now=now)
        assert board
        rows = assignments.history(session, pool_id, limit=1000)
        seen.append([replace(row, id="", facts={}) for row in rows])
        seen.append((board.last_assigned_member_id, board.turns))
        seen.append([member.standing for member in board.pool.members])
    seen.append(session.execute(select(pool_state.c.opens_at)).all())
    return seen


def answered(made: list[Any]) -> list[Any]:
    return [
        one.lead.id if isinstance(one, Refused) else (one.lead_id, one.sequence, one.user_id)
        for one in made
    ]


@settings(max_examples=25, derandomize=True, deadline=None, database=None, phases=[Phase.generate])
@given(
    batch=some.lists(leads | meetings, min_size=1, max_size=8),
    world=worlds,
    limits=some.tuples(quotas, quotas),
    away=some.sampled_from(["", "A", "B"]),
)
def test_a_batch_comes_out_as_its_leads_one_by_one(
    migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory, batch, world, limits, away
) -> None:
    path = tmp_path_factory.mktemp("batch") / "test.db"
    shutil.copy(migrated_sqlite, path)
    team = Team(connect(f"sqlite:///{path}"))
    pool = settle(team, world, limits, away)
    with team.database.read() as session:
        as_now = users.find(session, ["A"])
    batch = [replace(lead, preferred=lead.preferred and as_now["A"]) for lead in batch]
    outcomes = []
    for steps in ([batch], [[lead] for lead in batch]):
        with team.database.read() as session:  # and nothing stays
            made = [
                one
                for leads in steps
                for one in dispatch.assign(session, pool, leads, now=team.now)
            ]
            outcomes.append((answered(made), shown(session, team.now)))
    assert outcomes[0] == outcomes[1]
    team.leads(pool, *batch)
    assert team.differs(pool) is None
    team.database.close()
