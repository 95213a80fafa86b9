"""Migrations make exactly the tables that the program describes, and say when they have not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from connector.errors import StoreBehind, StoreUnavailable
from connector.store import schema
from connector.store.database import Database, connect
from connector.store.tables import metadata

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
    with pytest.raises(StoreBehind, match=r"at revision 0001.*needs 0002.*`leadrota db upgrade`"):
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
    # The order of constraints inside a table means nothing.
    return {" ".join(sorted(re.split(r", (?=CONSTRAINT|\w+ )", sql[:-2]))) for sql in words}
