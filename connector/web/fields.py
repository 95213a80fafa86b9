"""The kinds of values that requests carry, each with its limits."""

from __future__ import annotations

import re
import unicodedata
import zoneinfo
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)


def _printable(text: str) -> str:
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValueError("must not contain control characters or lone surrogates")
    return text


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 13.0 is 13."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _decimal(value: Any) -> Any:
    """A number in a query string; int() would also take blanks, signs and underscores."""
    if isinstance(value, str):
        if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
            raise ValueError("must be a whole number")
        return int(value)
    return value


def _instant(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # A plus sign in a query string arrives as a blank.
    text = value.replace(" ", "+").upper()
    if not _INSTANT.fullmatch(text):
        raise ValueError("must be a time such as 2026-10-15T12:00:00Z")
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2026-10-15T12:00:00Z") from None


@cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("must be a time zone name such as Europe/Berlin")
    return name


Id = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Email = Annotated[str, StringConstraints(min_length=3, max_length=320), AfterValidator(_printable)]
Zone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_zone)]
Weight = Annotated[int, Field(ge=0, le=1000), BeforeValidator(_whole)]
Limit = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_decimal)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
