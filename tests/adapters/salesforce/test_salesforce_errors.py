from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.salesforce import errors, problems
from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    CrmUnreachable,
)
from connector.ports import Outcome, Result

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
DAILY = "TotalRequests Limit exceeded."
CONCURRENT = "ConcurrentRequests (Concurrent API Requests) Limit exceeded."
HTML = "<html><body>Service Unavailable</body></html>"


def entry(*told: tuple[str, str]) -> dict[str, Any]:
    listed = [{"statusCode": code, "message": text, "fields": []} for code, text in told]
    return {"success": False, "errors": listed}


def outcome(*told: tuple[str, str]) -> Outcome:
    return errors.outcome("00Q5e00000XyZzZEAV", entry(*told))


def call_error(status: int, body: object = None, **headers: str) -> CrmError:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return errors.call_error(status, named, text.encode(), now=NOW)


def listed(code: str, text: str = "m") -> list[dict[str, str]]:
    return [{"message": text, "errorCode": code}]


def test_the_worst_of_several_errors_decides_and_all_are_told() -> None:
    told = outcome(
        ("UNABLE_TO_LOCK_ROW", "locked"),
        ("INACTIVE_OWNER_OR_USER", "inactive"),
        ("STRING_TOO_LONG", "too long"),
    )
    assert (told.result, told.code) == (Result.NEVER, "STRING_TOO_LONG")
    assert told.message == "locked; inactive; too long"


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (listed("NOT_FOUND"), "NOT_FOUND", "m"),
        ([{"statusCode": "STRING_TOO_LONG", "message": "m"}], "STRING_TOO_LONG", "m"),
        ({"error": "invalid_grant", "error_description": "expired"}, "invalid_grant", "expired"),
        ({"exceptionCode": "InvalidSessionId", "exceptionMessage": "x"}, "InvalidSessionId", "x"),
    ],
)
def test_every_shape_of_an_error_body_is_understood(body: object, code: str, text: str) -> None:
    assert problems.problems(json.dumps(body)) == [problems.Problem(code, text)]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (500, listed("UNKNOWN_EXCEPTION"), CrmAgain),
        (502, HTML, CrmAgain),
        (503, HTML, CrmAgain),
        (503, listed("SERVER_UNAVAILABLE"), CrmAgain),
        (504, "", CrmAgain),
        (400, HTML, CrmAgain),
        (400, "", CrmAgain),
        (400, "Bad Request", CrmAgain),
        (400, {}, CrmAgain),
        (400, [], CrmAgain),
        (400, 7, CrmAgain),
        (400, {"status": "denied"}, CrmAgain),
        (404, HTML, CrmAgain),
        (404, "not here", CrmAgain),
        (407, HTML, CrmAgain),
        (451, "", CrmAgain),
        (400, listed("QUERY_TIMEOUT"), CrmAgain),
        (400, listed("INVALID_QUERY_LOCATOR"), CrmAgain),
        (400, listed("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE"), CrmAgain),
        (403, listed("SERVER_UNAVAILABLE"), CrmAgain),
        (409, listed("CONFLICT"), CrmAgain),
        (420, "", CrmAgain),
        (401, HTML, CrmUnreachable),
        (401, {"error": "x"}, CrmUnreachable),
        (401, listed("INVALID_SESSION_ID"), CrmUnreachable),
        (401, "", CrmUnreachable),
        (403, HTML, CrmUnreachable),
        (403, "", CrmUnreachable),
        (403, listed("INSUFFICIENT_ACCESS"), CrmForbidden),
        (400, listed("INSUFFICIENT_ACCESS_OR_READONLY"), CrmForbidden),
        (400, listed("INVALID_TYPE"), CrmForbidden),
        (404, listed("INVALID_TYPE"), CrmForbidden),
        (403, listed("A_CODE_OF_THE_FUTURE"), CrmForbidden),
        (403, listed("API_DISABLED_FOR_ORG"), CrmUnreachable),
        (403, listed("API_CURRENTLY_DISABLED"), CrmUnreachable),
        (403, listed("INVALID_SESSION_ID"), CrmUnreachable),
        (404, listed("NOT_FOUND"), CrmUnreachable),
        (410, "", CrmAgain),
        (410, listed("NOT_FOUND"), CrmUnreachable),
        (302, "", CrmUnreachable),
        (400, listed("INVALID_FIELD"), CrmNever),
        (400, listed("MALFORMED_QUERY"), CrmNever),
        (414, "", CrmNever),
        (431, HTML, CrmNever),
    ],
)
def test_a_refused_call_says_what_will_come_of_it(
    status: int, body: object, kind: type[CrmError]
) -> None:
    error = call_error(status, body)
    assert type(error) is kind
    assert "<" not in error.message


@pytest.mark.parametrize(
    ("status", "body", "headers", "seconds"),
    [
        (403, listed("REQUEST_LIMIT_EXCEEDED", DAILY), {}, 900),
        (403, listed("REQUEST_LIMIT_EXCEEDED", CONCURRENT), {}, 3),
        (403, listed("REQUEST_LIMIT_EXCEEDED", DAILY), {"Retry_After": "60"}, 60),
        (429, "", {}, 3),
        (429, HTML, {"Retry_After": "17"}, 17),
        (503, HTML, {"Retry_After": "Mon, 30 Nov 2026 09:16:30 GMT"}, 90),
        (503, HTML, {"Retry_After": "Mon, 30 Nov 2026 09:00:00 GMT"}, 1),
        (503, HTML, {"Retry_After": "Mon, 30 Nov 2026 12:01:30 GMT",
                     "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 90),
        (503, HTML, {"Retry_After": "Mon, 30 Nov 2026 12:00:00 GMT",
                     "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 1),
        (503, HTML, {"Retry_After": "Mon, 30 Nov 2026 09:16:30 GMT", "Date": "today"}, 90),
        (429, "", {"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT"}, 86_400),
        (503, HTML, {"Retry_After": "99999999999"}, 86_400),
        (429, "", {"Retry_After": "9" * 400}, 86_400),
        (503, HTML, {"Retry_After": "0"}, 1),
        (429, "", {"Retry_After": "0"}, 1),
        (429, "", {"Retry_After": "-5"}, 3),
        (429, "", {"Retry_After": "soon"}, 3),
        (403, listed("REQUEST_LIMIT_EXCEEDED", DAILY), {"Retry_After": "0"}, 1),
        (403, listed("REQUEST_LIMIT_EXCEEDED", DAILY), {"Retry_After": "-5"}, 900),
    ],
)  # fmt: skip
def test_a_limit_asks_for_a_pause(
    status: int, body: object, headers: dict[str, str], seconds: float
) -> None:
    error = call_error(status, body, **headers)
    assert isinstance(error, CrmPaced)
    assert error.pause_seconds == seconds


@pytest.mark.parametrize(
    "value",
    [
        "soon", "-5", "1e9", "\u0663", "",
        "Mon, 30 Nov 2026 09:16:30 +99999999999999", "Mon, 99 Nov 2026 09:16:30 GMT",
    ],
)  # fmt: skip
def test_an_unreadable_pause_is_no_pause(value: str) -> None:
    assert isinstance(call_error(503, HTML, Retry_After=value), CrmAgain)


@pytest.mark.parametrize(
    ("status", "body", "expired"),
    [
        (401, listed("INVALID_SESSION_ID", "Session expired or invalid"), True),
        (400, {"exceptionCode": "InvalidSessionId", "exceptionMessage": "x"}, True),
        (401, listed("INVALID_SESSION_ID", "This session is not valid for use with the REST API"),
         False),
        (401, listed("INVALID_SESSION_ID", "The connected app is not attached"), False),
        (401, listed("INVALID_AUTH_HEADER"), False),
        (401, {"error": "invalid_grant"}, False),
        (401, HTML, False),
        (403, listed("INVALID_SESSION_ID"), False),
    ],
)  # fmt: skip
def test_only_an_expired_session_is_worth_a_log_in(
    status: int, body: object, expired: bool
) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    assert errors.session_expired(status, text.encode()) is expired


def test_a_secret_that_a_reply_repeats_is_not_told() -> None:
    body = json.dumps(listed("NOT_FOUND", "token s3cret and s3cret")).encode()
    error = errors.call_error(400, {}, body, now=NOW, hide=("s3cret", ""))
    assert error.crm_message == "token *** and ***"


def test_a_record_that_refuses_a_user_says_nothing_of_the_user_elsewhere() -> None:
    told = outcome(("INACTIVE_OWNER_OR_USER", "inactive"), ("TRANSFER_REQUIRES_READ", "read"))
    assert told.result is Result.REFUSED_OWNER
    told = outcome(("UNABLE_TO_LOCK_ROW", "locked"), ("INACTIVE_OWNER_OR_USER", "inactive"))
    assert told.result is Result.INACTIVE_OWNER
