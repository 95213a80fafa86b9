"""Object types that other automation writes too: one call for each record, and a look after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from adapters.salesforce import ids
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmPaced, CrmUnreachable
from connector.ports import Outcome, OwnerWrite, Result

ROW = "/sobjects/"
GUARD = "if-unmodified-since"
THREADS = 5  # PATCHes that may be on their way when one of them says stop


@pytest.fixture
def org(clock: Any) -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox(clock=clock) as sandbox:
        yield sandbox


@pytest.fixture
def crm(org: SalesforceSandbox, connect: Callable[..., SalesforceCrm]) -> SalesforceCrm:
    return connect(org.url, guarded_objects=tuple(name.upper() for name in ids.PREFIXES))


@pytest.fixture
def ann(org: SalesforceSandbox) -> str:
    return org.add_user("Ann", "ann@example.com")


@pytest.fixture
def write(org: SalesforceSandbox, ann: str) -> Callable[..., OwnerWrite]:
    """``write(record_id)``: give Ann a record as it stands now."""

    def make(record_id: str, **given: Any) -> OwnerWrite:
        seen_at = org.read_fields(record_id, ["LastModifiedDate"])
        values = {"owner_id": ann, "seen_at": seen_at and seen_at["LastModifiedDate"]}
        return OwnerWrite(record_id=record_id, **(values | given))

    return make


@pytest.fixture
def leads(org: SalesforceSandbox) -> Callable[[int], list[str]]:
    return lambda number: [org.create("Lead", {"LastName": str(n)}) for n in range(number)]


def told(outcomes: list[Outcome]) -> list[tuple[str, str | None]]:
    return [(one.result.value, one.code) for one in outcomes]


def refusal(code: str, message: str = "m") -> list[dict[str, Any]]:
    return [{"message": message, "errorCode": code, "fields": []}]


@pytest.mark.parametrize("object_type", ids.PREFIXES)
def test_a_record_has_a_call_of_its_own_which_holds_nothing_but_the_owner(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, ann: str, object_type: str
) -> None:
    record_id = org.create(object_type, {})
    outcomes = crm.write_owners(object_type, [write(record_id)])
    assert told(outcomes) == [("done", None)]
    assert org.owner_of(record_id) == ann
    (call,) = org.calls_to("/services/data", "PATCH")
    assert call.path.endswith(f"/sobjects/{object_type}/{record_id}")
    assert call.json == {"OwnerId": ann}
    assert call.headers["sforce-auto-assign"] == "FALSE"
    assert call.headers["sforce-duplicate-rule-header"] == "allowSave=true"
    assert call.headers["sforce-call-options"] == "client=leadrota"


def test_only_the_owner_of_the_record_differs_afterwards(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, clock: Any, ann: str
) -> None:
    lead = org.create("Lead", {"LastName": "Example", "Company": "Acme", "Email": "e@acme.example"})
    before = org.get(lead)
    one = write(lead)
    clock.go(60)
    crm.write_owners("Lead", [one])
    after = org.get(lead)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"OwnerId", "LastModifiedDate", "SystemModstamp"}


def test_a_record_that_somebody_changed_is_left_alone_and_read_again_first(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, clock: Any, leads: Any
) -> None:
    changed, same = leads(2)
    writes = [write(changed), write(same)]
    owner = org.add_user("Bob", "bob@example.com")
    clock.go(1)
    org.set_owner(changed, owner)
    assert told(crm.write_owners("Lead", writes)) == [
        ("again", "changed_meanwhile"),
        ("done", None),
    ]
    assert org.owner_of(changed) == owner


@pytest.mark.parametrize(
    ("seen_at", "header"),
    [
        (datetime(2026, 11, 30, 9, 15, 7, 400_000, UTC), "Mon, 30 Nov 2026 09:15:07 GMT"),
        (datetime(2026, 11, 30, 10, 15, 7, tzinfo=timezone(timedelta(hours=1))),
         "Mon, 30 Nov 2026 09:15:07 GMT"),
        (None, None),
    ],
)  # fmt: skip
def test_the_guard_is_the_moment_of_the_last_change_that_was_seen(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, seen_at: Any, header: Any
) -> None:
    (lead,) = leads(1)
    assert told(crm.write_owners("Lead", [write(lead, seen_at=seen_at)])) == [("done", None)]
    (call,) = org.calls_to(ROW, "PATCH")
    assert call.headers.get(GUARD) == header


def test_the_call_after_a_new_log_in_carries_the_same_headers(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    org.faults.add(ROW, preset="session_expired")
    assert told(crm.write_owners("Lead", [write(lead)])) == [("done", None)]
    first, second = org.calls_to(ROW, "PATCH")
    protecting = ("sforce-auto-assign", "sforce-duplicate-rule-header", GUARD)
    assert all(first.headers[name] == second.headers[name] for name in protecting)
    assert first.body == second.body
    assert first.headers["authorization"] != second.headers["authorization"]


def test_a_token_that_expires_under_several_writes_costs_one_log_in(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    writes = [write(lead) for lead in leads(20)]
    crm.read_records("Lead", [writes[0].record_id])
    org.expire_tokens()
    assert {one.result for one in crm.write_owners("Lead", writes)} == {Result.DONE}
    assert org.log_ins == 2


def test_two_hundred_records_cost_a_call_each_and_two_queries(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, ann: str
) -> None:
    written = leads(200)
    outcomes = crm.write_owners("Lead", [write(lead) for lead in written])
    assert [one.record_id for one in outcomes] == written
    assert {one.result for one in outcomes} == {Result.DONE}
    assert {org.owner_of(lead) for lead in written} == {ann}
    assert len(org.calls_to(ROW, "PATCH")) == 200
    assert len(org.calls_to("/query")) == 2  # the new owners before, the records after
    assert org.log_ins == 1


def test_what_there_is_no_time_for_is_told_and_not_sent(
    org: SalesforceSandbox, connect: Any, write: Any, leads: Any, ann: str
) -> None:
    written = leads(200)
    org.faults.add(ROW, delay=0.1, times=None)
    crm = connect(org.url, call_seconds=3, guarded_objects=("Lead",))
    outcomes = crm.write_owners("Lead", [write(lead) for lead in written])
    assert [one.record_id for one in outcomes] == written
    not_sent = {one.record_id for one in outcomes if one.code == "not_sent"}
    assert 0 < len(not_sent) < 200
    assert set(told(outcomes)) == {("done", None), ("again", "not_sent")}
    assert len(org.calls_to(ROW, "PATCH")) == 200 - len(not_sent)
    assert not any(org.owner_of(lead) == ann for lead in not_sent)
    assert len(org.calls_to("/query")) == 2  # there was time for the look afterwards


def test_what_one_record_is_refused_for_does_not_touch_the_others(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    first, gone, locked, bad, converted, last = leads(6)
    writes = [write(lead) for lead in (first, gone, locked, bad, converted, last)]
    org.delete(gone)
    org.lock_row(locked, tries=1)
    org.change(bad, {"Company": "Bad"})
    org.convert(converted)
    org.validation_rule = lambda _, values: (
        [("Region must be filled in", "Region__c"), ("No budget", "Budget__c")]
        if values.get("Company") == "Bad"
        else []
    )
    outcomes = crm.write_owners("Lead", writes)
    assert told(outcomes) == [
        ("done", None),
        ("never", "record_gone"),
        ("again", "UNABLE_TO_LOCK_ROW"),
        ("never", "FIELD_CUSTOM_VALIDATION_EXCEPTION"),
        ("never", "CANNOT_UPDATE_CONVERTED_LEAD"),
        ("done", None),
    ]
    assert outcomes[3].message == "Region must be filled in (Region__c); No budget (Budget__c)"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"preset": "daily_limit"}, CrmPaced),
        ({"preset": "concurrent_limit"}, CrmPaced),
        ({"status": 429}, CrmPaced),
        ({"preset": "api_disabled"}, CrmUnreachable),
        ({"status": 403, "body": "<html>no</html>"}, CrmUnreachable),
    ],
)
def test_after_a_refusal_of_the_whole_connection_nothing_more_is_sent(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, fault: Any, kind: Any
) -> None:
    writes = [write(lead) for lead in leads(200)]
    org.faults.add(ROW, "PATCH", after=10, **fault)
    with pytest.raises(kind):
        crm.write_owners("Lead", writes)
    assert len(org.calls_to(ROW, "PATCH")) < 100  # those that were on their way at that moment


def test_a_connection_that_is_no_longer_let_in_costs_two_log_ins(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    org.faults.add(ROW, "PATCH", preset="session_expired", times=None)
    with pytest.raises(CrmUnreachable):
        crm.write_owners("Lead", [write(lead) for lead in leads(60)])
    assert org.log_ins == 2
    assert len(org.calls_to(ROW, "PATCH")) <= 2 * THREADS


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"preset": "server_unavailable"}, "SERVER_UNAVAILABLE"),
        ({"preset": "unavailable_page"}, "crm_again"),
        ({"preset": "lost_before"}, "connection_lost"),
    ],
)
def test_a_server_that_fails_is_not_asked_for_every_record(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, fault: Any, code: str
) -> None:
    org.faults.add(ROW, "PATCH", times=None, **fault)
    outcomes = crm.write_owners("Lead", [write(lead) for lead in leads(60)])
    assert len(outcomes) == 60
    assert set(told(outcomes)) == {("again", code), ("again", "not_sent")}
    assert 3 <= len(org.calls_to(ROW, "PATCH")) <= 2 + THREADS


def test_a_write_that_gets_no_answer_costs_the_others_nothing(
    org: SalesforceSandbox, connect: Any, write: Any, leads: Any
) -> None:
    hangs, *others = leads(10)
    org.faults.add(f"{ROW}Lead/{hangs}", "PATCH", delay=30)
    crm = connect(org.url, call_seconds=3, guarded_objects=("Lead",))
    outcomes = crm.write_owners("Lead", [write(lead) for lead in (hangs, *others)])
    assert told(outcomes) == [("again", "timeout")] + [("done", None)] * len(others)


def test_a_write_whose_answer_is_lost_is_not_sent_again_inside(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, ann: str
) -> None:
    (lead,) = leads(1)
    org.faults.add(ROW, "PATCH", preset="lost_after")
    assert told(crm.write_owners("Lead", [write(lead)])) == [("again", "connection_lost")]
    assert org.owner_of(lead) == ann
    assert len(org.calls_to(ROW, "PATCH")) == 1


def override(org: SalesforceSandbox, owner_id: str, last_name: str = "0") -> None:
    """A flow of the org gives leads of this name to somebody else whenever they are saved."""
    org.automation = lambda _, values: owner_id if values["LastName"] == last_name else None


def test_an_owner_whom_automation_replaces_at_once_is_noticed(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, ann: str
) -> None:
    taken, kept = leads(2)
    queue = org.add_queue("Web")
    override(org, queue)
    first, second = crm.write_owners("Lead", [write(taken), write(kept)])
    assert told([first, second]) == [("again", "overridden"), ("done", None)]
    assert first.message is not None
    assert all(word in first.message for word in ("Automation", queue, ann))


def test_automation_that_replaces_the_owner_a_second_time_is_not_fought(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    queue = org.add_queue("Web")
    override(org, queue)
    outcomes = crm.write_owners("Lead", [write(lead, was_overridden=True)])
    assert told(outcomes) == [("never", "overridden")]
    assert queue in f"{outcomes[0].message}"


def test_a_write_that_holds_at_the_second_try_is_done(
    crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    assert told(crm.write_owners("Lead", [write(lead, was_overridden=True)])) == [("done", None)]


def test_where_the_look_afterwards_fails_the_write_is_done(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    org.faults.add("/query", after=1, times=None, preset="concurrent_limit")
    assert told(crm.write_owners("Lead", [write(lead)])) == [("done", None)]


def test_a_record_that_is_deleted_right_after_was_written(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    org.on_change(lambda change: org.delete(lead) if change.over_api else None)
    assert told(crm.write_owners("Lead", [write(lead)])) == [("done", None)]


def test_an_inactive_owner_is_not_sent(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, ann: str
) -> None:
    org.accept_inactive_owner = True
    org.deactivate(ann)
    (lead,) = leads(1)
    assert told(crm.write_owners("Lead", [write(lead)])) == [("inactive_owner", "owner_inactive")]
    assert org.calls_to(ROW) == []


def test_the_orgs_assignment_rules_cannot_undo_a_write(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any, ann: str
) -> None:
    bob = org.add_user("Bob", "bob@example.com")
    org.assignment_rule = lambda object_type, values: bob
    twin, lead = leads(2)
    org.duplicate_rule = lambda object_type, values: twin
    assert told(crm.write_owners("Lead", [write(lead)])) == [("done", None)]
    assert org.owner_of(lead) == ann


def test_object_types_that_are_not_named_are_written_together(
    org: SalesforceSandbox, connect: Any, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    crm = connect(org.url, guarded_objects=("Account",))
    assert told(crm.write_owners("Lead", [write(lead)])) == [("done", None)]
    assert len(org.calls_to("/composite/sobjects", "PATCH")) == 1
    assert org.calls_to(ROW) == []


def test_a_record_that_may_not_be_edited_is_not_taken_for_a_closed_connection(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    first, second = leads(2)
    body = refusal("INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id")
    org.faults.add(f"{ROW}Lead/{first}", "PATCH", status=403, body=body)
    outcomes = crm.write_owners("Lead", [write(first), write(second)])
    assert told(outcomes) == [("never", "INSUFFICIENT_ACCESS_OR_READONLY"), ("done", None)]


def test_a_token_that_a_refusal_repeats_is_not_told(
    org: SalesforceSandbox, crm: SalesforceCrm, write: Any, leads: Any
) -> None:
    (lead,) = leads(1)
    crm.read_records("Lead", [lead])
    token = org.calls_to("/query")[0].headers["authorization"].removeprefix("Bearer ")
    org.faults.add(ROW, "PATCH", status=400, body=refusal("STRING_TOO_LONG", f"see {token}"))
    (one,) = crm.write_owners("Lead", [write(lead)])
    assert one.message == "see ***"
