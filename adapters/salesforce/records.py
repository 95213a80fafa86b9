"""Which fields of a record are read, and what they mean for routing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.salesforce import ids
from connector.errors import CrmNever
from connector.model import LeadKind, Slot
from connector.ports import CrmRecord

# Fields that every org has. StateCode and CountryCode exist only where an org switched them on, and
# one unknown field makes Salesforce refuse the whole query.
_FIELDS: Mapping[str, str] = {
    "Lead": (
        "FirstName LastName Title Email Phone Company Website Street City State PostalCode Country "
        "LeadSource Status Industry Rating AnnualRevenue NumberOfEmployees IsConverted "
        "ConvertedContactId ConvertedAccountId ConvertedOpportunityId"
    ),
    "Contact": (
        "FirstName LastName Title Email Phone MailingStreet MailingCity MailingState "
        "MailingPostalCode MailingCountry LeadSource AccountId Account.Name"
    ),
    "Account": (
        "Name Phone Website Type Industry AnnualRevenue NumberOfEmployees BillingStreet "
        "BillingCity BillingState BillingPostalCode BillingCountry"
    ),
    "Opportunity": "Name StageName Amount CloseDate LeadSource IsClosed AccountId Account.Name",
    "Case": (
        "CaseNumber Subject Status Origin Priority SuppliedEmail SuppliedCompany IsClosed "
        "AccountId ContactId"
    ),
    "Task": "Subject Status Priority ActivityDate IsClosed WhoId WhatId AccountId",
    "Event": "Subject StartDateTime EndDateTime IsAllDayEvent WhoId WhatId AccountId",
}
_ALWAYS = ("Id", "OwnerId", "Owner.IsActive", "LastModifiedDate")
# In the order in which the work of a converted lead goes on.
_CONVERTED = {
    "Contact": "ConvertedContactId",
    "Account": "ConvertedAccountId",
    "Opportunity": "ConvertedOpportunityId",
}
_NO_ATTRIBUTES = {"attributes", "Id", "OwnerId", "Owner", "LastModifiedDate", *_CONVERTED.values()}
# Words of territories that name no field.
_OUR_WORDS = frozenset({"email", "company", "connection", "object_type"})
_KINDS = {"Task": LeadKind.TASK, "Event": LeadKind.MEETING}
_EMAIL = {"Lead": "Email", "Contact": "Email", "Case": "SuppliedEmail"}
_COMPANY = {
    "Lead": "Company",
    "Contact": "Account.Name",
    "Account": "Name",
    "Opportunity": "Account.Name",
    "Case": "SuppliedCompany",
}
_IDENTIFIER = re.compile(r"[A-Za-z]\w{0,79}", re.ASCII)
_FIELD = re.compile(r"[A-Za-z]\w{0,79}(\.[A-Za-z]\w{0,79})?", re.ASCII)


def check_object_type(object_type: str) -> None:
    """Raise ``CrmNever`` unless it can stand in a query or an address."""
    if not _IDENTIFIER.fullmatch(object_type):
        raise CrmNever(
            "That is no Salesforce object type. Check SALESFORCE_OBJECTS.", code="bad_object_type"
        )


def fields(object_type: str) -> tuple[str, ...]:
    """Return the fields that are read of every record of this type, without the owner's."""
    return tuple(_FIELDS.get(object_type, "").split())


def beyond(object_type: str, wanted: Collection[str]) -> tuple[str, ...]:
    """Return those wanted names that are not read anyway and may be of a field, in any spelling."""
    known = {name.casefold() for name in (*fields(object_type), *_ALWAYS)} | _OUR_WORDS
    names = {name.strip().casefold() for name in wanted}
    return tuple(
        name
        for name in sorted(names - known)
        if _FIELD.fullmatch(name) and not name.startswith("owner.")
    )


def select(object_type: str, names: Sequence[str]) -> str:
    """Return the query for these fields and the owner, up to its condition."""
    return f"SELECT {','.join([*_ALWAYS, *names])} FROM {object_type} WHERE "  # noqa: S608


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
    survivor_id: str | None = None,
    unassigned: Collection[str | None],
    routed: Collection[str],
) -> CrmRecord:
    """Read one row of the query.

    ``unassigned`` are users whose records count as unowned, ``routed`` the object types that are.
    """
    flat = _flat(row)
    owner_id = ids.full_id(str(row.get("OwnerId") or ""))
    # A converted lead is read-only; its work goes on elsewhere.
    is_converted = row.get("IsConverted") is True
    return CrmRecord(
        id=asked,
        owner_id=owner_id,
        owner_stays=owner_stays(owner_id, row.get("Owner"), unassigned),
        email=_text(flat.get(_EMAIL.get(object_type, ""))),
        company=_text(flat.get(_COMPANY.get(object_type, ""))),
        attributes={name: value for name, value in flat.items() if name not in _NO_ATTRIBUTES},
        kind=_KINDS.get(object_type, LeadKind.LEAD),
        slot=_slot(row) if object_type == "Event" else None,
        survivor_id=survivor_id,
        modified_at=moment(row.get("LastModifiedDate")),
        closed="the lead was converted" if is_converted else None,
        goes_on_in=_goes_on_in(row, routed) if is_converted else (),
    )


def owner_stays(owner_id: str | None, owner: object, unassigned: Collection[str | None]) -> bool:
    """Whether a record's owner is a person who has not left, and none of the ``unassigned`` users.

    ``owner`` is what the query says of ``Owner.IsActive``. A queue is told by its id alone. Of a
    user whom the org hides from us nothing is known: what is theirs stays theirs.
    """
    if owner_id is None or not owner_id.startswith(ids.USER) or owner_id in unassigned:
        return False
    return not (isinstance(owner, dict) and owner.get("IsActive") is False)


def moment(value: object) -> datetime | None:
    """The moment that Salesforce writes as ``2026-11-30T09:15:07.000+0000``; None if it is none."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found.astimezone(UTC) if found and found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _slot(row: Mapping[str, Any]) -> Slot | None:
    """When an event takes place. Nobody's hours hold a whole day, so such an event has no slot."""
    start, end = moment(row.get("StartDateTime")), moment(row.get("EndDateTime"))
    if row.get("IsAllDayEvent") is True or not start or not end or start >= end:
        return None
    return Slot(starts_at=start, ends_at=end)


def _goes_on_in(row: Mapping[str, Any], routed: Collection[str]) -> tuple[tuple[str, str], ...]:
    """What a lead became, in records that are routed."""
    names = {name.casefold() for name in routed}
    found = (
        (object_type, ids.record_id(object_type, str(row.get(field) or "")))
        for object_type, field in _CONVERTED.items()
        if object_type.casefold() in names
    )
    return tuple((object_type, id18) for object_type, id18 in found if id18)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by name, ``Account.Name`` among them."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            nested = {k: v for k, v in value.items() if k != "attributes"}
            flat.update({f"{name}.{k}": v for k, v in nested.items() if not isinstance(v, dict)})
        else:
            flat[name] = value
    return flat


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
