"""Moments of time as HubSpot writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_MILLISECONDS = 1e12  # from September 2001
_SECONDS = range(10**9, 10**10)  # from the same day until 2286


def of_number(value: Any) -> datetime | None:
    """The moment of an epoch number, as a number or as digits; None when it is none.

    It must be milliseconds or, as in some of HubSpot's own examples, seconds; a size that is
    neither says nothing.
    """
    if isinstance(value, str) and re.fullmatch("[0-9]{1,15}", value):
        value = int(value)
    if not isinstance(value, int | float):
        return None
    try:
        if value >= _MILLISECONDS:
            return datetime.fromtimestamp(value / 1000, UTC)
        return datetime.fromtimestamp(value, UTC) if int(value) in _SECONDS else None
    except (ValueError, OverflowError, OSError):
        return None


def of_text(text: str) -> datetime | None:
    """The moment of a property: ISO 8601, UTC where it does not say; or epoch milliseconds."""
    if text.isdecimal():  # before Python reads a date, a separator and a time into thirteen digits
        return of_number(text)
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
