"""HubSpot's OAuth: where an admin allows the app, and what the token endpoint hands out.

https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/oauth
Client secret, code and refresh token travel in the body of a POST alone, and stand in no error.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3 import exceptions

from adapters.hubspot import errors, objects
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import CrmAgain, CrmError, CrmUnreachable
from connector.ports import Grant

CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 9.0
CONSENT = "https://app.hubspot.com/oauth"

_CHUNK = 8_192
_LARGEST = 65_536  # bytes of an answer
_LONGEST_LIFE = 10**9  # seconds of a token
_BAD_GRANT = re.compile("BAD_REFRESH_TOKEN|BAD_AUTH_CODE|INVALID_GRANT|EXPIRED_AUTH_CODE")
_WITH_SCOPES = ("leads", "companies", "deals")
# They have no scopes of their own: who may change contacts may change these.
_ACTIVITIES = ("calls", "emails", "meetings", "notes", "tasks")


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


def renewal(
    settings: HubSpotSettings, *, clock: Callable[[], float] = time.monotonic
) -> Callable[[str | None], Grant]:
    """How ``Shared.access_token`` gets a new token: ``renew(stored refresh token)``.

    Without a stored one, that of the settings is used. A call ends within ten seconds and raises
    only ``CrmError``; ``CrmUnreachable`` with the code ``bad_refresh_token`` or ``not_connected``
    names the command that helps.
    """

    def renew(refresh_token: str | None) -> Grant:
        refresh_token = refresh_token or settings.refresh_token
        if not refresh_token:
            raise CrmUnreachable(
                f"The connection {settings.name!r} has no refresh token yet. Run "
                f"`leadrota connect {settings.name}`, or set its refresh token.",
                code="not_connected",
            )
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return _granted(settings, form, refresh_token, clock)

    return renew


def exchange(
    settings: HubSpotSettings,
    code: str,
    redirect_uri: str,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Grant:
    """The first tokens, for the code that an admin's consent gave. Raises like ``renewal``.

    ``redirect_uri`` is the one that the consent was asked with; a code works once.
    """
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
    return _granted(settings, form, None, clock)


def consent_url(settings: HubSpotSettings, redirect_uri: str) -> str:
    """The address where an admin of the portal allows the app what the connection needs."""
    portal = f"/{settings.portal_id}" if settings.portal_id else ""
    query = {
        "client_id": settings.client_id or "",
        "redirect_uri": redirect_uri,
        "scope": " ".join(scopes(settings)),
        # Portals without workflows lack it; HubSpot leaves it out there.
        "optional_scope": "automation",
    }
    return f"{CONSENT}{portal}/authorize?{urlencode(query)}"


def scopes(settings: HubSpotSettings) -> list[str]:
    """The scopes that the app must have for the object types that are routed."""
    needed = ["oauth", "crm.objects.owners.read"]
    if settings.availability:
        needed.append("crm.objects.users.read")
    for name in map(objects.canonical, settings.objects):
        needed.extend(_scopes_of(name))
    return list(dict.fromkeys(needed))


def _scopes_of(object_type: str) -> list[str]:
    """Those of the type itself, and of the person and company that its records are linked to."""
    linked = ["crm.objects.contacts.read", "crm.objects.companies.read"]
    match object_type:
        case "tickets":
            return ["tickets", *linked]
        case "companies":
            return _both("companies")
        case "contacts":
            return [*_both("contacts"), "crm.objects.companies.read"]
        case name if name in _ACTIVITIES:
            return [*_both("contacts"), "crm.objects.companies.read"]
        case name:
            return [*_both(name if name in _WITH_SCOPES else "custom"), *linked]


def _both(name: str) -> list[str]:
    return [f"crm.objects.{name}.read", f"crm.objects.{name}.write"]


def _granted(
    settings: HubSpotSettings,
    form: dict[str, str],
    refresh_token: str | None,
    clock: Callable[[], float],
) -> Grant:
    app = {"client_id": settings.client_id or "", "client_secret": settings.client_secret}
    version = "v1" if settings.api_version == "v3" else settings.api_version
    url = f"{settings.base_url.rstrip('/')}/oauth/{version}/token"
    reply = _post(url, urlencode({**form, **app}).encode(), clock)
    secrets = [form.get("refresh_token"), form.get("code"), settings.client_secret]
    body = _redacted(reply.body, [secret for secret in secrets if secret])
    if reply.status != 200:
        raise _refused(settings, reply, body)
    return _read(reply.body, refresh_token)


def _post(url: str, body: bytes, clock: Callable[[], float]) -> _Reply:
    deadline = clock() + WHOLE_SECONDS
    headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "leadrota"}
    try:
        with (
            urllib3.PoolManager(retries=False) as pool,
            pool.request(
                "POST",
                url,
                body=body,
                headers=headers,
                redirect=False,  # it would carry the secrets along
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, total=WHOLE_SECONDS),
                preload_content=False,
            ) as response,
        ):
            return _Reply(response.status, response.headers, _content(response, deadline, clock))
    except (
        exceptions.NewConnectionError,
        exceptions.ConnectTimeoutError,
        exceptions.SSLError,
        exceptions.LocationValueError,
    ) as error:
        raise CrmUnreachable(
            f"No connection to HubSpot to fetch a token ({type(error).__name__}).",
            code="no_connection",
        ) from None
    except exceptions.HTTPError as error:
        raise CrmAgain(
            f"HubSpot's answer with a token did not arrive ({type(error).__name__}).",
            code="no_answer",
        ) from None


def _content(response: Any, deadline: float, clock: Callable[[], float]) -> bytes:
    # Piece by piece: a read time-out counts from byte to byte and would let an answer trickle.
    content = b""
    while piece := response.read1(_CHUNK):
        content += piece
        if clock() > deadline or len(content) > _LARGEST:
            raise CrmAgain("HubSpot's answer with a token came too slowly or is too long.")
    return content


def _refused(settings: HubSpotSettings, reply: _Reply, body: bytes) -> CrmError:
    told = errors.told(body)
    found = (told.get(name) for name in ("status", "error", "code", "category"))
    words = [word for word in found if isinstance(word, str) and word.lower() != "error"]
    if 400 <= reply.status < 500 and _BAD_GRANT.search(" ".join(words).upper()):
        return CrmUnreachable(
            f"HubSpot does not take the refresh token or code of {settings.name!r} (any more): it "
            "is used up, of another app, or the app was removed from the account. Run "
            f"`leadrota connect {settings.name}`.",
            code="bad_refresh_token",
            crm_message=_message(told),
        )
    if told and reply.status in (400, 401, 403):
        label = " ".join([str(reply.status), *words])
        return CrmUnreachable(
            f"HubSpot refused the log-in of {settings.name!r} ({label}). Check its client id "
            "and client secret, and the redirect address that a code was asked with.",
            code=words[0] if words else "log_in_refused",
            crm_message=_message(told),
        )
    return errors.refused(reply.status, reply.headers, body, of_records=False)


def _message(told: Mapping[str, Any]) -> str | None:
    text = told.get("error_description")
    return errors.message(told) or (text if isinstance(text, str) else None)


def _read(body: bytes, old_refresh_token: str | None) -> Grant:
    answer = errors.told(body)
    access_token = _token(answer.get("access_token"))
    refresh_token = _token(answer.get("refresh_token") or old_refresh_token)
    seconds = _seconds(answer.get("expires_in"))
    if not access_token or not refresh_token or not seconds:
        raise CrmAgain("HubSpot answered the log-in without usable tokens.", code="bad_answer")
    return Grant(access_token=access_token, refresh_token=refresh_token, seconds=seconds)


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= _LONGEST_LIFE else None


def _token(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch("[!-~]+", value) else None


def _redacted(body: bytes, secrets: list[str]) -> bytes:
    for secret in secrets:
        for form in (secret, json.dumps(secret)[1:-1], urlencode({"": secret})[1:]):
            body = body.replace(form.encode(), b"[secret]")
    return body
