"""JSON bodies, checked before any field is looked at."""

from __future__ import annotations

import json
import math
from typing import Any

from flask import request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    RequestEntityTooLarge,
    UnsupportedMediaType,
)

from connector.errors import BadInput, Pointer

MAX_BODY = 1024 * 1024  # bytes
FLASK_LIMIT = MAX_BODY + 1  # one more, so that a longer body can be told from a whole one
MAX_DEPTH = 24


class StrictJson(DefaultJSONProvider):
    """JSON as RFC 8259 has it: no NaN, no Infinity, nothing that overflows."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Read a document; ``ValueError`` for anything that is not JSON."""
        try:
            return json.loads(s, parse_constant=_refuse, parse_float=_finite, **kwargs)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def check(*, may_be_empty: bool = False) -> None:
    """Refuse a body that is not JSON of a sensible form. Reads it once; Flask keeps it."""
    raw = read()
    twice = [Pointer(f"/{n}", "is given twice") for n, values in request.args.lists() if values[1:]]
    if twice:
        raise BadInput("Give each query parameter once.", errors=twice)
    if request.method not in ("POST", "PUT", "PATCH"):
        return
    if may_be_empty and not raw:
        return
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("Send the body as Content-Type: application/json.")
    try:
        document = request.get_json()
    except BadRequest:
        raise BadInput("The body is not JSON (RFC 8259).", code="not_json") from None
    if isinstance(document, str) or document is None:
        detail = f"must be a JSON object or list, not {'null' if document is None else 'text'}"
        raise BadInput(f"The body {detail}.", errors=[Pointer("", detail)])
    _inspect(document)


def read() -> bytes:
    """The raw body of at most ``MAX_BODY`` bytes, uncompressed. Flask keeps it.

    Compressed bodies are not unpacked: a small one can become any size.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")
    try:
        body = request.get_data()
    except HTTPException:
        raise
    except Exception:  # each server has errors of its own for chunks that are none
        raise BadRequest("The body cannot be read: its chunks are broken.") from None
    # A body without Content-Length is cut off at Flask's own limit, without an error.
    if len(body) > MAX_BODY:
        raise RequestEntityTooLarge
    return body


def _inspect(document: Any) -> None:
    """Refuse what no database can keep: depth without end, lone surrogates, NUL."""
    rest = [(document, "", 0)]
    while rest:
        value, pointer, depth = rest.pop()
        if depth > MAX_DEPTH:
            _bad(pointer, f"is nested more than {MAX_DEPTH} deep")
        if isinstance(value, str) and not _storable(value):
            _bad(pointer, "contains a NUL or a lone surrogate")
        if isinstance(value, dict):
            for key, item in value.items():
                if not _storable(key):
                    _bad(pointer, "has a key with a NUL or a lone surrogate")
                escaped = key.replace("~", "~0").replace("/", "~1")
                rest.append((item, f"{pointer}/{escaped}", depth + 1))
        if isinstance(value, list):
            rest.extend((item, f"{pointer}/{i}", depth + 1) for i, item in enumerate(value))


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _bad(pointer: str, detail: str) -> None:
    raise BadInput(f"{pointer}: {detail}", errors=[Pointer(pointer, detail)])


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number
