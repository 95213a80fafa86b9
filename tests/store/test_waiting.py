"""Leads that wait are found by their own index, however long the history is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from connector.model import Reason, Status
from connector.store import assignments, figures
from connector.store.database import Database, Session
from tests.store.builders import NOW, decision, empty_pool, plans, put, user

ALICE = user("a")
SMALL = r"(?! USING INDEX ix_assignments_(held|waiting|meetings))"
WALK = re.compile(rf"Seq Scan on assignments|(SCAN|SEARCH) assignments{SMALL}")

Look = Callable[[Session, str], object]


@pytest.fixture
def pool_id(database: Database) -> str:
    """A pool of 3,000 assigned leads and two that wait."""
    with database.write() as session:
        put(session, ALICE)
        pool_id = empty_pool(session)
        made = [
            decision(pool_id, f"L{number}", ALICE, decided_at=NOW + timedelta(seconds=number))
            for number in range(3000)
        ]
        held = {"status": Status.HELD, "reason": Reason.NO_MEMBER_AVAILABLE}
        made += [decision(pool_id, f"H{number}", **held) for number in range(2)]
        assignments.record(session, made, first_sequence=1)
        if not database.is_sqlite:  # which nobody analyses
            session.execute(text("ANALYZE"))
        return pool_id


@pytest.mark.parametrize(
    "look",
    [
        lambda session, pool_id: assignments.held(
            session, pool_id, connections=None, after_sequence=0, limit=500
        ),
        lambda session, pool_id: assignments.held_slots(session, [pool_id]),
        lambda session, pool_id: assignments.all_held(session, after="", limit=500),
        lambda session, pool_id: assignments.pools_with_held(session, [pool_id]),
        lambda session, pool_id: figures.of_pools(session),
    ],
    ids=["held", "held_slots", "all_held", "pools_with_held", "figures"],
)
def test_no_look_at_what_waits_walks_through_the_history(
    database: Database, pool_id: str, look: Look
) -> None:
    with database.read() as session, plans(database) as seen:
        look(session, pool_id)
    assert any("assignments" in line for line in seen)
    assert [line for line in seen if WALK.search(line)] == []
