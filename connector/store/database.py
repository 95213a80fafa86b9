"""One database, SQLite or PostgreSQL, and the only two ways to open a transaction on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Engine, Table, create_engine, event, exc, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from connector.errors import BadSettings, StoreBehind, StoreUnavailable
from connector.store.turnstile import Turnstile

__all__ = ["Database", "Session", "chunks", "connect", "insert_on", "is_postgres"]

SQLITE_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "foreign_keys=ON")
SQLITE_FAILURES = frozenset(
    f"SQLITE_{word}"
    for word in [
        "BUSY",
        "LOCKED",
        "FULL",
        "READONLY",
        "CANTOPEN",
        "IOERR",
        "CORRUPT",
        "NOTADB",
        "PROTOCOL",
        "PERM",
        "NOMEM",
    ]
)

_BROKEN_KEYS = text("PRAGMA foreign_key_check")

NO_TABLES = (
    "The database has no tables of Lead Rota yet. If it should have, check DATABASE_URL: the path of "
    "a SQLite file counts from the directory you are in. Else run `leadrota db upgrade`."
)

T = TypeVar("T")


def connect(url: str) -> Database:
    """Prepare the database behind an address; nothing is opened before the first transaction.

    ``postgres://`` and ``postgresql://`` both mean psycopg 3. Raises ``BadSettings`` for an address
    that is neither SQLite nor PostgreSQL, never repeating it, since it may hold a password.
    """
    try:
        parsed = make_url(url)
    except (exc.ArgumentError, ValueError):
        raise BadSettings(
            "DATABASE_URL is not a database address. Use sqlite:///leadrota.db or "
            "postgresql://user:password@host/name."
        ) from None
    match parsed.drivername:
        case "sqlite" | "sqlite+pysqlite":
            engine = _sqlite_engine(parsed)
            return Database(engine, Turnstile(Path(str(parsed.database))))
        case "postgres" | "postgresql" | "postgresql+psycopg":
            return Database(_postgres_engine(parsed.set(drivername="postgresql+psycopg")))
        case other:
            raise BadSettings(
                f"DATABASE_URL starts with {other}://, which is not supported. "
                "Use sqlite:/// or postgresql://."
            )


class Database:
    """A database. Safe to share by threads; not across a fork (call ``close`` there first)."""

    def __init__(self, engine: Engine, turnstile: Turnstile | None = None) -> None:
        self.engine = engine
        self._turn = turnstile.passing if turnstile else nullcontext
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._reading = engine.execution_options(sqlite_begin="DEFERRED")

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Run one transaction: committed at the end, rolled back on an exception.

        On SQLite it holds the only write lock from its first statement on. Raises
        ``StoreUnavailable`` when the database is lost, refused, locked, full or read-only, and
        ``StoreBehind`` when tables are missing.
        """
        with (
            _translated(),
            self._turn(),
            Session(self.engine, autoflush=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Run one transaction that only reads: it is rolled back and never waits for a writer.

        Raises like ``write``.
        """
        with _translated(), Session(self._reading, autoflush=False) as session:
            yield session

    @contextmanager
    def rebuild(self) -> Iterator[Session]:
        """Run a transaction like ``write`` that may also replace tables which others refer to.

        SQLite looks at foreign keys once, before the commit, instead of at each statement: a
        dropped table would take the rows that refer to it along.
        """
        with _translated(), self._turn(), self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            if self.is_sqlite:
                driver.execute("PRAGMA foreign_keys=OFF")  # does nothing inside a transaction
            try:
                with Session(connection, autoflush=False) as session, session.begin():
                    yield session
                    if self.is_sqlite and session.execute(_BROKEN_KEYS).first():
                        raise RuntimeError("the new tables hold rows that refer to nothing")
            finally:
                if self.is_sqlite:
                    driver.execute("PRAGMA foreign_keys=ON")

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Run one transaction that reads, from first to last, one moment of the database.

        Raises like ``write``.
        """
        reading = self._reading
        if not self.is_sqlite:  # there a transaction that reads sees one moment anyway
            reading = reading.execution_options(isolation_level="REPEATABLE READ")
        with _translated(), Session(reading, autoflush=False) as session:
            yield session

    def close(self) -> None:
        """Close all connections. The next transaction opens new ones."""
        self.engine.dispose()


def insert_on(session: Session, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Start an INSERT that knows ON CONFLICT in the session's own dialect."""
    if is_postgres(session):
        return postgresql.insert(table)
    return sqlite.insert(table)


def is_postgres(session: Session) -> bool:
    """Tell whether the session speaks to PostgreSQL."""
    return session.get_bind().dialect.name == "postgresql"


def chunks(items: Sequence[T], size: int = 500) -> Iterator[list[T]]:
    """Cut a list for ``IN``: SQLite takes a limited number of bound values per statement."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _sqlite_engine(url: URL) -> Engine:
    if url.database in (None, "", ":memory:") or "mode=memory" in str(url.database):
        raise BadSettings(
            "DATABASE_URL names a SQLite database in memory, which threads cannot share. "
            "Name a file: sqlite:///leadrota.db."
        )
    engine = create_engine(url, hide_parameters=True)  # they hold what leads told of themselves

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # The driver's own BEGIN comes after the SELECT that a decision rests on: two processes
        # then give out the same turn without any error. So it never begins; the hook below does.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in SQLITE_PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A deferred transaction that turns to writing fails at once when someone else wrote.
        how = connection.get_execution_options().get("sqlite_begin", "IMMEDIATE")
        connection.exec_driver_sql(f"BEGIN {how}")

    return engine


def _postgres_engine(url: URL) -> Engine:
    arguments: dict[str, object] = {"prepare_threshold": None}  # PgBouncer, transaction mode
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = 10
    return create_engine(
        url,
        hide_parameters=True,  # they hold what leads told of themselves
        # Small plans of managed servers allow 20 connections, and deploys overlap.
        pool_size=3,
        max_overflow=2,
        pool_timeout=28,  # just within what routers wait for an answer
        pool_pre_ping=True,
        pool_recycle=300,
        connect_args=arguments,
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except exc.TimeoutError as error:
        raise StoreUnavailable(
            "All database connections of this process are busy. Try again in a moment."
        ) from error
    except exc.DBAPIError as error:
        if _tables_are_missing(error):
            raise StoreBehind(NO_TABLES) from error
        if _is_unavailable(error):
            words = (str(error.orig).strip() or type(error.orig).__name__).splitlines()[0]
            raise StoreUnavailable(
                f"The database cannot be used just now ({words}). Check that it runs and can be "
                "written, then try again."
            ) from error
        raise


def _tables_are_missing(error: exc.DBAPIError) -> bool:
    undefined_table = getattr(error.orig, "sqlstate", None) == "42P01"
    return undefined_table or str(error.orig).startswith("no such table")


def _is_unavailable(error: exc.DBAPIError) -> bool:
    if error.connection_invalidated:
        return True
    if name := getattr(error.orig, "sqlite_errorname", None):
        return "_".join(name.split("_")[:2]) in SQLITE_FAILURES
    # InternalError: PostgreSQL's word for writing to a server that only reads.
    return isinstance(error, exc.OperationalError | exc.InterfaceError | exc.InternalError)
