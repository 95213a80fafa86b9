"""What people do at the screens of a sandbox HubSpot; tests and people by hand do it here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from adapters.sandbox.hubspot_changes import Source
from adapters.sandbox.hubspot_links import Links
from adapters.sandbox.hubspot_portal import OwnerType, Portal, Record
from adapters.sandbox.server import Sandbox

_AVAILABILITY = (
    "hs_availability_status",
    "hs_out_of_office_hours",
    "hs_working_hours",
    "hs_standard_time_zone",
)
WorkingHours = tuple[str, int, int]  # days in HubSpot's words, first and last minute of the day


class Screen(Sandbox):
    """The half of a sandbox HubSpot that needs no HTTP; ``hubspot.HubSpotSandbox`` serves it."""

    portal: Portal
    links: Links
    out_of_office_unit: Literal["milliseconds", "seconds", "eleven_digits"] = "milliseconds"

    def add_owner(
        self,
        email: str,
        first_name: str = "",
        last_name: str = "",
        *,
        archived: bool = False,
        type: OwnerType = "PERSON",  # noqa: A002 - HubSpot's word for it
        owner_id: str | None = None,
    ) -> str:
        """Add somebody who can own records; return the owner id."""
        with self.lock:
            owner = self.portal.add_owner(
                email,
                owner_id=owner_id,
                first_name=first_name,
                last_name=last_name,
                archived=archived,
                type=type,
            )
        return owner.id

    def archive_owner(self, owner_id: str, *, archived: bool = True) -> None:
        """Deactivate the user behind an owner, or take him back; he keeps his records."""
        with self.lock:
            self.portal.archive_owner(self.portal.owners[owner_id], archived=archived)

    def user_id_of(self, owner_id: str) -> str:
        """The user id of an owner, which is never right in ``hubspot_owner_id``."""
        return str(self.portal.owners[owner_id].user_id)

    def create(
        self,
        object_type: str,
        properties: Mapping[str, str | None],
        *,
        record_id: str | None = None,
        source: str = "FORM",
    ) -> str:
        """Add a record; return its id. ``source`` as events tell it: FORM, IMPORT, CRM_UI, ..."""
        with self.lock:
            record = self.portal.create(
                object_type, properties, record_id=record_id, source=Source(kind=source)
            )
        return record.id

    def get(self, object_type: str, record_id: str) -> dict[str, str | None] | None:
        """The properties of a living record under exactly this id, or None."""
        with self.lock:
            record = self.portal.find(object_type, record_id, follow_merges=False)
            return dict(record.properties) if record else None

    def owner_of(self, object_type: str, record_id: str) -> str | None:
        """The owner id that a record, or the survivor of its merge, holds now; None if none."""
        with self.lock:
            return self._record(object_type, record_id).properties.get("hubspot_owner_id") or None

    def set_owner(
        self, object_type: str, record_id: str, owner_id: str | None, *, user_id: int = 7
    ) -> None:
        """A person sets or clears (None) the owner at the screen."""
        self.edit(object_type, record_id, {"hubspot_owner_id": owner_id}, user_id=user_id)

    def edit(
        self,
        object_type: str,
        record_id: str,
        properties: Mapping[str, str | None],
        *,
        user_id: int = 7,
    ) -> None:
        """A person changes properties at the screen."""
        with self.lock:
            self.portal.properties |= set(properties)
            record = self._record(object_type, record_id)
            self.portal.write(record, properties, Source.person(user_id))

    def history_of(self, object_type: str, record_id: str, name: str) -> list[str]:
        """Every value that a property has had, newest first."""
        with self.lock:
            record = self._record(object_type, record_id)
            return [value for value, _, _ in record.history.get(name, [])]

    def delete(self, object_type: str, record_id: str) -> None:
        """Move a record to the bin."""
        with self.lock:
            self.portal.delete(self._record(object_type, record_id), Source.person(7))

    def restore(self, object_type: str, record_id: str) -> None:
        """Take a record out of the bin."""
        with self.lock:
            record = self.portal.find(object_type, record_id, archived=True)
            if record is None:
                raise LookupError(f"no deleted {object_type} {record_id}")
            self.portal.restore(record, Source.person(7))

    def merge(
        self,
        primary: str,
        others: Iterable[str],
        *,
        new_id: bool = False,
        object_type: str = "contacts",
    ) -> str:
        """Merge records into ``primary``; return the survivor's id, a fresh one if ``new_id``."""
        with self.lock:
            first = self._record(object_type, primary)
            rest = [self._record(object_type, other) for other in others]
            return self.portal.merge(first, rest, new_id=new_id, source=Source.person(7)).id

    def import_records(
        self, object_type: str, rows: Iterable[Mapping[str, str | None]]
    ) -> list[str]:
        """Add many records as an import does; return their ids."""
        return [self.create(object_type, row, source="IMPORT") for row in rows]

    def forget(self, object_type: str, record_id: str) -> None:
        """Delete a record for good at the request of the person it is about."""
        with self.lock:
            self.portal.forget(self._record(object_type, record_id), Source.person(7))

    def link(
        self,
        from_type: str,
        from_id: str,
        to_type: str,
        to_id: str,
        *,
        primary: bool = False,
        label: str | None = None,
    ) -> None:
        """Associate two records; ``label`` is one that the account made itself.

        ``primary``: also as the primary one, in the place of the former. ``ValueError`` where
        HubSpot knows no such association, ``LookupError`` for a record that is not there.
        """
        with self.lock:
            ends = self._end(from_type, from_id), self._end(to_type, to_id)
            self.links.link(*ends, primary=primary, label=label)

    def unlink(self, from_type: str, from_id: str, to_type: str, to_id: str) -> None:
        """End every association of two records."""
        with self.lock:
            self.links.unlink(self._end(from_type, from_id), self._end(to_type, to_id))

    def user_record_id_of(self, owner_id: str) -> str:
        """The id of an owner's record of the users object, which is no owner id either."""
        record_id = self.portal.owners[owner_id].user_record_id
        if record_id is None:
            raise LookupError(f"{owner_id} is a queue")
        return record_id

    def set_availability(
        self,
        owner_id: str,
        *,
        status: str | None = None,
        out_of_office: Iterable[tuple[datetime, datetime]] | str | None = None,
        working_hours: Iterable[WorkingHours] | str | None = None,
        time_zone: str | None = None,
    ) -> None:
        """A user says when he works; what is None stays as it is, a text goes in as it stands.

        ``status`` is ``available``, ``away`` or empty. Working hours, such as
        ``("MONDAY_TO_FRIDAY", 540, 1020)``, need a time zone, else ``ValueError``.
        """
        with self.lock:
            record = self._record("users", self.user_record_id_of(owner_id))
            told = {
                "hs_availability_status": status,
                "hs_out_of_office_hours": self._spans(out_of_office),
                "hs_working_hours": _hours(working_hours),
                "hs_standard_time_zone": time_zone,
            }
            given = {name: value for name, value in told.items() if value is not None}
            zone = given.get("hs_standard_time_zone")
            zone = record.properties.get("hs_standard_time_zone") if zone is None else zone
            if working_hours is not None and not zone:
                raise ValueError("working hours need a time zone")
            self.portal.write(record, given, Source.person(7))

    def clear_availability(self, owner_id: str) -> None:
        """A user's availability was never set; ``empty_as`` says how that is answered."""
        with self.lock:
            record = self._record("users", self.user_record_id_of(owner_id))
            for name in _AVAILABILITY:
                record.properties.pop(name, None)

    def _spans(self, spans: Iterable[tuple[datetime, datetime]] | str | None) -> str | None:
        if spans is None or isinstance(spans, str):
            return spans
        told = [
            {"startTimestamp": self._timestamp(start), "endTimestamp": self._timestamp(end)}
            for start, end in sorted(spans)
        ]
        return json.dumps(told, separators=(",", ":"))

    def _timestamp(self, at: datetime) -> int:
        """HubSpot's guide shows eleven digits, which is neither of the two units that occur."""
        per_second = {"milliseconds": 1000, "seconds": 1, "eleven_digits": 10}
        return int(at.timestamp() * per_second[self.out_of_office_unit])

    def _end(self, object_type: str, record_id: str) -> tuple[str, str]:
        return object_type, self._record(object_type, record_id).id

    def _record(self, object_type: str, record_id: str) -> Record:
        record = self.portal.find(object_type, record_id)
        if record is None:
            raise LookupError(f"no {object_type} {record_id} in this portal")
        return record


def _hours(hours: Iterable[WorkingHours] | str | None) -> str | None:
    if hours is None or isinstance(hours, str):
        return hours
    told = [{"days": days, "startMinute": first, "endMinute": last} for days, first, last in hours]
    return json.dumps(told, separators=(",", ":"))
