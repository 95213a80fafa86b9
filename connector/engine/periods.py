"""When the period began over which ``least_assigned`` counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from connector.model import Period


def period_start(period: Period, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Say when the period around ``now`` began on the zone's own clock, in UTC.

    None for ``ever``. Weeks begin on Monday.
    """
    today = now.astimezone(zone).date()
    match period:
        case Period.DAY:
            first = today
        case Period.WEEK:
            first = today - timedelta(days=today.weekday())
        case Period.MONTH:
            first = today.replace(day=1)
        case Period.EVER:
            return None
    return datetime(first.year, first.month, first.day, tzinfo=zone).astimezone(UTC)
