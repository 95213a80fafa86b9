"""What HubSpot's refusals mean to us: try again, pause, cannot be reached, or never.

https://developers.hubspot.com/docs/api-reference/error-handling
Every field of an error body is optional, and proxies in front of HubSpot answer in HTML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo

from connector.errors import CrmAgain, CrmError, CrmNever, CrmPaced, CrmUnreachable

REFUSED_OWNER = "INVALID_OWNER_ID"

_DAY = 86_400.0
_LOCKED_SECONDS = 2.0
_MIGRATION_SECONDS = 60.0
_DAILY_SECONDS = 900.0
_PAUSES = {"SECONDLY": 1.0, "TEN_SECONDLY_ROLLING": 10.0}
_LONGEST_TEXT = 1_000
# They name the owner property, but no other user would fare better.
_NOT_THE_USER = ("PROPERTY_DOESNT_EXIST", "READ_ONLY", "REQUIRED")


def told(body: bytes | None) -> dict[str, Any]:
    """The error envelope of an answer, {} when the body is none."""
    try:
        read = json.loads(body or b"")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def lasts_until_midnight(headers: Mapping[str, str], body: bytes | None) -> bool:
    """The account has used up its calls for today, and the answer does not say how long to wait."""
    return told(body).get("policyName") == "DAILY" and "Retry-After" not in headers


def refused(
    status: int, headers: Mapping[str, str], body: bytes | None, *, time_zone: str | None = None
) -> CrmError:
    """The error for an answer of ``status`` that is no success.

    ``time_zone`` is the account's, where it is known: the daily limit ends at midnight there.
    """
    error = told(body)
    words = message(error)
    text = f"HubSpot answered {status}: {words or 'no readable message'}"
    code = machine_word(error)
    match status:
        case 429 | 423 | 477:
            pause = _pause(status, headers, error, time_zone)
            code = _text(error.get("policyName")) or code
            return CrmPaced(text, pause_seconds=pause, code=code, crm_message=words)
        case 401 | 403:
            return CrmUnreachable(text + _missing_scopes(error), code=code, crm_message=words)
        case _ if 300 <= status < 400:
            return CrmUnreachable(
                f"{text}. Redirects are not followed, so that the token stays here: check the"
                " address of the HubSpot API.",
                code="redirected",
            )
        case _ if status == 408 or status >= 500:
            return CrmAgain(text, code=code, crm_message=words)
        case _:
            code = REFUSED_OWNER if refuses_owner(error) else code
            return CrmNever(text, code=code, crm_message=words)


def message(error: Mapping[str, Any]) -> str | None:
    """HubSpot's own text of an error, whole batch or one item, cut to a readable length."""
    own = [_text(error.get("message"))]
    own += [_text(item.get("message")) for item in _items(error)]
    text = "; ".join(dict.fromkeys(filter(None, own)))
    return text[:_LONGEST_TEXT] or None


def machine_word(error: Mapping[str, Any]) -> str | None:
    """HubSpot's most exact word for an error: ``INVALID_OWNER_ID``, ``OBJECT_NOT_FOUND``."""
    words = [_text(item.get("code")) for item in _items(error)]
    words += [_text(error.get(name)) for name in ("code", "category", "errorType")]
    return next((word for word in words if word), None)


def refuses_owner(error: Mapping[str, Any]) -> bool:
    """The error says that this user cannot own the record."""
    text = json.dumps(error)
    if REFUSED_OWNER in text.upper():
        return True
    return "hubspot_owner_id" in text and not any(word in text.upper() for word in _NOT_THE_USER)


def _items(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    items = error.get("errors")
    return (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _missing_scopes(error: Mapping[str, Any]) -> str:
    scopes: dict[str, None] = {}
    for holder in (error, *_items(error)):
        context = holder.get("context")
        for name in ("requiredGranularScopes", "requiredScopes"):
            found = context.get(name) if isinstance(context, dict) else None
            scopes.update(dict.fromkeys(map(str, found if isinstance(found, list) else ())))
    return f" Scopes the token needs: {', '.join(scopes)}." if scopes else ""


def _pause(
    status: int, headers: Mapping[str, str], error: Mapping[str, Any], time_zone: str | None
) -> float:
    asked = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", asked):  # seconds
        return min(max(float(asked), 1.0), _DAY)
    if status == 423:
        return _LOCKED_SECONDS
    if status == 477:
        return _MIGRATION_SECONDS
    policy = error.get("policyName")
    if policy == "DAILY":
        return _until_midnight(headers.get("Date"), time_zone) or _DAILY_SECONDS
    return _PAUSES.get(str(policy), 10.0)


def _until_midnight(date: str | None, time_zone: str | None) -> float | None:
    """Seconds from the answer's own ``Date`` to the next midnight in the account's zone."""
    try:
        now = parsedate_to_datetime(date or "").astimezone(ZoneInfo(time_zone or ""))
    except (ValueError, KeyError, OSError):
        return None
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return (midnight.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
