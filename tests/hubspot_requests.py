"""What each request to HubSpot looks like, by its public documentation, in every API version.

https://developers.hubspot.com/docs/api-reference/overview
Written down by hand from the guides. Whatever a test's HubSpot records is held against it, so that
a request which only our own servers take is noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema_rs

Schema = dict[str, Any]

VERSION = "20[0-9]{2}-[0-9]{2}(?:-beta)?"
PART = "[^/]+"
FORM = "application/x-www-form-urlencoded"


def fields(required: Schema, optional: Schema | None = None) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": sorted(required),
        "additionalProperties": False,
    }


def some(items: Schema, most: int | None = None, least: int = 0) -> Schema:
    """A list."""
    limits: Schema = {"minItems": least} | ({} if most is None else {"maxItems": most})
    return {"type": "array", "items": items} | limits


TEXT: Schema = {"type": "string", "minLength": 1}
ANY_TEXT: Schema = {"type": "string"}
PROPERTY: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
PAGE: Schema = {"type": "string", "pattern": "^[1-9][0-9]*$"}
INPUT = fields({"id": TEXT})
OUTPUT: Schema = {
    "type": "object",
    "properties": {"hs_execution_state": {"enum": ["SUCCESS", "FAIL_CONTINUE"]}},
    "required": ["hs_execution_state"],
    "additionalProperties": ANY_TEXT,
}
OPERATORS = {
    "with_value": ["EQ", "NEQ", "LT", "LTE", "GT", "GTE", "CONTAINS_TOKEN", "NOT_CONTAINS_TOKEN"],
    "alone": ["HAS_PROPERTY", "NOT_HAS_PROPERTY"],
}
FILTER: Schema = {
    "oneOf": [
        fields({"propertyName": PROPERTY, "operator": {"enum": enum}} | value)
        for enum, value in (
            (OPERATORS["with_value"], {"value": ANY_TEXT}),
            (OPERATORS["alone"], {}),
        )
    ]
}
APP = {"client_id": TEXT, "client_secret": TEXT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One kind of request. The numbered and the dated path are regular expressions."""

    name: str
    method: str
    numbered: str
    dated: str
    query: Schema
    body: Schema | None = None  # None: it has none
    dated_body: Schema | None = None  # where it differs
    content_type: str = "application/json"
    has_token: bool = True


NO_QUERY = fields({})
FORMS = (
    Form(
        name="read records",
        method="POST",
        numbered=f"/crm/v3/objects/{PART}/batch/read",
        dated=f"/crm/objects/{VERSION}/{PART}/batch/read",
        query=NO_QUERY,
        body=fields(
            {
                "inputs": some(INPUT, most=100, least=1) | {"uniqueItems": True},
                "properties": some(PROPERTY, least=1) | {"uniqueItems": True},
                "propertiesWithHistory": some(PROPERTY, most=0),  # it would halve the batch
            }
        ),
    ),
    Form(
        name="write owners",
        method="POST",
        numbered=f"/crm/v3/objects/{PART}/batch/update",
        dated=f"/crm/objects/{VERSION}/{PART}/batch/update",
        query=NO_QUERY,
        body=fields(
            {
                "inputs": some(
                    fields({"id": TEXT, "properties": fields({"hubspot_owner_id": ANY_TEXT})}),
                    most=100,
                    least=1,
                )
            }
        ),
    ),
    Form(
        name="search",
        method="POST",
        numbered=f"/crm/v3/objects/{PART}/search",
        dated=f"/crm/objects/{VERSION}/{PART}/search",
        query=NO_QUERY,
        body=fields(
            {
                "filterGroups": some(fields({"filters": some(FILTER, most=6)}), most=5),
                "sorts": some(
                    fields(
                        {
                            "propertyName": PROPERTY,
                            "direction": {"enum": ["ASCENDING", "DESCENDING"]},
                        }
                    ),
                    most=1,
                ),
                "properties": some(PROPERTY),
                "limit": {"type": "integer", "minimum": 1, "maximum": 200},
                "after": {"type": "string", "pattern": "^[0-9]+$"},
            }
        ),
    ),
    Form(
        name="read associations",
        method="POST",
        numbered=f"/crm/v4/associations/{PART}/{PART}/batch/read",
        dated=f"/crm/associations/{VERSION}/{PART}/{PART}/batch/read",
        query=NO_QUERY,
        body=fields({"inputs": some(INPUT, most=1000, least=1) | {"uniqueItems": True}}),
    ),
    Form(
        name="list owners",
        method="GET",
        numbered="/crm/v3/owners/",
        dated=f"/crm/owners/{VERSION}",
        query=fields({"limit": PAGE}, {"after": TEXT, "archived": {"enum": ["true", "false"]}}),
    ),
    Form(
        name="list users",
        method="GET",
        numbered="/crm/v3/objects/users",
        dated=f"/crm/objects/{VERSION}/users",
        query=fields(
            {
                "limit": {"type": "string", "pattern": "^([1-9][0-9]?|100)$"},
                "properties": {"type": "string", "pattern": "^[a-z0-9_]+(,[a-z0-9_]+)*$"},
            },
            {"after": TEXT},
        ),
    ),
    Form(
        name="read the account",
        method="GET",
        numbered="/account-info/v3/details",
        dated=f"/account-info/{VERSION}/details",
        query=NO_QUERY,
    ),
    Form(
        name="complete a callback",
        method="POST",
        numbered=f"/automation/v4/actions/callbacks/{PART}/complete",
        dated=f"/automation/actions/callbacks/{VERSION}/{PART}/complete",
        query=NO_QUERY,
        body=fields({"outputFields": OUTPUT}),
        dated_body=fields({"outputFields": OUTPUT, "typedOutputs": OUTPUT}),
    ),
    Form(
        name="fetch a token",
        method="POST",
        numbered="/oauth/v1/token",
        dated=f"/oauth/{VERSION}/token",
        query=NO_QUERY,
        body={
            "oneOf": [
                fields({**APP, "grant_type": {"const": "refresh_token"}, "refresh_token": TEXT}),
                fields(
                    {
                        **APP,
                        "grant_type": {"const": "authorization_code"},
                        "code": TEXT,
                        "redirect_uri": TEXT,
                    }
                ),
            ]
        },
        content_type=FORM,
        has_token=False,
    ),
)


def check(requests: Iterable[Any]) -> None:
    """Fail with every request that HubSpot does not know, and what is wrong with it.

    A request has ``method``, ``path``, ``headers`` with names in lower case, and ``body`` as bytes
    or as the JSON in it; the query may be part of the path.
    """
    wrong = [f"{one.method} {one.path}: {fault}" for one in requests for fault in faults(one)]
    assert not wrong, "\n".join(["not as HubSpot documents it:", *dict.fromkeys(wrong)])


def faults(request: Any) -> list[str]:
    """What is wrong with a request; nothing when it is as documented."""
    split = urlsplit(request.path)
    query = getattr(request, "query", "") or split.query
    for form in FORMS:
        numbered = re.fullmatch(form.numbered, split.path)
        if form.method == request.method and (numbered or re.fullmatch(form.dated, split.path)):
            schema = form.body if numbered else form.dated_body or form.body
            return [
                *_query_faults(form, query),
                *_header_faults(form, request.headers),
                *_body_faults(schema, request),
            ]
    return ["no such request"]


def _query_faults(form: Form, query: str) -> list[str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    given = dict(pairs)
    twice = ["a parameter twice"] if len(given) < len(pairs) else []
    return twice + _errors(form.query, given)


def _header_faults(form: Form, headers: Mapping[str, str]) -> list[str]:
    found = []
    token = headers.get("authorization")
    if form.has_token and not re.fullmatch("Bearer [!-~]+", token or ""):
        found.append(f"authorization: {token}")
    if not form.has_token and token is not None:
        found.append("a token where none belongs")
    kind = headers.get("content-type", "").split(";")[0]
    if form.body and kind != form.content_type:
        found.append(f"content-type: {kind}")
    if form.has_token and headers.get("accept") != "application/json":
        found.append(f"accept: {headers.get('accept')}")
    return found


def _body_faults(schema: Schema | None, request: Any) -> list[str]:
    body = request.body
    if schema is None:
        return ["a body where none belongs"] if body else []
    if isinstance(body, bytes):
        is_form = request.headers.get("content-type", "").startswith(FORM)
        try:
            body = (
                dict(parse_qsl(body.decode(), strict_parsing=True)) if is_form else json.loads(body)
            )
        except ValueError as error:
            return [f"unreadable: {error}"]
    return _errors(schema, body)


def _form(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode(), strict_parsing=True))


def _errors(schema: Schema, given: Any) -> list[str]:
    found = jsonschema_rs.validator_for(schema).iter_errors(given)
    return [f"{'/'.join(map(str, one.instance_path))}: {unquote(one.message)}" for one in found]
