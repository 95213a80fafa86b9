"""Every row of the table of Salesforce's errors in the vendor facts, in all three places.

Written from the fact sheet, not from the adapter: a code may come in an entry of a collections
reply, in the answer to the update of one record, and in the answer to a call for many.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.salesforce import errors
from adapters.salesforce.errors import RecordRefused
from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    CrmUnreachable,
)
from connector.ports import Result

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
LEAD = "00Q5e00000XyZzZEAV"
LOCKED = "unable to obtain exclusive access to this record or 1 records: 00Q5e00000XyZzZEAV"
AGAIN, NEVER = Result.AGAIN, Result.NEVER
NEXT, INACTIVE = Result.REFUSED_OWNER, Result.INACTIVE_OWNER

# Code, status, text; what it means for one record.
OF_RECORDS: list[tuple[str, int, str, Result]] = [
    ("INACTIVE_OWNER_OR_USER", 400, "operation performed with inactive user", INACTIVE),
    ("INVALID_CROSS_REFERENCE_KEY", 400, "invalid cross reference id", NEXT),
    ("INVALID_CROSS_REFERENCE_KEY", 404, "invalid cross reference id", NEXT),
    ("OP_WITH_INVALID_USER_TYPE_EXCEPTION", 400, "user of invalid type", NEXT),
    ("TRANSFER_REQUIRES_READ", 400, "the new owner must have read permission", NEXT),
    ("FIELD_INTEGRITY_EXCEPTION", 400, "Owner ID: id value of incorrect type: 00G8Z", NEVER),
    ("INSUFFICIENT_ACCESS_OR_READONLY", 400, "insufficient access rights", NEVER),
    ("INSUFFICIENT_ACCESS_OR_READONLY", 403, "insufficient access rights", NEVER),
    ("INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY", 400, "no access to the account", NEVER),
    ("UNABLE_TO_LOCK_ROW", 400, LOCKED, AGAIN),
    ("ENTITY_IS_LOCKED", 400, "in an approval process", AGAIN),
    ("CANNOT_UPDATE_CONVERTED_LEAD", 400, "cannot reference converted lead", NEVER),
    ("FIELD_CUSTOM_VALIDATION_EXCEPTION", 400, "Region must be filled in", NEVER),
    ("FIELD_FILTER_VALIDATION_EXCEPTION", 400, "the filter does not match", NEVER),
    ("REQUIRED_FIELD_MISSING", 400, "Company is missing", NEVER),
    ("STRING_TOO_LONG", 400, "data value too large", NEVER),
    ("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", 400, "bad value", NEVER),
    ("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", 400, "NullPointerException", NEVER),
    ("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", 400, f"a trigger: {LOCKED}", AGAIN),
    ("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", 400, "UNABLE_TO_LOCK_ROW in a trigger", AGAIN),
    ("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", 400, "nested INVALID_SESSION_ID", NEVER),
    ("CANNOT_EXECUTE_FLOW_TRIGGER", 400, "the flow failed", NEVER),
    ("CANNOT_EXECUTE_FLOW_TRIGGER", 400, "the flow timed out", AGAIN),
    ("APEX_ERROR", 400, "System.LimitException", NEVER),
    ("APEX_ERROR", 400, "a callout ended: Read Timeout", AGAIN),
    ("DUPLICATES_DETECTED", 400, "Use one of these records?", NEVER),
    ("DUPLICATE_VALUE", 400, "duplicate id in list", NEVER),
    ("INVALID_FIELD", 400, "No such column", NEVER),
    ("INVALID_FIELD_FOR_INSERT_UPDATE", 400, "unable to update fields", NEVER),
    ("INVALID_TYPE", 400, "sObject type 'Lead' is not supported", NEVER),
    ("MALFORMED_QUERY", 400, "unexpected token", NEVER),
    ("MALFORMED_ID", 400, "malformed id", NEVER),
    ("TXN_SECURITY_NO_ACCESS", 400, "a policy stops this", NEVER),
    ("TXN_SECURITY_METERING_ERROR", 403, "a policy stops this", NEVER),
    ("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", 400, "read-only", AGAIN),
    ("FUNCTIONALITY_TEMPORARILY_UNAVAILABLE", 400, "later", AGAIN),
    ("REQUEST_RUNNING_TOO_LONG", 400, "too long", AGAIN),
    ("TOO_MANY_APEX_REQUESTS", 400, "too many", AGAIN),
    ("UNKNOWN_EXCEPTION", 400, "an unexpected error", AGAIN),
    ("QUERY_TIMEOUT", 400, "running for too long", AGAIN),
    ("A_CODE_OF_THE_FUTURE", 400, "who knows", NEVER),
]

# Code (None: no body of Salesforce's), status, text; what it means for a call as a whole.
OF_CALLS: list[tuple[str | None, int, str, type[CrmError]]] = [
    ("REQUEST_LIMIT_EXCEEDED", 403, "TotalRequests Limit exceeded.", CrmPaced),
    ("REQUEST_LIMIT_EXCEEDED", 403, "ConcurrentRequests Limit exceeded.", CrmPaced),
    ("API_DISABLED_FOR_ORG", 403, "the API is not enabled", CrmUnreachable),
    ("API_CURRENTLY_DISABLED", 403, "the API is off", CrmUnreachable),
    ("INVALID_SESSION_ID", 401, "Session expired or invalid", CrmUnreachable),
    ("SERVER_UNAVAILABLE", 503, "temporarily unavailable", CrmAgain),
    ("ORG_IN_MAINTENANCE", 503, "maintenance", CrmAgain),
    ("FUNCTIONALITY_TEMPORARILY_UNAVAILABLE", 500, "later", CrmAgain),
    ("REQUEST_RUNNING_TOO_LONG", 500, "too long", CrmAgain),
    ("UNKNOWN_EXCEPTION", 500, "an unexpected error", CrmAgain),
    (None, 401, "", CrmUnreachable),
    (None, 403, "", CrmUnreachable),
    (None, 409, "", CrmAgain),
    (None, 414, "", CrmNever),
    (None, 431, "", CrmNever),
    (None, 420, "", CrmAgain),
    (None, 429, "", CrmPaced),
    (None, 500, "", CrmAgain),
    (None, 502, "", CrmAgain),
    (None, 503, "", CrmAgain),
    (None, 504, "", CrmAgain),
]

# The same, where it makes a difference that no record is named in the address.
OF_CALLS_FOR_MANY: list[tuple[str | None, int, str, type[CrmError]]] = [
    ("UNABLE_TO_LOCK_ROW", 400, LOCKED, CrmAgain),
    ("QUERY_TIMEOUT", 400, "running for too long", CrmAgain),
    ("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", 400, "read-only", CrmAgain),
    ("INVALID_FIELD", 400, "No such column", CrmNever),
    ("MALFORMED_QUERY", 400, "unexpected token", CrmNever),
    ("MALFORMED_ID", 400, "malformed id", CrmNever),
    ("REQUIRED_FIELD_MISSING", 400, "at least 1 record is required", CrmNever),
    ("INVALID_TYPE", 400, "sObject type 'Lead' is not supported", CrmForbidden),
    ("INSUFFICIENT_ACCESS_OR_READONLY", 403, "insufficient access rights", CrmForbidden),
    ("TXN_SECURITY_NO_ACCESS", 400, "a policy stops this", CrmForbidden),
    ("TXN_SECURITY_NO_ACCESS", 403, "a policy stops this", CrmForbidden),
    ("NOT_FOUND", 404, "The requested resource does not exist", CrmUnreachable),
    ("GONE", 410, "this version is retired", CrmUnreachable),
    (None, 412, "", CrmAgain),
]


def body(code: str | None, text: str, **more: object) -> bytes:
    listed = [{"message": text, "errorCode": code, "fields": []} | more]
    return json.dumps(listed).encode() if code else b""


def entry(code: str, text: str, **more: object) -> dict[str, Any]:
    return {
        "success": False,
        "errors": [{"statusCode": code, "message": text, "fields": []} | more],
    }


@pytest.mark.parametrize(("code", "status", "text", "result"), OF_RECORDS)
def test_what_is_said_of_one_record_means_the_same_in_a_collection_and_alone(
    code: str, status: int, text: str, result: Result
) -> None:
    together = errors.outcome(LEAD, entry(code, text))
    assert (together.result, together.code, together.message) == (result, code, text)
    alone = errors.refused(LEAD, status, {}, body(code, text), now=NOW)
    assert isinstance(alone, RecordRefused)
    assert alone.outcome == together


@pytest.mark.parametrize("code", ["ENTITY_IS_DELETED", "NOT_FOUND"])
def test_a_record_that_is_no_more_has_the_word_for_that_of_every_crm(code: str) -> None:
    together = errors.outcome(LEAD, entry(code, "entity is deleted"))
    assert (together.result, together.code) == (NEVER, "record_gone")
    assert together.message == "entity is deleted"
    alone = errors.refused(LEAD, 404, {}, body(code, "entity is deleted"), now=NOW)
    assert isinstance(alone, RecordRefused)
    assert alone.outcome == together


@pytest.mark.parametrize("answer", [b"", body("PRECONDITION_FAILED", "changed"), b"<html>"])
def test_a_record_that_was_changed_meanwhile_is_tried_again(answer: bytes) -> None:
    alone = errors.refused(LEAD, 412, {}, answer, now=NOW)
    assert isinstance(alone, RecordRefused)
    assert (alone.outcome.result, alone.outcome.code) == (AGAIN, "changed_meanwhile")


@pytest.mark.parametrize(("code", "status", "text", "kind"), [*OF_CALLS, *OF_CALLS_FOR_MANY])
def test_what_is_said_to_a_call_for_many_is_about_the_call(
    code: str | None, status: int, text: str, kind: type[CrmError]
) -> None:
    error = errors.call_error(status, {}, body(code, text), now=NOW)
    assert type(error) is kind
    assert error.crm_message == (text or None)


@pytest.mark.parametrize(("code", "status", "text", "kind"), OF_CALLS)
def test_what_is_about_the_connection_is_so_in_the_answer_about_one_record_too(
    code: str | None, status: int, text: str, kind: type[CrmError]
) -> None:
    assert type(errors.refused(LEAD, status, {}, body(code, text), now=NOW)) is kind


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("TotalRequests Limit exceeded.", 900),
        ("ConcurrentRequests (Concurrent API Requests) Limit exceeded.", 3),
    ],
)
def test_the_text_of_a_limit_says_how_long_to_wait(text: str, seconds: float) -> None:
    answer = body("REQUEST_LIMIT_EXCEEDED", text)
    for error in (
        errors.call_error(403, {}, answer, now=NOW),
        errors.refused(LEAD, 403, {}, answer, now=NOW),
    ):
        assert isinstance(error, CrmPaced)
        assert error.pause_seconds == seconds


@pytest.mark.parametrize("key", ["duplicateResult", "duplicateResut"])
def test_the_duplicate_rule_that_stops_a_write_is_named_however_its_key_is_spelt(key: str) -> None:
    more = {key: {"allowSave": True, "duplicateRule": "Acme_Lead_Rule", "matchResults": []}}
    told = errors.outcome(LEAD, entry("DUPLICATES_DETECTED", "Use one of these records?", **more))
    assert told.message == "Use one of these records? [duplicate rule Acme_Lead_Rule]"
    answer = body("DUPLICATES_DETECTED", "Use one of these records?", **more)
    alone = errors.refused(LEAD, 400, {}, answer, now=NOW)
    assert isinstance(alone, RecordRefused)
    assert alone.outcome.message == told.message


def test_all_errors_about_one_record_are_told_and_the_worst_decides() -> None:
    listed = [
        {"message": "locked", "errorCode": "UNABLE_TO_LOCK_ROW", "fields": []},
        {"message": "no region", "errorCode": "FIELD_CUSTOM_VALIDATION_EXCEPTION",
         "fields": ["Region__c"]},
        {"message": "inactive", "errorCode": "INACTIVE_OWNER_OR_USER", "fields": []},
    ]  # fmt: skip
    alone = errors.refused(LEAD, 400, {}, json.dumps(listed).encode(), now=NOW)
    assert isinstance(alone, RecordRefused)
    assert (alone.outcome.result, alone.outcome.code) == (NEVER, listed[1]["errorCode"])
    assert alone.outcome.message == "locked; no region (Region__c); inactive"
