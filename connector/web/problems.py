"""Errors as RFC 9457 problem details; the one place where an HTTP status is decided.

``WORDS`` is the whole list of machine words that the REST API answers with. Webhooks add the words
of their adapters, with the status that the refusal carries.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import structlog
from flask import Flask, Response
from pydantic import BaseModel, Field, ValidationError
from werkzeug.exceptions import HTTPException

from connector.errors import (
    BadInput,
    Conflict,
    LeadRotaError,
    NotFound,
    Pointer,
    StoreBehind,
    StoreUnavailable,
    WebhookRefused,
)
from connector.web import complaints

MEDIA_TYPE = "application/problem+json"

# machine word: (status, title)
WORDS = {
    "not_json": (400, "The body is not JSON"),
    "bad_request": (400, "The request cannot be read"),
    "unauthorized": (401, "A valid token is needed"),
    "scope_missing": (403, "The token may not do this"),
    "not_found": (404, "There is no such thing"),
    "pool_not_found": (404, "There is no such pool"),
    "member_not_found": (404, "The user is no member of the pool"),
    "user_not_found": (404, "There is no such user"),
    "assignment_not_found": (404, "There is no such assignment"),
    "absence_not_found": (404, "There is no such absence"),
    "connection_not_found": (404, "There is no such connection"),
    "method_not_allowed": (405, "The method is not allowed here"),
    "conflict": (409, "It does not fit what is already there"),
    "member_exists": (409, "The user is already a member of the pool"),
    "owner_taken": (409, "Another user has this owner id"),
    "pool_archived": (409, "The pool is archived"),
    "no_member_available": (409, "Nobody can take the lead"),
    "user_inactive": (409, "The user is not active"),
    "rejected_before": (409, "The user gave this lead back before"),
    "quota_reached": (409, "The user has taken all leads of the quota"),
    "superseded": (409, "A newer row speaks for the lead"),
    "too_many_leads": (409, "There are too many leads to do this at once"),
    "same_user": (409, "The user has the lead already"),
    "not_assigned": (409, "Nobody has the lead to give back"),
    "no_pool": (409, "The lead is in no pool"),
    "idempotency_key_running": (409, "A request with this Idempotency-Key is still running"),
    "too_large": (413, "The body is too large"),
    "unsupported_media_type": (415, "The content type is not accepted"),
    "invalid": (422, "The input cannot be used"),
    "order_incomplete": (422, "The order does not name every member exactly once"),
    "idempotency_key_reused": (422, "The Idempotency-Key was used for another request"),
    "internal_error": (500, "Something went wrong on our side"),
    "store_unavailable": (503, "The database cannot be reached"),
    "store_behind": (503, "The database schema does not fit this program"),
}

# What the driver says names hosts and users of the database; it goes to the log only.
STORE_LOST = "The database cannot be reached or written just now. Send this again in a moment."

RETRY_AFTER = {"store_unavailable": "5", "store_behind": "30", "idempotency_key_running": "1"}

_HTTP_WORDS = {
    400: "bad_request",
    401: "unauthorized",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}

# In the place of werkzeug's own, which speak to people who type addresses.
_HTTP_DETAILS = {
    404: "There is nothing at this path. /openapi.json lists what there is.",
    405: "This path does not take this method. The header Allow says which it takes.",
    413: "The body is larger than 1 MiB. Send less at once.",
}

# What pydantic, or a check of ours, calls a place that is not in the document.
ABSENT = ("missing", "missing_beside")

log = structlog.get_logger()


class BadPlace(BaseModel):
    """One bad place in the body (RFC 6901) or one bad parameter."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="A stable machine word.")
    errors: list[BadPlace] = Field(default_factory=list)


def status_of(error: LeadRotaError) -> int:
    """The HTTP status of an error of ours."""
    if isinstance(error, WebhookRefused):
        return error.status
    if error.code in WORDS:
        return WORDS[error.code][0]
    match error:
        case NotFound():
            return 404
        case Conflict():
            return 409
        case BadInput():
            return 422
        case StoreUnavailable() | StoreBehind():
            return 503
    return 500


def answer(error: LeadRotaError) -> Response:
    """An error of ours as a response."""
    if isinstance(error, StoreUnavailable):
        log.error("store_unavailable", detail=error.message)
        error = StoreUnavailable(STORE_LOST)
    errors = error.errors if isinstance(error, BadInput) else ()
    headers = {"Retry-After": RETRY_AFTER[error.code]} if error.code in RETRY_AFTER else {}
    return _problem(status_of(error), error.code, error.message, errors=errors, headers=headers)


def not_valid(error: ValidationError, document: Any = None) -> BadInput:
    """What pydantic found, in the caller's words: a JSON pointer and a reason for each place."""
    found = [_place(item, document) for item in error.errors(include_url=False)]
    listed = "; ".join(f"{place.pointer or 'the body'}: {place.detail}" for place in found[:3])
    more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
    return BadInput(f"{listed}{more}", errors=found)


def install(app: Flask) -> None:
    """Let every error of this app come out as a problem."""
    app.register_error_handler(LeadRotaError, answer)
    app.register_error_handler(HTTPException, _from_http)
    app.register_error_handler(Exception, _unexpected)


def _place(item: Any, document: Any) -> Pointer:
    location: list[str | int] = []
    place = document
    for step in item["loc"]:
        # pydantic names the branch of a union too; only what leads into the document counts.
        last_is_absent = item["type"] in ABSENT and step == item["loc"][-1]
        if isinstance(place, dict) and (step in place or last_is_absent):
            location.append(step)
            place = place.get(step)
        elif isinstance(place, list) and isinstance(step, int) and step < len(place):
            location.append(step)
            place = place[step]
    pointer = "".join(f"/{str(s).replace('~', '~0').replace('/', '~1')}" for s in location)
    return Pointer(pointer, complaints.reason(item))


def http_word(status: int) -> str:
    """The machine word of a plain HTTP error."""
    return _HTTP_WORDS.get(status, f"http_{status}")


def _from_http(error: HTTPException) -> Response:
    status = error.code or 500
    code = http_word(status)
    headers = {
        name: value
        for name, value in error.get_headers()
        if name.lower() in ("allow", "www-authenticate")
    }
    detail = _HTTP_DETAILS.get(status) or error.description or _phrase(status)
    return _problem(status, code, detail, headers=headers)


def _unexpected(error: Exception) -> Response:
    log.error("request_failed", exc_info=error)
    return _problem(500, "internal_error", "The error was logged. Nothing more is known here.")


def _problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: tuple[Pointer, ...] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    title = WORDS[code][1] if code in WORDS else _phrase(status)
    body: dict[str, Any] = {
        "type": f"urn:leadrota:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = [{"pointer": e.pointer, "detail": e.detail} for e in errors]
    return Response(json.dumps(body), status, headers, mimetype=MEDIA_TYPE)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
