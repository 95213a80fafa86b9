"""What an org says of its object types: the fields that it shows, and what they lead to.

https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_sobject_describe.htm
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.salesforce.client import Call
from connector.errors import CrmForbidden, CrmNever

KEPT = timedelta(hours=1)
# No rule can compare these, and they may be large. The parts of an address are fields of their own.
_UNREADABLE = frozenset({"address", "location", "base64", "complexvalue", "anyType"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the integration user may read of one object type; nothing, where it is hidden.

    Keys are case-folded: Salesforce compares names without case.
    """

    fields: Mapping[str, str]  # in the org's spelling
    relations: Mapping[str, tuple[str, str]]  # its spelling, and the one object type behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    shape: Shape
    asked: frozenset[str]  # the names for which it was looked at
    at: datetime


class Shapes:
    """The object types of one org as they were described within the hour. Shared by threads."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    def of(self, call: Call, object_type: str, names: Collection[str] = ()) -> Shape:
        """Describe an object type, at most once an hour or when a new name is asked for."""
        now = self._clock()
        asked = frozenset(names)
        kept = self._kept.get(object_type)
        if kept and asked <= kept.asked and now - kept.at < KEPT:
            return kept.shape
        shape = _described(call, object_type)
        self._kept[object_type] = _Kept(
            shape=shape, asked=asked | (kept.asked if kept else frozenset()), at=now
        )
        return shape

    def visible(self, call: Call, object_type: str, names: Collection[str]) -> tuple[str, ...]:
        """Those of the names that the org shows, as it spells them, ``Account.Industry`` too."""
        shape = self.of(call, object_type, names)
        found = (self._spelled(call, shape, name, names) for name in names)
        return tuple(dict.fromkeys(name for name in found if name))

    def forget(self) -> None:
        """Describe each anew when it is next asked for: something is not what it was."""
        self._kept.clear()

    def _spelled(self, call: Call, shape: Shape, name: str, names: Collection[str]) -> str | None:
        relation, dot, rest = name.casefold().partition(".")
        if not dot:
            return shape.fields.get(relation)
        if relation not in shape.relations:
            return None
        spelled, target = shape.relations[relation]
        wanted = [n.partition(".")[2] for n in names if n.casefold().startswith(f"{relation}.")]
        field = self.of(call, target, wanted).fields.get(rest)
        return f"{spelled}.{field}" if field else None


def _described(call: Call, object_type: str) -> Shape:
    try:
        described = call.describe(object_type).get("fields")
    except (CrmForbidden, CrmNever):
        described = None
    entries = [entry for entry in described or () if isinstance(entry, dict)]
    return Shape(
        fields={
            str(entry["name"]).casefold(): str(entry["name"])
            for entry in entries
            if entry.get("name") and entry.get("type") not in _UNREADABLE
        },
        relations=dict(filter(None, map(_relation, entries))),
    )


def _relation(entry: Mapping[str, Any]) -> tuple[str, tuple[str, str]] | None:
    """A relation that leads to one object type; behind several, such as ``Who``, is none of it."""
    name, targets = entry.get("relationshipName"), entry.get("referenceTo")
    if not name or not isinstance(targets, list) or len(targets) != 1:
        return None
    return str(name).casefold(), (str(name), str(targets[0]))
