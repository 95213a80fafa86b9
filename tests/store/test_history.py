"""A pool's history is read newest first in pages, or as a stream from its beginning."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from connector.store import assignments
from connector.store.assignment_rows import PAGE
from connector.store.database import Database, Session
from tests.store.builders import NOW, decision, empty_pool, plans, put, statements, user

ALICE = user("a")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def pool_id(database: Database) -> str:
    with database.write() as session:
        put(session, ALICE, user("b"))
        return empty_pool(session)


def record(session: Session, pool_id: str, *people: Any, gap: timedelta = MINUTE) -> None:
    """Give a lead to each of these people, a minute apart."""
    made = [
        decision(pool_id, f"L{number}", person, decided_at=NOW + number * gap)
        for number, person in enumerate(people, 1)
    ]
    assignments.record(session, made, first_sequence=1)


def sequences(rows: Any) -> list[int | None]:
    return [row.sequence for row in rows]


def test_history_is_newest_first_in_pages(database: Database, pool_id: str) -> None:
    with database.write() as session:
        record(session, pool_id, *[ALICE] * 5)
        assert sequences(assignments.history(session, pool_id)) == [5, 4, 3, 2, 1]
        page = assignments.history(session, pool_id, before_sequence=4, limit=2)
        assert sequences(page) == [3, 2]


def test_history_is_narrowed_by_lead_user_and_time(database: Database, pool_id: str) -> None:
    with database.write() as session:
        record(session, pool_id, ALICE, user("b"), ALICE)

        def found(**by: Any) -> list[int | None]:
            return sequences(assignments.history(session, pool_id, **by))

        assert found(lead_id="L2") == [2]
        assert found(user_id="a") == [3, 1]
        assert found(since=NOW + 2 * MINUTE) == [3, 2]
        assert found(until=NOW + 2 * MINUTE) == [1]


def test_history_tells_who_asked_for_a_change_and_why(database: Database, pool_id: str) -> None:
    with database.write() as session:
        made = decision(pool_id, "x", ALICE, actor="kim", note="speaks French")
        assignments.record(session, [made], first_sequence=1)
        (row,) = assignments.history(session, pool_id)
    assert (row.actor, row.note) == ("kim", "speaks French")


def test_the_rows_of_a_period_come_oldest_first(database: Database, pool_id: str) -> None:
    with database.write() as session:
        other = empty_pool(session)
        record(session, other, ALICE)
        record(session, pool_id, *[ALICE] * 5)

        def found(since: int | None, until: int | None) -> list[int | None]:
            ends = [None if n is None else NOW + n * MINUTE for n in (since, until)]
            return sequences(assignments.rows_between(session, pool_id, *ends))

        assert found(2, 4) == [2, 3]
        assert found(4, None) == [4, 5]
        assert found(None, 3) == [1, 2]
        assert found(None, None) == [1, 2, 3, 4, 5]


def test_the_order_of_a_period_is_that_of_the_sequences(database: Database, pool_id: str) -> None:
    """A process that waited for the pool writes later with an earlier moment."""
    with database.write() as session:
        record(session, pool_id, *[ALICE] * 3, gap=-MINUTE)
        found = sequences(assignments.rows_between(session, pool_id, NOW - 3 * MINUTE, NOW))
    assert found == [1, 2, 3]


def test_a_whole_history_is_read_from_any_sequence_on(database: Database, pool_id: str) -> None:
    with database.write() as session:
        record(session, pool_id, ALICE, user("b"), ALICE)
        rows = list(assignments.all_rows(session, pool_id, 0))
        assert sequences(rows) == [1, 2, 3]
        assert [row.user_name for row in rows] == ["A", "B", "A"]
        assert sequences(assignments.all_rows(session, pool_id, 2)) == [3]


def test_other_statements_do_not_disturb_a_stream(database: Database, pool_id: str) -> None:
    with database.write() as session:
        record(session, pool_id, *[ALICE] * (PAGE + 1))
        with statements(database) as sent:
            stream = assignments.all_rows(session, pool_id, 0)
            assert next(stream).sequence == 1
            assert len(assignments.history(session, pool_id)) == 100
            assert sequences(stream) == list(range(2, PAGE + 2))
    assert len(sent) == 2


def test_the_server_keeps_what_a_stream_did_not_ask_for_yet(postgresql: Database) -> None:
    with postgresql.write() as session:
        put(session, ALICE)
        pool_id = empty_pool(session)
        record(session, pool_id, *[ALICE] * 3)
        for stream in (
            assignments.all_rows(session, pool_id, 0),
            assignments.rows_between(session, pool_id, None, None),
        ):
            next(stream)
            assert session.scalar(text("SELECT count(*) FROM pg_cursors")) == 1
            assert len(list(stream)) == 2


def test_the_history_of_a_lead_comes_from_the_index_of_leads(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        record(session, pool_id, *[ALICE] * 200)
    with database.write() as session:
        session.execute(text("ANALYZE"))
        with plans(database) as seen:
            (row,) = assignments.of_lead(session, "L5", before=None, limit=100)
    assert row.lead_id == "L5"
    assert any("ix_assignments_lead_id" in line for line in seen)
