"""When to try again, and when to give up. Pure; ``chance`` is a number from 0 to 1."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST_RETRY = timedelta(seconds=2)
LONGEST_GAP = timedelta(hours=1)
GIVE_UP_AFTER = timedelta(hours=24)

FIRST_PROBE = timedelta(seconds=30)
LONGEST_PROBE = timedelta(minutes=15)


def retry_at(now: datetime, *, attempts: int, chance: float) -> datetime:
    """When a failed item is due again: doubling gaps with full jitter."""
    return now + _doubled(FIRST_RETRY, attempts - 1, LONGEST_GAP) * chance


def gave_up(now: datetime, failing_since: datetime) -> bool:
    """Has the item failed, and only failed, for a whole day?"""
    return now - failing_since >= GIVE_UP_AFTER


def probe_at(now: datetime, *, probes: int) -> datetime:
    """When a connection that does not work at all is tried next. No jitter: one caller asks."""
    return now + _doubled(FIRST_PROBE, probes, LONGEST_PROBE)


def _doubled(first: timedelta, times: int, most: timedelta) -> timedelta:
    # The exponent is capped as well, so that a very old item cannot overflow.
    return min(most, first * (1 << min(max(times, 0), 20)))
