"""The token endpoint of the sandbox org: client credentials, JWT bearer, refresh tokens."""

from __future__ import annotations

import base64
import hmac
import threading
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt
from werkzeug import Request, Response

from adapters.sandbox.salesforce_answers import show_json

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCES = ("https://login.salesforce.com", "https://test.salesforce.com")
_LONGEST_ASSERTION = timedelta(minutes=5)


class TokenRefused(Exception):
    """The token endpoint's own kind of error: an object with ``error``, status 400."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(error)
        self.body = {"error": error, "error_description": description}


@dataclass
class Tokens:
    """Who may log in, and the tokens that are alive. Safe to share by threads."""

    clock: Callable[[], datetime]
    rules: Set[str]
    org_id: str
    client_id: str
    client_secret: str
    username: str
    public_key: str | None = None
    is_approved: bool = True  # the JWT user approved the app
    has_run_as_user: bool = True  # client credentials have a user to run as
    is_frozen: bool = False  # an admin froze the integration user
    has_rest: bool = True  # the user's sessions may call the REST API
    scope: str = "api"  # of the app; without "api" or "full" no session may call the REST API
    log_in_limit: int | None = None  # log-ins an hour
    refresh_tokens: set[str] = field(default_factory=set)  # those that were given out before
    session_timeout: timedelta = timedelta(hours=2)  # since the last call
    log_ins: int = 0
    _granted_at: list[datetime] = field(default_factory=list)
    _used_at: dict[str, datetime] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def grant(self, request: Request, *, instance_url: str, user_id: str) -> Response:
        """The answer to ``POST /services/oauth2/token``."""
        try:
            self._check(request)
        except TokenRefused as refused:
            return show_json(refused.body, status=400)
        issued_at = self.clock()
        with self._lock:
            self.log_ins += 1
            token = f"{self.org_id[:15]}!AQsandbox.{self.log_ins:06d}"
            self._granted_at.append(issued_at)
            self._used_at[token] = issued_at
        stamp = str(int(issued_at.timestamp() * 1000))
        identity = f"{instance_url}/id/{self.org_id}/{user_id}"
        signed = hmac.digest(self.client_secret.encode(), (identity + stamp).encode(), "sha256")
        body = {
            "access_token": token,
            "signature": base64.b64encode(signed).decode(),
            "scope": self.scope,
            "instance_url": instance_url,
            "id": identity,
            "token_type": "Bearer",
            "issued_at": stamp,
        }
        return show_json(body if "no_expires_in" in self.rules else body | {"expires_in": 7200})

    def is_live(self, authorization: str | None) -> bool:
        """Whether a request's ``Authorization`` header opens the org; prolongs the session."""
        scheme, _, token = (authorization or "").partition(" ")
        now = self.clock()
        with self._lock:
            used_at = self._used_at.get(token)
            if used_at is None or scheme.lower() not in ("bearer", "oauth"):
                return False
            if now - used_at > self.session_timeout and "session_timeout" in self.rules:
                return False
            self._used_at[token] = now
        return True

    @property
    def opens_rest(self) -> bool:
        """Whether a live session is good for the REST API; a new log-in does not change it."""
        return self.has_rest and bool({"api", "full"} & set(self.scope.split()))

    def expire(self) -> None:
        """End every session."""
        with self._lock:
            self._used_at.clear()

    def _check(self, request: Request) -> None:
        if self.log_in_limit is not None and "log_in_limit" in self.rules:
            hour_ago = self.clock() - timedelta(hours=1)
            if sum(moment > hour_ago for moment in self._granted_at) >= self.log_in_limit:
                raise TokenRefused("login_rate_exceeded", "login rate exceeded")
        match request.form.get("grant_type"):
            case "client_credentials":
                self._check_client(request)
            case grant if grant == JWT_BEARER:
                self._check_assertion(request.form.get("assertion", ""))
            case "refresh_token":
                self._check_client(request)
                if request.form.get("refresh_token") not in self.refresh_tokens:
                    raise TokenRefused("invalid_grant", "expired access/refresh token")
            case _:
                raise TokenRefused("unsupported_grant_type", "grant type not supported")
        if self.is_frozen:
            raise TokenRefused("invalid_grant", "user account is frozen")

    def _check_client(self, request: Request) -> None:
        client_id = request.form.get("client_id", "")
        secret = request.form.get("client_secret", "")
        if request.authorization and request.authorization.type == "basic":
            client_id = request.authorization.username or ""
            secret = request.authorization.password or ""
        if "client_credentials" not in self.rules:
            return
        if client_id != self.client_id:
            raise TokenRefused("invalid_client_id", "client identifier invalid")
        if not hmac.compare_digest(secret.encode(), self.client_secret.encode()):
            raise TokenRefused("invalid_client", "invalid client credentials")
        if not self.has_run_as_user:
            raise TokenRefused("invalid_grant", "no client credentials user enabled")

    def _check_assertion(self, assertion: str) -> None:
        if "jwt_bearer" not in self.rules:
            return
        claims = self._claims(assertion)
        if claims.get("iss") != self.client_id:
            raise TokenRefused("invalid_client_id", "client identifier invalid")
        if claims.get("aud") not in _AUDIENCES:
            raise TokenRefused("invalid_grant", "audience is invalid")
        if claims.get("sub") != self.username:
            raise TokenRefused("invalid_grant", "user hasn't approved this consumer")
        if not self.is_approved:
            raise TokenRefused("invalid_grant", "user hasn't approved this consumer")
        try:
            left = float(str(claims["exp"])) - self.clock().timestamp()
        except (KeyError, ValueError):
            raise TokenRefused("invalid_grant", "invalid assertion") from None
        if not 0 < left <= _LONGEST_ASSERTION.total_seconds():
            raise TokenRefused("invalid_grant", "expired authorization code")

    def _claims(self, assertion: str) -> dict[str, object]:
        if self.public_key is None:
            raise TokenRefused("invalid_grant", "no certificate is set for this app")
        # The times are checked against the sandbox's own clock, not the machine's.
        try:
            claims: dict[str, object] = jwt.decode(
                assertion,
                self.public_key,
                algorithms=["RS256"],
                options={
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                    "verify_aud": False,
                },
            )
        except jwt.InvalidTokenError:
            raise TokenRefused("invalid_grant", "invalid assertion") from None
        return claims
