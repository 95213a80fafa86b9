"""Migrations make exactly the tables that the program describes, and say when they have not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import select, text, update
from sqlalchemy.exc import IntegrityError

from connector.errors import StoreBehind, StoreUnavailable
from connector.store import schema
from connector.store.database import Database, Session, connect
from connector.store.tables import assignments, metadata

MIGRATIONS = Path(schema.__file__).parent / "migrations"
NewDatabase = Callable[[], Database]


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewDatabase]:
    """Make databases without tables."""
    made: list[Database] = []

    def make() -> Database:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path / f'{len(made)}.db'}"
        else:
            url = request.getfixturevalue("new_postgres_database")()
        made.append(connect(url))
        return made[-1]

    yield make
    for database in made:
        database.close()


def test_models_and_migrations_do_not_drift(database: Database) -> None:
    with database.read() as session:
        context = MigrationContext.configure(
            session.connection(), opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_checks_and_partial_keys_do_not_drift_either(new_database: NewDatabase) -> None:
    migrated, created = new_database(), new_database()
    schema.upgrade(migrated)
    with created.write() as session:
        metadata.create_all(session.connection())
    assert described(migrated) == described(created)
    assert len(described(created)) > 20


def test_upgrading_twice_is_harmless(new_database: NewDatabase) -> None:
    database = new_database()
    schema.upgrade(database)
    with database.write() as session:
        session.execute(text("INSERT INTO lanes (connection) VALUES ('hubspot')"))
    schema.upgrade(database)
    schema.check(database)
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM lanes")) == 1


def test_foreign_keys_hold_again_after_an_upgrade(new_database: NewDatabase) -> None:
    database = new_database()
    schema.upgrade(database)
    orphan = text("INSERT INTO pool_state (pool_id) VALUES ('nowhere')")
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(orphan)


def test_rows_that_refer_to_nothing_are_never_committed(new_database: NewDatabase) -> None:
    database = new_database()
    schema.upgrade(database)
    orphan = text("INSERT INTO pool_state (pool_id) VALUES ('nowhere')")
    with pytest.raises((RuntimeError, IntegrityError)), database.rebuild() as session:
        session.execute(orphan)
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM pool_state")) == 0


def test_processes_that_upgrade_at_once_wait_for_each_other(new_database: NewDatabase) -> None:
    first = new_database()
    same = [connect(first.engine.url.render_as_string(hide_password=False)) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(schema.upgrade, same))
    schema.check(first)
    for database in same:
        database.close()


def test_a_database_without_tables_names_the_command(new_database: NewDatabase) -> None:
    with pytest.raises(StoreBehind, match=r"no tables.*`leadrota db upgrade`"):
        schema.check(new_database())


def test_an_older_schema_names_the_command(new_database: NewDatabase) -> None:
    database = new_database()
    schema.upgrade(database)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(StoreBehind, match=r"at revision 0001.*needs 0006.*`leadrota db upgrade`"):
        schema.check(database)


def test_a_newer_schema_is_refused_and_left_alone(new_database: NewDatabase) -> None:
    database = new_database()
    schema.upgrade(database)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'future'"))
    for attempt in (schema.check, schema.upgrade):
        with pytest.raises(StoreBehind, match=r"newer Lead Rota.*`leadrota db upgrade`"):
            attempt(database)


def test_a_query_before_the_migration_says_that_the_schema_is_behind(
    new_database: NewDatabase,
) -> None:
    with pytest.raises(StoreBehind, match="leadrota db upgrade"), new_database().read() as session:
        session.execute(text("SELECT * FROM users"))


def test_checking_a_database_out_of_reach_says_so(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/no/folder.db", "postgres://u:secret@127.0.0.1:1/x"):
        with pytest.raises(StoreUnavailable) as caught:
            schema.check(connect(url))
        assert "secret" not in str(caught.value)


def test_what_was_stored_survives_the_way_up_and_down_and_up(new_database: NewDatabase) -> None:
    database = new_database()
    move(database, "0002")
    with database.write() as session:
        put_older_rows(session)
    older = {table: rows_of(database, table) for table in OLDER_TABLES}
    older_tables = described(database)
    move(database, "head")
    newer = {table.name: rows_of(database, table.name) for table in metadata.sorted_tables}
    move(database, "0002")
    assert {table: rows_of(database, table) for table in OLDER_TABLES} == older
    if not database.is_sqlite:  # there the partial indexes stay as SQLite can use them
        assert described(database) == older_tables
    move(database, "head")
    assert {table.name: rows_of(database, table.name) for table in metadata.sorted_tables} == newer
    with database.read() as session:
        cursor = session.scalars(text("SELECT last_assigned_member_id FROM pool_state")).all()
        assert cursor == [2, None]


def test_the_history_that_is_there_can_be_looked_up_like_new_rows(
    new_database: NewDatabase,
) -> None:
    database = new_database()
    move(database, "0002")
    with database.write() as session:
        put_older_rows(session)
    schema.upgrade(database)
    columns = "id, email_key, company_key, domain_key, sticky_user_id, counted"
    with database.read() as session:
        found = session.execute(text(f"SELECT {columns} FROM assignments ORDER BY id")).all()
        received = session.execute(
            text("SELECT user_id, received, last_turn, owed FROM pool_members ORDER BY id")
        ).all()
        opens_at = session.execute(
            text("SELECT pool_id, opens_at IS NULL FROM pool_state ORDER BY pool_id")
        ).all()
    assert [tuple(row) for row in found] == [
        ("a1", "ann@acme.example", "acme gmbh", "acme.example", "u1", False),
        ("a2", "ann@acme.example", "acme gmbh", "acme.example", "u2", True),
        ("a3", "bo@gmail.com", None, None, None, False),
        ("a4", None, None, None, "u1", False),
    ]
    assert [tuple(row) for row in received] == [("u1", 1, 1, 0), ("u2", 1, 2, 1)]
    assert [tuple(row) for row in opens_at] == [("p1", False), ("p2", True)]


def test_words_that_the_older_tables_do_not_know_become_the_nearest(
    new_database: NewDatabase,
) -> None:
    database = new_database()
    schema.upgrade(database)
    with database.write() as session:
        put_older_rows(session)
        for statement in (
            "UPDATE round_robin_pools SET strategy = 'weighted' WHERE id = 'p2'",
            "UPDATE round_robin_pools SET fallback_pool_id = 'p2' WHERE id = 'p1'",
            "UPDATE round_robin_pools SET none_available = 'fallback' WHERE id = 'p1'",
            "UPDATE pool_members SET owed = -1 WHERE id = 1",
            "UPDATE assignments SET reason = 'preferred', status = 'rejected' WHERE id = 'a1'",
            "UPDATE assignments SET reason = 'pool_quota_reached' WHERE id = 'a3'",
            "UPDATE assignments SET sticky_step = 'company' WHERE id = 'a4'",
        ):
            session.execute(text(statement))
        session.execute(
            update(assignments)
            .where(assignments.c.id == "a3")
            .values(trace={"skipped": NEW_SKIPS, "checks": [["person", "u1", "x"]], "order": []})
        )
    move(database, "0002")
    with database.read() as session:
        told = "SELECT status, reason, sticky_step FROM assignments ORDER BY id"
        assert [tuple(row) for row in session.execute(text(told))] == [
            ("reassigned", "manual", None),
            ("assigned", "owed", None),
            ("held", "no_member_available", None),
            ("kept", "sticky", "earlier_assignment"),
        ]
        trace = session.scalar(select(assignments.c.trace).where(assignments.c.id == "a3"))
        assert trace == {
            "skipped": [
                ["u1", "inactive", None],
                ["u1", "excluded", "absent: vacation"],
                ["u2", "excluded", "busy"],
            ],
            "checks": [["earlier_assignment", "u1", "x"]],
            "order": [],
        }
        assert set(session.scalars(text("SELECT strategy FROM round_robin_pools"))) == {"strict"}
        assert session.scalars(text("SELECT owed FROM pool_members ORDER BY id")).all() == [0, 1]


NEW_SKIPS = [
    ["u1", "inactive", None, None],
    ["u1", "absent", "vacation", "2026-10-20T00:00:00Z"],
    ["u2", "busy", None, None],
]
OLDER_TABLES = (
    "users",
    "user_owners",
    "round_robin_pools",
    "pool_members",
    "pool_state",
    "territories",
    "assignments",
    "outbox",
)
OLDER_ROWS = """
INSERT INTO users (id, name, email, created_at) VALUES ('u1', 'Ann', NULL, :noon),
    ('u2', 'Bo', 'bo@us.example', :noon);
INSERT INTO user_owners (user_id, connection, owner_id) VALUES ('u1', 'hubspot', '1');
INSERT INTO round_robin_pools (id, name, strategy, created_at) VALUES
    ('p1', 'SDR', 'strict', :noon), ('p2', 'AE', 'strict', :noon);
INSERT INTO pool_members (pool_id, user_id, position, weight, owed) VALUES ('p1', 'u1', 1, 5, 0),
    ('p1', 'u2', 2, 1, 1);
INSERT INTO pool_state (pool_id, last_assigned_member_id, last_sequence) VALUES ('p1', 2, 4),
    ('p2', NULL, 0);
INSERT INTO territories (position, name, "when", pool_id) VALUES (1, 'DACH', '{}', 'p1');
INSERT INTO assignments (id, pool_id, sequence, lead_id, kind, status, reason, sticky_step,
    user_id, member_id, assigned_at, connection, object_type, record_id, email, company,
    attributes, "current", write_back, trace) VALUES
    ('a1', 'p1', 1, 'L1', 'lead', 'assigned', 'rotation', NULL, 'u1', 1, :noon, NULL, NULL, NULL,
        ' Ann@Acme.example', 'ACME GmbH ', '{}', false, 'none', '{}'),
    ('a2', 'p1', 2, 'L1', 'lead', 'assigned', 'owed', NULL, 'u2', 2, :noon, NULL, NULL, NULL,
        'ann@acme.example', 'Acme GmbH', '{}', true, 'none', '{}'),
    ('a3', 'p1', 3, 'L2', 'lead', 'held', 'no_member_available', NULL, NULL, NULL, :noon, NULL,
        NULL, NULL, 'bo@gmail.com', NULL, '{}', true, 'none', '{}'),
    ('a4', 'p1', 4, 'hubspot:contacts:7', 'lead', 'kept', 'sticky', 'existing_owner', 'u1', NULL,
        :noon, 'hubspot', 'contacts', '7', NULL, NULL, '{}', true, 'none', '{}');
INSERT INTO outbox (connection, object_type, record_id, assignment_id, owner_id, status, due_at,
    created_at) VALUES ('hubspot', 'contacts', '7', 'a4', '1', 'ready', :noon, :noon)
"""


def put_older_rows(session: Session) -> None:
    for statement in OLDER_ROWS.split(";"):
        session.execute(text(statement.replace(":noon", "'2026-10-15 12:00:00.000000'")))


def move(database: Database, revision: str) -> None:
    """Bring the tables to a revision, up or down."""
    configuration = Config()
    configuration.set_main_option("script_location", str(MIGRATIONS))
    with database.rebuild() as session:
        connection = configuration.attributes["connection"] = session.connection()
        now_at = MigrationContext.configure(connection).get_current_revision() or ""
        go = command.downgrade if revision < now_at else command.upgrade
        go(configuration, revision)


def rows_of(database: Database, table: str) -> list[tuple[Any, ...]]:
    """Read a table as sorted text, column by column."""
    with database.read() as session:
        rows = session.execute(text(f"SELECT * FROM {table}")).mappings()
        return sorted(tuple(sorted((name, repr(row[name])) for name in row)) for row in rows)


def described(database: Database) -> set[str]:
    """Describe every constraint, index and column in the database's own words."""
    if database.is_sqlite:
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '%version%'"
    else:
        query = """
            SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
            UNION SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
            UNION SELECT table_name || ' ' || column_name || ' ' || data_type || ' ' ||
                coalesce(column_default, '') || ' ' || is_nullable
            FROM information_schema.columns WHERE table_schema = 'public'
        """
    with database.read() as session:
        found = session.scalars(text(query)).all()
    words = {re.sub(r"\s+", " ", sql) for sql in found if "alembic_version" not in sql}
    if not database.is_sqlite:
        return words
    # A table that was made anew has its name in quotes; the order inside a table means nothing.
    words = {re.sub(r'^CREATE TABLE "(\w+)"', r"CREATE TABLE \1", sql) for sql in words}
    return {" ".join(sorted(re.split(r", (?=CONSTRAINT|\w+ )", sql[:-2]))) for sql in words}
