"""The lives of the sandbox org's records: made, changed, converted, merged, deleted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from adapters.sandbox.salesforce_records import Record, Records

_ACCOUNT_OF = ("Contact", "Opportunity", "Case", "Task", "Event")


class Lives:
    """What users of an org do with its records, past every API rule."""

    records: Records

    def create(
        self,
        object_type: str,
        fields: Mapping[str, object],
        *,
        record_id: str | None = None,
        at: datetime | None = None,
    ) -> str:
        """Create a record and return its id of 18 characters.

        The owner, unless named, is ``default_owner``: the integration user until it is set. ``at``
        is the moment that its stamps show, such as that of a transaction that ended late.
        """
        return self.records.add(object_type, fields, record_id, at=at)

    def get(self, record_id: str) -> dict[str, object]:
        """All fields of a record, deleted or not, hidden or not; raises ``KeyError``."""
        with self.records.lock:
            row = self.records.find(record_id)
            return {name: self.records.read(row, name) for name in self.records.fields[row.type]}

    def read_fields(
        self, record_id: str, names: Sequence[str], *, even_deleted: bool = False
    ) -> dict[str, object] | None:
        """Those of the named fields that the record's object has; None once it is deleted.

        Date-times are ``datetime``.
        """
        with self.records.lock:
            row = self.records.find(record_id)
            if row.is_deleted and not even_deleted:
                return None
            has = self.records.fields[row.type]
            moments = row.stamps() | _moments(row)
            return {n: moments.get(n, self.records.read(row, n)) for n in names if n in has}

    def owner_of(self, record_id: str) -> str:
        """The id of a record's owner."""
        return str(self.get(record_id)["OwnerId"])

    def set_owner(self, record_id: str, owner_id: str, *, by: str | None = None) -> None:
        """Give a record to another owner by hand, as user ``by``, the new owner by default."""
        wide = self.records.wide(owner_id)
        self.records.change(record_id, {"OwnerId": wide}, by=by or wide)

    def change(
        self, record_id: str, fields: Mapping[str, object], *, by: str | None = None
    ) -> None:
        """Change fields of a record by hand, as user ``by``, the integration user by default."""
        self.records.change(record_id, fields, by=by)

    def recalculate(self, record_id: str) -> None:
        """Move SystemModstamp alone, as a change does that the platform makes by itself."""
        with self.records.lock:
            row = self.records.find(record_id)
            row.stamped_at = max(self.records.now(), row.stamped_at)

    def delete(self, record_id: str) -> None:
        """Put a record into the recycle bin."""
        self._set_deleted(record_id, is_deleted=True)

    def undelete(self, record_id: str) -> None:
        """Take a record out of the recycle bin."""
        self._set_deleted(record_id, is_deleted=False)

    def convert(
        self,
        lead_id: str,
        *,
        owner: str | None = None,
        account_id: str | None = None,
        with_opportunity: bool = False,
    ) -> str:
        """Convert a lead and return the id of the new contact.

        All that is made of it belongs to ``owner``: the lead's own, or else the integration user.
        ``account_id`` is an account that is there already.
        """
        lead = self.get(lead_id)
        heir = owner or str(lead["OwnerId"])
        if self.records.objects.type_of(heir) != "User":
            heir = self.records.integration_user
        mine = {"OwnerId": self.records.wide(heir)}
        account = account_id or self.create("Account", {"Name": lead["Company"]} | mine)
        person = {name: lead[name] for name in ("FirstName", "LastName", "Email", "Phone")}
        contact = self.create("Contact", person | {"AccountId": account} | mine)
        deal = {"Name": lead["Company"], "AccountId": account, "StageName": "Prospecting"}
        opportunity = self.create("Opportunity", deal | mine) if with_opportunity else None
        self.records.change(
            lead_id,
            {
                "IsConverted": True,
                "ConvertedDate": f"{self.records.now():%Y-%m-%d}",
                "ConvertedAccountId": account,
                "ConvertedContactId": contact,
                "ConvertedOpportunityId": opportunity,
            },
        )
        return contact

    def merge(self, winner_id: str, loser_id: str) -> None:
        """Merge two records: the loser is deleted and points at the winner, who gets its children.

        Raises ``ValueError`` for records that cannot be merged.
        """
        with self.records.lock:
            winner, loser = self.records.find(winner_id), self.records.find(loser_id)
            can_merge = "MasterRecordId" in self.records.fields[winner.type]
            if winner.type != loser.type or winner is loser or not can_merge:
                raise ValueError("two leads, contacts, accounts or cases are merged")
            loser.values["MasterRecordId"] = winner.id
            for row in self.records.rows.values():
                if row.type in _ACCOUNT_OF and row.values.get("AccountId") == loser.id:
                    self.records.touch(
                        row, {"AccountId": winner.id}, by=self.records.integration_user
                    )
        self.delete(loser_id)
        self.records.change(winner.id, {})

    def _set_deleted(self, record_id: str, *, is_deleted: bool) -> None:
        with self.records.lock:
            row = self.records.find(record_id)
            row.is_deleted = is_deleted
            row.modified_at = row.stamped_at = max(self.records.now(), row.stamped_at)
        kind = "deleted" if is_deleted else "undeleted"
        self.records.tell(row.type, row.id, over_api=False, kind=kind)


def _moments(row: Record) -> dict[str, datetime]:
    return {name: value for name, value in row.values.items() if isinstance(value, datetime)}
