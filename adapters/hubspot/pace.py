"""How fast a portal may be called, by what HubSpot told last and what it publishes.

https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from connector.ports import Limit, Shared


class Bucket(StrEnum):
    """Which of HubSpot's limits a call counts towards."""

    CALLS = "calls"  # so many in ten seconds, told with each answer
    SEARCH = "search"  # five a second, told by none; outside of the ten seconds
    ASSOCIATIONS = "associations"  # 100 in ten seconds of their own


_LEAST = 100  # calls in ten seconds that any app may make; until told better
_SECONDS = 10.0
# Burst and calls a second: with both in full, 4 of 5 and 90 of 100 are used.
_FIXED = {Bucket.SEARCH: (2.0, 2.0), Bucket.ASSOCIATIONS: (40.0, 5.0)}


class Pace:
    """One portal's limits, as far as this process was told of them. Safe to share by threads."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._told = (_LEAST, _SECONDS)

    def admit(self, bucket: Bucket) -> None:
        """Return when a call may go out, with a tenth of the limit to spare for other programs.

        Raises ``CrmPaced`` when that takes too long or the connection is paused.
        """
        burst, per_second = _FIXED.get(bucket) or self._by_headers()
        self._shared.admit(bucket.value, burst=burst, per_second=per_second)

    def note(self, headers: Mapping[str, str]) -> None:
        """Remember what an answer tells of the limits; not every answer does."""
        most = _number(headers, "Max")
        limits = []
        if most:
            milliseconds = _number(headers, "Interval-Milliseconds") or int(_SECONDS * 1000)
            self._told = (most, milliseconds / 1000)
            limits += _limit("ten_secondly", most, _number(headers, "Remaining"))
        limits += _limit("daily", _number(headers, "Daily"), _number(headers, "Daily-Remaining"))
        if limits:
            self._shared.note_limits(limits)

    def _by_headers(self) -> tuple[float, float]:
        # No window of ten seconds sees more than 0.4 + 10 * 0.05 = 0.9 of what may pass.
        most, seconds = self._told
        return max(1.0, 0.4 * most), 0.5 * most / seconds


def _limit(name: str, most: int | None, left: int | None) -> list[Limit]:
    return [] if most is None or left is None else [Limit(name=name, most=most, left=left)]


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(f"X-HubSpot-RateLimit-{name}", "").strip()
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None
