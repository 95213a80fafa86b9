"""Which records a search of the sandbox HubSpot finds: filters, their operators, the order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.sandbox.hubspot_portal import Record

Group = Sequence[Mapping[str, Any]]
_IS_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_IS_DATE = re.compile(r"\d{4}-\d\d-\d\dT.*Z")


def is_found(record: Record, groups: Sequence[Group], *, exact_lists: bool) -> bool:
    """Whether any group has only filters that this record passes; no group finds all.

    ``exact_lists``: IN and NOT_IN compare with the value in lower case, as HubSpot does.
    """
    return not groups or any(
        all(_passes(record, one, exact_lists=exact_lists) for one in group) for group in groups
    )


def sort_key(record: Record, name: str) -> tuple[int, float, str]:
    """Where a record stands in a result sorted by this property; those without it come first."""
    value = record.properties.get(name)
    if not value:
        return (0, 0.0, "")
    number = _number(value)
    return (1, number, "") if number is not None else (2, 0.0, value.lower())


def _passes(record: Record, one: Mapping[str, Any], *, exact_lists: bool) -> bool:
    held = record.properties.get(one["propertyName"]) or ""
    operator: str = one["operator"]
    if operator == "HAS_PROPERTY":
        return held != ""
    if operator == "NOT_HAS_PROPERTY":
        return held == ""
    if held == "":
        return False
    if operator in ("IN", "NOT_IN"):
        values = {str(value) for value in one["values"]}
        known = values if exact_lists else {value.lower() for value in values}
        return (held.lower() in known) == (operator == "IN")
    if operator == "BETWEEN":
        return not _less(held, str(one["value"])) and not _less(str(one["highValue"]), held)
    return OPERATORS[operator](held, str(one["value"]))


def _equal(held: str, wanted: str) -> bool:
    numbers = _number(held), _number(wanted)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return held.lower() == wanted.lower()


def _less(held: str, wanted: str) -> bool:
    ours, theirs = _number(held), _number(wanted)
    if ours is not None and theirs is not None:
        return ours < theirs
    return held.lower() < wanted.lower()


def _has_token(held: str, wanted: str) -> bool:
    pattern = re.escape(wanted.lower()).replace(r"\*", ".*")
    return any(re.fullmatch(pattern, word) for word in re.split(r"[\s@.,;]+", held.lower()))


def _number(value: str) -> float | None:
    """Numbers as they are, dates as milliseconds, which is how filters write them."""
    if _IS_NUMBER.fullmatch(value):
        return float(value)
    if _IS_DATE.fullmatch(value):
        return round(datetime.fromisoformat(value).timestamp() * 1000)
    return None


OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "EQ": _equal,
    "NEQ": lambda held, wanted: not _equal(held, wanted),
    "LT": _less,
    "LTE": lambda held, wanted: not _less(wanted, held),
    "GT": lambda held, wanted: _less(wanted, held),
    "GTE": lambda held, wanted: not _less(held, wanted),
    "CONTAINS_TOKEN": _has_token,
    "NOT_CONTAINS_TOKEN": lambda held, wanted: not _has_token(held, wanted),
}
# The fields that each operator needs beside the property's name.
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OPERATORS, ("value",)),
    "BETWEEN": ("value", "highValue"),
    "IN": ("values",),
    "NOT_IN": ("values",),
    "HAS_PROPERTY": (),
    "NOT_HAS_PROPERTY": (),
}
