"""How the sandbox HubSpot lists the records of a type, such as users, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox.hubspot_requests import known_type, listed, page_size
from adapters.sandbox.hubspot_shapes import shape
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

PAGE = 10
LARGEST_PAGE = 100


def list_records(
    sandbox: HubSpotSandbox, request: Request, *, object_type: str, **_: str
) -> Response:
    """``GET .../objects/{type}``: in the order of ids, ten at a time unless asked for more."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    limit = page_size(request, usual=PAGE, most=LARGEST_PAGE)
    if "record_pages" not in sandbox.rules:
        limit = 1_000_000
    names = listed(sandbox, request, "properties")
    history = listed(sandbox, request, "propertiesWithHistory")
    archived = request.args.get("archived") == "true"
    after = request.args.get("after", default=0, type=int)
    with sandbox.lock:
        found = [
            record
            for record in sandbox.portal.of_type(kind, archived=archived)
            if int(record.id) > after
        ]
        results = [shape(sandbox, record, names, history) for record in found[:limit]]
    body: dict[str, Any] = {"results": results}
    if len(found) > limit:
        then = found[limit - 1].id
        body["paging"] = {
            "next": {"after": then, "link": f"{sandbox.url}{request.path}?after={then}"}
        }
    return json_response(body)
