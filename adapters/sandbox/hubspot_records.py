"""How the sandbox HubSpot answers the calls about records: one by one and in batches."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_portal import Record, Source
from adapters.sandbox.hubspot_schema import (
    created_property,
    modified_property,
    singular,
    stamp,
    type_name,
)
from adapters.sandbox.hubspot_writes import check_form, value_problem
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

BATCH_LIMIT = 100
HISTORY_LIMIT = 50  # batch reads with history; the message is quoted in PipedreamHQ/pipedream#8462
_SHOWN_UNASKED = {"contacts": ("email", "firstname", "lastname"), "leads": ("hs_lead_name",)}


def read_one(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, record_id: str, **_: str
) -> Response:
    """``GET .../{type}/{id}``."""
    kind = _known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    with sandbox.lock:
        record = _find_one(sandbox, request, kind, record_id)
        names = _listed(sandbox, request, "properties")
        history = _listed(sandbox, request, "propertiesWithHistory")
        return json_response(_shape(sandbox, record, names, history))


def update_one(
    sandbox: HubSpotSandbox,
    request: Request,
    *,
    object_type: str,
    record_id: str,
    version: str = "v3",
) -> Response:
    """``PATCH .../{type}/{id}``."""
    kind = _known_type(sandbox, object_type)
    sandbox.need_scope(kind, "write")
    properties = _body(sandbox, request, ["properties"]).get("properties", {})
    sandbox.tell_before_write(kind, record_id, properties)
    with sandbox.lock:
        record = _find_one(sandbox, request, kind, record_id)
        check_form(sandbox, properties)
        if problem := value_problem(sandbox, record, properties, version=version):
            raise answers.Refusal(400, problem)
        _write(sandbox, record, properties)
        return json_response(_shape(sandbox, record, list(properties), []))


def read_batch(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, version: str = "v3"
) -> Response:
    """``POST .../{type}/batch/read``."""
    kind = _known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    body = _body(sandbox, request, ["inputs", "properties", "propertiesWithHistory"])
    history = body.get("propertiesWithHistory", [])
    ids = list(dict.fromkeys(_input_ids(sandbox, body)))
    if history and len(ids) > HISTORY_LIMIT and "history_limit" in sandbox.rules:
        raise answers.invalid(
            "The maximum number of inputs supported in a batch request for property histories is "
            f"{HISTORY_LIMIT}. Please reduce the number of items and try again"
        )
    results, missing = [], []
    with sandbox.lock:
        for record_id in ids:
            record = sandbox.portal.find(
                kind,
                record_id,
                follow_merges=sandbox.batch_read_follows_merges,
                id_property=body.get("idProperty"),
            )
            if record is None:
                missing.append(record_id)
            else:
                names = body.get("properties", [])
                results.append(_shape(sandbox, record, names, history))
        return _batch_answer(sandbox, kind, version, results=results, missing=missing)


def update_batch(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, version: str = "v3"
) -> Response:
    """``POST .../{type}/batch/update``: record ids only, and no input is written if one is bad."""
    kind = _known_type(sandbox, object_type)
    sandbox.need_scope(kind, "write")
    body = _body(sandbox, request, ["inputs"])
    ids = _input_ids(sandbox, body)
    inputs = _inputs(body)
    _check_update_inputs(sandbox, inputs, ids)
    for item in inputs:
        sandbox.tell_before_write(kind, str(item["id"]), item.get("properties", {}))
    found: list[tuple[Record, Mapping[str, str]]] = []
    missing, problems = [], []
    with sandbox.lock:
        for record_id, item in zip(ids, inputs, strict=True):
            properties = item.get("properties", {})
            check_form(sandbox, properties)
            record = sandbox.portal.find(
                kind, record_id, follow_merges="merged_batch_update" not in sandbox.rules
            )
            if record is None and "batch_by_email" not in sandbox.rules:
                record = sandbox.portal.find(kind, record_id, id_property="email")
            if record is None:
                missing.append(record_id)
                continue
            if problem := value_problem(sandbox, record, properties, version=version):
                if sandbox.whole_batch_400 and "whole_batch" in sandbox.rules:
                    raise answers.Refusal(400, problem)
                problems.append({**problem, "context": {"ids": [record_id]}})
                continue
            found.append((record, properties))
        for record, properties in found:
            _write(sandbox, record, properties)
        results = [_shape(sandbox, record, list(given), []) for record, given in found]
        return _batch_answer(
            sandbox, kind, version, results=results, missing=missing, problems=problems
        )


def _check_update_inputs(sandbox: HubSpotSandbox, inputs: list[Any], ids: list[str]) -> None:
    if "required_fields" in sandbox.rules:
        for item in inputs:
            if "properties" not in item:
                raise answers.fields_missing(["properties"])
    if any("idProperty" in item for item in inputs) and "batch_by_email" in sandbox.rules:
        raise answers.invalid("Unable to perform update/upsert by non-unique 0-1 property")
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice and "duplicate_ids" in sandbox.rules:
        # The body was seen in a public test of rudderlabs/rudder-transformer.
        raise answers.invalid(
            f"Duplicate IDs found in batch input: [{', '.join(twice)}]. IDs must be unique",
            context={"ids": twice},
        )


def _batch_answer(
    sandbox: HubSpotSandbox,
    kind: str,
    version: str,
    *,
    results: list[dict[str, Any]],
    missing: list[str],
    problems: list[dict[str, Any]] | None = None,
) -> Response:
    now = stamp(sandbox.clock())
    if "batch_order" in sandbox.rules:
        random.Random(f"{sandbox.seed}:{len(results)}").shuffle(results)  # noqa: S311
    body: dict[str, Any] = {
        "status": "COMPLETE",
        "results": results,
        "startedAt": now,
        "completedAt": now,
    }
    errors = list(problems or [])
    if missing and "unknown_ids" in sandbox.rules:
        errors.append(answers.some_not_found(singular(kind), missing))
    if not errors:
        return json_response(body)
    dated = version[:7] >= "2026-09" and version != "v3" and "dated_status" in sandbox.rules
    body |= {"numErrors": len(errors), "errors": errors}
    return json_response(body, 200 if dated else 207)


def _write(sandbox: HubSpotSandbox, record: Record, properties: Mapping[str, str]) -> None:
    if "empty_clears" not in sandbox.rules:
        properties = {name: value for name, value in properties.items() if value != ""}
    properties = {name: str(value) for name, value in properties.items()}
    sandbox.portal.write(record, properties, Source(kind="INTEGRATION", id=sandbox.app_id))
    for name, value in properties.items():
        if value == "":
            del record.properties[name]


def _find_one(sandbox: HubSpotSandbox, request: Request, kind: str, record_id: str) -> Record:
    by = request.args.get("idProperty") if "id_property" in sandbox.rules else None
    record = sandbox.portal.find(
        kind,
        record_id,
        follow_merges="merged_single" in sandbox.rules,
        archived=request.args.get("archived") == "true",
        id_property=by,
    )
    if record is None:
        raise answers.not_found(record_id)
    return record


def _shape(
    sandbox: HubSpotSandbox, record: Record, names: list[str], history: list[str]
) -> dict[str, Any]:
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


def _known_type(sandbox: HubSpotSandbox, object_type: str) -> str:
    kind = type_name(object_type)
    if kind is None and "unknown_type" in sandbox.rules:
        raise answers.invalid(f"Unable to infer object type from: {object_type}")
    return kind or "contacts"


def _body(sandbox: HubSpotSandbox, request: Request, required: list[str]) -> dict[str, Any]:
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise answers.invalid("Invalid input JSON on line 1, column 1: not a JSON object")
    missing = [name for name in required if name not in body]
    if missing and "required_fields" in sandbox.rules:
        raise answers.fields_missing(missing)
    for item in [body, *_inputs(body)]:
        if not isinstance(item.get("properties", {}), dict | list):
            raise answers.invalid("Invalid input JSON: properties has the wrong type")
    return body


def _inputs(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    inputs = body.get("inputs", [])
    if not isinstance(inputs, list) or not all(isinstance(one, dict) for one in inputs):
        raise answers.invalid("Invalid input JSON: inputs must be a list of objects")
    return inputs


def _input_ids(sandbox: HubSpotSandbox, body: Mapping[str, Any]) -> list[str]:
    inputs = _inputs(body)
    if len(inputs) > BATCH_LIMIT and "batch_limit" in sandbox.rules:
        raise answers.invalid(
            f"The maximum number of inputs supported in a batch request is {BATCH_LIMIT}. "
            "Please reduce the number of items and try again"
        )
    if any("id" not in item for item in inputs):
        raise answers.fields_missing(["id"])
    return [str(item["id"]) for item in inputs]


def _listed(sandbox: HubSpotSandbox, request: Request, name: str) -> list[str]:
    """Both notations: HubSpot's guides write commas, its client library repeats the name."""
    given = request.args.getlist(name)
    if "comma_lists" not in sandbox.rules:
        return given
    return [part for value in given for part in value.split(",") if part]
