"""Transactions end as they should, and a database in trouble has one name."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, text

from connector.errors import BadSettings, StoreUnavailable
from connector.model import Decision
from connector.store import assignments, lanes, pools, users
from connector.store.database import Database, connect
from tests.store.builders import (
    NOW,
    board_of,
    contact,
    decision,
    pool_of,
    put,
    run_all,
    turn,
    user,
)


def test_a_finished_write_is_there_and_a_failed_one_is_not(database: Database) -> None:
    with database.write() as session:
        lanes.ensure(session, ["kept"])
    with pytest.raises(RuntimeError), database.write() as session:  # noqa: PT012
        lanes.ensure(session, ["lost"])
        raise RuntimeError
    with database.read() as session:
        assert session.scalars(text("SELECT connection FROM lanes")).all() == ["kept"]


def test_a_read_changes_nothing(database: Database) -> None:
    with database.read() as session:
        lanes.ensure(session, ["lost"])
    with database.read() as session:
        assert session.scalars(text("SELECT connection FROM lanes")).all() == []


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_postgres_scheme_means_psycopg(scheme: str) -> None:
    url = connect(f"{scheme}://me:secret@db.example/leads?sslmode=require").engine.url
    assert url.render_as_string() == "postgresql+psycopg://me:***@db.example/leads?sslmode=require"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:secret@h/x",
        "postgres://me:secret@h:port/x",
        "secret",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_an_address_that_cannot_work_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(BadSettings) as caught:
        connect(url)
    assert "secret" not in caught.value.message


def test_moments_come_back_as_aware_utc(database: Database) -> None:
    berlin = timezone(timedelta(hours=2))
    with database.write() as session:
        pools.create(
            session,
            pools.NewPool(values={"name": "SDR"}),
            datetime(2026, 10, 15, 14, 0, 0, 123456, tzinfo=berlin),
        )
    with database.read() as session:
        (pool,) = pools.listed(session, None, 10)
    assert pool.created_at == datetime(2026, 10, 15, 12, 0, 0, 123456, tzinfo=UTC)
    assert pool.created_at.tzinfo is UTC


def test_a_naive_moment_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="has no time zone"), database.write() as session:
        pools.create(session, pools.NewPool(values={"name": "SDR"}), NOW.replace(tzinfo=None))


def test_text_that_postgresql_cannot_hold_does_not_stop_the_lead(database: Database) -> None:
    with database.write() as session:
        (row,) = assignments.record(
            session,
            [decision(None, "lead", company="a\x00b\ud800c", attributes={"x": "\x00\ud800"})],
            first_sequence=None,
        )
    with database.read() as session:
        kept = assignments.get(session, row.id)
    assert kept is not None
    assert kept.company == "a\ufffdb\ufffd\ufffd\ufffdc"
    assert kept.attributes == {"x": "\x00\ud800"}


def test_a_locked_sqlite_file_is_unavailable(sqlite: Database) -> None:
    @event.listens_for(sqlite.engine, "connect")
    def hurry(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA busy_timeout=10")

    other = sqlite3.connect(str(sqlite.engine.url.database))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"), sqlite.write() as session:
        lanes.ensure(session, ["x"])
    with sqlite.read() as session:  # readers are not held up
        assert users.get(session, "u1") is None
    other.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database at all" * 100)
    with (
        pytest.raises(StoreUnavailable),
        connect(f"sqlite:///{tmp_path}/x.db").read() as session,
    ):
        users.get(session, "u1")


def test_a_connection_that_postgresql_ends_is_unavailable_and_then_replaced(
    postgresql: Database,
) -> None:
    with pytest.raises(StoreUnavailable), postgresql.write() as session:  # noqa: PT012
        with postgresql.write() as other:
            mine = session.scalar(text("SELECT pg_backend_pid()"))
            other.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": mine})
        users.get(session, "u1")
    with postgresql.read() as session:
        assert users.get(session, "u1") is None


def test_a_postgresql_that_only_reads_is_unavailable(postgresql: Database) -> None:
    with pytest.raises(StoreUnavailable, match="read-only"), postgresql.write() as session:  # noqa: PT012
        session.execute(text("SET TRANSACTION READ ONLY"))
        lanes.ensure(session, ["x"])


def test_two_transactions_that_wait_for_each_other_end_as_unavailable(
    postgresql: Database,
) -> None:
    with postgresql.write() as session:
        lanes.ensure(session, ["a", "b"])
    both_hold_one = threading.Barrier(2, timeout=20)
    ends: list[str] = []

    def lock_both(names: tuple[str, str]) -> None:
        query = text("SELECT * FROM lanes WHERE connection = :name FOR UPDATE")
        try:
            with postgresql.write() as session:
                session.execute(query, {"name": names[0]})
                both_hold_one.wait()
                session.execute(query, {"name": names[1]})
            ends.append("done")
        except StoreUnavailable:
            ends.append("unavailable")

    run_all([lambda: lock_both(("a", "b")), lambda: lock_both(("b", "a"))])
    assert sorted(ends) == ["done", "unavailable"]


@pytest.fixture
def careless(sqlite: Database) -> Iterator[Database]:
    """The same file as SQLAlchemy opens it by default."""
    made = Database(create_engine(sqlite.engine.url))
    yield made
    made.close()


def test_a_sqlite_write_locks_before_it_reads(sqlite: Database) -> None:
    """Else two processes read the same turn; the next test shows that the default does so."""
    assert someone_else_can_write_after_a_read(sqlite) is False


def test_the_default_recipe_would_let_two_transactions_read_the_same_turn(
    careless: Database,
) -> None:
    assert someone_else_can_write_after_a_read(careless) is True


def someone_else_can_write_after_a_read(database: Database) -> bool:
    with database.write() as session:
        users.listed(session, None, 1)
        other = sqlite3.connect(str(database.engine.url.database), timeout=0.01)
        try:
            other.execute("INSERT INTO lanes (connection) VALUES ('between')")
            other.commit()
        except sqlite3.OperationalError:
            return False
        else:
            return True
        finally:
            other.close()


THREADS, EACH = 8, 25


def test_decisions_of_one_pool_never_overlap(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "a", "b", "c")
    elsewhere = [
        connect(database.engine.url.render_as_string(hide_password=False)) for _ in range(2)
    ]

    def decide(number: int) -> None:
        mine = elsewhere[number % 2]  # as two processes would
        for lead in range(EACH):
            with mine.write() as session:
                turn(session, pool_id, f"lead-{number}-{lead}")

    run_all([lambda number=number: decide(number) for number in range(THREADS)])
    for other in elsewhere:
        other.close()
    with database.read() as session:
        rows = assignments.history(session, pool_id, limit=1000)
        board = board_of(session, pool_id)
    total = THREADS * EACH
    assert [row.sequence for row in rows] == list(range(total, 0, -1))
    assert [row.user_id for row in reversed(rows)] == [("a", "b", "c")[n % 3] for n in range(total)]
    assert board.last_sequence == total


def test_two_pools_decide_for_one_record_and_one_of_them_is_told_to_try_again(
    postgresql: Database,
) -> None:
    with postgresql.write() as session:
        put(session, user("a", hubspot="1"))
        ids = [pool_of(session, "a", name=name) for name in ("one", "two")]
    both_looked = threading.Barrier(2, timeout=20)
    ends: list[str] = []

    def decide(pool_id: str) -> None:
        made: Decision = decision(pool_id, "x", user("a", hubspot="1"), record=contact("1"))
        try:
            with postgresql.write() as session:
                assert assignments.current_of_records(session, "hubspot", "contacts", ["1"]) == {}
                both_looked.wait()
                assignments.record(session, [made], first_sequence=1)
            ends.append("done")
        except StoreUnavailable as error:
            ends.append(error.message[:24])

    run_all([lambda pool_id=pool_id: decide(pool_id) for pool_id in ids])
    # Whoever comes second either steps after the first or is told so; never two current rows.
    with postgresql.read() as session:
        current = text('SELECT count(*) FROM assignments WHERE "current"')
        assert session.scalar(current) == 1
    assert "done" in ends
