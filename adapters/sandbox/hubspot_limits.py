"""The call counters of one app in one account: by the second, by ten seconds, by the day."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Pool = Literal["account", "search", "associations"]
_WINDOWS: dict[Pool, timedelta] = {
    "account": timedelta(seconds=10),
    "search": timedelta(seconds=1),
    "associations": timedelta(seconds=10),
}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many calls each limit takes; None switches it off."""

    account: int | None  # in ten seconds
    search: int | None  # in a second
    associations: int | None  # in ten seconds
    daily: int | None


def pool_of(path: str) -> Pool:
    """Which counter a call is on; searches and batches of associations have one of their own."""
    if path.endswith("/search"):
        return "search"
    if "/associations/" in path and path.endswith("/batch/read"):
        return "associations"
    return "account"


class Limits:
    """Counts calls. Not locked by itself."""

    def __init__(self, time_zone: str) -> None:
        self._zone = ZoneInfo(time_zone)
        self._recent: dict[Pool, deque[datetime]] = {pool: deque() for pool in _WINDOWS}
        self._today = 0
        self._day: date | None = None

    def count(self, now: datetime, pool: Pool, sizes: Sizes) -> str | None:
        """Count one call; return the name of the policy that refuses it, or None."""
        recent = self._recent[pool]
        while recent and recent[0] <= now - _WINDOWS[pool]:
            recent.popleft()
        day = now.astimezone(self._zone).date()
        if day != self._day:
            self._day, self._today = day, 0
        is_daily = pool != "associations"  # whose limit of the day is out of reach
        if is_daily and sizes.daily is not None and self._today >= sizes.daily:
            return "DAILY"
        most: int | None = getattr(sizes, pool)
        if most is not None and len(recent) >= most:
            return "SECONDLY" if pool == "search" else "TEN_SECONDLY_ROLLING"
        recent.append(now)
        self._today += is_daily
        return None

    def seconds_to_wait(self, policy: str, pool: Pool, now: datetime) -> int:
        """Whole seconds until this policy takes the next call."""
        if policy == "DAILY":
            tomorrow = now.astimezone(self._zone) + timedelta(days=1)
            midnight = tomorrow.replace(hour=0, minute=0, second=0, microsecond=0)
            return math.ceil(midnight.timestamp() - now.timestamp())
        recent = self._recent[pool]
        oldest = recent[0] if recent else now
        return math.ceil((oldest + _WINDOWS[pool] - now).total_seconds())

    def headers(self, sizes: Sizes) -> dict[str, str]:
        """What HubSpot tells about the account's limits with an answer."""
        told: dict[str, str] = {}
        if sizes.account is not None:
            left = max(0, sizes.account - len(self._recent["account"]))
            told["X-HubSpot-RateLimit-Max"] = str(sizes.account)
            told["X-HubSpot-RateLimit-Remaining"] = str(left)
            told["X-HubSpot-RateLimit-Interval-Milliseconds"] = "10000"
        if sizes.daily is not None:
            told["X-HubSpot-RateLimit-Daily"] = str(sizes.daily)
            told["X-HubSpot-RateLimit-Daily-Remaining"] = str(max(0, sizes.daily - self._today))
        return told
