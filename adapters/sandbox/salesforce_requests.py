"""What a request to the sandbox org says: size, JSON, and the headers that steer a write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from datetime import UTC

from werkzeug import Request, Response
from werkzeug.http import parse_date

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox.salesforce_answers import show_page
from adapters.sandbox.salesforce_switches import Options

_MOST_BYTES = 16_384


def refuse_size(request: Request) -> Response | None:
    """The answer to an address, or an address with headers, of more than 16,384 bytes."""
    address = len(str(request.environ.get("REQUEST_URI") or request.full_path).encode())
    if address > _MOST_BYTES:
        return show_page(414, "URI Too Long")
    headers = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
    if address + headers > _MOST_BYTES:
        return show_page(431, "Request Header Fields Too Large")
    return None


def read_object(request: Request) -> Mapping[str, object]:
    """The JSON object of the body."""
    try:
        body = json.loads(request.get_data())
    except ValueError:
        raise say.refuse(400, "JSON_PARSER_ERROR", "the body is no JSON", None) from None
    if not isinstance(body, dict):
        raise say.refuse(400, "JSON_PARSER_ERROR", "the body must be an object", None)
    return body


def read_options(request: Request, rules: Set[str]) -> Options:
    """How the caller wants a write to be done."""
    assign = request.headers.get("Sforce-Auto-Assign", "TRUE").strip().upper()
    duplicates = request.headers.get("Sforce-Duplicate-Rule-Header", "").replace(" ", "").lower()
    since = request.headers.get("If-Unmodified-Since")
    moment = None
    if since is not None and "unmodified_since" in rules:
        parsed = parse_date(since)
        if parsed is None:
            message = "If-Unmodified-Since must be an HTTP date"
            raise say.refuse(400, "INVALID_HEADER", message, None)
        moment = parsed.astimezone(UTC).timestamp()
    return Options(
        auto_assign=assign != "FALSE",
        allow_duplicates="allowsave=true" in duplicates or "duplicate_rule" not in rules,
        unmodified_since=moment,
        tag=request.headers.get("If-Match"),
    )
