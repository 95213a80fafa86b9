"""Settings become a database, adapters, an app or a worker. The only module that knows them all."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import structlog

import adapters
from adapters.hubspot.settings import HubSpotSettings
from config import Settings, load
from connector import polling, worker
from connector.errors import BadSettings
from connector.ports import Crm, Receiver
from connector.sharing import SharedByAll
from connector.store import access, database, lanes, pools, schema
from connector.store.database import Database
from connector.web.app import build
from connector.web.context import WebContext
from connector.workshop import Workshop

if TYPE_CHECKING:
    from flask import Flask

    from config.connections import Connection

Clock = Callable[[], datetime]

# Set by the web part, waited on by a worker in the same process.
WAKE = threading.Event()

log = structlog.get_logger()


def utc_now() -> datetime:
    """The real clock; everything else takes its time as a parameter."""
    return datetime.now(UTC)  # noqa: TID251


def create_app(settings: Settings | None = None, *, clock: Clock | None = None) -> Flask:
    """The web application. Opens the database, calls nobody, migrates nothing."""
    settings = settings or load()
    store, clock = database.connect(settings.database_url), clock or utc_now
    crms = _Crms(settings, store, clock)
    app = build(
        WebContext(
            database=store,
            clock=clock,
            receivers=receivers(settings),
            api_token=settings.api_token,
            default_pool=settings.default_pool,
            wake=WAKE.set,
            crm=crms.get,
        )
    )
    weakref.finalize(app, crms.close)
    return app


class _Crms:
    """The outbound halves of the connections, each made when it is first asked for.

    The web part asks only when a workflow waits for an answer, and the CRM libraries are heavy.
    """

    def __init__(self, settings: Settings, store: Database, clock: Clock) -> None:
        self._make = {
            one.name: partial(_crm, one, store, settings, clock) for one in settings.connections
        }
        self._made: dict[str, Crm] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Crm:
        """The outbound half of this connection."""
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make[name]()
            return self._made[name]

    def close(self) -> None:
        """Close their connections."""
        for crm in self._made.values():
            crm.close()


def receivers(settings: Settings) -> dict[str, Receiver]:
    """The inbound half of each connection, by name."""
    return {one.name: adapters.adapter(one.kind).receiver(one) for one in settings.connections}


@contextmanager
def workshop(settings: Settings, *, clock: Clock | None = None) -> Iterator[Workshop]:
    """What the worker's loop needs; closed at the end."""
    clock = clock or utc_now
    store = database.connect(settings.database_url)
    crms = {one.name: _crm(one, store, settings, clock) for one in settings.connections}
    polls = polling.wanted(settings.connections, crms)
    try:
        schema.check(store)
        with store.write() as session:
            lanes.ensure(session, list(crms))
            polling.ensure(session, polls, now=clock())
        yield Workshop(
            database=store,
            crms=crms,
            clock=clock,
            holder=f"{socket.gethostname()}:{os.getpid()}",
            default_pool=settings.default_pool,
            polls=polls,
        )
    finally:
        for crm in crms.values():
            crm.close()
        store.close()


def visitor(connection: Connection, store: Database, settings: Settings, clock: Clock) -> Crm:
    """The outbound half for a look at a connection, even while it rests.

    It knows no account by the settings, so that it asks the CRM for it.
    """
    if isinstance(connection, HubSpotSettings):
        connection = replace(connection, portal_id=None)
    return _crm(connection, store, settings, clock, heeds_pauses=False)


def _crm(
    connection: Connection,
    store: Database,
    settings: Settings,
    clock: Clock,
    *,
    heeds_pauses: bool = True,
) -> Crm:
    """The outbound half of a connection."""
    crm: Crm = adapters.adapter(connection.kind).crm(
        connection, shared(connection, store, settings, clock, heeds_pauses=heeds_pauses)
    )
    return crm


def shared(
    connection: Connection,
    store: Database,
    settings: Settings,
    clock: Clock,
    *,
    heeds_pauses: bool = True,
) -> SharedByAll:
    """What all processes share of a connection."""
    return SharedByAll(
        store,
        connection.name,
        clock=clock,
        real_clock=utc_now,
        encryption_key=settings.encryption_key,
        credentials=connection.credentials,
        heeds_pauses=heeds_pauses,
    )


def open_database(settings: Settings) -> Database:
    """The database as it is, migrated or not."""
    return database.connect(settings.database_url)


def serve(settings: Settings, host: str, port: int) -> NoReturn:
    """Become the web server. Raises ``StoreBehind`` or ``BadSettings`` before anything listens."""
    receivers(settings)
    _check_port(host, port)
    _prepare(settings)
    _announce(settings, host, port)
    arguments = ["-c", "python:config.gunicorn", "--bind", f"{host}:{port}", "connector.wsgi:app"]
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *arguments])  # noqa: S606


def _check_port(host: str, port: int) -> None:
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        raise BadSettings(
            f"Port {port} of {host} cannot be used ({error.strerror}); choose another with --port."
        ) from None


def _announce(settings: Settings, host: str, port: int) -> None:
    """Say what is about to start, and what it will lack."""
    log.info(
        "starting",
        address=f"http://{host}:{port}",
        database="sqlite" if settings.is_sqlite else "postgresql",
        connections=",".join(one.name for one in settings.connections) or None,
        default_pool=settings.default_pool,
    )
    if not settings.connections:
        log.warning("No CRM is connected: set the HUBSPOT_ or SALESFORCE_ settings")
    with closing(open_database(settings)) as store, store.read() as session:
        pool = pools.named(session, settings.default_pool) if settings.default_pool else None
        tokens = access.listed(session)
    if not settings.api_token and not tokens:
        log.warning(
            "There is no API token: the REST API refuses every call until LEADROTA_API_TOKEN is "
            "set or `leadrota token create` made one"
        )
    if pool is None:
        missing = (
            f"There is no pool {settings.default_pool!r}, which LEADROTA_DEFAULT_POOL names"
            if settings.default_pool
            else "No default pool is set"
        )
        log.warning(f"{missing}: leads that no territory claims are held until there is one")


def work(settings: Settings) -> int:
    """Run the worker until SIGTERM or SIGINT; what was begun is finished. Exit status."""
    _prepare(settings)
    crew = Crew(settings)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: crew.dismiss())
    crew.start()
    crew.join()
    return 0


def start_embedded_worker() -> Crew:
    """Run the worker inside this web process, as a SQLite file wants it."""
    crew = Crew(load())
    crew.start()
    return crew


def _prepare(settings: Settings) -> None:
    """A SQLite file is migrated on the way; PostgreSQL must be migrated, else ``StoreBehind``."""
    store = open_database(settings)
    try:
        if store.is_sqlite:
            schema.upgrade(store)
        schema.check(store)
    finally:
        store.close()


class Crew:
    """The worker's threads: one for each connection, so that a slow CRM holds up only itself.

    They share the database and the adapters, and with them log-ins and lists of owners.
    """

    def __init__(self, settings: Settings) -> None:
        self._opened = ExitStack()
        shop = self._opened.enter_context(workshop(settings))
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(
                target=worker.run,
                args=(
                    replace(
                        shop,
                        holder=f"{shop.holder}:{number}",
                        is_stopping=self._stop.is_set,
                    ),
                ),
                kwargs={"stop": self._stop, "wake": WAKE},
                name=f"worker-{number}",
                daemon=True,
            )
            for number in range(max(1, len(settings.connections)))
        ]

    def start(self) -> None:
        """Begin to work; does not wait."""
        log.info("worker_started", threads=len(self._threads))
        for thread in self._threads:
            thread.start()

    def dismiss(self) -> None:
        """Take nothing new. May be called from a signal handler, and more than once."""
        self._stop.set()
        WAKE.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait until what was begun is finished, at most so long, and close what was opened."""
        give_up_at = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if give_up_at is None else max(0, give_up_at - time.monotonic()))
        self._opened.close()
