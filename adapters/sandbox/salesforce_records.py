"""The records of the sandbox org, and the changes that need no permission: those of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.sandbox import salesforce_ids as ids
from adapters.sandbox.salesforce_objects import Objects

Clock = Callable[[], datetime]
_ADDRESS = ("Street", "City", "State", "PostalCode", "Country")


def show_time(moment: datetime) -> str:
    """A date-time as REST writes it."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}+0000"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one record."""

    object_type: str
    record_id: str
    over_api: bool
    kind: str  # created, updated, deleted or undeleted


Listener = Callable[[Change], None]


@dataclass(slots=True)
class Record:
    """One row. ``values`` holds what was filled in; ``id`` has 18 characters."""

    id: str
    type: str
    values: dict[str, object]
    created_at: datetime
    modified_at: datetime
    stamped_at: datetime  # SystemModstamp: moves with changes that people do not make, too
    created_by: str
    modified_by: str
    is_deleted: bool = False

    def read(self, field: str) -> object:
        """The value of one field, as REST shows it; None for what was not filled in."""
        match field:
            case "Id":
                return self.id
            case "IsDeleted":
                return self.is_deleted
            case "CreatedById":
                return self.created_by
            case "LastModifiedById":
                return self.modified_by
            case "CreatedDate" | "LastModifiedDate" | "SystemModstamp":
                return show_time(self.stamps()[field])
        if field.endswith("Address") and field not in self.values:
            return self._address(field.removesuffix("Address"))
        if field == "Name" and "Name" not in self.values:
            parts = (self.values.get("FirstName"), self.values.get("LastName"))
            return " ".join(str(part) for part in parts if part) or None
        value = self.values.get(field)
        return show_time(value) if isinstance(value, datetime) else value

    def stamps(self) -> dict[str, datetime]:
        """The moments that the org notes by itself."""
        return {
            "CreatedDate": self.created_at,
            "LastModifiedDate": self.modified_at,
            "SystemModstamp": self.stamped_at,
        }

    def _address(self, prefix: str) -> dict[str, object] | None:
        parts = {part[0].lower() + part[1:]: self.values.get(prefix + part) for part in _ADDRESS}
        return parts if any(parts.values()) else None


class Records:
    """All rows of one org. Safe to share by threads: ``lock`` is held while rows change."""

    def __init__(self, clock: Clock, *, seed: int, rules: Set[str]) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self.rules = rules
        self.rows: dict[str, Record] = {}
        self.objects = Objects(rules)
        self.fields = self.objects.fields
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

    def now(self) -> datetime:
        """The org's time as it stamps records: whole seconds."""
        now = self.clock()
        return now.replace(microsecond=0) if "whole_seconds" in self.rules else now

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
        at: datetime | None = None,
    ) -> str:
        """Create a row and return its id. Nothing is validated but the names and the id."""
        if object_type not in self.fields:
            raise ValueError(f"{object_type} is no object of this org: {sorted(self.fields)}")
        with self.lock:
            self._check_names(object_type, values)
            record_id = self._take_id(object_type, record_id)
            is_owned = self.objects.is_owned(object_type)
            owner = {"OwnerId": self.default_owner} if is_owned else {}
            created_at = at or self.now()
            self.rows[record_id] = Record(
                id=record_id,
                type=object_type,
                values=owner | dict(values),
                created_at=created_at,
                modified_at=created_at,
                stamped_at=created_at,
                created_by=self.integration_user,
                modified_by=self.integration_user,
            )
        self.tell(object_type, record_id, over_api=over_api, kind="created")
        return record_id

    def find(self, raw: object) -> Record:
        """The row of an id in either form, deleted or not; raises ``KeyError``."""
        return self.rows[self.wide(raw)]

    def read(self, row: Record, field: str) -> object:
        """The value of one field, as REST shows it."""
        value = row.read(field)
        return self.objects.default(row.type, field) if value is None else value

    def change(self, record_id: str, values: Mapping[str, object], *, by: str | None = None) -> str:
        """Set fields of a row as person ``by``, without any rule; returns the id."""
        with self.lock:
            row = self.find(record_id)
            self._check_names(row.type, values)
            self.touch(row, values, by=by or self.integration_user)
        self.tell(row.type, row.id, over_api=False, kind="updated")
        return row.id

    def touch(self, row: Record, values: Mapping[str, object], *, by: str) -> None:
        """Write values into a row and move its stamps."""
        row.values.update(values)
        if "modified_stamps" in self.rules:
            row.modified_at = row.stamped_at = max(self.now(), row.stamped_at)
            row.modified_by = by

    def tell(self, object_type: str, record_id: str, *, over_api: bool, kind: str) -> None:
        """Let listeners know what happened to a row."""
        change = Change(object_type, record_id, over_api, kind)
        for listener in list(self.listeners):
            listener(change)

    def of_type(self, object_type: str) -> list[Record]:
        """All rows of one object type, deleted ones too, in the order they were created."""
        with self.lock:
            return [row for row in self.rows.values() if row.type == object_type]

    def _check_names(self, object_type: str, values: Mapping[str, object]) -> None:
        unknown = sorted(set(values) - set(self.fields[object_type]))
        if unknown:
            raise ValueError(f"{object_type} has no field {unknown[0]}: add_field makes one")

    def _take_id(self, object_type: str, record_id: str | None) -> str:
        prefix = self.objects.prefixes[object_type]
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
