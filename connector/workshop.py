"""What the worker works with, and how it counts what it worked off."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from connector.polling import Poll
from connector.ports import Crm
from connector.routing import Routing
from connector.store.database import Database


@dataclass(slots=True, kw_only=True)
class Workshop:
    """All that the loop needs. One for each thread."""

    database: Database
    crms: Mapping[str, Crm]  # by connection name
    clock: Callable[[], datetime]
    holder: str  # names this process in the leases it takes
    default_pool: str | None = None
    polls: Mapping[str, Poll] = field(default_factory=dict)  # by connection name
    chance: Callable[[], float] = random.random
    is_stopping: Callable[[], bool] = lambda: False  # no further call is started then
    routed: tuple[datetime, Routing] | None = None  # the last look at leads without pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was worked off."""

    events: int = 0  # taken from the inbox
    released: int = 0  # held leads that found a user
    written: int = 0  # owners that the CRM now shows
    kept: int = 0  # owners of the CRM that stayed
    refused: int = 0  # users whom the CRM refused; the lead went to the next one
    dead: int = 0
    told: int = 0  # workflows that had waited for their lead's owner
    postponed: int = 0
    directories: int = 0  # times that a CRM was asked for its users
    polled: int = 0  # changes that were found by asking for them

    def __add__(self, other: Drained) -> Drained:
        names = [one.name for one in fields(self)]
        return Drained(**{name: getattr(self, name) + getattr(other, name) for name in names})
