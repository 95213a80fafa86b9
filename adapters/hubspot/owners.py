"""Who can own records in a portal, and who of them is an active person.

https://developers.hubspot.com/docs/guides/api/crm/owners
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from adapters.hubspot import paging
from adapters.hubspot.exchange import Errand
from connector.errors import CrmAgain

LIFE_SECONDS = 60
UNKNOWN_SECONDS = 15

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """An entry of the list of owners."""

    id: str  # what ``hubspot_owner_id`` of a record holds; no user id, no id of a user's record
    user_id: str | None
    name: str
    email: str | None
    is_active: bool  # a person, not a queue, and not archived


class ReadPage(Protocol):
    """Reads a page of the active or of the archived owners."""

    def __call__(
        self, after: str | None, errand: Errand, *, archived: bool = False
    ) -> Mapping[str, Any]:
        """The page behind the mark ``after``; it has a list ``results``."""
        ...


class OwnerDirectory:
    """The active owners, kept in memory for a minute. Safe to share by threads.

    Never guesses: when the list cannot be read the error goes to the caller, so that nobody's lead
    is taken for unowned because a call failed.
    """

    def __init__(self, read_page: ReadPage, *, clock: Clock) -> None:
        self._read_page = read_page
        self._clock = clock
        self._lock = threading.Lock()
        self._listed: Mapping[str, Owner] = {}
        self._active: frozenset[str] = frozenset()
        self._read_at: float | None = None
        self._unknown_at: float | None = None

    def active(self, owner_ids: Collection[str], *, errand: Errand) -> frozenset[str]:
        """Those of ``owner_ids`` who are active persons now."""
        wanted = frozenset(owner_ids)
        if not wanted:
            return wanted
        with self._alone(errand):
            self._refresh(wanted, errand)
            return wanted & self._active

    def find(self, owner_id: str, *, errand: Errand) -> Owner | None:
        """The active owner of this id; None when there is none."""
        return self._listed.get(owner_id) if self.active({owner_id}, errand=errand) else None

    def everybody(self, errand: Errand) -> dict[str, Owner]:
        """All owners by id, archived ones and queues too, as they are now."""
        with self._alone(errand):
            # In this order: who is taken back meanwhile is in both lists, not in none.
            archived = self._read(errand, archived=True)
            self._read_active(errand)
            return archived | dict(self._listed)

    @contextmanager
    def _alone(self, errand: Errand) -> Iterator[None]:
        if not self._lock.acquire(timeout=max(0, errand.left())):
            raise CrmAgain("HubSpot's list of owners took too long to read.")
        try:
            yield
        finally:
            self._lock.release()

    def _refresh(self, wanted: frozenset[str], errand: Errand) -> None:
        now = self._clock()
        if _older(self._read_at, LIFE_SECONDS, now):
            self._read_active(errand)
        elif not wanted <= self._active and _older(self._unknown_at, UNKNOWN_SECONDS, now):
            # A rep who was added a moment ago must not lose their lead for a minute.
            self._read_active(errand)
            self._unknown_at = now

    def _read_active(self, errand: Errand) -> None:
        now = self._clock()
        listed = self._read(errand, archived=False)
        active = frozenset(owner.id for owner in listed.values() if owner.is_active)
        if not active:
            # Every portal has somebody. Taken at its word this would switch off all users.
            raise CrmAgain("HubSpot's list of owners came without anybody.", code="bad_answer")
        self._listed, self._active, self._read_at = listed, active, now

    def _read(self, errand: Errand, *, archived: bool) -> dict[str, Owner]:
        entries = paging.items(partial(self._read_page, errand=errand, archived=archived))
        owners = [_owner(entry, archived=archived) for entry in entries if entry.get("id")]
        return {owner.id: owner for owner in owners}


def _older(at: float | None, seconds: float, now: float) -> bool:
    return at is None or now - at >= seconds


def _owner(entry: Mapping[str, Any], *, archived: bool) -> Owner:
    owner_id = str(entry["id"])
    email = _text(entry.get("email"))
    names = filter(None, (_text(entry.get("firstName")), _text(entry.get("lastName"))))
    # An archived owner's ``userId`` is null.
    user_id = entry.get("userIdIncludingInactive") or entry.get("userId")
    return Owner(
        id=owner_id,
        user_id=str(user_id) if user_id else None,
        name=" ".join(names) or email or owner_id,
        email=email,
        is_active=not archived
        and not entry.get("archived")
        and entry.get("type", "PERSON") == "PERSON",
    )


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
