"""Logging in to one org, once for all threads.

Two server-to-server flows remain: client credentials and JWT bearer. (The user name and password
flow ends on 2027-02-20.) Neither gives a refresh token or an end of life: a token lives until a
call is answered with 401.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlsplit

import jwt

from adapters.salesforce import addresses, errors, ids
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, CrmAgain, CrmError, CrmPaced, CrmUnreachable, copied

_LOG_INS = 5  # in a row, with no call in between that their tokens let through
_LOG_IN_PAUSE = timedelta(hours=24)
_ASSERTION_LIFE = timedelta(minutes=2)  # Salesforce takes at most three
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True, slots=True)
class Token:
    """What a log-in gave."""

    access_token: str = field(repr=False)
    instance_url: str  # where calls go; no trailing slash
    user_id: str | None  # the integration user


@dataclass(frozen=True, slots=True)
class Reply:
    """What the token endpoint answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    document: object  # parsed JSON, None if it is none


class Post(Protocol):
    """Post a form within so many seconds, without following redirects; raises ``CrmError``."""

    def __call__(self, url: str, form: Mapping[str, str], *, seconds: float) -> Reply:
        """Return the whole answer, whatever its status."""
        ...


class LogIn:
    """The token of one connection, in memory only. Shared by threads.

    Where fresh tokens are refused one after the other, another would be too: after five the last is
    kept and tried, and no further log-in is made until a call gets through or a day has passed.
    """

    def __init__(
        self, settings: SalesforceSettings, *, clock: Callable[[], datetime], post: Post
    ) -> None:
        """Raise ``BadSettings`` when these settings can never log in."""
        login_url = addresses.origin(settings.login_url)
        if login_url is None:
            raise BadSettings(
                f"Connection {settings.name}: SALESFORCE_LOGIN_URL must be the org's My Domain "
                "address, https://….my.salesforce.com, without a path."
            )
        self._settings = settings
        self._login_url = login_url
        self._clock = clock
        self._post = post
        self._key = None if settings.client_secret else _signing_key(settings)
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._refused: Token | None = None  # the last one that a call was refused with
        self._log_ins = 0  # that gave a token, since a call last got through
        self._last_log_in: datetime | None = None
        self._failures = 0
        self._failure: CrmError | None = None

    def token(self, *, stale: Token | None = None, seconds: float) -> Token:
        """Return a token that is not ``stale``, logging in when there is none.

        Threads that wait for a log-in share its end, good or bad: twenty calls that find one token
        expired cost one log-in.
        """
        failures_before = self._failures
        if not self._lock.acquire(timeout=max(seconds, 0.0)):
            raise CrmAgain("Another thread is still logging in to Salesforce.")
        try:
            if self._token is not None and self._token is not stale:
                return self._token
            if self._failure is not None and self._failures != failures_before:
                raise copied(self._failure)
            self._check_pause()
            self._token, self._failure = None, None
            try:
                self._token = self._log_in(seconds)
            except CrmError as failure:
                self._failure = failure
                self._failures += 1
                raise
            self._log_ins += 1
            self._last_log_in = self._clock()
            return self._token
        finally:
            self._lock.release()

    def worked(self, token: Token) -> None:
        """A call got through with this token."""
        if token is self._token:
            self._refused, self._log_ins = None, 0

    def refused(self, token: Token) -> None:
        """A call was answered with 401 to this token, and a new one was not asked for."""
        if token is self._token:
            self._refused = token

    def was_refused(self, token: Token) -> bool:
        """Whether an earlier call was, and none got through with it since."""
        return token is self._refused

    def _check_pause(self) -> None:
        """Raise ``CrmUnreachable`` while another log-in would be one too many."""
        if self._log_ins < _LOG_INS or self._last_log_in is None:
            return
        # A last log-in in the future is from before the clock was set back.
        if timedelta() <= self._clock() - self._last_log_in < _LOG_IN_PAUSE:
            raise CrmUnreachable(
                f"Salesforce refused the tokens of {_LOG_INS} log-ins in a row. The last one is "
                f"still tried; the next log-in is a day after it, at "
                f"{self._last_log_in + _LOG_IN_PAUSE:%Y-%m-%d %H:%M} UTC, or at a restart. Check "
                "the session settings and permissions of the integration user.",
                code="log_ins_paused",
            )

    def _log_in(self, seconds: float) -> Token:
        form = self._form()
        reply = self._post(f"{self._login_url}/services/oauth2/token", form, seconds=seconds)
        hide = (form.get("client_secret", ""), form.get("assertion", ""))
        if reply.status != 200:
            raise self._refusal(reply, hide)
        document = reply.document if isinstance(reply.document, dict) else {}
        access_token, instance_url = document.get("access_token"), document.get("instance_url")
        if not isinstance(access_token, str) or not access_token or not access_token.isascii():
            raise CrmUnreachable(
                "The log-in was answered without a token. Check SALESFORCE_LOGIN_URL.",
                code="no_token",
            )
        instance = addresses.trusted_instance(str(instance_url), login_url=self._login_url)
        if instance is None:
            raise CrmUnreachable(
                "The log-in named an address outside Salesforce for further calls; the token is "
                "not sent there. Check SALESFORCE_LOGIN_URL.",
                code="foreign_instance",
            )
        identity = str(document.get("id") or "").rstrip("/").rpartition("/")[2]
        return Token(access_token, instance, ids.user_id(identity))

    def _refusal(self, reply: Reply, hide: tuple[str, ...]) -> CrmError:
        error = errors.call_error(
            reply.status, reply.headers, reply.body, now=self._clock(), hide=hide
        )
        if isinstance(error, CrmAgain | CrmPaced) and (reply.status >= 500 or reply.status == 429):
            return error
        word = error.code if error.code != type(error).code else None  # Salesforce's own or none
        label = f"{reply.status} {word}" if word else str(reply.status)
        return CrmUnreachable(
            f"Salesforce refused the log-in ({label}). Check the external client app, its secret "
            "or certificate, and that its user is set and approved.",
            code=word,
            crm_message=error.crm_message,
        )

    def _form(self) -> dict[str, str]:
        settings = self._settings
        if settings.client_secret:
            return {
                "grant_type": "client_credentials",
                "client_id": settings.client_id,
                "client_secret": settings.client_secret,
            }
        claims = {
            "iss": settings.client_id,
            "sub": settings.username,
            "aud": audience(self._login_url),
            "exp": int((self._clock() + _ASSERTION_LIFE).timestamp()),
        }
        return {
            "grant_type": _JWT_BEARER,
            "assertion": jwt.encode(claims, self._key or "", algorithm="RS256"),
        }


def audience(login_url: str) -> str:
    """Return ``aud`` of an assertion: one of two literals, whatever host the call goes to.

    Sandboxes are ``acme--dev.sandbox.my…`` (without enhanced domains ``acme--dev.my…``); scratch
    orgs log in as sandboxes do.
    """
    host = urlsplit(login_url).hostname or ""
    labels = host.split(".")
    is_test = host == "test.salesforce.com" or "--" in labels[0]
    is_test = is_test or "sandbox" in labels or "scratch" in labels
    return "https://test.salesforce.com" if is_test else "https://login.salesforce.com"


def _signing_key(settings: SalesforceSettings) -> str:
    if not settings.private_key or not settings.username:
        raise BadSettings(
            f"Connection {settings.name}: set SALESFORCE_CLIENT_SECRET, or SALESFORCE_PRIVATE_KEY "
            "together with SALESFORCE_USERNAME."
        )
    # Environment variables often carry a key in one line.
    pem = settings.private_key.replace("\\n", "\n")
    try:
        jwt.encode({}, pem, algorithm="RS256")
    except (jwt.PyJWTError, ValueError, TypeError):
        raise BadSettings(
            f"Connection {settings.name}: SALESFORCE_PRIVATE_KEY is not an RSA key in PEM form "
            "without a pass phrase."
        ) from None
    return pem
