"""When users are out of office, read from what they noted in Salesforce.

https://developer.salesforce.com/docs/platform/field-reference/references/field-reference/salesforce-field-reference-outofoffice.html
Both ends are typed as moments, but stand for days: the first and the last of the absence. So an end
that is a date, or midnight, means that whole day. Midnight is that of the user or of UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from connector.model import Absence

FIELDS = "UserId,StartDate,EndDate,IsEnabled"

_KEPT = timedelta(days=1)  # after its end


def read(
    rows: Iterable[Mapping[str, Any]], zone: tzinfo, now: datetime
) -> tuple[tuple[Absence, ...], int]:
    """The absences of one user by start, and how many rows make no sense.

    Switched-off rows and those that ended before yesterday are left out. Of two that begin
    together the longer counts, since the start is what makes the id.
    """
    enabled = [_span(row, zone) for row in rows if row.get("IsEnabled") is True]
    spans = sorted(span for span in enabled if span and span[1] > now - _KEPT)
    absences = tuple(
        Absence(id=start.isoformat(), starts_at=start, ends_at=end)
        for start, end in dict(spans).items()
    )
    return absences, enabled.count(None)


def _span(row: Mapping[str, Any], zone: tzinfo) -> tuple[datetime, datetime] | None:
    try:
        first, last = _day_or_moment(row["StartDate"], zone), _day_or_moment(row["EndDate"], zone)
        start = first if isinstance(first, datetime) else _midnight(first, zone)
        end = last if isinstance(last, datetime) else _midnight(last + timedelta(days=1), zone)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return (start, end) if start < end else None


def _day_or_moment(value: Any, zone: tzinfo) -> date | datetime:
    """A day where that is meant, else a moment of UTC. Raises ``ValueError``, ``TypeError``."""
    moment = datetime.fromisoformat(value)
    if len(value) == len("2026-12-01"):
        return moment.date()
    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
    for place in (UTC, zone):
        there = moment.astimezone(place)
        if there.time() == time(0):
            return there.date()
    return moment.astimezone(UTC)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(0), zone).astimezone(UTC)
