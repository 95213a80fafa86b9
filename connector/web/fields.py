"""The kinds of values that requests carry, each with its limits."""

from __future__ import annotations

import re
import unicodedata
import zoneinfo
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from connector.engine.calendar import is_holiday_code

_FIRST_YEAR, _LAST_YEAR = 1970, 2200  # a mistyped year is told, not kept
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]"
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(?P<zone>Z|[+-]\d\d:\d\d)?", re.ASCII
)
_EXAMPLE = "2026-10-15T12:00:00Z"


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
    found = _INSTANT.fullmatch(text)
    if not found:
        raise ValueError(f"must be a time such as {_EXAMPLE}")
    if not found["zone"]:
        raise ValueError(f"has no time zone: add Z or an offset, as in {_EXAMPLE}")
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"must be a time such as {_EXAMPLE}") from None


def _sane(moment: datetime) -> datetime:
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"must be in the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return moment


@cache
def _zones() -> frozenset[str]:
    # These two are names for whatever zone the server is in, or for none.
    return frozenset(zoneinfo.available_timezones() - {"localtime", "Factory"})


def _zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("must be a time zone name such as Europe/Berlin")
    return name


def _day_time(text: str) -> str:
    if not re.fullmatch(_CLOCK, text):
        raise ValueError("must be a time of day such as 09:00")
    return text


def _day_end(text: str) -> str:
    return text if text == "24:00" else _day_time(text)


def _holidays(code: str) -> str:
    if not is_holiday_code(code):
        raise ValueError("must be a country such as DE, or country and region such as DE-BY")
    return code


def each_once(items: list[str]) -> list[str]:
    """Refuse a list that names something twice."""
    if len(set(items)) < len(items):
        raise ValueError("must name each only once")
    return items


WORD = Field(strict=False)  # a word of the model, which JSON can only give as text

Id = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Email = Annotated[str, StringConstraints(min_length=3, max_length=320), AfterValidator(_printable)]
Zone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_zone)]
Weight = Annotated[int, Field(ge=0, le=1000), BeforeValidator(_whole)]
Limit = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_decimal)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
Moment = Annotated[Instant, AfterValidator(_sane)]
Quota = Annotated[int, Field(ge=0, le=1_000_000), BeforeValidator(_whole)]
TurnsKept = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)]
BufferHours = Annotated[int, Field(ge=0, le=1000), BeforeValidator(_whole)]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = get_args(Day)
DayTime = Annotated[
    str, AfterValidator(_day_time), Field(json_schema_extra={"pattern": f"^{_CLOCK}$"})
]
DayEnd = Annotated[
    str, AfterValidator(_day_end), Field(json_schema_extra={"pattern": f"^({_CLOCK}|24:00)$"})
]
Holidays = Annotated[str, StringConstraints(min_length=2, max_length=20), AfterValidator(_holidays)]
Note = Annotated[str, StringConstraints(max_length=1000)]
