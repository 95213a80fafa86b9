"""Which fields of a record are read, and what they mean for routing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.salesforce import ids
from connector.errors import CrmNever
from connector.ports import CrmRecord

# Fields that every org has. StateCode and CountryCode exist only where an org switched them on, and
# one unknown field makes Salesforce refuse the whole query.
_FIELDS: Mapping[str, str] = {
    "Lead": (
        "FirstName LastName Title Email Phone Company Website Street City State PostalCode Country "
        "LeadSource Status Industry Rating AnnualRevenue NumberOfEmployees IsConverted"
    ),
    "Contact": (
        "FirstName LastName Title Email Phone MailingStreet MailingCity MailingState "
        "MailingPostalCode MailingCountry LeadSource AccountId Account.Name"
    ),
    "Account": (
        "Name Phone Website Type Industry AnnualRevenue NumberOfEmployees BillingStreet "
        "BillingCity BillingState BillingPostalCode BillingCountry"
    ),
    "Opportunity": ("Name StageName Amount CloseDate LeadSource IsClosed AccountId Account.Name"),
    "Case": (
        "CaseNumber Subject Status Origin Priority SuppliedEmail SuppliedCompany IsClosed "
        "AccountId ContactId"
    ),
    "Task": "Subject Status Priority ActivityDate IsClosed WhoId WhatId AccountId",
    "Event": "Subject StartDateTime EndDateTime WhoId WhatId",
}
_EMAIL = {"Lead": "Email", "Contact": "Email", "Case": "SuppliedEmail"}
_COMPANY = {
    "Lead": "Company",
    "Contact": "Account.Name",
    "Account": "Name",
    "Opportunity": "Account.Name",
    "Case": "SuppliedCompany",
}
# Owners of these are users only, and a user has no field Type. Elsewhere it may be a queue.
_OWNED_BY_USERS = frozenset({"Contact", "Account", "Opportunity", "Event", "Task"})
_IDENTIFIER = re.compile(r"[A-Za-z]\w{0,79}", re.ASCII)


def check_object_type(object_type: str) -> None:
    """Raise ``CrmNever`` unless it can stand in a query or an address."""
    if not _IDENTIFIER.fullmatch(object_type):
        raise CrmNever(
            "That is no Salesforce object type. Check SALESFORCE_OBJECTS.", code="bad_object_type"
        )


def fields(object_type: str) -> tuple[str, ...]:
    """Return the fields to ask for, without the owner's."""
    return tuple(_FIELDS.get(object_type, "").split())


def visible(wanted: Sequence[str], description: Mapping[str, Any]) -> tuple[str, ...]:
    """Return those wanted fields that the object's description shows to the integration user."""
    described = [entry for entry in description.get("fields") or () if isinstance(entry, dict)]
    names = {entry.get("name") for entry in described}
    relations = {entry.get("relationshipName") for entry in described}
    return tuple(
        name
        for name in wanted
        if (name.partition(".")[0] in relations if "." in name else name in names)
    )


def soql(object_type: str, wanted: Sequence[str], id18s: Collection[str]) -> str:
    """Return the one query for these records. The ids are checked base-62, so quoting is safe.

    200 ids make an address of about 6 KB; Salesforce takes 16 KB.
    """
    owner = ["Id", "OwnerId", "Owner.IsActive"]
    if object_type not in _OWNED_BY_USERS:
        owner.append("Owner.Type")
    names = ",".join([*owner, *wanted])
    listed = ",".join(f"'{id18}'" for id18 in id18s)
    return f"SELECT {names} FROM {object_type} WHERE Id IN ({listed})"  # noqa: S608


def created_soql(object_type: str, since: datetime, after: str | None) -> str:
    """Return the query for 200 records created since then, beyond the id ``after``."""
    created = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    where = f"CreatedDate >= {created}"
    if after is not None:
        id18 = ids.record_id(object_type, after)
        if id18 is None:
            raise CrmNever(f"That is no id of a Salesforce {object_type}.", code="bad_record_id")
        where += f" AND Id > '{id18}'"
    return f"SELECT Id FROM {object_type} WHERE {where} ORDER BY Id LIMIT 200"  # noqa: S608


def from_row(
    row: Mapping[str, Any],
    object_type: str,
    asked: str,
    *,
    unassigned: Collection[str | None],
) -> CrmRecord:
    """Read one row of the query. ``unassigned`` are users whose records count as unowned."""
    attributes = _flat(row)
    owner_id = ids.full_id(str(row.get("OwnerId") or ""))
    # A converted lead is read-only and its work goes on in a contact: leave it alone, whoever
    # owns it. ``IsConverted`` among the attributes says so.
    stays = row.get("IsConverted") is True or (
        owner_id not in unassigned and _is_active_user(owner_id, row.get("Owner"))
    )
    return CrmRecord(
        id=asked,
        owner_id=owner_id,
        owner_stays=stays,
        email=_text(attributes.get(_EMAIL.get(object_type, ""))),
        company=_text(attributes.get(_COMPANY.get(object_type, ""))),
        attributes=attributes,
    )


def _is_active_user(owner_id: str | None, owner: object) -> bool:
    if owner_id is None or not owner_id.startswith(ids.USER) or not isinstance(owner, dict):
        return False
    return owner.get("IsActive") is True and owner.get("Type", "User") == "User"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by name, ``Account.Name`` among them; ids of the record and owner left out."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if name in ("attributes", "Id", "OwnerId", "Owner"):
            continue
        if isinstance(value, dict):
            nested = {k: v for k, v in value.items() if k != "attributes"}
            flat.update({f"{name}.{k}": v for k, v in nested.items() if not isinstance(v, dict)})
        else:
            flat[name] = value
    return flat


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
