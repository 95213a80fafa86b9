"""What is wrong with an org's settings or permissions, found by a few calls that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.salesforce import ids
from adapters.salesforce.client import Call
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import CrmForbidden, CrmNever, CrmUnreachable
from connector.ports import Concern

SAMPLE = 200
SAMPLE_DAYS = timedelta(days=30)

_UNASSIGNED = "SALESFORCE_UNASSIGNED_OWNERS (unassigned_owners in a table)"

Row = Mapping[str, Any]


def concerns(
    call: Call, settings: SalesforceSettings, unassigned: Collection[str], now: datetime
) -> list[Concern]:
    """Look at the org with two calls for each routed object type and one more.

    ``unassigned`` are users whose records count as unowned. An object type that cannot be read is
    left out: whoever reads its records tells of that.
    """
    samples = {
        object_type: rows
        for object_type in settings.objects
        if (rows := _newest(call, object_type, now)) is not None
    }
    found = list(_of_org(call, settings))
    found += _of_owners(samples, unassigned, call.user_id)
    found += _of_unassigned(call, unassigned)
    for object_type in samples:
        found += _of_permissions(call, object_type)
    found += _of_guarded(settings)
    return found


def _newest(call: Call, object_type: str, now: datetime) -> list[Row] | None:
    """The newest records of the last 30 days; None where this cannot be asked."""
    since = (now - SAMPLE_DAYS).astimezone(UTC)
    try:
        return call.query(
            "SELECT Id,OwnerId,Owner.Name,Owner.IsActive,CreatedById,CreatedDate,LastModifiedById,"  # noqa: S608
            f"LastModifiedDate FROM {object_type} WHERE CreatedDate >= {since:%Y-%m-%dT%H:%M:%SZ} "
            f"ORDER BY CreatedDate DESC LIMIT {SAMPLE}"
        )
    except (CrmForbidden, CrmNever):
        return None


def _of_owners(
    samples: Mapping[str, list[Row]], unassigned: Collection[str], us: str | None
) -> Iterator[Concern]:
    """Whether the org gives new records to one person, whose records then are all kept."""
    if not any(samples.values()) and samples and not unassigned:
        yield Concern(
            text="Every record has some owner in Salesforce, and none counts as unowned but "
            "queues and inactive users. There are no recent records that show who owns new ones.",
            what_to_do=f"If new leads come to rest with a person, name the id in {_UNASSIGNED}.",
            loses_leads=False,
        )
    for object_type, rows in samples.items():
        nobody = {*unassigned, us}
        kept = [row for row in rows if _is_kept(row, nobody) and _came_so(row, us)]
        owners = Counter(ids.full_id(str(row["OwnerId"])) for row in kept)
        if len(owners) == 1 and 2 * len(kept) > len(rows):
            (owner_id,) = owners
            yield Concern(
                text=f"{len(kept)} of the {len(rows)} newest {object_type} records came with one "
                f"active person as their owner, {_name(kept[0])} ({owner_id}): they are all kept "
                "where they are.",
                what_to_do=f"If that is the default owner, put {owner_id} into {_UNASSIGNED}, or "
                "let new leads come to rest in a queue.",
                loses_leads=not unassigned,
            )


def _is_kept(row: Row, nobody: Collection[str | None]) -> bool:
    owner_id, owner = ids.user_id(str(row.get("OwnerId"))), row.get("Owner")
    return owner_id not in {None, *nobody} and (
        isinstance(owner, dict) and owner.get("IsActive") is True
    )


def _came_so(row: Row, us: str | None) -> bool:
    """Whether the record had this owner before us, as far as its last change tells.

    What we changed has its owner from us; and whoever changed a record that is theirs and that
    another made works on it, so it may have been given to them.
    """
    if row.get("LastModifiedDate") == row.get("CreatedDate"):
        return True
    changed_by = ids.full_id(str(row.get("LastModifiedById")))
    is_worked_on = changed_by == ids.full_id(str(row.get("OwnerId"))) and (
        row.get("CreatedById") != row.get("LastModifiedById")
    )
    return changed_by != us and not is_worked_on


def _name(row: Row) -> str:
    owner = row.get("Owner")
    return str(owner.get("Name") or "no name") if isinstance(owner, dict) else "no name"


def _of_unassigned(call: Call, unassigned: Collection[str]) -> Iterator[Concern]:
    """Whether those whose records count as unowned are active users there."""
    try:
        rows = call.users(sorted(unassigned)) if unassigned else []
    except (CrmForbidden, CrmNever):
        return  # the look at the users tells of it
    found = {ids.user_id(str(row.get("Id"))): row.get("IsActive") is True for row in rows}
    for owner_id in sorted(unassigned):
        if not found.get(owner_id):
            state = "an inactive user" if owner_id in found else "no user that Salesforce shows us"
            yield Concern(
                text=f"{owner_id} in {_UNASSIGNED} is {state}.",
                what_to_do="Name the user with whom new leads come to rest.",
                loses_leads=False,
            )


def _of_permissions(call: Call, object_type: str) -> Iterator[Concern]:
    """Whether the integration user may change the owners of this object type."""
    try:
        described = call.describe(object_type)
    except (CrmForbidden, CrmNever, CrmUnreachable):
        return  # its records can be read, so this says nothing of the connection
    fields = {
        one.get("name"): one for one in described.get("fields") or () if isinstance(one, dict)
    }
    if described.get("updateable") is False:
        yield Concern(
            text=f"The integration user may not change {object_type} records: no owner is written.",
            what_to_do=f"Give its permission set Edit for {object_type}, and the permission to "
            "transfer records.",
            loses_leads=True,
        )
    elif fields.get("OwnerId", {}).get("updateable") is False:
        yield Concern(
            text=f"The integration user may not change the owner of {object_type} records.",
            what_to_do="Give its permission set the permission to transfer records (Transfer "
            "Leads, Transfer Cases, or Transfer Record).",
            loses_leads=True,
        )


def _of_guarded(settings: SalesforceSettings) -> Iterator[Concern]:
    """Whether what is guarded is routed at all."""
    for object_type in settings.guarded_objects:
        if object_type not in settings.objects:
            yield Concern(
                text=f"{object_type} is in SALESFORCE_GUARDED_OBJECTS, but not routed.",
                what_to_do="Add it to SALESFORCE_OBJECTS, or take it out there.",
                loses_leads=False,
            )


def _of_org(call: Call, settings: SalesforceSettings) -> Iterator[Concern]:
    """Whether the log-in is of the org whose messages are taken."""
    org_id = call.org_id
    if org_id and org_id != ids.full_id(settings.org_id):
        yield Concern(
            text=f"The log-in is of the org {org_id}, but SALESFORCE_ORG_ID says "
            f"{settings.org_id}: every message of the org is refused.",
            what_to_do="Correct SALESFORCE_ORG_ID (org_id in a table), or log in to that org.",
            loses_leads=True,
        )
