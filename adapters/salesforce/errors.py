"""What Salesforce says when something fails, and what each word means for us.

The code decides, never the text: wording differs by release and language. Three exceptions, where
one code has several meanings: a session that no log-in can repair, which limit was exceeded, and
whether the org's own code failed for a lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from http import HTTPStatus

from adapters.salesforce.problems import Problem, problem, problems, words
from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    CrmUnreachable,
)
from connector.ports import GONE, Outcome, Result

DAILY_PAUSE = 900.0  # the daily allowance is a rolling window: look again in 15 minutes
SHORT_PAUSE = 3.0  # too many calls at once
_SHORTEST_PAUSE = 1.0
_LONGEST_PAUSE = 86_400.0


class Means(Enum):
    """What one code asks of us."""

    AGAIN = auto()
    NEXT_USER = auto()
    INACTIVE_USER = auto()
    GONE = auto()  # the record is no more; nobody has to look
    NEVER = auto()  # a person has to look
    PACED = auto()
    UNREACHABLE = auto()
    FORBIDDEN = auto()  # of a whole call; of one record it is NEVER
    AGAIN_IF_LOCKED = auto()  # code of the org failed; its text may hide a lock


# Codes that are not listed mean NEVER.
CODES: Mapping[str, Means] = {
    "UNABLE_TO_LOCK_ROW": Means.AGAIN,
    "ENTITY_IS_LOCKED": Means.AGAIN,  # in an approval process; that can take hours
    "SERVER_UNAVAILABLE": Means.AGAIN,
    "FUNCTIONALITY_TEMPORARILY_UNAVAILABLE": Means.AGAIN,
    "ORG_IN_MAINTENANCE": Means.AGAIN,
    "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE": Means.AGAIN,
    "REQUEST_RUNNING_TOO_LONG": Means.AGAIN,
    "QUERY_TIMEOUT": Means.AGAIN,
    "TOO_MANY_APEX_REQUESTS": Means.AGAIN,
    "UNKNOWN_EXCEPTION": Means.AGAIN,
    "INVALID_QUERY_LOCATOR": Means.AGAIN,  # the pages expired: ask from the start
    "INACTIVE_OWNER_OR_USER": Means.INACTIVE_USER,
    "INVALID_CROSS_REFERENCE_KEY": Means.NEXT_USER,
    "OP_WITH_INVALID_USER_TYPE_EXCEPTION": Means.NEXT_USER,
    "TRANSFER_REQUIRES_READ": Means.NEXT_USER,
    "ENTITY_IS_DELETED": Means.GONE,
    "NOT_FOUND": Means.GONE,  # of one record; of a whole call, the API itself is not there
    "CANNOT_UPDATE_CONVERTED_LEAD": Means.NEVER,
    "FIELD_INTEGRITY_EXCEPTION": Means.NEVER,  # a queue where only users may own
    "FIELD_CUSTOM_VALIDATION_EXCEPTION": Means.NEVER,
    "FIELD_FILTER_VALIDATION_EXCEPTION": Means.NEVER,
    "REQUIRED_FIELD_MISSING": Means.NEVER,
    "STRING_TOO_LONG": Means.NEVER,
    "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST": Means.NEVER,
    "DUPLICATES_DETECTED": Means.NEVER,  # although our header lets duplicates pass
    "INVALID_FIELD": Means.NEVER,
    "INVALID_FIELD_FOR_INSERT_UPDATE": Means.NEVER,
    "MALFORMED_QUERY": Means.NEVER,
    "MALFORMED_ID": Means.NEVER,
    "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY": Means.AGAIN_IF_LOCKED,
    "CANNOT_EXECUTE_FLOW_TRIGGER": Means.AGAIN_IF_LOCKED,
    "APEX_ERROR": Means.AGAIN_IF_LOCKED,
    "REQUEST_LIMIT_EXCEEDED": Means.PACED,
    "API_DISABLED_FOR_ORG": Means.UNREACHABLE,
    "API_CURRENTLY_DISABLED": Means.UNREACHABLE,
    "INVALID_SESSION_ID": Means.UNREACHABLE,
    "InvalidSessionId": Means.UNREACHABLE,
    "INVALID_TYPE": Means.FORBIDDEN,  # an object type that is hidden from us does not exist for us
    "INSUFFICIENT_ACCESS": Means.FORBIDDEN,
    "INSUFFICIENT_ACCESS_OR_READONLY": Means.FORBIDDEN,
    "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY": Means.FORBIDDEN,
}
# A transaction security policy has a code for each of its actions.
_POLICY = "TXN_SECURITY_"

_LOCK_PHRASES = (
    "unable_to_lock_row",
    "unable to obtain exclusive access",
    "timeout",
    "timed out",
    "time limit exceeded",
)
# A new token would fail in the same way (high-assurance profile, API access control).
_LASTING_PHRASES = ("not valid for use with", "connected app", "not attached")


def session_expired(status: int, body: bytes) -> bool:
    """Whether a new token can help. 403 never is about the session, whatever it says."""
    if status not in (400, 401) or session_lasts(body):
        return False
    codes = {found.code for found in problems(body) or []}
    return bool(codes & {"INVALID_SESSION_ID", "InvalidSessionId"})


def session_lasts(body: bytes) -> bool:
    """Whether a refusal says that a new token would be refused in the same way."""
    texts = [found.text.lower() for found in problems(body) or []]
    return any(phrase in text for text in texts for phrase in _LASTING_PHRASES)


class RecordRefused(CrmNever):
    """The update of one record was refused, which says nothing of others. ``outcome`` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("Salesforce refused the update of one record.", code=outcome.code)
        self.outcome = outcome


def outcome(record_id: str, entry: Mapping[str, object]) -> Outcome:
    """Read one failed entry of a collections reply."""
    errors = entry.get("errors")
    listed = errors if isinstance(errors, list) else []
    return _outcome(record_id, [problem(error) for error in listed if isinstance(error, dict)])


def _outcome(record_id: str, found: Sequence[Problem]) -> Outcome:
    """The worst of a record's errors decides. Every error stays in the message."""
    if not found:
        return Outcome(
            record_id=record_id,
            result=Result.AGAIN,
            code="no_reason",
            message="Salesforce reported a failure without a reason.",
        )
    worst = min(found, key=lambda p: _SEVERITY.index(_result(p)))
    code = GONE if _meaning(worst.code) is Means.GONE else worst.code or None
    return Outcome(record_id=record_id, result=_result(worst), code=code, message=words(found))


def refused(
    record_id: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime,
    hide: Sequence[str] = (),
) -> CrmError:
    """Say what a reply means that is no success, to the update of one record at its own address.

    ``RecordRefused`` where it is about that record, else what ``call_error`` says.
    """
    if status == HTTPStatus.PRECONDITION_FAILED:
        told = Outcome(
            record_id=record_id,
            result=Result.AGAIN,
            code="changed_meanwhile",
            message="The record was changed after we had read it, so it is read again first.",
        )
        return RecordRefused(told)
    found = problems(body) or []
    means = {_meaning(p.code) for p in found if p.code}
    is_about_record = 400 <= status < 500 and status not in (401, 420, 429)
    if means and is_about_record and not means & {Means.PACED, Means.UNREACHABLE}:
        told = _outcome(record_id, found)
        return RecordRefused(replace(told, message=concealed(told.message, hide)))
    return call_error(status, headers, body, now=now, hide=hide)


def call_error(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime, hide: Sequence[str] = ()
) -> CrmError:
    """Say what a reply that is no success means for the whole call. ``hide`` are secrets.

    A 401 or 403 without a code is taken for one of the whole connection, whoever sent it: what
    waits is not lost.
    """
    found = problems(body)
    code = next((p.code for p in found or [] if p.code), None)
    told = concealed(words(found or []), hide)
    means = _meaning(code) if code else None
    label = f"{status} {code}" if code else f"{status} {_phrase(status)}"
    pause = _retry_after(headers, now)

    if means is Means.PACED or status == 429 or (status == 503 and pause is not None):
        short = means is not Means.PACED or "concurrent" in (told or "").lower()
        wait = pause if pause is not None else (SHORT_PAUSE if short else DAILY_PAUSE)
        return CrmPaced(
            f"Salesforce asks for a pause ({label}).",
            pause_seconds=wait,
            code=code,
            crm_message=told,
        )
    if status >= 500 or status in (408, 409, 412, 420) or means is Means.AGAIN:
        return CrmAgain(
            f"Salesforce could not do it just now ({label}).", code=code, crm_message=told
        )
    if means is Means.FORBIDDEN or (status == 403 and code and means is not Means.UNREACHABLE):
        return CrmForbidden(
            f"Salesforce does not show these records to this connection ({label}). Check the "
            "integration user's permissions for the object type, and SALESFORCE_OBJECTS.",
            code=code,
            crm_message=told,
        )
    if status in (401, 403) or means is Means.UNREACHABLE:
        return CrmUnreachable(
            f"Salesforce does not let this connection in ({label}). Check the app, the integration "
            "user and its permissions.",
            code=code,
            crm_message=told,
        )
    if status < 400 or (status in (404, 410) and code):
        # No record is named in these addresses: the API itself is not where the settings say.
        return CrmUnreachable(
            f"The API is not found there ({label}). Check SALESFORCE_LOGIN_URL and "
            "SALESFORCE_API_VERSION.",
            code=code,
            crm_message=told,
        )
    if code is None and status not in (413, 414, 431):
        return CrmAgain(f"Something on the way to Salesforce answered ({label}), not Salesforce.")
    return CrmNever(f"Salesforce refused the call ({label}).", code=code, crm_message=told)


def concealed(text: str | None, secrets: Sequence[str]) -> str | None:
    """The text without these secrets, should a reply ever repeat one."""
    for secret in secrets:
        text = text.replace(secret, "***") if text and secret else text
    return text


# The first of these that any error of a record asks for decides.
_SEVERITY = (Result.NEVER, Result.REFUSED_OWNER, Result.INACTIVE_OWNER, Result.AGAIN)


def _result(found: Problem) -> Result:
    match _meaning(found.code):
        case Means.AGAIN | Means.PACED | Means.UNREACHABLE:
            return Result.AGAIN
        case Means.NEXT_USER:
            return Result.REFUSED_OWNER
        case Means.INACTIVE_USER:
            return Result.INACTIVE_OWNER
        case Means.AGAIN_IF_LOCKED:
            locked = any(phrase in found.text.lower() for phrase in _LOCK_PHRASES)
            return Result.AGAIN if locked else Result.NEVER
        case Means.NEVER | Means.FORBIDDEN | Means.GONE:
            return Result.NEVER


def _meaning(code: str) -> Means:
    is_policy = code.startswith(_POLICY)
    return Means.FORBIDDEN if is_policy else CODES.get(code, Means.NEVER)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "unknown status"


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds of ``Retry-After``, a number or a date, within bounds; None if it is neither.

    A date is set against the answer's own ``Date``, since clocks differ.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        seconds = float(value)
    else:
        until = _http_date(value)
        if until is None:
            return None
        seconds = (until - (_http_date(headers.get("Date", "")) or now)).total_seconds()
    return min(max(seconds, _SHORTEST_PAUSE), _LONGEST_PAUSE)


def _http_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
