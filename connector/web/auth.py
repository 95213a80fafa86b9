"""Who may call the REST API."""

from __future__ import annotations

import hashlib
import hmac
from typing import NoReturn

from flask import g, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from connector.web.context import current


def require() -> None:
    """Let a request with the right bearer token pass; ``g.token`` then names the token.

    The name is a hash, so that it can be stored.
    """
    expected = current().api_token
    if not expected:
        _refuse("No token is set up. Set LEADROTA_API_TOKEN and send it as a bearer token.")
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        _refuse("Send the header Authorization: Bearer TOKEN.")
    if not hmac.compare_digest(given.strip().encode(), expected.encode()):
        _refuse("This token is not known.")
    g.token = hashlib.sha256(expected.encode()).hexdigest()


def _refuse(detail: str) -> NoReturn:
    raise Unauthorized(detail, www_authenticate=WWWAuthenticate("bearer", {"realm": "Lead Rota"}))
