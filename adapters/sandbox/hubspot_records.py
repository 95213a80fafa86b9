"""How the sandbox HubSpot answers the calls about records: one by one and in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_changes import Source
from adapters.sandbox.hubspot_portal import Record
from adapters.sandbox.hubspot_requests import (
    known_type,
    listed,
    read_body,
    read_ids,
    read_inputs,
)
from adapters.sandbox.hubspot_schema import singular
from adapters.sandbox.hubspot_shapes import batch_answer, shape
from adapters.sandbox.hubspot_writes import check_form, value_problem
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

HISTORY_LIMIT = 50  # batch reads with history; the message is quoted in PipedreamHQ/pipedream#8462


def read_one(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, record_id: str, **_: str
) -> Response:
    """``GET .../{type}/{id}``."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    with sandbox.lock:
        record = _find_one(sandbox, request, kind, record_id)
        names = listed(sandbox, request, "properties")
        history = listed(sandbox, request, "propertiesWithHistory")
        return json_response(shape(sandbox, record, names, history))


def update_one(
    sandbox: HubSpotSandbox,
    request: Request,
    *,
    object_type: str,
    record_id: str,
    version: str = "v3",
) -> Response:
    """``PATCH .../{type}/{id}``."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "write")
    properties = read_body(sandbox, request, ["properties"]).get("properties", {})
    sandbox.tell_before_write(kind, record_id, properties)
    with sandbox.lock:
        record = _find_one(sandbox, request, kind, record_id)
        check_form(sandbox, properties)
        if problem := value_problem(sandbox, record, properties, version=version):
            raise answers.Refusal(400, problem)
        _write(sandbox, record, properties)
        return json_response(shape(sandbox, record, list(properties), []))


def read_batch(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, version: str = "v3"
) -> Response:
    """``POST .../{type}/batch/read``."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    body = read_body(sandbox, request, ["inputs", "properties", "propertiesWithHistory"])
    history = body.get("propertiesWithHistory", [])
    ids = list(dict.fromkeys(read_ids(sandbox, body)))
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
                results.append(shape(sandbox, record, names, history))
        errors = _unknown(sandbox, kind, missing)
        return batch_answer(sandbox, version, results=results, errors=errors)


def update_batch(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, version: str = "v3"
) -> Response:
    """``POST .../{type}/batch/update``: record ids only, and no input is written if one is bad."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "write")
    body = read_body(sandbox, request, ["inputs"])
    ids = read_ids(sandbox, body)
    inputs = read_inputs(body)
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
        results = [shape(sandbox, record, list(given), []) for record, given in found]
        errors = problems + _unknown(sandbox, kind, missing)
        return batch_answer(sandbox, version, results=results, errors=errors)


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


def _unknown(sandbox: HubSpotSandbox, kind: str, missing: list[str]) -> list[dict[str, Any]]:
    if not missing or "unknown_ids" not in sandbox.rules:
        return []
    return [answers.some_not_found(singular(kind), missing)]


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
