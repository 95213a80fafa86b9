"""How the sandbox HubSpot answers calls about associations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_links import Label
from adapters.sandbox.hubspot_requests import known_type, page_size, read_body, read_ids
from adapters.sandbox.hubspot_schema import binds_2026_09, singular
from adapters.sandbox.hubspot_shapes import batch_answer
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

LARGEST_BATCH = 1000
PAGE = 500


def read_batch(
    sandbox: HubSpotSandbox, request: Request, *, from_type: str, to_type: str, version: str = "v4"
) -> Response:
    """``POST .../associations/{from}/{to}/batch/read``: a record linked to none is left out."""
    near, far = _types(sandbox, from_type, to_type)
    body = read_body(sandbox, request, ["inputs"])
    ids = dict.fromkeys(read_ids(sandbox, body, most=LARGEST_BATCH, rule="association_limit"))
    results, errors = [], []
    with sandbox.lock:
        links = sandbox.links.from_each(near, far)
        for record_id in ids:
            if record_id in links:
                to = [_shape(sandbox, *one) for one in links[record_id].items()]
                results.append({"from": {"id": record_id}, "to": to})
            elif sandbox.portal.find(near, record_id, follow_merges=False) is None:
                if "unknown_from" in sandbox.rules:
                    errors.append(answers.some_not_found(singular(near), [record_id]))
            elif sandbox.unlinked_as == "error":
                errors.append(answers.no_association(singular(near), singular(far), record_id))
        return batch_answer(sandbox, version, results=results, errors=errors)


def read_one(
    sandbox: HubSpotSandbox,
    request: Request,
    *,
    from_type: str,
    record_id: str,
    to_type: str,
    version: str = "v4",
) -> Response:
    """``GET .../objects/{from}/{id}/associations/{to}``, which ended with 2026-09."""
    if binds_2026_09(version) and "associations_of_one" in sandbox.rules:
        raise answers.Refusal(404, answers.error_body("resource not found", "OBJECT_NOT_FOUND"))
    near, far = _types(sandbox, from_type, to_type)
    limit = page_size(request, usual=PAGE, most=PAGE)
    after = request.args.get("after", default=0, type=int)
    with sandbox.lock:
        record = sandbox.portal.find(near, record_id)
        if record is None:
            raise answers.not_found(record_id)
        links = sandbox.links.from_each(near, far).get(record.id, {})
    results = [_shape(sandbox, *one) for one in list(links.items())[after:]]
    body: dict[str, Any] = {"results": results[:limit]}
    if len(results) > limit:
        then = str(after + limit)
        link = f"{sandbox.url}{request.path}?after={then}"
        body["paging"] = {"next": {"after": then, "link": link}}
    return json_response(body)


def _types(sandbox: HubSpotSandbox, from_type: str, to_type: str) -> tuple[str, str]:
    near, far = known_type(sandbox, from_type), known_type(sandbox, to_type)
    sandbox.need_scope(near, "read")
    sandbox.need_scope(far, "read")
    return near, far


def _shape(sandbox: HubSpotSandbox, record_id: str, labels: list[Label]) -> dict[str, Any]:
    return {
        "toObjectId": int(record_id) if "association_numbers" in sandbox.rules else record_id,
        "associationTypes": [
            {"category": one.category, "typeId": one.type_id, "label": one.name} for one in labels
        ],
    }
