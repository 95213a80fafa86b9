"""Which objects and fields one org has, and what of them its API client may see and change."""

from __future__ import annotations

from collections.abc import Iterable, Set

from adapters.sandbox import salesforce_ids as ids
from adapters.sandbox import salesforce_schema as schema


class Objects:
    """The schema of one org; a plain one until a test adds to it or hides some of it."""

    def __init__(self, rules: Set[str]) -> None:
        self.rules = rules
        self.fields = {kind: list(names) for kind, names in schema.FIELDS.items()}
        self.prefixes = dict(ids.PREFIXES)
        self.queue_objects = set(schema.QUEUE_OBJECTS)
        # Field-level security and object permissions of the API client.
        self.hidden_objects = set(schema.FEATURE_OBJECTS.values())
        self.hidden_fields: set[tuple[str, str]] = set()
        self.locked_objects: set[str] = set()  # it may read, but not change these
        self.locked_fields: set[tuple[str, str]] = set()
        self._features: set[str] = set()
        self._types: dict[tuple[str, str], str] = {}
        self._targets: dict[tuple[str, str], str] = {}

    def add_object(
        self, name: str, fields: Iterable[str], *, is_owned: bool, by_queues: bool
    ) -> None:
        """Add a custom object; its records' ids start with ``a`` and a number."""
        owned = ("OwnerId",) if is_owned else ()
        self.fields[name] = [*schema.SYSTEM_FIELDS, *owned, "Name", *fields]
        self.prefixes[name] = f"a{len(self.prefixes):02d}"
        if by_queues:
            self.queue_objects.add(name)

    def add_field(self, object_type: str, name: str, kind: str, target: str | None) -> None:
        """Add a field; ``target`` is the object behind a look-up such as ``Partner__c``."""
        self.fields[object_type].append(name)
        self._types[object_type, name] = kind
        if target:
            self._targets[object_type, name] = target

    @property
    def features(self) -> list[str]:
        """What this org has switched on, of ``salesforce_schema.FEATURE_FIELDS``."""
        return sorted(self._features)

    @features.setter
    def features(self, names: Iterable[str]) -> None:
        """Switch on these features and all others off."""
        wanted = set(names)
        if unknown := wanted - set(schema.FEATURE_FIELDS):
            known = ", ".join(sorted(schema.FEATURE_FIELDS))
            raise ValueError(f"no feature {sorted(unknown)}; there are: {known}")
        for feature, extras in schema.FEATURE_FIELDS.items():
            is_on = feature in wanted
            for object_type, fields in extras.items():
                rest = [name for name in self.fields[object_type] if name not in fields]
                self.fields[object_type] = [*rest, *fields] if is_on else rest
            if hidden := schema.FEATURE_OBJECTS.get(feature):
                (self.hidden_objects.discard if is_on else self.hidden_objects.add)(hidden)
        self._features = wanted

    def type_of(self, record_id: str) -> str | None:
        """The object type that an id's prefix names, None for a prefix nobody knows."""
        start = record_id[:3]
        return next((kind for kind, prefix in self.prefixes.items() if prefix == start), None)

    def seen_object(self, name: str) -> str | None:
        """The object's name as the org spells it, if the API client may see it."""
        wanted = name.lower()
        known = next((kind for kind in self.fields if kind.lower() == wanted), None)
        hides = known in self.hidden_objects and "object_security" in self.rules
        return None if hides else known

    def seen_field(self, object_type: str, name: str) -> str | None:
        """The field's name as the org spells it, if the API client may see it."""
        wanted = name.lower()
        known = next((f for f in self.fields[object_type] if f.lower() == wanted), None)
        if known and not self.is_seen(object_type, known):
            return None
        return known

    def is_seen(self, object_type: str, field: str) -> bool:
        """Whether field-level security lets the API client read a field."""
        hides = (object_type, field) in self.hidden_fields
        return not (hides and "field_security" in self.rules)

    def is_owned(self, object_type: str) -> bool:
        """Whether records of this object have an owner."""
        return "OwnerId" in self.fields[object_type]

    def may_change(self, object_type: str, field: str) -> bool:
        """Whether the API client may write a field."""
        if field in schema.READ_ONLY_FIELDS:
            return "read_only" not in self.rules
        locked = object_type in self.locked_objects or (object_type, field) in self.locked_fields
        return not (locked and "field_security" in self.rules)

    def field_type(self, object_type: str, name: str) -> str:
        """The type that ``describe`` tells of a field."""
        return self._types.get((object_type, name)) or schema.field_type(name)

    def default(self, object_type: str, name: str) -> object:
        """What a field holds that nobody filled in: false for a checkbox, else null."""
        return False if self.field_type(object_type, name) == "boolean" else None

    def is_reference(self, object_type: str, name: str) -> bool:
        """Whether a field holds a record id."""
        return self.field_type(object_type, name) in ("id", "reference")

    def relation(self, object_type: str, name: str) -> tuple[str, str, str] | None:
        """The field, relationship and entity behind a name such as ``Owner`` or ``Partner__r``."""
        if object_type == "Name":
            return None
        stem = name[:-3] + "__c" if name.lower().endswith("__r") else f"{name}Id"
        field = self.seen_field(object_type, stem)
        if field is None:
            return None
        shown = self.relationship_name(field)
        target = self.target(object_type, field)
        return (field, shown, target) if shown and target else None

    @staticmethod
    def relationship_name(field: str) -> str | None:
        """How a reference field is called as a relationship."""
        if field.endswith("__c"):
            return field[:-3] + "__r"
        return field.removesuffix("Id") or None

    def target(self, object_type: str, field: str) -> str | None:
        """The entity that a reference field points at; ``Name`` where it may be several."""
        if (object_type, field) in self._targets:
            return self._targets[object_type, field]
        to_queues = object_type in self.queue_objects
        return schema.relation_target(object_type, field.removesuffix("Id"), to_queues=to_queues)
