"""The OAuth tokens of the sandbox HubSpot: handed out, renewed, expired, revoked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_schema import stamp
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

LIFETIME = 1800  # seconds that an access token is good


class Tokens:
    """The tokens of one app in one account. Not locked by itself."""

    def __init__(self, clock: Callable[[], datetime], rules: set[str]) -> None:
        self._clock = clock
        self._rules = rules
        self._numbers = itertools.count(1)
        self._expires_at: dict[str, datetime] = {}
        self._codes: dict[str, str] = {}  # code -> redirect address
        self.client_id: str | None = None  # None: the app has no OAuth
        self.refresh_token: str | None = None  # None: revoked

    def install(self, client_id: str) -> str:
        """A person lets the app in; return the refresh token."""
        self.client_id = client_id
        self.refresh_token = f"refresh-token-{next(self._numbers)}"
        return self.refresh_token

    def grant_code(self, redirect_uri: str) -> str:
        """A person lets the app in by the browser; return the code, good for one exchange."""
        code = f"code-{next(self._numbers)}"
        self._codes[code] = redirect_uri
        return code

    def issue(self) -> str:
        """A new access token."""
        token = f"access-token-{next(self._numbers)}"
        self._expires_at[token] = self._clock() + timedelta(seconds=LIFETIME)
        return token

    def expire(self) -> None:
        """End every access token now."""
        self._expires_at = dict.fromkeys(self._expires_at, self._clock())

    def revoke(self) -> None:
        """A person removes the app: no token is good any more."""
        self._expires_at.clear()
        self.refresh_token = None

    def check(self, token: str) -> bool:
        """Whether this access token is known; raises the refusal when it has expired."""
        if token not in self._expires_at:
            return False
        expired = self._expires_at[token]
        if self._clock() >= expired and "token_expiry" in self._rules:
            raise answers.expired_token(self._clock() - expired, stamp(expired))
        return True

    def exchange(self, form: Mapping[str, str], *, secret: str, rotate: bool) -> tuple[str, str]:
        """A new access token and the refresh token to use next; refuses what proves nothing."""
        kind = form.get("grant_type")
        if kind not in ("authorization_code", "refresh_token"):
            raise answers.bad_grant("BAD_GRANT_TYPE", f"unknown grant type: {kind}")
        if "oauth_client" in self._rules:
            if self.client_id is None or form.get("client_id") != self.client_id:
                raise answers.bad_grant("BAD_CLIENT_ID", "missing or unknown client id")
            if form.get("client_secret") != secret:
                raise answers.bad_grant("BAD_CLIENT_SECRET", "missing or invalid client secret")
        if kind == "authorization_code":
            self._use_code(form)
            self.install(self.client_id or "")
        elif form.get("refresh_token") != self.refresh_token and "refresh_token" in self._rules:
            raise answers.bad_grant("BAD_REFRESH_TOKEN", "missing or invalid refresh token")
        elif rotate:
            self.refresh_token = f"refresh-token-{next(self._numbers)}"
        return self.issue(), self.refresh_token or ""

    def _use_code(self, form: Mapping[str, str]) -> None:
        address = self._codes.get(form.get("code", ""))
        if address is None and "oauth_code" in self._rules:
            raise answers.bad_grant("BAD_AUTH_CODE", "missing or unknown auth code")
        if address != form.get("redirect_uri") and "oauth_code" in self._rules:
            raise answers.bad_grant("BAD_REDIRECT_URI", "the redirect URI is another")
        if "oauth_code" in self._rules:
            del self._codes[form["code"]]


def hand_out(sandbox: HubSpotSandbox, request: Request, *, version: str = "v1") -> Response:
    """``POST /oauth/{version}/token``, form-encoded; no bearer token is needed for it."""
    form = request.form.to_dict()
    if "oauth_form" not in sandbox.rules:
        form = request.args.to_dict() | (request.get_json(silent=True) or {}) | form
    with sandbox.lock:
        access, refresh = sandbox.tokens.exchange(
            form, secret=sandbox.client_secret, rotate=sandbox.rotate_refresh_token
        )
    told: dict[str, Any] = {
        "token_type": "bearer",
        "access_token": access,
        "refresh_token": refresh,
        "expires_in": LIFETIME,
    }
    if version != "v1":
        told |= {"hub_id": int(sandbox.portal_id), "scopes": ["oauth"]}
    return json_response(told)
