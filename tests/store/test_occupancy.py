"""A board learns of leads and meetings as far as quotas and slots look, and no further."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, insert, text

from connector.model import Board, LeadKind, Reason, Slot, Status, WriteBack
from connector.store import occupancy, pools, tables, users
from connector.store.database import Database, Session
from connector.store.pools import MemberChange, NewMember, NewPool
from tests.store.builders import NOW, board_of, pool_of, put, statements, user


def hours(number: float) -> datetime:
    return NOW + timedelta(hours=number)


def slot(start: float, end: float) -> Slot:
    return Slot(starts_at=hours(start), ends_at=hours(end))


def rows(session: Session, pool_id: str | None, *given: tuple[str, float], **more: Any) -> None:
    """Write history rows of users, so many hours from now."""
    fresh = {
        "kind": LeadKind.LEAD,
        "status": Status.ASSIGNED,
        "reason": Reason.ROTATION,
        "attributes": {},
        "current": True,
        "counted": True,
        "write_back": WriteBack.NONE,
        "trace": {},
    }
    names = [str(uuid4()) for _ in given]
    made = [
        fresh
        | {
            "id": name,
            "lead_id": name,
            "pool_id": pool_id,
            "sequence": int(name[:8], 16) + 1 if pool_id else None,
            "user_id": user_id,
            "assigned_at": hours(at),
        }
        | more
        for name, (user_id, at) in zip(names, given, strict=True)
    ]
    session.execute(insert(tables.assignments), made)


def pool_with(session: Session, *people: str, quota: int | None = None, name: str = "P") -> str:
    values = {"name": name, "daily_quota": quota}
    members = [NewMember(user_id=one) for one in people]
    return pools.create(session, NewPool(values=values, members=members), NOW).id


def with_takings(session: Session, pool_id: str, *also: str) -> Board:
    return occupancy.with_takings(session, board_of(session, pool_id), NOW, also=also)


def limited(session: Session, *user_ids: str) -> None:
    """Give users a quota of their own."""
    put(session, *(replace(user(user_id), daily_quota=5) for user_id in user_ids))


def test_without_any_quota_nothing_is_read(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_with(session, "A")
        rows(session, pool_id, ("A", -1))
        board = board_of(session, pool_id)
        with statements(database) as sent:
            assert occupancy.with_takings(session, board, NOW) == board
        assert sent == []


def test_a_quota_of_the_pool_needs_the_leads_of_everybody_here(database: Database) -> None:
    with database.write() as session:
        users.ensure(session, [("guest", None, None)], NOW)
        pool_id, other = pool_with(session, "A", "B", quota=0), pool_with(session, "A", name="O")
        rows(session, pool_id, ("A", -1), ("B", -2), ("A", -3), ("guest", -4))
        rows(session, other, ("A", -5))
        board = with_takings(session, pool_id)
    assert board.takings == {
        "A": (hours(-3), hours(-1)),
        "B": (hours(-2),),
        "guest": (hours(-4),),
    }
    assert board.elsewhere == {}


def test_a_quota_of_a_member_needs_only_their_leads(database: Database) -> None:
    with database.write() as session:
        pool_id, other = pool_with(session, "A", "B"), pool_with(session, "A", name="O")
        change = pools.PoolChange(
            update_members=[MemberChange(user_id="A", values={"daily_quota": 0})]
        )
        pools.change(session, pool_id, change, NOW)
        rows(session, pool_id, ("A", -1), ("B", -1))
        rows(session, other, ("A", -2))
        board = with_takings(session, pool_id)
    assert (board.takings, board.elsewhere) == ({"A": (hours(-1),)}, {})


def test_a_quota_of_a_user_counts_in_all_pools(database: Database) -> None:
    with database.write() as session:
        limited(session, "A")
        pool_id, other = pool_with(session, "A", "B"), pool_with(session, "A", "B", name="O")
        rows(session, pool_id, ("A", -1), ("B", -1))
        rows(session, other, ("A", -2), ("B", -2))
        board = with_takings(session, pool_id)
    assert (board.takings, board.elsewhere) == ({"A": (hours(-1),)}, {"A": (hours(-2),)})


def test_somebody_who_is_no_member_can_be_asked_for(database: Database) -> None:
    with database.write() as session:
        limited(session, "guest")
        pool_id, other = pool_with(session, "A"), pool_with(session, "guest", name="O")
        rows(session, pool_id, ("guest", -1))
        rows(session, other, ("guest", -2))
        assert with_takings(session, pool_id).takings == {}
        board = with_takings(session, pool_id, "guest")
    assert (board.takings, board.elsewhere) == ({"guest": (hours(-1),)}, {"guest": (hours(-2),)})


def test_leads_count_as_long_as_they_are_counted_and_for_26_hours(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_with(session, "A", quota=5)
        rows(session, pool_id, ("A", -27), ("A", -26), ("A", -25.9), ("A", 0))
        rows(session, pool_id, ("A", -1), counted=False)
        assert with_takings(session, pool_id).takings == {"A": (hours(-25.9), hours(0))}


def test_meetings_of_the_pools_users_in_any_pool_are_read(database: Database) -> None:
    with database.write() as session:
        put(session, user("fallback"), user("stranger"))
        pool_id, other = pool_with(session, "A", "B"), pool_with(session, "A", name="O")
        fallback = pools.PoolChange(values={"fallback_user_id": "fallback"})
        pools.change(session, pool_id, fallback, NOW)
        for there, user_id, start, end, more in (
            (pool_id, "A", 2, 3, {}),
            (other, "A", 1, 2.5, {"status": Status.KEPT}),
            (None, "B", 3, 4, {"status": Status.REASSIGNED, "counted": False}),
            (other, "fallback", 2, 3, {}),
            (other, "stranger", 2, 3, {}),
            (pool_id, "B", 2, 3, {"current": False}),
            (pool_id, "B", 1, 2, {}),  # over when the slot begins
            (pool_id, "B", 4, 5, {}),  # begins when the slot is over
        ):
            meeting = {"starts_at": hours(start), "ends_at": hours(end)} | more
            rows(session, there, (user_id, -1), kind=LeadKind.MEETING, **meeting)
        board = board_of(session, pool_id)
        asked = occupancy.with_meetings(session, board, [slot(2, 3), slot(3.5, 4)])
        assert occupancy.with_meetings(session, board, []) == board
    assert asked.meetings == {
        "A": (slot(1, 2.5), slot(2, 3)),
        "B": (slot(3, 4),),
        "fallback": (slot(2, 3),),
    }


@pytest.mark.parametrize("quota", [None, 5], ids=["of a user", "of the pool"])
def test_a_long_history_is_not_read(database: Database, quota: int | None) -> None:
    with database.write() as session:
        limited(session, "A")
        pool_id, other = pool_with(session, "A", "B", quota=quota), pool_of(session, "A", "B")
        for there in (pool_id, other):
            old = [(name, -30 - number) for number in range(1500) for name in "AB"]
            rows(session, there, *old, current=False)
            rows(session, there, *((name, -1) for name in "AABB"), kind=LeadKind.MEETING)
        if not database.is_sqlite:
            session.execute(text("ANALYZE assignments"))
    with database.read() as session:
        board = board_of(session, pool_id)
        with indexes_used(database) as used:
            occupancy.with_takings(session, board, NOW)
            occupancy.with_meetings(session, board, [slot(0, 1)])
    here, elsewhere, meetings = used
    assert here <= {"ix_assignments_pool_time", "ix_assignments_user_counted"}
    assert elsewhere == {"ix_assignments_user_counted"}
    assert meetings == {"ix_assignments_meetings"}


@contextmanager
def indexes_used(database: Database) -> Iterator[list[set[str]]]:
    """Collect by which indexes the database finds the rows of each statement meanwhile."""
    used: list[set[str]] = []
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"

    def note(_conn: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        plan = cursor.connection.cursor().execute(f"{explain} {statement}", values).fetchall()
        used.append(
            set(re.findall(r"\w*ix_\w+|Seq Scan|SCAN", "\n".join(str(row) for row in plan)))
        )

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield used
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
