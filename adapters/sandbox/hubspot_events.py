"""Webhook events of HubSpot apps as they go over the wire, and the headers that go with them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from adapters.sandbox.hubspot_changes import Change, ChangeKind
from adapters.sandbox.hubspot_schema import TYPE_IDS, singular
from adapters.sandbox.hubspot_signatures import milliseconds, sign_v1, sign_v3

CLASSIC_TYPES = frozenset({"contacts", "companies", "deals", "tickets"})


def event(
    change: Change, *, generic: bool, event_id: int, portal_id: str, app_id: str
) -> dict[str, Any]:
    """One event at its first delivery.

    ``generic`` is the ``object.*`` form with ``objectTypeId``; leads have no other form, and a
    deletion for privacy has the classic one only. A change of an association names no
    ``objectId``, but both ends.
    """
    generic = generic and change.kind != "privacyDeletion"
    generic = generic or change.object_type not in CLASSIC_TYPES
    prefix = "object" if generic else singular(change.object_type).lower()
    told: dict[str, Any] = {
        "eventId": event_id,
        "subscriptionId": _subscription(change),
        "portalId": int(portal_id),
        "appId": int(app_id),
        "occurredAt": milliseconds(change.at),
        "subscriptionType": f"{prefix}.{change.kind}",
        "attemptNumber": 0,
        "changeSource": change.source.kind,
    }
    if change.kind != "associationChange":
        told["objectId"] = int(change.record_id)
    if generic:
        told["objectTypeId"] = TYPE_IDS[change.object_type]
    if change.source.id and change.kind != "creation":
        told["sourceId"] = change.source.id
    return told | _details(change, generic=generic)


def _details(change: Change, *, generic: bool) -> dict[str, Any]:
    match change.kind:
        case "creation":
            return {"changeFlag": "NEW" if generic else "CREATED"}
        case "deletion":
            return {"changeFlag": "DELETED"}
        case "restore" | "privacyDeletion":
            return {}
        case "associationChange":
            return _ends(change, generic=generic)
        case "propertyChange":
            sensitive = {"isSensitive": False} if generic else {}
            return {"propertyName": change.name, "propertyValue": change.value, **sensitive}
        case "merge":
            new = {"newObjectId": int(change.new_id)} if change.new_id else {}
            return {
                "primaryObjectId": int(change.primary_id or change.record_id),
                "mergedObjectIds": [int(one) for one in change.merged_ids],
                "numberOfPropertiesMoved": 1,
                **new,
            }


def _ends(change: Change, *, generic: bool) -> dict[str, Any]:
    to_type, to_id = change.to_type or "", int(change.to_id or 0)
    told = {
        "fromObjectId": int(change.record_id),
        "toObjectId": to_id,
        "associationRemoved": change.is_removed,
        "isPrimaryAssociation": change.is_primary,
    }
    if not generic:
        kind = f"{singular(change.object_type)}_TO_{singular(to_type)}"
        return {"associationType": kind, **told}
    return {
        **told,
        "fromObjectTypeId": TYPE_IDS[change.object_type],
        "toObjectTypeId": TYPE_IDS[to_type],
        "associationTypeId": change.association_id,
        "associationCategory": change.association_category,
    }


def _subscription(change: Change) -> int:
    kinds = get_args(ChangeKind)
    return 70 + 10 * list(TYPE_IDS).index(change.object_type) + kinds.index(change.kind)


def signed_headers(*, secret: str, url: str, body: bytes, at: datetime) -> dict[str, str]:
    """The headers of a POST of app events: the v1 signature and, beside it, v3."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "HubSpot Connect 2.0 (http://dev.hubspot.com/) - sandbox",
        **sign_v1(secret=secret, body=body),
        **sign_v3(secret=secret, method="POST", url=url, body=body, at=at),
    }
