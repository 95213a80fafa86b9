"""The contents of one HubSpot portal: owners, records, their history, merges; no HTTP here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from adapters.sandbox.hubspot_changes import Change, ChangeKind, Source
from adapters.sandbox.hubspot_schema import (
    KNOWN_PROPERTIES,
    created_property,
    modified_property,
    stamp,
)

OwnerType = Literal["PERSON", "QUEUE"]


@dataclass(kw_only=True)
class Owner:
    """A person or queue that can own records; ``user_id`` is not what records hold."""

    id: str
    email: str
    first_name: str
    last_name: str
    type: OwnerType
    user_id: int
    archived: bool
    created_at: datetime
    user_record_id: str | None  # of the "users" object; queues have none


@dataclass(kw_only=True)
class Record:
    """One CRM record; a property may be absent, None or text."""

    id: str
    object_type: str
    properties: dict[str, str | None]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    history: dict[str, list[tuple[str, datetime, Source]]] = field(default_factory=dict)


class Portal:
    """All records and owners. Not locked by itself: callers hold the sandbox's lock."""

    def __init__(self, clock: Callable[[], datetime], rules: set[str]) -> None:
        self.clock = clock
        self.rules = rules
        self.owners: dict[str, Owner] = {}
        self.records: dict[tuple[str, str], Record] = {}
        self.survivors: dict[tuple[str, str], str] = {}  # merged-away id -> id that lives on
        self.properties = set(KNOWN_PROPERTIES)
        self.listeners: list[Callable[[Change], None]] = []
        first = 88_000_000_123 if "wide_ids" in rules else 123
        self._record_ids = itertools.count(first, 37)
        self._user_record_ids = itertools.count(first + 87_000_000_888, 13)
        self._owner_numbers = itertools.count()

    def add_owner(self, email: str, *, owner_id: str | None, **fields: object) -> Owner:
        """Add an owner; ids count up from 5501, user ids from 990011. A person is a user as well.

        His record of the ``users`` object has an id of its own; no event tells of it.
        """
        number = next(self._owner_numbers)
        is_person = fields["type"] == "PERSON"
        owner = Owner(
            id=owner_id or str(5501 + number),
            email=email,
            user_id=990011 + number,
            created_at=self.clock(),
            user_record_id=str(next(self._user_record_ids)) if is_person else None,
            **fields,  # type: ignore[arg-type]
        )
        self.owners[owner.id] = owner
        if owner.user_record_id:
            self._add_user(owner, owner.user_record_id)
        return owner

    def _add_user(self, owner: Owner, record_id: str) -> None:
        now = stamp(owner.created_at)
        self.records["users", record_id] = Record(
            id=record_id,
            object_type="users",
            properties={
                "hs_object_id": record_id,
                "hs_createdate": now,
                "hs_lastmodifieddate": now,
                "hs_internal_user_id": str(owner.user_id),
                "hubspot_owner_id": owner.id,
                "hs_email": owner.email,
                "hs_given_name": owner.first_name,
                "hs_family_name": owner.last_name,
            },
            created_at=owner.created_at,
            updated_at=owner.created_at,
            archived_at=owner.created_at if owner.archived else None,
        )

    def archive_owner(self, owner: Owner, *, archived: bool) -> None:
        """Deactivate the user behind an owner, or take him back; his user record goes with it."""
        owner.archived = archived
        if owner.user_record_id:
            record = self.records["users", owner.user_record_id]
            record.archived_at = self.clock() if archived else None

    def create(
        self,
        object_type: str,
        properties: Mapping[str, str | None],
        *,
        source: Source,
        record_id: str | None = None,
    ) -> Record:
        """Add a record and tell the listeners."""
        now = self.clock()
        new_id = record_id or str(next(self._record_ids))
        if (object_type, new_id) in self.records:
            raise ValueError(f"{object_type} {new_id} is there already")
        record = Record(
            id=new_id, object_type=object_type, properties={}, created_at=now, updated_at=now
        )
        self.records[object_type, new_id] = record
        self.properties |= set(properties)
        self._set(record, properties, source=source)
        record.properties["hs_object_id"] = new_id
        record.properties[created_property(object_type)] = stamp(now)
        record.properties[modified_property(object_type)] = stamp(now)
        self.tell(record, "creation", source)
        return record

    def find(
        self,
        object_type: str,
        record_id: str,
        *,
        follow_merges: bool = True,
        archived: bool = False,
        id_property: str | None = None,
    ) -> Record | None:
        """The record of this id, or the one that swallowed it."""
        if id_property:
            return self._find_by(object_type, id_property, record_id)
        if follow_merges:
            while (object_type, record_id) in self.survivors:
                record_id = self.survivors[object_type, record_id]
        record = self.records.get((object_type, record_id))
        if record is None or "deleted" not in self.rules:
            return record
        return record if (record.archived_at is not None) == archived else None

    def of_type(self, object_type: str, *, archived: bool = False) -> list[Record]:
        """The records of a type, or those in its bin, in the order of their ids."""
        found = [
            record
            for (kind, _), record in self.records.items()
            if kind == object_type and (record.archived_at is not None) == archived
        ]
        return sorted(found, key=lambda record: int(record.id))

    def write(self, record: Record, properties: Mapping[str, str | None], source: Source) -> None:
        """Set properties, keep their history, bump the record and tell the listeners."""
        before = dict(record.properties)
        now = self.clock()
        self._set(record, properties, source=source)
        record.updated_at = now
        if "last_modified" in self.rules:
            record.properties[modified_property(record.object_type)] = stamp(now)
        for name in properties:
            value = record.properties.get(name)
            if (value or "") != (before.get(name) or ""):
                self.tell(record, "propertyChange", source, name=name, value=value or "")

    def delete(self, record: Record, source: Source) -> None:
        """Move a record to the bin."""
        record.archived_at = self.clock()
        self.tell(record, "deletion", source)

    def forget(self, record: Record, source: Source) -> None:
        """Delete a record for good, as a person asked whose data it is; told twice."""
        del self.records[record.object_type, record.id]
        self.tell(record, "privacyDeletion", source)
        self.tell(record, "deletion", source)

    def restore(self, record: Record, source: Source) -> None:
        """Take a record out of the bin."""
        record.archived_at = None
        self.tell(record, "restore", source)

    def merge(
        self, primary: Record, others: Iterable[Record], *, new_id: bool, source: Source
    ) -> Record:
        """Merge ``others`` into ``primary``; the survivor may get an id of its own.

        The survivor keeps its own values and takes those it lacks; like HubSpot, that fires a
        deletion per record that is gone and one merge, but no property change.
        """
        object_type = primary.object_type
        gone = [*others, *([primary] if new_id else [])]
        survivor = primary
        if new_id:
            survivor = Record(
                id=str(next(self._record_ids)),
                object_type=object_type,
                properties=dict(primary.properties),
                created_at=primary.created_at,
                updated_at=self.clock(),
                history=dict(primary.history),
            )
            survivor.properties["hs_object_id"] = survivor.id
            self.records[object_type, survivor.id] = survivor
        for record in gone:
            for name, value in record.properties.items():
                if not survivor.properties.get(name):
                    survivor.properties[name] = value
            self.survivors[object_type, record.id] = survivor.id
            del self.records[object_type, record.id]
        merged = tuple(record.id for record in gone if record is not primary)
        earlier = (survivor.properties.get("hs_merged_object_ids") or "").split(";")
        listed = [one for one in [*earlier, *(record.id for record in gone)] if one]
        survivor.properties["hs_merged_object_ids"] = ";".join(listed)
        survivor.updated_at = self.clock()
        survivor.properties[modified_property(object_type)] = stamp(survivor.updated_at)
        for record in gone:
            self.tell(record, "deletion", source)
        self.tell(
            survivor,
            "merge",
            source,
            primary_id=primary.id,
            merged_ids=merged,
            new_id=survivor.id if new_id else None,
        )
        return survivor

    def _find_by(self, object_type: str, name: str, value: str) -> Record | None:
        for (kind, _), record in self.records.items():
            if kind != object_type or record.archived_at is not None:
                continue
            if (record.properties.get(name) or "").lower() == value.lower():
                return record
        return None

    def _set(self, record: Record, properties: Mapping[str, str | None], *, source: Source) -> None:
        now = self.clock()
        for name, value in properties.items():
            record.properties[name] = value
            told = value is not None or name in record.history
            if told and "history" in self.rules:
                record.history.setdefault(name, []).insert(0, (value or "", now, source))
        if properties.get("hubspot_owner_id"):
            record.properties["hubspot_owner_assigneddate"] = stamp(now)

    def tell(self, record: Record, kind: ChangeKind, source: Source, **more: object) -> None:
        """Tell the listeners of something that happened; ``more`` are fields of ``Change``."""
        change = Change(
            kind=kind,
            object_type=record.object_type,
            record_id=record.id,
            at=self.clock(),
            source=source,
            **more,  # type: ignore[arg-type]
        )
        for listener in self.listeners:
            listener(change)
