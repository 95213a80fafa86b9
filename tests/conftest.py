"""Databases for tests: every test that asks for one runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

from connector.store import schema
from connector.store.database import Database, connect
from connector.store.tables import metadata

ROOT = Path(__file__).parent.parent
FOLDER = pytest.StashKey[Path]()
GUARD = pytest.StashKey["subprocess.Popen[bytes]"]()
TABLES = ", ".join(table.name for table in metadata.sorted_tables)


def pytest_configure(config: pytest.Config) -> None:
    """Put a guard beside the run, which starts one PostgreSQL for all workers when one asks."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[FOLDER] = Path(worker["postgres_folder"])
        return
    config.stash[FOLDER] = folder = Path(tempfile.mkdtemp(prefix="leadrota-tests-"))
    config.stash[GUARD] = subprocess.Popen(
        [sys.executable, "-m", "tests.postgres", str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the tests; the guard ends after them
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server with the run."""
    if guard := config.stash.get(GUARD, None):
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait(timeout=60)
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each parallel worker where the server's address will be."""
    node.workerinput["postgres_folder"] = str(node.config.stash[FOLDER])


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """Address of the run's PostgreSQL; without one the tests fail and are never left out."""
    folder = request.config.stash[FOLDER]
    (folder / "wanted").touch()
    for _ in range(2400):
        if (folder / "url").exists():
            return (folder / "url").read_text()
        if (folder / "failed").exists():
            pytest.fail((folder / "failed").read_text(), pytrace=False)
        time.sleep(0.05)
    pytest.fail("PostgreSQL did not start within two minutes.", pytrace=False)


@pytest.fixture(scope="session")
def new_postgres_database(postgres_url: str) -> Iterator[Callable[[], str]]:
    """Make empty PostgreSQL databases of their own, by address."""
    admin = create_engine(connect(postgres_url).engine.url, isolation_level="AUTOCOMMIT")
    made: list[str] = []

    def make() -> str:
        name = f"leadrota_test_{secrets.token_hex(6)}"
        with admin.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}"'))
        made.append(name)
        return make_url(postgres_url).set(database=name).render_as_string(hide_password=False)

    yield make
    with admin.connect() as connection:
        for name in made:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    admin.dispose()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "empty.db"
    made = connect(f"sqlite:///{path}")
    schema.upgrade(made)
    made.close()
    return path


@pytest.fixture(scope="session")
def migrated_postgres(new_postgres_database: Callable[[], str]) -> Iterator[Database]:
    """A migrated PostgreSQL database of this worker."""
    made = connect(new_postgres_database())
    schema.upgrade(made)
    yield made
    made.close()


@pytest.fixture
def sqlite(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A migrated, empty SQLite database."""
    path = tmp_path / "test.db"
    shutil.copy(migrated_sqlite, path)
    made = connect(f"sqlite:///{path}")
    yield made
    made.close()


@pytest.fixture
def postgresql(migrated_postgres: Database) -> Iterator[Database]:
    """A migrated, empty PostgreSQL database."""
    yield migrated_postgres
    with migrated_postgres.write() as session:
        session.execute(text(f"TRUNCATE {TABLES} RESTART IDENTITY CASCADE"))
    migrated_postgres.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    """A migrated, empty database; the test runs once on each kind."""
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


@pytest.fixture
def now() -> datetime:
    """A fixed moment."""
    return datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
