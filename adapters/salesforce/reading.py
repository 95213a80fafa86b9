"""How a batch of records is read, also where fields are hidden from the integration user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from adapters.salesforce import ids as record_ids
from adapters.salesforce import records
from adapters.salesforce.client import Call
from connector.errors import CrmForbidden, CrmNever
from connector.ports import CrmRecord


class Reader:
    """Reads records of one org and remembers which fields it hides. Shared by threads."""

    def __init__(self, unassigned: Collection[str]) -> None:
        """``unassigned`` are users whose records count as unowned."""
        self._unassigned = frozenset(unassigned)
        self._fields: dict[str, tuple[str, ...]] = {}  # object types with hidden fields

    def read(
        self,
        call: Call,
        object_type: str,
        ids: Mapping[str, str],
        *,
        fields: Collection[str],  # noqa: ARG002 - one that is hidden fails the whole query
    ) -> Mapping[str, CrmRecord]:
        """One query for all. ``ids`` are those asked for with their checked form."""
        rows = self._rows(call, object_type, sorted(set(ids.values())))
        found = {record_ids.record_id(object_type, str(row.get("Id"))): row for row in rows}
        unassigned = self._unassigned | {call.user_id}
        return {
            raw: records.from_row(found[id18], object_type, raw, unassigned=unassigned)
            for raw, id18 in ids.items()
            if id18 in found
        }

    def _rows(self, call: Call, object_type: str, id18s: Sequence[str]) -> list[Mapping[str, Any]]:
        """Query the records; where fields are hidden from the integration user, without those."""
        everything = records.fields(object_type)
        wanted = self._fields.get(object_type, everything)
        try:
            return call.query(records.soql(object_type, wanted, id18s))
        except CrmNever as error:
            if error.code != "INVALID_FIELD":
                raise
        narrowed = records.visible(everything, call.describe(object_type))
        try:
            rows = call.query(records.soql(object_type, narrowed, id18s))
        except CrmNever as error:
            if error.code != "INVALID_FIELD":
                raise
            raise CrmForbidden(
                f"Salesforce hides the owner of {object_type} records, or another field that "
                "cannot be left out. Let the integration user read it.",
                code=error.code,
                crm_message=error.crm_message,
            ) from None
        self._fields[object_type] = narrowed
        return rows
