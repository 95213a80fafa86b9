"""What HubSpot's refusals mean to us: try again, pause, closed, cannot be reached, or never.

https://developers.hubspot.com/docs/api-reference/error-handling
Every field of an error body is optional; proxies in front of HubSpot answer in HTML or forms of
their own, and what they refuse says nothing of a record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo

from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    CrmUnreachable,
)
from connector.ports import Result

MISSING_SCOPES = "MISSING_SCOPES"

_INACTIVE = "INVALID_OWNER_ID"
_ENVELOPE = ("status", "message", "category", "errors", "correlationId")
MOMENTARY = ("RATE_LIMITS", "INTERNAL_ERROR")

_DAY = 86_400.0
_LOCKED_SECONDS = 2.0
_MIGRATION_SECONDS = 60.0
_DAILY_SECONDS = 900.0
_PAUSES = {"SECONDLY": 1.0, "TEN_SECONDLY_ROLLING": 10.0}
_LONGEST_TEXT = 1_000
_FIXDATE = re.compile(
    "[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
)
# They name the owner property, but no other user would fare better.
_NOT_THE_USER = re.compile(
    r"PROPERTY_DOESNT_EXIST|PROPERTY \W*HUBSPOT_OWNER_ID\W* DOES|READ[ _-]ONLY|REQUIRED"
)


class CallRefused(CrmNever):
    """HubSpot refused the call. ``result`` is how that ends the one write it was made for."""

    def __init__(self, message: str, *, code: str | None, crm_message: str | None, result: Result):
        super().__init__(message, code=code, crm_message=crm_message)
        self.result = result


def told(body: bytes | None) -> dict[str, Any]:
    """The error envelope of an answer, {} when the body is none."""
    try:
        read = json.loads(body or b"")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def lasts_until_midnight(headers: Mapping[str, str], body: bytes | None) -> bool:
    """The account has used up its calls for today, and the answer does not say how long to wait."""
    return told(body).get("policyName") == "DAILY" and _asked_seconds(headers) is None


def refused(
    status: int,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    of_records: bool,
    time_zone: str | None = None,
) -> CrmError:
    """The error for an answer of ``status`` that is no success.

    ``of_records`` tells a call for records of one object type from one that all of them need: the
    list of owners and the account's details. ``time_zone`` is the account's, where it is known:
    the daily limit ends at midnight there.
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
        case 403 if of_records:
            return forbidden(error, text)
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
        case _ if status not in (413, 414) and not any(name in error for name in _ENVELOPE):
            return CrmAgain(
                f"The answer {status} is not in HubSpot's form: a proxy may have given it.",
                code="bad_answer",
            )
        case _ if not of_records:
            return CrmUnreachable(text, code=code, crm_message=words)
        case _:
            # A conflict with somebody who writes the same record is over a moment later.
            otherwise = Result.AGAIN if status == 409 else Result.NEVER
            result = owner_result(error) or otherwise
            return CallRefused(text, code=code, crm_message=words, result=result)


def forbidden(error: Mapping[str, Any], text: str) -> CrmForbidden:
    """The error for records that are closed to us; ``text`` is made to name the missing scopes."""
    return CrmForbidden(
        text + _missing_scopes(error), code=machine_word(error), crm_message=message(error)
    )


def message(error: Mapping[str, Any]) -> str | None:
    """HubSpot's own text of an error, whole batch or one item, cut to a readable length."""
    own = [_text(error.get("message"))]
    own += [_text(item.get("message")) for item in _items(error)]
    text = "; ".join(dict.fromkeys(filter(None, own)))
    return text[:_LONGEST_TEXT] or None


def machine_word(error: Mapping[str, Any]) -> str | None:
    """HubSpot's most exact word for an error: ``INVALID_OWNER_ID``, ``OBJECT_NOT_FOUND``."""
    if _INACTIVE in re.findall(r"\w+", _dumped(error)):
        return _INACTIVE
    words = [_text(item.get("code")) for item in _items(error)]
    words += [_text(error.get(name)) for name in ("code", "category", "errorType")]
    return next((word for word in words if word), None)


def owner_result(error: Mapping[str, Any]) -> Result | None:
    """How a write ends by an error that speaks of the record's owner, None when it does not."""
    if machine_word(error) == _INACTIVE:
        return Result.INACTIVE_OWNER
    words = _dumped(error)
    if "HUBSPOT_OWNER_ID" not in words or error.get("category") in MOMENTARY:
        return None
    return Result.NEVER if _NOT_THE_USER.search(words) else Result.REFUSED_OWNER


def _dumped(error: Mapping[str, Any]) -> str:
    try:
        return re.sub(r"\\.", " ", json.dumps(error)).upper()  # no escapes glued to words
    except RecursionError:  # writing needs more of the stack than reading did
        return ""


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
    asked = _asked_seconds(headers)
    if asked is not None:
        return asked
    if status == 423:
        return _LOCKED_SECONDS
    if status == 477:
        return _MIGRATION_SECONDS
    policy = error.get("policyName")
    if policy == "DAILY":
        return _until_midnight(headers.get("Date"), time_zone) or _DAILY_SECONDS
    return _PAUSES.get(str(policy), 10.0)


def _asked_seconds(headers: Mapping[str, str]) -> float | None:
    """The pause that ``Retry-After`` asks for, within our bounds; None when it makes no sense."""
    asked = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", asked):
        return _bounded(float(asked))
    until, now = _http_date(asked), _http_date(headers.get("Date", "").strip())
    return _bounded((until - now).total_seconds()) if until and now else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), _DAY)


def _http_date(text: str) -> datetime | None:
    """The moment of an IMF-fixdate (RFC 9110, 5.6.7), None for every other form."""
    if not _FIXDATE.fullmatch(text):
        return None
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


def _until_midnight(date: str | None, time_zone: str | None) -> float | None:
    """Seconds from the answer's own ``Date`` to the next midnight in the account's zone."""
    moment = _http_date(date or "")
    if moment is None:
        return None
    try:
        now = moment.astimezone(ZoneInfo(time_zone or ""))
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
        return _bounded((midnight.astimezone(UTC) - moment).total_seconds())
    except (ValueError, KeyError, OSError, OverflowError):
        return None
