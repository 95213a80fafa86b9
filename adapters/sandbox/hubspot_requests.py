"""How the sandbox HubSpot reads a request, and what about its form it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_schema import type_name

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

BATCH_LIMIT = 100


def known_type(sandbox: HubSpotSandbox, object_type: str) -> str:
    """The plural name of an object type in a path."""
    kind = type_name(object_type)
    if kind is None and "unknown_type" in sandbox.rules:
        raise answers.invalid(f"Unable to infer object type from: {object_type}")
    return kind or "contacts"


def read_body(sandbox: HubSpotSandbox, request: Request, required: list[str]) -> dict[str, Any]:
    """The JSON object of a request, with all fields that the description requires."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise answers.invalid("Invalid input JSON on line 1, column 1: not a JSON object")
    missing = [name for name in required if name not in body]
    if missing and "required_fields" in sandbox.rules:
        raise answers.fields_missing(missing)
    for item in [body, *read_inputs(body)]:
        if not isinstance(item.get("properties", {}), dict | list):
            raise answers.invalid("Invalid input JSON: properties has the wrong type")
    return body


def read_inputs(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The inputs of a batch."""
    inputs = body.get("inputs", [])
    if not isinstance(inputs, list) or not all(isinstance(one, dict) for one in inputs):
        raise answers.invalid("Invalid input JSON: inputs must be a list of objects")
    return inputs


def read_ids(
    sandbox: HubSpotSandbox,
    body: Mapping[str, Any],
    *,
    most: int = BATCH_LIMIT,
    rule: str = "batch_limit",
) -> list[str]:
    """The ids of a batch of at most so many inputs."""
    inputs = read_inputs(body)
    if len(inputs) > most and rule in sandbox.rules:
        raise answers.invalid(
            f"The maximum number of inputs supported in a batch request is {most}. "
            "Please reduce the number of items and try again"
        )
    if any("id" not in item for item in inputs):
        raise answers.fields_missing(["id"])
    return [str(item["id"]) for item in inputs]


def page_size(request: Request, *, usual: int, most: int) -> int:
    """``limit`` of a paged list."""
    limit = request.args.get("limit", default=usual, type=int)
    if not 1 <= limit <= most:
        raise answers.invalid(f"limit must be between 1 and {most}")
    return limit


def listed(sandbox: HubSpotSandbox, request: Request, name: str) -> list[str]:
    """Both notations: HubSpot's guides write commas, its client library repeats the name."""
    given = request.args.getlist(name)
    if "comma_lists" not in sandbox.rules:
        return given
    return [part for value in given for part in value.split(",") if part]
