"""The bodies that workflows of the sandbox HubSpot send: webhooks in three shapes, and actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from adapters.sandbox.hubspot_schema import TYPE_IDS, singular

Shape = Literal["contact", "object", "flat"]
Properties = Mapping[str, str | None]


def webhook_body(
    shape: Shape, *, portal_id: str, object_type: str, record_id: str, properties: Properties
) -> dict[str, Any]:
    """A webhook's body without customisation by the admin (``flat``: with a usual one)."""
    match shape:
        case "contact":
            return {
                "vid": int(record_id),
                "canonical-vid": int(record_id),
                "portal-id": int(portal_id),
                "is-contact": True,
                "properties": {
                    name: {"value": value or "", "versions": []}
                    for name, value in properties.items()
                },
            }
        case "object":
            return {
                "portalId": int(portal_id),
                "objectTypeId": TYPE_IDS[object_type],
                "objectId": int(record_id),
                "properties": dict(properties),
            }
        case "flat":
            key = f"{singular(object_type).lower()}_id"
            return {key: record_id, "email": properties.get("email")}


def action_body(
    *,
    portal_id: str,
    callback_id: str,
    object_type: str,
    record_id: str,
    properties: Properties,
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    """The request of a custom action; ``properties`` only as its definition asks for them."""
    return {
        "callbackId": callback_id,
        "origin": _origin(portal_id),
        "context": {"source": "WORKFLOWS", "workflowId": 8800},
        "object": {
            "objectId": int(record_id),
            "objectType": singular(object_type),
            "properties": dict(properties),
        },
        "inputFields": dict(inputs),
    }


def options_body(
    *, portal_id: str, field: str, query: str | None, after: str | None
) -> dict[str, Any]:
    """The question of the workflow editor for the choices of an input field."""
    return {
        "origin": _origin(portal_id),
        "objectTypeId": TYPE_IDS["contacts"],
        "inputFieldName": field,
        "inputFields": {},
        "fetchOptions": {"q": query, "after": after},
    }


def _origin(portal_id: str) -> dict[str, int]:
    return {
        "portalId": int(portal_id),
        "actionDefinitionId": 31,
        "actionDefinitionVersion": 2,
    }
