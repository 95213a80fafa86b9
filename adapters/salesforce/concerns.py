"""What is wrong with an org's settings or permissions, found by a few calls that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.salesforce import ids, records
from adapters.salesforce.client import Call
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import CrmForbidden, CrmNever, CrmUnreachable
from connector.ports import Concern, Ours

SAMPLE = 200
SAMPLE_DAYS = timedelta(days=30)
MOST_OF = 0.8  # one person owns so many: new records come to rest there

_UNASSIGNED = "SALESFORCE_UNASSIGNED_OWNERS (unassigned_owners in a table)"

Row = Mapping[str, Any]


def concerns(
    call: Call,
    settings: SalesforceSettings,
    unassigned: Collection[str],
    *,
    ours: Ours,
    now: datetime,
) -> list[Concern]:
    """Look at the org with two calls for each routed object type and one more.

    ``unassigned`` are users whose records count as unowned; ``ours`` tells which records have their
    owner from us. An object type that cannot be read is left out: whoever reads its records tells
    of that.
    """
    samples = {
        object_type: rows
        for object_type in settings.objects
        if (rows := _newest(call, object_type, now)) is not None
    }
    nobody = {*unassigned, call.user_id}
    found = list(_of_org(call, settings))
    if samples and not any(samples.values()) and not unassigned:
        found.append(_unknown())
    for object_type, rows in samples.items():
        from_us = ours(object_type, [str(row.get("Id")) for row in rows])
        kept = [row for row in rows if _is_kept(row, nobody) and row.get("Id") not in from_us]
        found += _of_owners(object_type, rows, kept, may_fail=not unassigned)
        found += _of_hidden(object_type, kept)
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
            f"SELECT Id,OwnerId,Owner.Name,Owner.IsActive FROM {object_type} "  # noqa: S608
            f"WHERE CreatedDate >= {since:%Y-%m-%dT%H:%M:%SZ} "
            f"ORDER BY CreatedDate DESC LIMIT {SAMPLE}"
        )
    except (CrmForbidden, CrmNever):
        return None


def _unknown() -> Concern:
    return Concern(
        text="Every record has some owner in Salesforce, and none counts as unowned but "
        "queues and inactive users. There are no recent records that show who owns new ones.",
        what_to_do=f"If new leads come to rest with a person, name the id in {_UNASSIGNED}.",
        loses_leads=False,
    )


def _of_owners(
    object_type: str, rows: Sequence[Row], kept: Sequence[Row], *, may_fail: bool
) -> Iterator[Concern]:
    """Whether the org gives new records to one person, whose records then are all kept."""
    owners = Counter(ids.full_id(str(row.get("OwnerId"))) for row in kept)
    for owner_id, count in owners.most_common(1):
        if count < MOST_OF * len(kept) or 2 * count <= len(rows):
            continue
        name = next(_name(row) for row in kept if ids.full_id(str(row["OwnerId"])) == owner_id)
        yield Concern(
            text=f"{count} of the {len(rows)} newest {object_type} records came with one "
            f"active person as their owner, {name} ({owner_id}): they are all kept where they are.",
            what_to_do=f"If that is the default owner, put {owner_id} into {_UNASSIGNED}, or "
            "let new leads come to rest in a queue.",
            loses_leads=may_fail and count == len(kept),
        )


def _of_hidden(object_type: str, kept: Sequence[Row]) -> Iterator[Concern]:
    """Whether the org hides owners from us, of whom then nobody knows if they have left."""
    hidden = [row for row in kept if not isinstance(row.get("Owner"), dict)]
    if hidden:
        yield Concern(
            text=f"Salesforce hides the owners of {len(hidden)} of the newest {object_type} "
            "records from us. They are kept, also where the owner has left.",
            what_to_do="Let the integration user see all users (View All Users).",
            loses_leads=False,
        )


def _is_kept(row: Row, nobody: Collection[str | None]) -> bool:
    return records.owner_stays(ids.user_id(str(row.get("OwnerId"))), row.get("Owner"), nobody)


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
