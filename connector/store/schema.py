"""Bring the tables of a database to what this program needs, or say that they are not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import select, text

from connector.errors import StoreBehind
from connector.store import journal, occupancy, pools, tables
from connector.store.database import NO_TABLES, Database, Session, is_postgres

_UPGRADE_LOCK = 4_705_911_628_402_517_001  # any number, the same for every process

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)  # so that all absences are loaded


def upgrade(database: Database) -> None:
    """Bring the tables to the newest revision; harmless when they are there already.

    Processes that do this at the same time wait for each other. Raises ``StoreBehind`` when a newer
    program has changed the tables.
    """
    with database.rebuild() as session:
        if is_postgres(session):
            session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        configuration = _configuration()
        connection = session.connection()
        configuration.attributes["connection"] = connection
        current = MigrationContext.configure(connection).get_current_revision()
        _refuse_newer(ScriptDirectory.from_config(configuration), current)
        command.upgrade(configuration, "head")
        _begin_journals(session)


def _begin_journals(session: Session) -> None:
    """Let the journals of pools begin that are older than journals."""
    columns = tables.pool_state.c
    for pool_id in session.scalars(select(columns.pool_id).where(columns.entries == 0)).all():
        board = pools.board(session, pool_id, now=_LONG_AGO)
        if board:
            board = occupancy.with_all_takings(session, board)
            journal.begin(session, board, at=board.pool.created_at, actor=None)


def check(database: Database) -> None:
    """Return when the tables fit this program, else raise ``StoreBehind`` with the command."""
    with database.read() as session:
        current = MigrationContext.configure(session.connection()).get_current_revision()
    script = ScriptDirectory.from_config(_configuration())
    if current == script.get_current_head():
        return
    if current is None:
        raise StoreBehind(NO_TABLES)
    _refuse_newer(script, current)
    raise StoreBehind(
        f"The tables are at revision {current}, this program needs "
        f"{script.get_current_head()}. Run `leadrota db upgrade`."
    )


def _configuration() -> Config:
    configuration = Config()
    folder = str(Path(__file__).parent / "migrations")
    configuration.set_main_option("script_location", folder.replace("%", "%%"))
    return configuration


def _refuse_newer(script: ScriptDirectory, current: str | None) -> None:
    if current is None:
        return
    try:
        script.get_revision(current)
    except CommandError:
        raise StoreBehind(
            f"The tables are at revision {current}, which this program does not know: a newer "
            "Lead Rota changed them. Start that version or a later one; its `leadrota db upgrade` "
            "ran here last."
        ) from None
