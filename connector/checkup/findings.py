"""What a look at one thing came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MOST_NAMES = 10


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"  # may be meant so
    WARNING = "warning"  # somebody gets no leads, or some leads wait
    LOSES_LEADS = "loses_leads"  # new leads get no owner until it is put right


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. Texts are whole sentences and hold no secret."""

    level: Level
    about: str  # "settings", "database", "pools", "api", or the name of a connection
    text: str
    what_to_do: str | None = None


def ok(about: str, text: str) -> Finding:
    """All is well."""
    return Finding(level=Level.OK, about=about, text=text)


def listed(names: Iterable[str]) -> str:
    """The names in order with commas between them; of many the first ten and how many more."""
    ordered = sorted(names, key=str.casefold)
    more = len(ordered) - MOST_NAMES
    told = ", ".join(ordered[:MOST_NAMES])
    return f"{told} and {more} more" if more > 0 else told


def counted(number: int, thing: str) -> str:
    """The number with its thing: "1 lead", "2 leads"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
