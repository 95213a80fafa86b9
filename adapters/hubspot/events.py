"""The events of HubSpot's app webhooks, classic (``contact.merge``) and generic (``object.merge``).

https://developers.hubspot.com/docs/api-reference/webhooks-webhooks-v3/guide
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.hubspot import objects
from adapters.hubspot.bodies import listed, moment, text, whole_id
from adapters.hubspot.scope import Scope
from connector.model import EventKind, LeadEvent

_OWNER = "hubspot_owner_id"
_KINDS = {
    "creation": EventKind.CREATED,
    "restore": EventKind.CHANGED,
    "propertyChange": EventKind.CHANGED,
    "associationChange": EventKind.LINKED,
    "merge": EventKind.MERGED,
    "deletion": EventKind.DELETED,
    "privacyDeletion": EventKind.DELETED,
}
# Where the record's id is found, if not in ``objectId`` alone. A merge may make a new record; the
# merged ones are dead then, the primary one too.
_SUBJECTS = {
    EventKind.MERGED: ("newObjectId", "primaryObjectId", "objectId"),
    EventKind.LINKED: ("fromObjectId", "objectId"),
}
_OTHER_SIDE = {"from": "to", "to": "from"}
# Whose owner may count for a record that is linked to them.
_TELLING = ("contacts", "companies")
# All that tells one event from another; repeats of one differ in ``attemptNumber`` only.
# ``eventId`` alone is not unique.
_IDENTITY = (
    "portalId objectTypeId objectId newObjectId primaryObjectId mergedObjectIds propertyName"
    " fromObjectTypeId fromObjectId toObjectTypeId toObjectId associationType associationTypeId"
    " associationCategory associationRemoved isPrimaryAssociation eventId occurredAt"
)


def read(raw: dict[str, Any], scope: Scope) -> LeadEvent:
    """What one event says of which record; one that means nothing to us carries ``ignored``.

    A merge speaks of the survivor. A change of an association speaks of the side it goes out from,
    since HubSpot sends another event for the other side; of the other one where only that is of a
    type that is routed, since nobody need have subscribed to both.
    """
    subscription = raw.get("subscriptionType") or raw.get("eventType")
    prefix, _, action = str(subscription).partition(".")
    kind = _kind(action, raw)
    side = _routed_side(prefix, raw, scope) if kind is EventKind.LINKED else None
    object_type = _object_type(prefix, side, raw)
    account = whole_id(raw.get("portalId"))
    ids = _ids(kind, side, raw)
    return LeadEvent(
        key=_key(raw, subscription),
        kind=kind if object_type else EventKind.OTHER,
        object_type=object_type or "",
        record_id=ids[0] if ids else "",
        merged_ids=tuple(ids[1:]),
        occurred_at=moment(raw.get("occurredAt")),
        owner_id=_owner(raw) if kind is EventKind.OWNER_CHANGED else None,
        account=account,
        ignored=(
            ("other_portal" if scope.is_foreign(account) else None)
            or _meaningless(object_type, action, side, raw)
            or scope.refusal(account=account, object_type=object_type or "")
            or (None if ids else "bad_record_id")
        ),
        payload=raw,
    )


def _kind(action: str, raw: Mapping[str, Any]) -> EventKind:
    if action == "propertyChange" and raw.get("propertyName") == _OWNER:
        return EventKind.OWNER_CHANGED
    return _KINDS.get(action, EventKind.OTHER)


def _routed_side(prefix: str, raw: Mapping[str, Any], scope: Scope) -> str:
    """The side of an association that the event is to speak of: ``from`` or ``to``."""
    if _object_type(prefix, "from", raw) in scope.object_types:
        return "from"
    return "to" if _side("to", raw) in scope.object_types else "from"


def _object_type(prefix: str, side: str | None, raw: Mapping[str, Any]) -> str | None:
    if side and (told := _side(side, raw)):
        return told
    if prefix != "object":
        return objects.of_classic(prefix)
    type_id = text(raw.get("objectTypeId"))
    return objects.canonical(type_id) if type_id else None


def _side(side: str, raw: Mapping[str, Any]) -> str | None:
    """The object type on the ``from`` or the ``to`` side of an association, if it is told."""
    if type_id := text(raw.get(f"{side}ObjectTypeId")):
        return objects.canonical(type_id)
    classic = re.fullmatch("(?P<from>[A-Z_]+?)_TO_(?P<to>[A-Z_]+)", str(raw.get("associationType")))
    return objects.of_classic(classic[side].lower()) if classic else None


def _ids(kind: EventKind, side: str | None, raw: Mapping[str, Any]) -> list[str]:
    """The record's id, then those of the records merged into it; none when it has no good id."""
    names = ("toObjectId",) if side == "to" else _SUBJECTS.get(kind, ("objectId",))
    record_id = next((found for name in names if (found := whole_id(raw.get(name)))), None)
    if record_id is None:
        return []
    if kind is not EventKind.MERGED:
        return [record_id]
    others = (*listed(raw.get("mergedObjectIds")), raw.get("primaryObjectId"), raw.get("objectId"))
    return list(dict.fromkeys([record_id, *filter(None, map(whole_id, others))]))


def _meaningless(
    object_type: str | None, action: str, side: str | None, raw: Mapping[str, Any]
) -> str | None:
    if action not in _KINDS or object_type is None:
        return "not_a_record_event"
    if action == "propertyChange" and text(raw.get("propertyName")) is None:
        return "no_property_name"
    if side and _side(_OTHER_SIDE[side], raw) not in _TELLING:
        return "nothing_new"
    return None


def _owner(raw: Mapping[str, Any]) -> str | None:
    """The owner named: "" when cleared, None when the event does not say it legibly."""
    if "propertyValue" not in raw:
        return None
    value = raw["propertyValue"]
    return "" if value in (None, "") else whole_id(value)


def _key(raw: Mapping[str, Any], subscription: Any) -> str:
    parts = [subscription, *(raw.get(name) for name in _IDENTITY.split())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
