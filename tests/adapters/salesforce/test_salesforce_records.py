from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs

import pytest

from adapters.salesforce import ids, records
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmForbidden, CrmNever, CrmUnreachable
from connector.model import LeadKind, Slot

Connect = Callable[..., SalesforceCrm]


def queries(org: SalesforceSandbox) -> list[str]:
    return [parse_qs(call.query)["q"][0] for call in org.calls_to("/query")]


def queries_from_the_start(org: SalesforceSandbox) -> list[str]:
    return [call.path for call in org.calls_to("/query") if "/query/01g" not in call.path]


def test_a_lead_of_an_active_user_stays_with_its_owner(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    ann = org.add_user("Ann", "ann@example.com")
    fields = {"LastName": "Example", "Company": "Acme", "Email": "x@acme.example", "City": "Århus"}
    lead = org.create("Lead", {**fields, "OwnerId": ann})
    record = crm.read_records("Lead", [lead])[lead]
    assert (record.id, record.owner_id, record.owner_stays) == (lead, ann, True)
    assert (record.email, record.company) == ("x@acme.example", "Acme")
    assert (record.attributes["City"], record.attributes["Country"]) == ("Århus", None)


def test_a_lead_without_any_field_is_read_as_nulls(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {})
    record = crm.read_records("Lead", [lead])[lead]
    assert (record.email, record.company) == (None, None)


@pytest.mark.parametrize("who", ["queue", "integration user", "inactive user", "holding user"])
def test_these_owners_count_as_nobody(org: SalesforceSandbox, connect: Connect, who: str) -> None:
    holding = org.add_user("Inbox", "inbox@example.com")
    owner = {
        "queue": org.add_queue("New leads"),
        "integration user": org.integration_user,
        "inactive user": org.add_user("Left", "left@example.com", active=False),
        "holding user": holding,
    }[who]
    crm = connect(org.url, unassigned_owners=frozenset({holding[:15]}))
    lead = org.create("Lead", {"LastName": "Example", "OwnerId": owner})
    record = crm.read_records("Lead", [lead])[lead]
    assert (record.owner_id, record.owner_stays) == (owner, False)


@pytest.mark.parametrize("object_type", ids.PREFIXES)
def test_every_object_type_can_be_read(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str
) -> None:
    ann = org.add_user("Ann", "ann@example.com")
    record_id = org.create(object_type, {"OwnerId": ann})
    assert crm.read_records(object_type, [record_id])[record_id].owner_stays
    assert len(org.calls_to("/query")) == 1


def test_a_contact_brings_its_company(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    account = org.create("Account", {"Name": "Acme"})
    contact = org.create("Contact", {"LastName": "Example", "AccountId": account})
    record = crm.read_records("Contact", [contact])[contact]
    assert (record.company, record.attributes["Account.Name"]) == ("Acme", "Acme")


def test_deleted_and_unknown_records_are_not_in_the_answer(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    gone, kept = (org.create("Lead", {"LastName": name}) for name in ("Gone", "Kept"))
    org.delete(gone)
    assert set(crm.read_records("Lead", [gone, kept, "00Q000000099999"])) == {kept}


@pytest.mark.parametrize(
    "bad",
    ["https://evil.example/x", "../User/0055g000009AbCd", "//evil.example", "x' OR Id != '", "",
     "00Q5e00000XyZzZEAX", "003000000000001"],
)  # fmt: skip
def test_an_id_that_cannot_be_one_never_leaves(
    org: SalesforceSandbox, crm: SalesforceCrm, bad: str
) -> None:
    assert crm.read_records("Lead", [bad]) == {}
    assert org.calls == []


def test_an_object_type_that_cannot_be_one_never_leaves(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    with pytest.raises(CrmNever):
        crm.read_records("Lead WHERE Id != null --", ["00Q000000000001"])
    assert org.calls == []


def test_an_id_is_answered_in_the_form_it_was_asked_in(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {"LastName": "Example"})
    found = crm.read_records("Lead", [lead[:15], lead])
    assert [record.id for record in found.values()] == [lead[:15], lead] == list(found)
    assert queries(org)[0].count(lead) == 1


def test_case_twins_are_two_records(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    twins = ["00QRR00000AbCdE2AV", "00QRR00000aBcDe2AK"]
    for number, twin in enumerate(twins):
        org.create("Lead", {"LastName": str(number)}, record_id=twin)
    found = crm.read_records("Lead", twins)
    assert [found[twin].attributes["LastName"] for twin in twins] == ["0", "1"]


def test_two_hundred_records_cost_one_query_however_small_the_pages(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(200)]
    assert len(crm.read_records("Lead", leads)) == 200
    assert len(org.calls_to("/query")) == 1
    org.page_size = 67
    assert len(crm.read_records("Lead", leads)) == 200
    assert len(org.calls_to("/query")) == 4


@pytest.mark.parametrize(
    "address", ["https://evil.example/q", "@evil.example/q", ".evil.example/q", "//evil.example/q"]
)
def test_the_next_page_is_never_fetched_from_another_host(
    org: SalesforceSandbox, crm: SalesforceCrm, address: str
) -> None:
    page = {"totalSize": 2, "done": False, "records": [], "nextRecordsUrl": address}
    org.faults.add("/query", status=200, body=page)
    with pytest.raises((CrmNever, CrmUnreachable)):
        crm.read_records("Lead", ["00Q000000000001"])


def test_fields_that_are_hidden_from_us_are_left_out_from_then_on(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.records.fields["Lead"].remove("Industry")
    described = [{"name": name} for name in org.records.fields["Lead"]]
    org.faults.add("/sobjects/Lead/describe$", "GET", status=200, body={"fields": described})
    lead = org.create("Lead", {"Company": "Acme"})
    assert crm.read_records("Lead", [lead])[lead].company == "Acme"
    assert len(org.calls_to("/describe")) == 1
    org.forget_calls()
    assert "Industry" not in crm.read_records("Lead", [lead])[lead].attributes
    assert [len(org.calls_to(p)) for p in ("/describe", "/query")] == [0, 1]


@pytest.mark.parametrize("object_type", [*ids.PREFIXES, "Deal__c"])
def test_an_owner_is_read_without_asking_for_its_type(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str
) -> None:
    if object_type == "Deal__c":
        org.add_object("Deal__c", [])
    crm.read_records(object_type, [org.create(object_type, {})])
    assert "Owner.IsActive" in queries(org)[0]
    assert "Owner.Type" not in queries(org)[0]


@pytest.mark.parametrize("object_type", ["Lead", "Case", "Task", "Deal__c"])
def test_a_queue_owns_nothing(org: SalesforceSandbox, crm: SalesforceCrm, object_type: str) -> None:
    if object_type == "Deal__c":
        org.add_object("Deal__c", [])
    queue = org.add_queue("New")
    record_id = org.create(object_type, {"OwnerId": queue})
    record = crm.read_records(object_type, [record_id])[record_id]
    assert (record.owner_id, record.owner_stays) == (queue, False)


def test_a_queue_is_told_by_its_id_whatever_the_org_says_of_it() -> None:
    row = {"Id": "00Q000000000001EAA", "OwnerId": "00G000000000001EAA", "Owner": {"IsActive": True}}
    record = records.from_row(row, "Lead", "00Q000000000001EAA", unassigned=(), routed=())
    assert not record.owner_stays


def test_a_record_tells_when_it_was_changed_last(clock: Any, connect: Connect) -> None:
    with SalesforceSandbox(clock=clock) as org:
        lead = org.create("Lead", {})
        clock.go(60)
        org.change(lead, {"Title": "CEO"})
        record = connect(org.url).read_records("Lead", [lead])[lead]
    assert record.modified_at == clock.now
    assert "LastModifiedDate" not in record.attributes


@pytest.mark.parametrize("told", [None, "", "yesterday", "2026-11-30", 7, "2026-11-30T09:15:07"])
def test_what_is_no_moment_is_none(told: object) -> None:
    assert records.moment(told) is None


@pytest.mark.parametrize(
    ("object_type", "kind"),
    [("Lead", LeadKind.LEAD), ("Case", LeadKind.LEAD), ("Task", LeadKind.TASK),
     ("Event", LeadKind.MEETING)],
)  # fmt: skip
def test_a_task_is_a_task_and_an_event_a_meeting(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str, kind: LeadKind
) -> None:
    record_id = org.create(object_type, {})
    assert crm.read_records(object_type, [record_id])[record_id].kind is kind


def test_an_event_tells_when_it_takes_place(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    begin, end = "2026-12-01T10:00:00.000+0000", "2026-12-01T10:30:00.000+0000"
    event = org.create("Event", {"StartDateTime": begin, "EndDateTime": end})
    assert crm.read_records("Event", [event])[event].slot == Slot(
        starts_at=datetime(2026, 12, 1, 10, 0, tzinfo=UTC),
        ends_at=datetime(2026, 12, 1, 10, 30, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    "times",
    [
        {"StartDateTime": "2026-12-01T10:00:00.000+0000"},
        {"StartDateTime": None, "EndDateTime": None},
        {"StartDateTime": "soon", "EndDateTime": "2026-12-01T10:00:00.000+0000"},
        {
            "StartDateTime": "2026-12-01T10:00:00.000+0000",
            "EndDateTime": "2026-12-01T09:00:00.000+0000",
        },
        {
            "StartDateTime": "2026-12-01T00:00:00.000+0000",
            "EndDateTime": "2026-12-02T00:00:00.000+0000",
            "IsAllDayEvent": True,
        },
    ],
)
def test_an_event_without_times_to_go_by_has_no_slot(times: dict[str, Any]) -> None:
    row = {"Id": "00U000000000001EAA", **times}
    record = records.from_row(row, "Event", "00U000000000001EAA", unassigned=(), routed=())
    assert record.slot is None


@pytest.mark.parametrize("size", [1, 3, 2_000])
def test_pages_of_any_size_make_one_answer(
    org: SalesforceSandbox, crm: SalesforceCrm, size: int
) -> None:
    org.page_size = size
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(7)]
    assert set(crm.read_records("Lead", leads)) == set(leads)


def test_a_lost_page_is_asked_for_from_the_start(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.page_size = 2
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(5)]
    lost = [{"errorCode": "INVALID_QUERY_LOCATOR", "message": "invalid query locator"}]
    org.faults.add("/query/01g", status=400, body=lost)
    assert set(crm.read_records("Lead", leads)) == set(leads)
    assert len(queries_from_the_start(org)) == 2


def test_country_codes_are_not_asked_for(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    crm.read_records("Lead", [org.create("Lead", {})])
    assert "StateCode" not in queries(org)[0]
    assert "CountryCode" not in queries(org)[0]


def test_an_object_type_that_we_may_not_see_waits_for_the_permission(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    with pytest.raises(CrmForbidden) as forbidden:
        crm.read_records("Deal__c", ["a0D30000001n7Pi"])
    assert forbidden.value.code == "INVALID_TYPE"
    assert "Deal__c" in (forbidden.value.crm_message or "")


@pytest.mark.parametrize("code", ["INSUFFICIENT_ACCESS", "INSUFFICIENT_ACCESS_OR_READONLY"])
def test_a_read_without_a_permission_waits_for_it(
    org: SalesforceSandbox, crm: SalesforceCrm, code: str
) -> None:
    org.faults.add("/query", status=403, body=[{"errorCode": code, "message": "m"}], times=None)
    with pytest.raises(CrmForbidden):
        crm.read_records("Lead", ["00Q000000000001"])
    assert len(org.calls_to("/query")) == 1


def test_records_whose_owner_is_hidden_from_us_wait_for_the_permission(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {})
    refusal = [{"errorCode": "INVALID_FIELD", "message": "No such column 'OwnerId'"}]
    org.faults.add("/query", status=400, body=refusal, times=2)
    described = [{"name": name} for name in org.records.fields["Lead"] if name != "OwnerId"]
    org.faults.add("/sobjects/Lead/describe$", status=200, body={"fields": described})
    with pytest.raises(CrmForbidden) as forbidden:
        crm.read_records("Lead", [lead])
    assert forbidden.value.code == "INVALID_FIELD"
    assert forbidden.value.crm_message == "No such column 'OwnerId'"
    assert lead in crm.read_records("Lead", [lead])


def test_a_field_that_is_hidden_later_is_left_out_too(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {"Company": "Acme"})
    for hidden in ("Industry", "Rating"):
        org.records.fields["Lead"].remove(hidden)
        described = [{"name": name} for name in org.records.fields["Lead"]]
        org.faults.add("/sobjects/Lead/describe$", "GET", status=200, body={"fields": described})
        assert hidden not in crm.read_records("Lead", [lead])[lead].attributes
    assert len(org.calls_to("/describe")) == 2


@pytest.mark.parametrize("fault", ["server_unavailable", "query_timeout", "lost_before", "garbage"])
def test_a_read_is_tried_once_more(org: SalesforceSandbox, crm: SalesforceCrm, fault: str) -> None:
    lead = org.create("Lead", {})
    org.faults.add("/query", preset=fault)
    assert lead in crm.read_records("Lead", [lead])


def test_a_read_is_not_tried_a_third_time(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    org.faults.add("/query", preset="unavailable_page", times=None)
    with pytest.raises(CrmAgain):
        crm.read_records("Lead", ["00Q000000000001"])
    assert len(org.calls_to("/query")) == 2


def test_unknown_fields_of_an_answer_do_no_harm(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    org.extra_fields = True
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {"OwnerId": ann})
    assert crm.read_records("Lead", [lead])[lead].owner_stays


@pytest.mark.parametrize("page", ["null", "[]", "7", '{"records": 1}', "{}", '{"records": [1]'])
def test_an_odd_answer_is_tried_again_later(
    org: SalesforceSandbox, crm: SalesforceCrm, page: str
) -> None:
    org.faults.add("/query", status=200, body=page, times=None)
    with pytest.raises(CrmAgain):
        crm.read_records("Lead", ["00Q000000000001"])


def test_the_records_created_since_then_are_told_in_the_order_of_ids(
    clock: Any, connect: Connect
) -> None:
    with SalesforceSandbox(clock=clock) as org:
        org.create("Lead", {"LastName": "Old"})
        clock.go(3600)
        leads = sorted(org.create("Lead", {"LastName": f"Lead {n}"}) for n in range(450))
        crm = connect(org.url)
        found: list[str] = []
        for _ in range(4):
            found += crm.unowned("Lead", clock(), after=found[-1] if found else None)
    assert found == leads
    assert len(queries(org)) == 4


def test_a_moment_in_another_zone_is_the_same_moment(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    zone = timezone(timedelta(hours=2))
    crm.unowned("Lead", datetime(2026, 11, 30, 11, 0, 0, 999_999, tzinfo=zone))
    assert queries(org) == [
        "SELECT Id FROM Lead WHERE CreatedDate >= 2026-11-30T09:00:00Z ORDER BY Id LIMIT 200"
    ]


@pytest.mark.parametrize("after", ["x", "' OR Id != '", "0035g00000000001AA"])
def test_an_id_that_is_none_of_the_type_is_no_place_to_go_on(
    org: SalesforceSandbox, crm: SalesforceCrm, after: str
) -> None:
    with pytest.raises(CrmNever):
        crm.unowned("Lead", datetime(2026, 11, 30, tzinfo=UTC), after=after)
    assert queries(org) == []


def test_a_record_whose_owner_is_hidden_from_us_stays_with_its_owner(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {"OwnerId": org.add_user("Ann", "ann@example.com")})
    row = {"Id": lead, "OwnerId": org.owner_of(lead), "Owner": None}
    org.faults.add("/query", status=200, body={"done": True, "records": [row]})
    found = crm.read_records("Lead", [lead])[lead]
    assert (found.owner_id, found.owner_stays) == (org.owner_of(lead), True)
