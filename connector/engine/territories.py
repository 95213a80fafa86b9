"""Which pool a lead goes to, by its fields; the first territory that matches wins.

A condition is one of

    {}                                        every lead
    {"field": F, "op": OP, "value": V}        a comparison; exists and missing take no value
    {"all": [C, ...]}  {"any": [C, ...]}  {"not": C}

Field names and text compare without case, so that one rule serves HubSpot's ``country`` and
Salesforce's ``Country``. Besides the lead's attributes there are ``email``, ``company``,
``connection`` and ``object_type``. A field that is missing or null makes a comparison false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from connector.model import Lead, Reason, Route, Territory

Condition = Mapping[str, Any]

_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?(e[+-]?[0-9]{1,3})?")


def route(lead: Lead, territories: Sequence[Territory], default: Route) -> Route:
    """The pool of the first territory that matches, else ``default``, with what was passed."""
    fields = lead_fields(lead)
    passed: list[str] = []
    for territory in territories:
        failed = why_not(territory.when, fields)
        if failed is None and territory.is_closed:
            failed = "its pool is archived"
        if failed is None:
            return Route(pool_id=territory.pool_id, territory=territory.name, passed=tuple(passed))
        passed.append(f"{territory.name}: {failed}")
    return Route(pool_id=default.pool_id, reason=default.reason, passed=tuple(passed))


def default_route(pool_id: str | None, *, named: bool) -> Route:
    """Where a lead goes that no territory claims. ``named``: a default pool is set at all."""
    if pool_id:
        return Route(pool_id=pool_id)
    return Route(pool_id=None, reason=Reason.NO_POOL if named else Reason.NO_TERRITORY_MATCH)


def lead_fields(lead: Lead) -> dict[str, Any]:
    """Everything a condition can ask for, under case-folded names."""
    fields: dict[str, Any] = {"email": lead.email, "company": lead.company}
    if lead.record:
        fields |= {"connection": lead.record.connection, "object_type": lead.record.object_type}
    given = {name.casefold(): value for name, value in lead.attributes.items()}
    return fields | {name: value for name, value in given.items() if value is not None}


def fields_of(when: Condition) -> Iterator[str]:
    """The fields that a condition looks at."""
    if "field" in when:
        yield when["field"]
    for inner in (*when.get("all", ()), *when.get("any", ())):
        yield from fields_of(inner)
    if "not" in when:
        yield from fields_of(when["not"])


def why_not(when: Condition, fields: Mapping[str, Any]) -> str | None:
    """None when the condition holds, else a phrase that names what failed."""
    if "all" in when:
        return next((no for part in when["all"] if (no := why_not(part, fields))), None)
    if "any" in when:
        failed = [why_not(part, fields) for part in when["any"]]
        return (
            None
            if None in failed
            else " and ".join(filter(None, failed)) or "nothing to choose from"
        )
    if "not" in when:
        return None if why_not(when["not"], fields) else "the excluded condition holds"
    if not when:
        return None
    return _compare(when, fields)


def _compare(when: Condition, fields: Mapping[str, Any]) -> str | None:
    name, op, wanted = when["field"], when["op"], when.get("value")
    found = fields.get(name.casefold())
    if op == "missing":
        return None if found is None else f"{name} is {found!r}"
    if found is None:
        return f"{name} is missing"
    if op == "exists" or _OPERATORS[op](found, wanted):
        return None
    return f"{name} is {found!r}, not {op} {wanted!r}"


def _equal(found: Any, wanted: Any) -> bool:
    sides = _alike(found, wanted)
    return sides is not None and bool(sides[0] == sides[1])


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, Sequence) and not isinstance(found, str):
        return any(_equal(part, wanted) for part in found)
    return _text(wanted) in _text(found)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(found: Any, wanted: Any) -> bool:
        numbers = _number(found), _number(wanted)
        # By their digits 50 would be more than 100; what is no number, such as a date, is text.
        sides = _alike(found, wanted) if None in numbers else numbers
        return sides is not None and compare(*sides)

    return holds


def _alike(found: Any, wanted: Any) -> tuple[Any, Any] | None:
    """Both sides in a form that compares: number with number, text with text without case.

    CRM values are text, so text that is a number compares with a number. None: they do not compare.
    """
    if _is_number(found) or _is_number(wanted):
        sides = _number(found), _number(wanted)
        return None if None in sides else sides
    return _text(found), _text(wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> Decimal | None:
    text = _text(value)
    # Decimal is exact, since ids pass what a float can hold, but takes more than plain numbers.
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _text(value: Any) -> str:
    return str(value).strip().casefold()


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda found, wanted: not _equal(found, wanted),
    "in": lambda found, wanted: any(_equal(found, one) for one in wanted),
    "not_in": lambda found, wanted: not any(_equal(found, one) for one in wanted),
    "contains": _contains,
    "starts_with": lambda found, wanted: _text(found).startswith(_text(wanted)),
    "ends_with": lambda found, wanted: _text(found).endswith(_text(wanted)),
    "gt": _ordered(lambda left, right: left > right),
    "gte": _ordered(lambda left, right: left >= right),
    "lt": _ordered(lambda left, right: left < right),
    "lte": _ordered(lambda left, right: left <= right),
}
