"""Which records of a HubSpot portal are associated, and as what; no HTTP here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from adapters.sandbox.hubspot_changes import Source
from adapters.sandbox.hubspot_portal import Portal, Record


class Label(NamedTuple):
    """One meaning of an association, seen from one of its ends."""

    category: str
    type_id: int
    name: str | None

    @property
    def is_primary(self) -> bool:
        """Whether this is HubSpot's own primary label."""
        return self.category == "HUBSPOT_DEFINED" and self.name == "Primary"


class _Ids(NamedTuple):
    """Type ids from one type to another and back, plain and primary."""

    there: int
    back: int
    primary: int | None = None
    primary_back: int | None = None


# HubSpot's table of association types, from the end that has at most one primary. It is not known
# which ids lead back from contacts, companies, tasks and meetings to leads; these are made up.
_TYPES = {
    ("contacts", "companies"): _Ids(279, 280, 1, 2),
    ("deals", "companies"): _Ids(341, 342, 5, 6),
    ("tickets", "companies"): _Ids(339, 340, 26, 25),
    ("leads", "contacts"): _Ids(608, 607, 578, 577),
    ("leads", "companies"): _Ids(610, 609),
    ("leads", "tasks"): _Ids(646, 645),
    ("leads", "meetings"): _Ids(600, 599),
    ("deals", "contacts"): _Ids(3, 4),
    ("tickets", "contacts"): _Ids(16, 15),
    ("tickets", "deals"): _Ids(28, 27),
    ("tasks", "contacts"): _Ids(204, 203),
    ("tasks", "companies"): _Ids(192, 191),
    ("tasks", "deals"): _Ids(216, 215),
    ("tasks", "tickets"): _Ids(230, 229),
    ("meetings", "contacts"): _Ids(200, 199),
    ("meetings", "companies"): _Ids(188, 187),
    ("meetings", "deals"): _Ids(212, 211),
    ("meetings", "tickets"): _Ids(226, 225),
}
_OWN_LABEL = 61  # the first type id of labels that the account made itself

End = tuple[str, str]  # object type, record id


class Links:
    """The associations of one portal. Not locked by itself: callers hold the sandbox's lock."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._labels: dict[tuple[End, End], set[Label]] = {}
        self._own: list[str] = []

    def link(
        self, one: End, other: End, *, primary: bool = False, label: str | None = None
    ) -> None:
        """Associate two records, in both directions; a new primary takes the place of the old.

        Raises ``ValueError`` for types that HubSpot does not associate or that know no primary.
        """
        here, there = _oriented(one, other)
        ids = _TYPES[here[0], there[0]]
        self._add(here, there, ids.there, ids.back, name=None)
        if label:
            self._add_own(here, there, label)
        if not primary:
            return
        if ids.primary is None or ids.primary_back is None:
            raise ValueError(f"{here[0]} have no primary {there[0]}")
        if "one_primary" in self._portal.rules:
            self._demote(here, there)
        self._add(here, there, ids.primary, ids.primary_back, name="Primary")

    def unlink(self, one: End, other: End) -> None:
        """End every association of two records."""
        here, there = _oriented(one, other)
        for near, far in ((here, there), (there, here)):
            for label in sorted(self._labels.pop((near, far), ()), key=_order):
                self._tell(near, far, label, is_removed=True)

    def from_each(self, from_type: str, to_type: str) -> dict[str, dict[str, list[Label]]]:
        """Per living record of the first type, those of the second type and their labels."""
        found: dict[str, dict[str, list[Label]]] = {}
        for near, far, labels in self._living(from_type, to_type):
            others = found.setdefault(near, {})
            taken = any(one.is_primary for given in others.values() for one in given)
            kept = [one for one in labels if not (taken and self._one_primary(one, from_type))]
            others[far] = sorted({*others.get(far, ()), *kept}, key=_order)
        return found

    def _living(self, from_type: str, to_type: str) -> Iterator[tuple[str, str, set[Label]]]:
        """A survivor has the links of those merged into it; its own come first."""
        merged = []
        for (near, far), labels in self._labels.items():
            if (near[0], far[0]) != (from_type, to_type):
                continue
            ends = self._portal.find(*near), self._portal.find(*far)
            if ends[0] is None or ends[1] is None:
                continue
            entry = (ends[0].id, ends[1].id, labels)
            if ends[0].id == near[1]:
                yield entry
            else:
                merged.append(entry)
        yield from merged

    def _one_primary(self, label: Label, from_type: str) -> bool:
        holders = {ids.primary: near for (near, _), ids in _TYPES.items() if ids.primary}
        return label.is_primary and holders.get(label.type_id) == from_type

    def _demote(self, here: End, there: End) -> None:
        for (near, far), labels in self._labels.items():
            ends = (near, far) if near == here else (far, near)
            if ends[0] != here or ends[1] == there or ends[1][0] != there[0]:
                continue
            for label in [one for one in labels if one.is_primary]:
                labels.remove(label)
                self._tell(near, far, label, is_removed=True)

    def _add(self, here: End, there: End, ahead: int, back: int, *, name: str | None) -> None:
        for near, far, type_id in ((here, there, ahead), (there, here, back)):
            self._note(near, far, Label("HUBSPOT_DEFINED", type_id, name))

    def _add_own(self, here: End, there: End, name: str) -> None:
        if name not in self._own:
            self._own.append(name)
        type_id = _OWN_LABEL + 2 * self._own.index(name)
        self._note(here, there, Label("USER_DEFINED", type_id, name))
        self._note(there, here, Label("USER_DEFINED", type_id + 1, name))

    def _note(self, near: End, far: End, label: Label) -> None:
        labels = self._labels.setdefault((near, far), set())
        if label not in labels:
            labels.add(label)
            self._tell(near, far, label)

    def _tell(self, near: End, far: End, label: Label, *, is_removed: bool = False) -> None:
        record: Record | None = self._portal.find(*near)
        if record is None:
            return
        self._portal.tell(
            record,
            "associationChange",
            Source.person(7),
            to_type=far[0],
            to_id=far[1],
            association_id=label.type_id,
            association_category=label.category,
            is_primary=label.is_primary,
            is_removed=is_removed,
        )


def _oriented(one: End, other: End) -> tuple[End, End]:
    if (one[0], other[0]) in _TYPES:
        return one, other
    if (other[0], one[0]) in _TYPES:
        return other, one
    raise ValueError(f"{one[0]} are not associated with {other[0]}")


def _order(label: Label) -> tuple[str, int]:
    return label.category, label.type_id
