from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.salesforce import ids
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmNever
from connector.ports import OwnerWrite, Result

COLLECTIONS = "/composite/sobjects"


@pytest.fixture
def ann(org: SalesforceSandbox) -> str:
    return org.add_user("Ann", "ann@example.com")


@pytest.fixture
def lead(org: SalesforceSandbox) -> str:
    return org.create("Lead", {"LastName": "Example"})


def results(outcomes: list[Any]) -> list[tuple[str, str | None]]:
    return [(outcome.result.value, outcome.code) for outcome in outcomes]


@pytest.mark.parametrize("object_type", ids.PREFIXES)
def test_nothing_but_the_owner_is_written(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, object_type: str
) -> None:
    record_id = org.create(object_type, {})
    (outcome,) = crm.write_owners(object_type, [OwnerWrite(record_id=record_id, owner_id=ann)])
    assert (outcome.record_id, outcome.result) == (record_id, Result.DONE)
    assert org.owner_of(record_id) == ann
    (call,) = org.calls_to(COLLECTIONS, "PATCH")
    assert call.json == {
        "allOrNone": False,
        "records": [{"attributes": {"type": object_type}, "id": record_id, "OwnerId": ann}],
    }


def test_the_orgs_assignment_rules_cannot_undo_a_write(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    bob = org.add_user("Bob", "bob@example.com")
    org.assignment_rule = lambda object_type, values: bob
    crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert org.owner_of(lead) == ann


def test_every_write_carries_the_headers_that_protect_it(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    org.faults.add(COLLECTIONS, preset="session_expired")
    (outcome,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert outcome.result is Result.DONE
    calls = org.calls_to(COLLECTIONS)
    assert [call.status for call in calls] == [401, 200]
    for call in calls:
        assert call.headers["sforce-auto-assign"] == "FALSE"
        assert call.headers["sforce-duplicate-rule-header"] == "allowSave=true"
        assert call.headers["sforce-call-options"] == "client=leadrota"
    assert calls[0].headers["authorization"] != calls[1].headers["authorization"]
    assert calls[0].body == calls[1].body


def test_two_hundred_writes_cost_one_update_and_one_look_at_the_owners(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    users = [org.add_user(f"User {n}", f"u{n}@example.com") for n in range(200)]
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(200)]
    writes = [OwnerWrite(record_id=r, owner_id=o) for r, o in zip(leads, users, strict=True)]
    outcomes = crm.write_owners("Lead", writes)
    assert [o.record_id for o in outcomes] == leads
    assert {o.result for o in outcomes} == {Result.DONE}
    assert [org.owner_of(record) for record in leads] == users
    assert [call.method for call in org.calls] == ["POST", "GET", "PATCH"]


def test_one_bad_record_hides_none_of_the_others(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    first, locked, last = (org.create("Lead", {"LastName": str(n)}) for n in range(3))
    org.lock_row(locked, tries=1)
    writes = [OwnerWrite(record_id=r, owner_id=ann) for r in (first, locked, last)]
    outcomes = crm.write_owners("Lead", writes)
    assert [o.record_id for o in outcomes] == [first, locked, last]
    assert results(outcomes) == [
        ("done", None),
        ("again", "UNABLE_TO_LOCK_ROW"),
        ("done", None),
    ]
    assert locked in (outcomes[1].message or "")


def test_all_reasons_of_a_refusal_are_told(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    org.validation_rule = lambda object_type, values: [
        ("Region must be filled in", "Region__c"),
        ("Budget must be positive", "AnnualRevenue"),
    ]
    (outcome,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert (outcome.result, outcome.code) == (Result.NEVER, "FIELD_CUSTOM_VALIDATION_EXCEPTION")
    assert outcome.message is not None
    assert "Region must be filled in (Region__c)" in outcome.message
    assert "Budget must be positive (AnnualRevenue)" in outcome.message


def test_only_the_owner_of_a_record_differs_afterwards(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    fields = {"LastName": "Example", "Company": "Acme", "Email": "e@acme.example"}
    lead = org.create("Lead", fields)
    before = org.get(lead)
    crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    after = org.get(lead)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"LastModifiedDate", "SystemModstamp"} == {"OwnerId"}


def test_a_duplicate_does_not_stop_an_owner_change(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    twin = org.create("Lead", {"LastName": "Twin"})
    org.duplicate_rule = lambda object_type, values: twin
    (outcome,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert outcome.result is Result.DONE


def test_deleted_and_converted_leads_are_never(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    gone, converted = (org.create("Lead", {"LastName": n, "Company": n}) for n in "ab")
    org.delete(gone)
    org.convert(converted)
    writes = [OwnerWrite(record_id=r, owner_id=ann) for r in (gone, converted)]
    assert results(crm.write_owners("Lead", writes)) == [
        ("never", "record_gone"),
        ("never", "CANNOT_UPDATE_CONVERTED_LEAD"),
    ]


@pytest.mark.parametrize("object_type", ["Lead", "Account"])
def test_an_inactive_owner_is_never_sent_even_where_salesforce_would_take_him(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str
) -> None:
    org.accept_inactive_owner = True
    left = org.add_user("Left", "left@example.com", active=False)
    record_id = org.create(object_type, {})
    outcomes = crm.write_owners(object_type, [OwnerWrite(record_id=record_id, owner_id=left)])
    assert results(outcomes) == [("inactive_owner", "owner_inactive")]
    assert outcomes[0].is_listed
    assert org.calls_to(COLLECTIONS) == []


def test_an_unknown_user_is_refused_without_an_update(
    org: SalesforceSandbox, crm: SalesforceCrm, lead: str
) -> None:
    writes = [OwnerWrite(record_id=lead, owner_id="005000000099999")]
    outcomes = crm.write_owners("Lead", writes)
    assert results(outcomes) == [("inactive_owner", "owner_unknown")]
    assert outcomes[0].is_listed
    assert org.calls_to(COLLECTIONS) == []


@pytest.mark.parametrize("object_type", ["Lead", "Account"])
def test_a_queue_is_no_owner_to_give_a_record_to(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str
) -> None:
    writes = [OwnerWrite(record_id=org.create(object_type, {}), owner_id=org.add_queue("Q"))]
    outcomes = crm.write_owners(object_type, writes)
    assert results(outcomes) == [("inactive_owner", "bad_owner_id")]
    assert outcomes[0].is_listed
    assert org.calls == []


def test_owners_are_looked_at_once_a_minute(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any, ann: str, lead: str
) -> None:
    writes = [OwnerWrite(record_id=lead, owner_id=ann)]
    for seconds, looks in ((0, 1), (59, 1), (1, 2)):
        clock.go(seconds)
        crm.write_owners("Lead", writes)
        assert len(org.calls_to("/query")) == looks


def test_a_user_who_has_just_left_is_noticed_when_salesforce_says_so(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    writes = [OwnerWrite(record_id=lead, owner_id=ann)]
    crm.write_owners("Lead", writes)
    org.deactivate(ann)
    org.forget_calls()
    (told,) = crm.write_owners("Lead", writes)
    assert (told.result, told.code) == (Result.INACTIVE_OWNER, "INACTIVE_OWNER_OR_USER")
    assert told.is_listed
    assert [call.method for call in org.calls] == ["PATCH", "GET"]  # a fresh look at the user
    crm.write_owners("Lead", writes)
    assert len(org.calls) == 2


def refuse(org: SalesforceSandbox, code: str, text: str = "m", *, times: int = 1) -> None:
    entry = {"success": False, "errors": [{"statusCode": code, "message": text, "fields": []}]}
    org.faults.add(COLLECTIONS, status=200, body=[entry], times=times)


def test_a_record_that_calls_an_active_user_inactive_says_nothing_of_that_user(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    refuse(org, "INACTIVE_OWNER_OR_USER", "operation performed with inactive user")
    (told,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert (told.result, told.code) == (Result.REFUSED_OWNER, "INACTIVE_OWNER_OR_USER")
    assert told.message is not None
    assert told.message.startswith("operation performed with inactive user")
    assert f"{ann} is active" in told.message


@pytest.mark.parametrize("fault", ["query_timeout", "api_disabled", "daily_limit"])
def test_where_the_fresh_look_fails_the_records_word_stands(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, fault: str
) -> None:
    refuse(org, "INACTIVE_OWNER_OR_USER")
    org.faults.add("/query", after=1, preset=fault, times=None)
    (told,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert (told.result, told.is_listed) == (Result.INACTIVE_OWNER, False)


@pytest.mark.parametrize(
    "code",
    [
        "INACTIVE_OWNER_OR_USER",
        "INVALID_CROSS_REFERENCE_KEY",
        "OP_WITH_INVALID_USER_TYPE_EXCEPTION",
        "TRANSFER_REQUIRES_READ",
    ],
)
def test_what_a_record_refused_before_changes_no_answer(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, code: str
) -> None:
    bob = org.add_user("Bob", "bob@example.com")
    refuse(org, code, times=3)
    for owner in (ann, ann, bob):
        (told,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=owner)])
        assert (told.result.value, told.code, told.is_listed) == ("refused_owner", code, False)
    (done,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=bob)])
    assert done.result is Result.DONE


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "INVALID_TYPE"), (400, "INVALID_FIELD"), (400, "MALFORMED_QUERY"),
     (403, "INSUFFICIENT_ACCESS")],
)  # fmt: skip
def test_where_users_cannot_be_seen_owners_are_written_unchecked(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, status: int, code: str
) -> None:
    body = [{"message": "sObject type 'User' is not supported.", "errorCode": code}]
    org.faults.add("/query", status=status, body=body, times=None)
    for _ in range(2):
        (done,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
        assert done.result is Result.DONE
    assert org.owner_of(lead) == ann
    assert len(org.calls_to("/query")) == 1


def test_an_owner_check_that_fails_for_now_lets_nothing_be_written(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    org.faults.add("/query", preset="server_unavailable", times=None)
    with pytest.raises(CrmAgain):
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert org.calls_to(COLLECTIONS) == []


def test_the_same_record_twice_is_sent_once_and_the_later_owner_counts(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    bob = org.add_user("Bob", "bob@example.com")
    writes = [
        OwnerWrite(record_id=lead, owner_id=bob),
        OwnerWrite(record_id=lead[:15], owner_id=ann),
        OwnerWrite(record_id=lead, owner_id=ann[:15]),
    ]
    outcomes = crm.write_owners("Lead", writes)
    assert results(outcomes) == [("again", "superseded"), ("done", None), ("done", None)]
    assert [o.record_id for o in outcomes] == [lead, lead[:15], lead]
    assert len(org.calls_to(COLLECTIONS)[0].json["records"]) == 1
    assert org.owner_of(lead) == ann


@pytest.mark.parametrize("bad", ["https://evil.example/x", "../User/005", "003000000000001", ""])
def test_a_bad_record_id_is_never_sent(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, bad: str
) -> None:
    writes = [OwnerWrite(record_id=r, owner_id=ann) for r in (bad, lead)]
    outcomes = crm.write_owners("Lead", writes)
    assert results(outcomes) == [("never", "bad_record_id"), ("done", None)]
    assert outcomes[0].record_id == bad


def test_no_writes_are_no_call(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    assert crm.write_owners("Lead", []) == []
    assert org.calls == []


@pytest.mark.parametrize(
    "reply",
    [[], None, {}, [{"success": True}] * 2, "not JSON", 7],
)
def test_a_reply_that_does_not_fit_leaves_the_outcome_open(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, reply: object
) -> None:
    org.faults.add(COLLECTIONS, status=200, body=reply, effect=True)
    with pytest.raises(CrmAgain):
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert len(org.calls_to(COLLECTIONS)) == 1


@pytest.mark.parametrize(
    "entry",
    [7, {}, {"success": False, "errors": []}, {"id": "00Q000000099999", "success": True}],
)
def test_an_entry_that_does_not_fit_leaves_that_outcome_open(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, entry: object
) -> None:
    org.faults.add(COLLECTIONS, status=200, body=[entry])
    (outcome,) = crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert outcome.result is Result.AGAIN


@pytest.mark.parametrize("fault", ["server_unavailable", "unavailable_page", "lost_after"])
def test_a_write_is_never_repeated_inside(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str, fault: str
) -> None:
    org.faults.add(COLLECTIONS, preset=fault)
    with pytest.raises(CrmAgain):
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert len(org.calls_to(COLLECTIONS)) == 1


def test_a_call_that_is_wrong_as_a_whole_is_never(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, lead: str
) -> None:
    body = [{"message": "bad", "errorCode": "INVALID_FIELD", "fields": ["OwnerId"]}]
    org.faults.add(COLLECTIONS, status=400, body=body)
    with pytest.raises(CrmNever) as never:
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert (never.value.code, never.value.crm_message) == ("INVALID_FIELD", "bad (OwnerId)")


def test_closing_twice_is_fine(connect: Callable[..., SalesforceCrm], org: Any, lead: str) -> None:
    crm = connect(org.url)
    assert crm.read_records("Lead", [lead])
    assert crm.account_id() is None  # type: ignore[func-returns-value]
    crm.close()
    crm.close()
