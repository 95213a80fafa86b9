"""How the sandbox HubSpot answers searches: from an index that lags, and not without end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_filters import NEEDS, Group, is_found, sort_key
from adapters.sandbox.hubspot_portal import Record
from adapters.sandbox.hubspot_requests import known_type, read_body
from adapters.sandbox.hubspot_shapes import shape
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

PAGE = 10
LARGEST_PAGE = 200
MOST_RESULTS = 10_000
LONGEST_BODY = 3000
MOST_GROUPS, MOST_FILTERS, MOST_IN_ALL = 5, 6, 18
_REQUIRED = ["after", "limit", "sorts", "properties", "filterGroups"]


def search(sandbox: HubSpotSandbox, request: Request, *, object_type: str, **_: str) -> Response:
    """``POST .../{type}/search``: records that the index knows, never those in the bin."""
    kind = known_type(sandbox, object_type)
    sandbox.need_scope(kind, "read")
    text = request.get_data(as_text=True)
    if len(text) > LONGEST_BODY and "search_length" in sandbox.rules:
        raise answers.invalid(f"The request is longer than {LONGEST_BODY} characters.")
    body = read_body(sandbox, request, _REQUIRED)
    groups = _groups(sandbox, body)
    first, limit = _window(sandbox, body)
    with sandbox.lock:
        exact = "search_lower_case" in sandbox.rules
        found = [
            record
            for record in _indexed(sandbox, kind)
            if is_found(record, groups, exact_lists=exact)
        ]
        _sort(found, body.get("sorts") or [])
        page = found[first : first + limit]
        results = [shape(sandbox, record, body.get("properties") or [], []) for record in page]
    answer: dict[str, Any] = {"total": len(found), "results": results}
    if first + limit < len(found):
        answer["paging"] = {"next": {"after": str(first + limit)}}
    return json_response(answer)


def _indexed(sandbox: HubSpotSandbox, kind: str) -> list[Record]:
    records = sandbox.portal.of_type(kind)
    if "search_bin" not in sandbox.rules:
        records += sandbox.portal.of_type(kind, archived=True)
    known_at = sandbox.clock() - timedelta(seconds=sandbox.index_lag)
    if "search_lag" not in sandbox.rules:
        known_at = sandbox.clock()
    return [record for record in records if record.updated_at <= known_at]


def _window(sandbox: HubSpotSandbox, body: Mapping[str, Any]) -> tuple[int, int]:
    after, limit = str(body.get("after") or "0"), body.get("limit", PAGE)
    if not after.isdecimal():
        raise answers.invalid(f"after must be a number, not {after}")
    if not isinstance(limit, int) or limit < 1:
        raise answers.invalid(f"limit must be a positive number, not {limit}")
    if limit > LARGEST_PAGE and "search_page" in sandbox.rules:
        raise answers.invalid(f"The page size is larger than {LARGEST_PAGE}.")
    if int(after) + limit > MOST_RESULTS and "search_end" in sandbox.rules:
        raise answers.invalid(f"Cannot page beyond {MOST_RESULTS} results.")
    return int(after), limit


def _groups(sandbox: HubSpotSandbox, body: Mapping[str, Any]) -> list[Group]:
    groups = [group.get("filters", []) for group in body.get("filterGroups", [])]
    too_many = (
        len(groups) > MOST_GROUPS
        or any(len(group) > MOST_FILTERS for group in groups)
        or sum(map(len, groups)) > MOST_IN_ALL
    )
    if too_many and "search_filters" in sandbox.rules:
        raise answers.invalid(
            f"Too many filters: at most {MOST_GROUPS} groups, {MOST_FILTERS} filters in each, "
            f"{MOST_IN_ALL} in all."
        )
    for group in groups:
        for one in group:
            _check_filter(sandbox, one)
    return groups


def _check_filter(sandbox: HubSpotSandbox, one: Mapping[str, Any]) -> None:
    name, operator = one.get("propertyName"), one.get("operator", "")
    if operator not in NEEDS:
        raise answers.invalid(f"no operator {operator!r}")
    if missing := [field for field in NEEDS[operator] if not one.get(field)]:
        raise answers.fields_missing(missing)
    if name not in sandbox.portal.properties and "search_property" in sandbox.rules:
        raise answers.invalid(f"There is no property {name!r} to filter by")


def _sort(found: list[Record], sorts: list[Any]) -> None:
    if len(sorts) > 1:
        raise answers.invalid("Only one sort is supported")
    for one in sorts:
        told = {"propertyName": one.lstrip("-")} if isinstance(one, str) else one
        descending = one.startswith("-") if isinstance(one, str) else False
        descending = descending or told.get("direction") == "DESCENDING"
        found.sort(key=lambda record: sort_key(record, told["propertyName"]), reverse=descending)
