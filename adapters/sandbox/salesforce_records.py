"""The records of the sandbox org, and the changes that need no permission: those of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.sandbox import salesforce_ids as ids
from adapters.sandbox import salesforce_schema as schema

Clock = Callable[[], datetime]
Listener = Callable[[str, str, bool], None]  # object type, record id, made over the API


def show_time(moment: datetime) -> str:
    """A date-time as REST writes it."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}+0000"


@dataclass(slots=True)
class Record:
    """One row. ``values`` holds what was filled in; ``id`` has 18 characters."""

    id: str
    type: str
    values: dict[str, object]
    created_at: datetime
    modified_at: datetime
    created_by: str
    modified_by: str
    is_deleted: bool = False

    def read(self, field: str) -> object:
        """The value of one field, as REST shows it."""
        match field:
            case "Id":
                return self.id
            case "IsDeleted":
                return self.is_deleted
            case "CreatedDate":
                return show_time(self.created_at)
            case "LastModifiedDate" | "SystemModstamp":
                return show_time(self.modified_at)
            case "CreatedById":
                return self.created_by
            case "LastModifiedById":
                return self.modified_by
        if field == "Name" and "Name" not in self.values:
            parts = (self.values.get("FirstName"), self.values.get("LastName"))
            return " ".join(str(part) for part in parts if part) or None
        return self.values.get(field, schema.field_default(field))


class Records:
    """All rows of one org. Safe to share by threads: ``lock`` is held while rows change."""

    def __init__(self, clock: Clock, *, seed: int, rules: Set[str]) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self.rules = rules
        self.rows: dict[str, Record] = {}
        self.fields = {kind: list(names) for kind, names in schema.FIELDS.items()}
        self.listeners: list[Listener] = []
        self._next = 1 + seed * 1_000_003
        self.integration_user = ""
        self.integration_user = self.add(
            "User",
            {
                "Name": "Integration User",
                "Email": "integration@sandbox.example",
                "Username": "integration@sandbox.example",
                "IsActive": True,
                "UserType": "Standard",
            },
        )
        self.default_owner = self.integration_user

    def wide(self, raw: object) -> str:
        """The id in 18 characters; raises ``MalformedId``."""
        return ids.widen(raw, check_suffix="id_suffix" in self.rules)

    def add(
        self,
        object_type: str,
        values: Mapping[str, object],
        record_id: str | None = None,
        *,
        over_api: bool = False,
    ) -> str:
        """Create a row and return its id. Nothing is validated but the names and the id."""
        if object_type not in self.fields:
            raise ValueError(f"{object_type} is no object of this org: {sorted(self.fields)}")
        with self.lock:
            self._check_names(object_type, values)
            record_id = self._take_id(object_type, record_id)
            owner = {"OwnerId": self.default_owner} if self.is_owned(object_type) else {}
            self.rows[record_id] = Record(
                id=record_id,
                type=object_type,
                values=owner | dict(values),
                created_at=self.clock(),
                modified_at=self.clock(),
                created_by=self.integration_user,
                modified_by=self.integration_user,
            )
        self.tell(object_type, record_id, over_api=over_api)
        return record_id

    def find(self, raw: object) -> Record:
        """The row of an id in either form, deleted or not; raises ``KeyError``."""
        return self.rows[self.wide(raw)]

    def change(self, record_id: str, values: Mapping[str, object], *, by: str | None = None) -> str:
        """Set fields of a row as person ``by``, without any rule; returns the id."""
        with self.lock:
            row = self.find(record_id)
            self._check_names(row.type, values)
            self.touch(row, values, by=by or self.integration_user)
        self.tell(row.type, row.id, over_api=False)
        return row.id

    def touch(self, row: Record, values: Mapping[str, object], *, by: str) -> None:
        """Write values into a row and move its stamps."""
        row.values.update(values)
        if "modified_stamps" in self.rules:
            row.modified_at = max(self.clock(), row.modified_at)
            row.modified_by = by

    def tell(self, object_type: str, record_id: str, *, over_api: bool) -> None:
        """Let listeners know that a row was created or changed."""
        for listener in list(self.listeners):
            listener(object_type, record_id, over_api)

    def of_type(self, object_type: str) -> list[Record]:
        """All rows of one object type, deleted ones too, in the order they were created."""
        with self.lock:
            return [row for row in self.rows.values() if row.type == object_type]

    def canonical_field(self, object_type: str, name: str) -> str | None:
        """The field's name as the org spells it; Salesforce compares without case."""
        wanted = name.lower()
        return next((f for f in self.fields[object_type] if f.lower() == wanted), None)

    def is_owned(self, object_type: str) -> bool:
        """Whether records of this object have an owner."""
        return "OwnerId" in self.fields[object_type]

    def _check_names(self, object_type: str, values: Mapping[str, object]) -> None:
        unknown = sorted(set(values) - set(self.fields[object_type]))
        if unknown:
            raise ValueError(f"{object_type} has no field {unknown[0]}: add_field makes one")

    def _take_id(self, object_type: str, record_id: str | None) -> str:
        prefix = ids.PREFIXES[object_type]
        if record_id is not None:
            wide = ids.widen(record_id)
            if not wide.startswith(prefix):
                raise ValueError(f"the id of a {object_type} starts with {prefix}: {record_id}")
            if wide in self.rows:
                raise ValueError(f"{record_id} is taken")
            return wide
        while (wide := ids.make_id(prefix, self._next)) in self.rows:
            self._next += 1
        self._next += 1
        return wide
