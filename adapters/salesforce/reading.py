"""How a batch of records is read: what the org hides is left out, what was merged is followed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.salesforce import ids as record_ids
from adapters.salesforce import merges, records, soql
from adapters.salesforce.client import Call
from adapters.salesforce.shapes import Shapes
from connector.errors import CrmForbidden, CrmNever
from connector.ports import CrmRecord

Rows = dict[str, Mapping[str, Any]]  # by 18-character id

_HIDDEN = "INVALID_FIELD"  # a field that does not exist, or not for us
_MOST_NAME_BYTES = 7_000  # of field names: what is left of an address takes 200 ids


class Reader:
    """Reads records of one org and remembers which fields it hides. Shared by threads."""

    def __init__(
        self,
        *,
        routed: Collection[str],
        unassigned: Collection[str],
        clock: Callable[[], datetime],
    ) -> None:
        """``routed`` are object types, ``unassigned`` users whose records count as unowned."""
        self._routed = tuple(routed)
        self._unassigned = frozenset(unassigned)
        self._shapes = Shapes(clock)
        self._narrowed: set[str] = set()  # object types of which some usual fields are hidden

    def read(
        self,
        call: Call,
        object_type: str,
        ids: Mapping[str, str],
        *,
        fields: Collection[str],
    ) -> Mapping[str, CrmRecord]:
        """One query for all, and two more for each merge that those took part in one by one.

        ``ids`` are those asked for with their checked form.
        """
        asked = set(ids.values())
        rows = self._rows(call, object_type, asked, fields)

        def read_more(id18s: Collection[str]) -> set[str]:
            rows.update(self._rows(call, object_type, id18s, fields))
            return set(rows)

        survivors = merges.survivors(call, object_type, asked, set(rows), read_more)
        living = {raw: survivors.get(id18, id18) for raw, id18 in ids.items()}
        unassigned = self._unassigned | {call.user_id}
        return {
            raw: records.from_row(
                rows[id18],
                object_type,
                raw,
                survivor_id=None if id18 == ids[raw] else id18,
                unassigned=unassigned,
                routed=self._routed,
            )
            for raw, id18 in living.items()
            if id18 in rows
        }

    def _rows(
        self, call: Call, object_type: str, id18s: Collection[str], fields: Collection[str]
    ) -> Rows:
        """Query the records; where fields are hidden from the integration user, without those."""
        names = self._names(call, object_type, fields)
        try:
            return _ask(call, object_type, names, id18s)
        except CrmNever as error:
            if error.code != _HIDDEN:
                raise
        self._narrowed.add(object_type)
        self._shapes.forget()
        narrowed = self._names(call, object_type, fields)
        try:
            return _ask(call, object_type, narrowed, id18s)
        except CrmNever as error:
            if error.code != _HIDDEN:
                raise
            raise self._no_owner(call, object_type, error) from None

    def _names(self, call: Call, object_type: str, fields: Collection[str]) -> tuple[str, ...]:
        """The usual fields are simply asked for; the org is asked about any others first."""
        usual, more = records.fields(object_type), records.beyond(object_type, fields)
        if not more and object_type not in self._narrowed:
            return usual
        names = self._shapes.visible(call, object_type, (*usual, *more))
        while soql.size(records.select(object_type, names)) > _MOST_NAME_BYTES:
            names = names[:-1]
        return names

    def _no_owner(self, call: Call, object_type: str, refusal: CrmNever) -> CrmForbidden:
        is_detail = object_type.endswith("__c") and not self._shapes.visible(
            call, object_type, ("OwnerId",)
        )
        text = (
            f"{object_type} records have no owner of their own, as on the detail side of a "
            "master-detail relationship. Take the object type out of SALESFORCE_OBJECTS."
            if is_detail
            else f"Salesforce hides the owner of {object_type} records, or another field that "
            "cannot be left out. Let the integration user read it."
        )
        return CrmForbidden(text, code=refusal.code, crm_message=refusal.crm_message)


def _ask(call: Call, object_type: str, names: Sequence[str], id18s: Collection[str]) -> Rows:
    select = records.select(object_type, names)
    terms = [soql.Term("Id", id18) for id18 in sorted(id18s)]
    rows = (
        row
        for group in soql.groups(terms, around=select)
        for row in call.query(select + soql.any_of(group))
    )
    found = ((record_ids.record_id(object_type, str(row.get("Id"))), row) for row in rows)
    return {id18: row for id18, row in found if id18 is not None}
