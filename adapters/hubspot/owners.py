"""Which owner ids belong to an active person of the portal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from connector.errors import CrmAgain

LIFE_SECONDS = 60
UNKNOWN_SECONDS = 15

Clock = Callable[[], float]
ReadPage = Callable[[str | None, float], Mapping[str, Any]]


class OwnerDirectory:
    """The active owners, kept in memory for a minute. Safe to share by threads.

    Never guesses: when the list cannot be read the error goes to the caller, so that nobody's lead
    is taken for unowned because a call failed. ``read_page(after, deadline)`` reads one page of
    ``GET /crm/v3/owners``.
    """

    def __init__(self, read_page: ReadPage, *, clock: Clock) -> None:
        self._read_page = read_page
        self._clock = clock
        self._lock = threading.Lock()
        self._active: frozenset[str] = frozenset()
        self._read_at: float | None = None
        self._unknown_at: float | None = None

    def active(self, owner_ids: Collection[str], *, deadline: float) -> frozenset[str]:
        """Those of ``owner_ids`` who are active persons now."""
        wanted = frozenset(owner_ids)
        if not wanted:
            return wanted
        if not self._lock.acquire(timeout=max(0, deadline - self._clock())):
            raise CrmAgain("HubSpot's list of owners took too long to read.")
        try:
            self._refresh(wanted, deadline)
            return wanted & self._active
        finally:
            self._lock.release()

    def _refresh(self, wanted: frozenset[str], deadline: float) -> None:
        now = self._clock()
        if _older(self._read_at, LIFE_SECONDS, now):
            self._active = self._list(deadline)
            self._read_at = now
        elif not wanted <= self._active and _older(self._unknown_at, UNKNOWN_SECONDS, now):
            # A rep who was added a moment ago must not lose their lead for a minute.
            self._active = self._list(deadline)
            self._read_at = self._unknown_at = now

    def _list(self, deadline: float) -> frozenset[str]:
        active = frozenset(self._read(deadline))
        if not active:
            # Every portal has somebody. Taken at its word this would switch off all users.
            raise CrmAgain("HubSpot's list of owners came without anybody.", code="bad_answer")
        return active

    def _read(self, deadline: float) -> Iterator[str]:
        seen: set[str | None] = set()
        after: str | None = None
        while after not in seen:
            seen.add(after)
            page = self._read_page(after, deadline)
            yield from (str(owner["id"]) for owner in page["results"] if _is_active_person(owner))
            after = _next(page)
            if after is None:
                return
        raise CrmAgain("HubSpot's list of owners leads back to a page that was read already.")


def _older(at: float | None, seconds: float, now: float) -> bool:
    return at is None or now - at >= seconds


def _is_active_person(owner: Any) -> bool:
    return (
        isinstance(owner, Mapping)
        and bool(owner.get("id"))
        and not owner.get("archived")
        and owner.get("type", "PERSON") == "PERSON"
    )


def _next(page: Mapping[str, Any]) -> str | None:
    paging = page.get("paging")
    link = paging.get("next") if isinstance(paging, Mapping) else None
    after = link.get("after") if isinstance(link, Mapping) else None
    return None if after in (None, "") else str(after)
