"""What a command begins with: the settings, the time, the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from config import Settings, load
from connector import logs

if TYPE_CHECKING:
    from connector.store.database import Database


def settings() -> Settings:
    """Read the settings, start the logs, and log what the settings warn of."""
    found = load()
    logs.configure(found.log_format)
    for warning in found.warnings:
        structlog.get_logger(__name__).warning(warning)
    return found


def now() -> datetime:
    """The real clock: a command is where time comes in."""
    return datetime.now(UTC)  # noqa: TID251


@contextmanager
def database() -> Iterator[Database]:
    """The database of the settings, closed at the end. ``StoreBehind`` when its tables are."""
    from connector.store import schema
    from connector.store.database import connect

    with closing(connect(settings().database_url)) as store:
        schema.check(store)
        yield store
