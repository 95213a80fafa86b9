"""Logging in to one org, once for all threads and processes.

Two server-to-server flows remain: client credentials and JWT bearer. (The user name and password
flow ends on 2027-02-20.) Neither gives a refresh token or an end of life: a token lives until a
call is answered with 401, most often since nobody used it for some hours.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlsplit

import jwt

from adapters.salesforce import addresses, errors, ids
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, CrmAgain, CrmError, CrmPaced, CrmUnreachable
from connector.ports import Grant, Shared

_RATE_PAUSE = 900.0  # log-ins are counted by the hour
_ASSERTION_LIFE = timedelta(minutes=2)  # Salesforce takes at most three
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_WHAT_TO_DO: Mapping[str, str] = {
    "invalid_client": "Check SALESFORCE_CLIENT_SECRET: it is not the app's (any more).",
    "invalid_client_id": "Check SALESFORCE_CLIENT_ID: the org does not know such an app. A new one "
    "takes some minutes to be known.",
    "unsupported_grant_type": "Enable the flow in the settings of the external client app: client "
    "credentials, or JWT bearer.",
    "invalid_app_access": "Allow the integration user to use the external client app: in its "
    "policies, or by a permission set.",
    "inactive_user": "Activate the integration user, or unfreeze it.",
    "inactive_org": "The org is locked, suspended or being moved; ask Salesforce.",
}
_FLOW_HELP = {
    "client_credentials": "Check the policies of the external client app: the client credentials "
    "flow must be on and have an active user to run as; SALESFORCE_LOGIN_URL must be the org's My "
    "Domain address.",
    _JWT_BEARER: "Check that SALESFORCE_USERNAME is an active user whom the policies of the "
    "external client app approve in advance, that the certificate of SALESFORCE_PRIVATE_KEY is in "
    "the app, and that this machine's clock is right.",
}


@dataclass(frozen=True, slots=True)
class Token:
    """What a log-in gave."""

    access_token: str = field(repr=False)
    instance_url: str  # where calls go; no trailing slash
    user_id: str | None  # the integration user
    org_id: str | None = None  # which org let us in
    grant: str = field(default="", repr=False)  # all of it, as all processes share it


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
    """The token of one connection, shared by all threads and processes."""

    def __init__(
        self,
        settings: SalesforceSettings,
        shared: Shared,
        *,
        clock: Callable[[], datetime],
        post: Post,
    ) -> None:
        """Raise ``BadSettings`` when these settings can never log in."""
        login_url = addresses.origin(settings.login_url)
        if login_url is None:
            raise BadSettings(
                f"Connection {settings.name}: SALESFORCE_LOGIN_URL must be the org's My Domain "
                "address, https://….my.salesforce.com, without a path."
            )
        self._settings = settings
        self._shared = shared
        self._login_url = login_url
        self._clock = clock
        self._post = post
        self._key = None if settings.client_secret else _signing_key(settings)
        self._refused: str | None = None  # the last one that a call was refused with

    def token(self, *, stale: Token | None = None, seconds: float) -> Token:
        """Return a token that is not ``stale``, logging in when there is none, within ``seconds``.

        Who waits for a log-in shares its end: twenty calls that find one token expired cost one.
        """
        ends = time.monotonic() + seconds

        def renew(_: str | None) -> Grant:
            return Grant(access_token=self._log_in(ends - time.monotonic()), seconds=None)

        def shared(rejected: str | None) -> str:
            left = ends - time.monotonic()
            return self._shared.access_token(renew, rejected=rejected, seconds=left)

        grant = shared(stale.grant if stale else None)
        token = self._read(grant)
        if token is None:  # of other settings or another version: one of our own is good
            token = self._read(shared(grant))
        if token is None:
            raise CrmUnreachable("The stored token cannot be used.", code="no_token")
        return token

    def worked(self, token: Token) -> None:
        """A call got through with this token."""
        if self._refused == token.grant:
            self._refused = None
        self._shared.worked(token.grant)

    def refused(self, token: Token) -> None:
        """A call was answered with 401 to this token, and a new one was not asked for."""
        self._refused = token.grant
        self._shared.refused(token.grant)

    def was_refused(self, token: Token) -> bool:
        """Whether an earlier call of this process was, and none got through with it since."""
        return token.grant == self._refused

    def _read(self, grant: str) -> Token | None:
        """The token that all share, None when it is none of ours or must not be sent there."""
        try:
            held = json.loads(grant)
            instance = addresses.trusted_instance(held["instance_url"], login_url=self._login_url)
            if instance is None:
                return None
            return Token(held["access_token"], instance, held["user_id"], held["org_id"], grant)
        except (ValueError, TypeError, KeyError):
            return None

    def _log_in(self, seconds: float) -> str:
        """A new token, as all processes share it."""
        form = self._form()
        reply = self._post(f"{self._login_url}/services/oauth2/token", form, seconds=seconds)
        if reply.status != 200:
            raise self._refusal(reply, form)
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
        # https://login.salesforce.com/id/<org>/<user>
        org, _, user = str(document.get("id") or "").rstrip("/").rpartition("/")
        held = {
            "access_token": access_token,
            "instance_url": instance,
            "user_id": ids.user_id(user),
            "org_id": ids.full_id(org.rpartition("/")[2]),
        }
        return json.dumps(held)

    def _refusal(self, reply: Reply, form: Mapping[str, str]) -> CrmError:
        hide = (form.get("client_secret", ""), form.get("assertion", ""))
        error = errors.call_error(
            reply.status, reply.headers, reply.body, now=self._clock(), hide=hide
        )
        if isinstance(error, CrmAgain | CrmPaced) and (reply.status >= 500 or reply.status == 429):
            return error
        word = error.code if error.code != type(error).code else None  # Salesforce's own or none
        label = f"{reply.status} {word}" if word else str(reply.status)
        # Its code is that of a bad grant, so that only the text tells.
        if "rate exceeded" in (error.crm_message or "").lower():
            return CrmPaced(
                f"The integration user logged in too often within an hour ({label}).",
                pause_seconds=_RATE_PAUSE,
                code=word,
                crm_message=error.crm_message,
            )
        help_ = _WHAT_TO_DO.get(word or "") or _FLOW_HELP[form["grant_type"]]
        return CrmUnreachable(
            f"Salesforce refused the log-in ({label}). {help_}",
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
