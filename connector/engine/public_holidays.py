"""Public holidays by country and region: ``"DE"``, ``"DE-BY"``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

import holidays


def is_holiday_code(text: str) -> bool:
    """Do we know the holidays of this country, or country and region?

    Countries are two capital letters; regions are written as their country's standard has them.
    """
    country, _, region = text.partition("-")
    regions = _regions().get(country)
    return regions is not None and (region in regions or text == country)


def holiday_name(code: str | None, day: date) -> str | None:
    """What is celebrated that day, in English where there is an English name; None: nothing."""
    return _names(code, day.year).get(day) if code else None


@lru_cache(maxsize=1)
def _regions() -> Mapping[str, list[str]]:
    return holidays.list_supported_countries(include_aliases=False)


@lru_cache(maxsize=4096)
def _names(code: str, year: int) -> Mapping[date, str]:
    # A newer calendar may drop a region. Its users then have no holidays, but still get leads.
    if not is_holiday_code(code):
        return {}
    country, _, region = code.partition("-")
    days = holidays.country_holidays(
        country, subdiv=region or None, years=year, expand=False, language="en_US"
    )
    return dict(days.items())
