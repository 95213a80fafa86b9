"""What the web part is given, and how a request reaches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from flask import current_app, g

from connector.ports import Crm, Receiver
from connector.store.database import Database, Session

EXTENSION = "leadrota"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebContext:
    """Everything the web part needs from outside; one for each app."""

    database: Database
    clock: Callable[[], datetime]  # aware UTC
    receivers: Mapping[str, Receiver]  # by connection name
    api_token: str | None = field(repr=False)
    default_pool: str | None  # name or id
    wake: Callable[[], None]  # tells a worker in this process that there is work
    crm: Callable[[str], Crm]  # the outbound half of a connection, by name


def current() -> WebContext:
    """The context of the app that serves this request."""
    return cast(WebContext, current_app.extensions[EXTENSION])


def actor() -> str:
    """Who makes this request, as journal and history name them: the token's name."""
    return str(g.actor)


@contextmanager
def reading() -> Iterator[Session]:
    """One transaction that only reads."""
    with current().database.read() as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """One transaction; a worker in this process is woken once it is committed."""
    with current().database.write() as session:
        yield session
    current().wake()
