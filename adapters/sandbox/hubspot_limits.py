"""The call counters of one app in one account: ten seconds rolling, and the day."""

from __future__ import annotations

import math
from collections import deque
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

WINDOW = timedelta(seconds=10)


class Limits:
    """Counts calls; a limit of None is switched off. Not locked by itself."""

    def __init__(self, time_zone: str) -> None:
        self._zone = ZoneInfo(time_zone)
        self._recent: deque[datetime] = deque()
        self._today = 0
        self._day: date | None = None

    def count(self, now: datetime, *, ten_secondly: int | None, daily: int | None) -> str | None:
        """Count one call; return the name of the policy that refuses it, or None."""
        while self._recent and self._recent[0] <= now - WINDOW:
            self._recent.popleft()
        day = now.astimezone(self._zone).date()
        if day != self._day:
            self._day, self._today = day, 0
        if daily is not None and self._today >= daily:
            return "DAILY"
        if ten_secondly is not None and len(self._recent) >= ten_secondly:
            return "TEN_SECONDLY_ROLLING"
        self._recent.append(now)
        self._today += 1
        return None

    def seconds_to_wait(self, policy: str, now: datetime) -> int:
        """Whole seconds until this policy takes the next call."""
        if policy == "DAILY":
            tomorrow = now.astimezone(self._zone) + timedelta(days=1)
            midnight = tomorrow.replace(hour=0, minute=0, second=0, microsecond=0)
            return math.ceil(midnight.timestamp() - now.timestamp())
        oldest = self._recent[0] if self._recent else now
        return math.ceil((oldest + WINDOW - now).total_seconds())

    def headers(self, *, ten_secondly: int | None, daily: int | None) -> dict[str, str]:
        """What HubSpot tells about both limits with every answer."""
        told: dict[str, str] = {}
        if ten_secondly is not None:
            left = max(0, ten_secondly - len(self._recent))
            told["X-HubSpot-RateLimit-Max"] = str(ten_secondly)
            told["X-HubSpot-RateLimit-Remaining"] = str(left)
            told["X-HubSpot-RateLimit-Interval-Milliseconds"] = "10000"
        if daily is not None:
            told["X-HubSpot-RateLimit-Daily"] = str(daily)
            told["X-HubSpot-RateLimit-Daily-Remaining"] = str(max(0, daily - self._today))
        return told
