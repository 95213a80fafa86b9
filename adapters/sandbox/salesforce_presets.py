"""Ready-made answers of Salesforce for ``faults.add(..., preset=NAME)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FULL = {"Sforce-Limit-Info": "api-usage=100000/100000"}


def _listed(code: str, message: str, *, single: bool = True) -> list[dict[str, Any]]:
    entry: dict[str, Any] = {"message": message, "errorCode": code}
    return [entry | {"fields": []}] if single else [entry]


def _refusal(status: int, code: str, message: str) -> Mapping[str, Any]:
    return {"status": status, "body": _listed(code, message, single=False)}


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "daily_limit": {
        **_refusal(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."),
        "headers": _FULL,
    },
    "concurrent_limit": _refusal(
        403,
        "REQUEST_LIMIT_EXCEEDED",
        "ConcurrentRequests (Concurrent API Requests) Limit exceeded.",
    ),
    "session_expired": _refusal(401, "INVALID_SESSION_ID", "Session expired or invalid"),
    "session_lasting": _refusal(
        401, "INVALID_SESSION_ID", "This session is not valid for use with the REST API"
    ),
    "session_bulk": {
        "status": 400,
        "body": {"exceptionCode": "InvalidSessionId", "exceptionMessage": "Invalid session id"},
    },
    "unauthorized_page": {"status": 401, "body": "<html><body>Unauthorized</body></html>"},
    "api_disabled": _refusal(403, "API_DISABLED_FOR_ORG", "The REST API is not enabled."),
    "query_timeout": _refusal(400, "QUERY_TIMEOUT", "Your query request was running for too long."),
    "server_unavailable": _refusal(
        503, "SERVER_UNAVAILABLE", "The server is temporarily unavailable"
    ),
    "unavailable_page": {
        "status": 503,
        "body": "<html><body>Service Unavailable</body></html>",
    },
    "maintenance": {
        "status": 400,
        "body": _listed(
            "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", "the org is read-only"
        ),
    },
    "flow_failed": {
        "status": 400,
        "body": _listed("CANNOT_EXECUTE_FLOW_TRIGGER", "the flow of the org failed"),
    },
    "login_rate": {
        "status": 400,
        "body": {"error": "login_rate_exceeded", "error_description": "login rate exceeded"},
    },
    "garbage": {"status": 200, "body": "not what was asked for"},
    "lost_before": {"drop": "before"},
    "lost_after": {"drop": "after"},
}
