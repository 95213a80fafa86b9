"""When a user can take leads, read from the properties of the user's record.

https://developers.hubspot.com/docs/guides/api/crm/users
Hours and absences are JSON in a text. What cannot be read is left out and counted, so that one odd
entry does not cost the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from adapters.hubspot import moments
from connector.model import Absence, Availability, Presence, WorkingHours

STATUS = "hs_availability_status"
OUT_OF_OFFICE = "hs_out_of_office_hours"
HOURS = "hs_working_hours"
ZONE = "hs_standard_time_zone"

_WEEK = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_DAYS = {
    **{name: (day,) for day, name in enumerate(_WEEK)},
    "MONDAY_TO_FRIDAY": (0, 1, 2, 3, 4),
    "SATURDAY_SUNDAY": (5, 6),
    "EVERY_DAY": (0, 1, 2, 3, 4, 5, 6),
}
_MIDNIGHT = 24 * 60


def read(values: Mapping[str, Any]) -> tuple[Availability, int]:
    """What a user's properties say, and how many of their entries make no sense."""
    hours = [_hours(entry) for entry in _entries(values.get(HOURS))]
    spells = [_spell(entry) for entry in _entries(values.get(OUT_OF_OFFICE))]
    zone, bad_zones = _zone(values.get(ZONE))
    availability = Availability(
        status=Presence.AWAY if _word(values.get(STATUS)) == "AWAY" else Presence.AVAILABLE,
        time_zone=zone,
        working_hours=tuple(filter(None, hours)),
        absences=tuple(_absences(spell for spell in spells if spell)),
    )
    return availability, hours.count(None) + spells.count(None) + bad_zones


def _entries(value: Any) -> list[Any]:
    if isinstance(value, str):
        if not value.strip():
            return []
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [None]  # one entry that makes no sense
    return value if isinstance(value, list) else [None] if value else []


def _hours(entry: Any) -> WorkingHours | None:
    if not isinstance(entry, Mapping):
        return None
    days = _DAYS.get(_word(entry.get("days")))
    start, end = _minute(entry.get("startMinute")), _minute(entry.get("endMinute"))
    if days is None or start is None or end is None or start >= end:
        return None
    return WorkingHours(days=days, start=_time(start), end=_time(end))


def _time(minute: int) -> time:
    # 1440 is the midnight that ends the day: an end at 00:00 lies on the next day.
    return time(minute % _MIDNIGHT // 60, minute % 60)


def _minute(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,4}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MIDNIGHT and value == int(value) else None


def _spell(entry: Any) -> tuple[datetime, datetime] | None:
    if not isinstance(entry, Mapping):
        return None
    start = moments.of_number(entry.get("startTimestamp"))
    end = moments.of_number(entry.get("endTimestamp"))
    return (start, end) if start and end and start < end else None


def _absences(spells: Iterator[tuple[datetime, datetime]]) -> Iterator[Absence]:
    # Two that begin together are one, as long as the longer: the start is what makes the id.
    for start, end in sorted(dict(sorted(spells)).items()):
        yield Absence(id=start.isoformat(), starts_at=start, ends_at=end)


def _zone(value: Any) -> tuple[str | None, int]:
    name = value.strip() if isinstance(value, str) else value
    if not name:
        return None, 0
    try:
        return ZoneInfo(name).key, 0
    except (ValueError, KeyError, OSError, TypeError):
        return None, 1


def _word(value: Any) -> str:
    return value.strip().upper() if isinstance(value, str) else ""
