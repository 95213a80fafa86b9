"""The words in which HubSpot refuses, and the ready-made faults of its sandbox.

Shapes follow HubSpot's public error guide and bodies seen in public bug reports; the body for a
bad owner is nowhere published and follows the general shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from werkzeug.wrappers import Response

from adapters.sandbox.wire import json_response

CORRELATION_ID = "00000000-0000-4000-8000-000000000001"

LIMIT_MESSAGES = {
    "DAILY": "You have reached your daily limit.",
    "TEN_SECONDLY_ROLLING": "You have reached your ten_secondly_rolling limit.",
    "SECONDLY": "You have reached your secondly limit.",
}


class Refusal(Exception):
    """A request that HubSpot turns down as a whole."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body["message"])
        self.status = status
        self.body = body

    def response(self) -> Response:
        """The refusal as it goes over the wire."""
        return json_response(self.body, self.status)


def error_body(message: str, category: str, **more: Any) -> dict[str, Any]:
    """HubSpot's error envelope."""
    return {
        "status": "error",
        "message": message,
        "correlationId": CORRELATION_ID,
        "category": category,
        **more,
    }


def invalid(message: str, **more: Any) -> Refusal:
    """A 400 for a request that breaks a rule of form."""
    return Refusal(400, error_body(message, "VALIDATION_ERROR", **more))


def fields_missing(names: Iterable[str]) -> Refusal:
    """A 400 for required request fields that were left out."""
    listed = ", ".join(names)
    return invalid(
        f"Invalid input JSON on line 1, column 2. Some required fields were not set: [{listed}]"
    )


def bad_property(*, name: str, code: str, message: str) -> dict[str, Any]:
    """The body for one property value that HubSpot does not take."""
    problem = [{"isValid": False, "message": message, "error": code, "name": name}]
    return error_body(
        f"Property values were not valid: {json.dumps(problem)}",
        "VALIDATION_ERROR",
        errors=[{"message": message, "code": code, "context": {"propertyName": [name]}}],
    )


def not_found(record_id: str) -> Refusal:
    """The 404 for one record."""
    message = "Object not found.  objectId are usually numeric."
    return Refusal(404, error_body(message, "OBJECT_NOT_FOUND", context={"id": [record_id]}))


def some_not_found(singular: str, ids: list[str]) -> dict[str, Any]:
    """The entry of a batch answer's ``errors`` for ids that name no record."""
    message = (
        f"Could not get some {singular} objects, they may be deleted or not exist. "
        "Check that ids are valid."
    )
    return {
        "status": "error",
        "category": "OBJECT_NOT_FOUND",
        "message": message,
        "context": {"ids": ids},
    }


def no_association(near: str, far: str, record_id: str) -> dict[str, Any]:
    """The entry of a batch's ``errors`` for a record that is linked to none of the other type."""
    return {
        "status": "error",
        "category": "OBJECT_NOT_FOUND",
        "subCategory": "crm.associations.NO_ASSOCIATIONS_FOUND",
        "message": f"No {far.lower()} is associated with {near.lower()} {record_id}.",
        "context": {"fromObjectId": [record_id]},
    }


def expired_token(age: timedelta, expired_at: str) -> Refusal:
    """The 401 for an OAuth token whose time is over."""
    seconds = int(age.total_seconds())
    message = f"The OAuth token used to make this call expired {seconds} second(s) ago."
    context = {"expire time": [expired_at]}
    return Refusal(401, error_body(message, "EXPIRED_AUTHENTICATION", context=context))


def bad_grant(status: str, message: str) -> Refusal:
    """The 400 of the token endpoint, whose ``status`` is a word of its own."""
    body = error_body(message, "VALIDATION_ERROR") | {"status": status}
    if status == "BAD_REFRESH_TOKEN":
        body |= {"error": "invalid_grant", "error_description": message}
    return Refusal(400, body)


def bad_token() -> Refusal:
    """The 401 for a wrong, revoked or missing token."""
    message = "Authentication credentials not found. This API supports OAuth 2.0 authentication."
    return Refusal(401, error_body(message, "INVALID_AUTHENTICATION"))


def scope_missing(scope: str) -> Refusal:
    """The 403 for a token that lacks a scope."""
    message = "This app hasn't been granted all required scopes to make this call."
    detail = {
        "message": "One or more of the following scopes are required.",
        "context": {"requiredGranularScopes": [scope]},
    }
    return Refusal(403, error_body(message, "MISSING_SCOPES", errors=[detail]))


def limit_body(policy: str) -> dict[str, Any]:
    """The body of a 429; ``policy`` is DAILY, TEN_SECONDLY_ROLLING or SECONDLY."""
    return {
        "status": "error",
        "message": LIMIT_MESSAGES[policy],
        "errorType": "RATE_LIMIT",
        "correlationId": CORRELATION_ID,
        "policyName": policy,
        "requestId": "00000000000000000000000000000001",
    }


def limit_reached(policy: str, *, retry_after: int | None = None) -> dict[str, Any]:
    """The fields of a fault that answers 429."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return {"status": 429, "body": limit_body(policy), "headers": headers}


def _cloudflare(status: int) -> dict[str, Any]:
    page = f"<!DOCTYPE html><html><head><title>{status}</title></head><body>Error</body></html>"
    return {"status": status, "body": page}


_EXPIRED = expired_token(timedelta(seconds=5), "2026-11-30T09:00:00.000Z").body
_CONFLICT = error_body("Contact already exists. Existing ID: 88000000123", "CONFLICT")
_SERVER = {"status": "error", "message": "internal error", "correlationId": CORRELATION_ID}

PRESETS: dict[str, dict[str, Any]] = {
    "daily_limit": limit_reached("DAILY"),
    "ten_secondly_limit": limit_reached("TEN_SECONDLY_ROLLING"),
    "secondly_limit": limit_reached("SECONDLY"),
    # Seen in public code beside the usual form.
    "limit_by_category": {
        "status": 429,
        "body": error_body(LIMIT_MESSAGES["TEN_SECONDLY_ROLLING"], "RATE_LIMITS")
        | {"policyName": "TEN_SECONDLY_ROLLING", "groupName": "publicapi:private-apps"},
    },
    "daily_limit_with_retry_after": limit_reached("DAILY", retry_after=50_000),
    "secondly_limit_with_retry_after": limit_reached("SECONDLY", retry_after=1),
    "limit_with_retry_after": limit_reached("TEN_SECONDLY_ROLLING", retry_after=3),
    "invalid_token": {"status": 401, "body": bad_token().body},
    "expired_token": {"status": 401, "body": _EXPIRED},
    "missing_scope": {"status": 403, "body": scope_missing("crm.objects.owners.read").body},
    "conflict": {"status": 409, "body": _CONFLICT},
    "uri_too_long": _cloudflare(414),
    "locked": {"status": 423, "body": error_body("The record is locked.", "LOCKED")},
    "migration": {
        "status": 477,
        "body": error_body("The account is being moved.", "MIGRATION_IN_PROGRESS"),
        "headers": {"Retry-After": "3600"},
    },
    "server_error": {"status": 500, "body": _SERVER},
    "lost_reply": {"drop": "after"},
    "dropped": {"drop": "before"},
    "truncated": {"truncate": True},
    "empty_object": {"status": 200, "body": {}},
    "html_200": {"status": 200, "body": "<!DOCTYPE html><html><body>Welcome</body></html>"},
    **{f"http_{status}": _cloudflare(status) for status in (502, 503, 504)},
    **{f"http_{status}": _cloudflare(status) for status in (521, 522, 523, 524, 525, 526, 530)},
}
