"""What a record looks like in the answers of the sandbox HubSpot."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Response

from adapters.sandbox.hubspot_portal import Record
from adapters.sandbox.hubspot_schema import (
    binds_2026_09,
    created_property,
    modified_property,
    stamp,
)
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

_SHOWN_UNASKED = {"contacts": ("email", "firstname", "lastname"), "leads": ("hs_lead_name",)}


def shape(
    sandbox: HubSpotSandbox, record: Record, names: list[str], history: list[str]
) -> dict[str, Any]:
    """One record with the properties, and the history of properties, that were asked for."""
    kind = record.object_type
    always = ["hs_object_id", created_property(kind), modified_property(kind)]
    asked = [*names, *history] or _SHOWN_UNASKED.get(kind, ())
    properties: dict[str, str | None] = {}
    for name in dict.fromkeys([*asked, *always]):
        if name not in sandbox.portal.properties and "unknown_read_property" in sandbox.rules:
            continue
        if name in record.properties:
            properties[name] = record.properties[name]
        elif sandbox.empty_as != "missing":
            properties[name] = "" if sandbox.empty_as == "blank" else None
    shown: dict[str, Any] = {
        "id": record.id if "text_ids" in sandbox.rules else int(record.id),
        "properties": properties,
        "createdAt": stamp(record.created_at),
        "updatedAt": stamp(record.updated_at),
        "archived": record.archived_at is not None,
    }
    if record.archived_at:
        shown["archivedAt"] = stamp(record.archived_at)
    if history:
        shown["propertiesWithHistory"] = {name: _history(record, name) for name in history}
    return shown


def batch_answer(
    sandbox: HubSpotSandbox,
    version: str,
    *,
    results: list[dict[str, Any]],
    errors: list[dict[str, Any]],
) -> Response:
    """The answer to a batch, in any order; its status tells of errors in the older versions."""
    now = stamp(sandbox.clock())
    if "batch_order" in sandbox.rules:
        random.Random(f"{sandbox.seed}:{len(results)}").shuffle(results)  # noqa: S311
    body: dict[str, Any] = {
        "status": "COMPLETE",
        "results": results,
        "startedAt": now,
        "completedAt": now,
    }
    if not errors:
        return json_response(body)
    body |= {"numErrors": len(errors), "errors": errors}
    folded = binds_2026_09(version) and "dated_status" in sandbox.rules
    return json_response(body, 200 if folded else 207)


def _history(record: Record, name: str) -> list[dict[str, Any]]:
    return [
        {
            "value": value,
            "timestamp": stamp(at),
            "sourceType": source.kind,
            "sourceId": source.id,
            **({"updatedByUserId": source.user_id} if source.user_id else {}),
        }
        for value, at, source in record.history.get(name, [])
    ]
