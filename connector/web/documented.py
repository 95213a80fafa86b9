"""Blueprints whose views are in the OpenAPI document."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.request_body import RequestBody
from pydantic import BaseModel

from connector.web import auth, bodies, problems

SECURITY_SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": (
            "A token has a scope, and each operation names the one it needs. `read` reads; "
            "`assign` also assigns leads, passes them on and takes them back; `admin` does all. "
            "`leadrota token create` makes tokens; LEADROTA_API_TOKEN is an `admin` token."
        ),
    }
}
_MEANINGS = {
    400: "The body is not JSON",
    401: "A valid token is needed",
    403: "The token lacks the scope, or the delivery comes from another account",
    404: "There is no such thing",
    405: "The method is not allowed here",
    409: "It does not fit what is already there",
    413: "The body is larger than 1 MiB",
    415: "The content type is not accepted",
    422: "The input cannot be used; errors says where",
    503: "The database cannot be reached; try again",
}


def refusals(*statuses: int) -> dict[str | int | HTTPStatus, Any]:
    """These statuses, each with a problem as its body."""
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {s: {"description": _MEANINGS[s], "content": content} for s in statuses}


def optional(model: type[BaseModel]) -> RequestBody:
    """A body of this model, or none at all."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return RequestBody.model_validate(
        {"content": {"application/json": {"schema": schema}}, "required": False}
    )


def blueprint(name: str, *, body_is_optional: bool = False) -> APIBlueprint:
    """A part of the REST API: behind a token, with JSON bodies.

    GET asks for the scope read, all else for admin, unless ``auth.needs`` says otherwise.
    """
    api = APIBlueprint(
        name,
        __name__,
        url_prefix="/round-robin",
        abp_tags=[{"name": name}],
        abp_security=[{"token": []}],
        abp_responses=refusals(400, 401, 403, 404, 405, 409, 413, 415, 422, 503),
    )
    api.before_request(auth.require)
    api.before_request(partial(bodies.check, may_be_empty=body_is_optional))
    return api
