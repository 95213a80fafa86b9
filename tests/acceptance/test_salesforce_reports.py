"""What users of other Salesforce integrations reported, played at the whole product."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from structlog.testing import capture_logs

from adapters.sandbox.salesforce_sender import SalesforceSender
from connector.store.database import Database
from tests.acceptance import salesforce_reports
from tests.acceptance.org import Org
from tests.acceptance.stage import KEY, Stage, check_sequence, turns

ROOT = Path(__file__).parents[2]
DATA = "/services/data/.*"


@pytest.fixture
def org(sqlite: Database) -> Iterator[Org]:
    with Stage(sqlite) as stage:
        yield Org(stage)


@pytest.mark.parametrize("report", salesforce_reports.REPORTS, ids=lambda one: f"T{one.number}")
def test_every_report_has_tests_that_are_there(report: salesforce_reports.Report) -> None:
    assert report.source
    assert report.promise.endswith(".")
    assert report.tests
    for node in report.tests:
        path, _, name = node.partition("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / path).read_text(), node


def test_only_what_is_not_built_is_left_out() -> None:
    told = {one.number for one in salesforce_reports.REPORTS}
    assert told | salesforce_reports.NOT_BUILT.keys() == set(range(1, 39))
    assert not told & salesforce_reports.NOT_BUILT.keys()


@pytest.mark.parametrize("preset", ["session_expired", "unauthorized_page"])
def test_a_session_that_is_refused_for_ever_costs_two_calls_and_two_log_ins_a_batch(
    org: Org, preset: str
) -> None:
    org.stage.team("AB")
    org.sandbox.faults.add(DATA, preset=preset, times=None)
    ids = org.create("Lead", 3)
    org.tell(*ids)
    org.stage.work()
    assert len(org.calls("data")) <= 2
    assert org.sandbox.log_ins <= 2
    for _ in range(20):  # for five hours
        org.stage.later(minutes=15)
        org.stage.work()
    assert org.sandbox.log_ins <= 5
    org.sandbox.faults.clear()
    org.stage.later(minutes=15)
    org.stage.work()
    assert org.users(ids) == ["A", "B", "A"]


def test_a_session_that_no_log_in_can_repair_is_not_renewed_and_keeps_its_work(org: Org) -> None:
    org.stage.team("A")
    org.sandbox.faults.add(DATA, preset="session_lasting", times=None)
    ids = org.create("Lead", 2)
    with capture_logs() as logs:
        org.arrive(*ids)
    assert org.sandbox.log_ins == 1
    assert any("not valid for use with the REST API" in str(one.values()) for one in logs), logs
    org.sandbox.faults.clear()
    org.stage.later(minutes=15)
    org.stage.work()
    assert org.users(ids) == ["A", "A"]


@pytest.mark.parametrize(
    ("preset", "seconds"), [("daily_limit", 900), ("concurrent_limit", 3)], ids=["day", "moment"]
)
def test_a_limit_rests_the_connection_and_keeps_its_queue(
    org: Org, preset: str, seconds: int
) -> None:
    org.stage.team("AB")
    org.sandbox.faults.add(DATA, preset=preset, times=1)
    ids = org.create("Lead", 2)
    org.arrive(*ids)
    assert org.stage.paused_for("salesforce") == seconds
    calls = len(org.sandbox.calls)
    org.stage.later(seconds=seconds - 1)
    org.stage.work()
    assert (len(org.sandbox.calls), org.sandbox.log_ins) == (calls, 1)
    org.stage.later(seconds=1)
    org.stage.work()
    assert org.users(ids) == ["A", "B"]


def test_a_missing_permission_is_told_and_the_leads_wait_for_it(org: Org) -> None:
    org.stage.team("A")
    body = [{"message": "no access", "errorCode": "INSUFFICIENT_ACCESS"}]
    org.sandbox.faults.add("/query", status=403, body=body, times=None)
    ids = org.create("Lead")
    org.arrive(*ids)
    assert org.sandbox.log_ins == 1
    assert org.stage.inbox() == {("ready", "INSUFFICIENT_ACCESS"): 1}
    org.sandbox.faults.clear()
    org.stage.later(hours=1)
    org.stage.work()
    assert org.users(ids) == ["A"]


def test_fifty_leads_in_one_message_are_ten_for_each_of_five(database: Database) -> None:
    with Stage(database) as stage:
        org = Org(stage)
        stage.team("ABCDE")
        ids = org.create("Lead", 50)
        org.arrive(*ids)
        rows = org.rows()
        assert turns(rows) == dict.fromkeys("ABCDE", 10)
        assert org.users(ids) == list("ABCDE" * 10)
        check_sequence(rows)


def test_a_notification_that_comes_again_two_hours_later_is_acknowledged_and_changes_nothing(
    org: Org,
) -> None:
    org.stage.team("AB")
    first, second = org.create("Lead", 2)
    old = org.sender.write(org.sender._number([first]))
    address = f"{org.stage.url}/webhooks/salesforce?key={requests.utils.quote(KEY, safe='')}"
    types = {"Content-Type": "text/xml; charset=UTF-8", "SOAPAction": '""'}
    answers = []
    for body in (old, org.sender.write(org.sender._number([second])), old):
        answers.append(requests.post(address, data=body, headers=types, timeout=30))
        org.stage.work()
        org.stage.later(hours=2)
        org.stage.configure()  # a restart
    assert {(one.status_code, one.content) for one in answers} == {(200, answers[0].content)}
    assert [row["record"]["id"] for row in org.rows()] == [first, second]
    assert len(org.writes()) == 2


def test_both_forms_of_an_id_are_one_record_and_case_twins_are_two(org: Org) -> None:
    org.stage.team("AB")
    twins = [
        org.sandbox.create("Lead", {"LastName": "x", "Company": f"C{one}"}, record_id=one)
        for one in ("00QRR00000AbCdE2AV", "00QRR00000aBcDe2AK")
    ]
    for one in twins:
        org.call_out("Lead", {"Id": one}, {"Id": one[:15]})
    org.call_out("Lead", {"Id": twins[0][:15] + "AAA"})
    org.stage.work()
    assert [row["record"]["id"] for row in org.rows()] == twins
    assert org.users(twins) == ["A", "B"]
    assert org.stage.inbox()["ignored", "bad_record_id"] == 1


@pytest.mark.parametrize(
    "record_id", ["https://evil.example/x", "../User/0055g000009AbCdAAK", "//evil.example", "*"]
)
def test_an_id_that_is_an_address_leads_to_no_call(org: Org, record_id: str) -> None:
    org.stage.team("A")
    org.call_out("Lead", {"Id": record_id})
    org.stage.work()
    assert org.sandbox.calls == []
    assert org.stage.inbox() == {("ignored", "bad_record_id"): 1}


def test_the_turn_after_a_restart_is_the_next_users(org: Org) -> None:
    org.stage.team("ABCD")
    org.arrive(*org.create("Lead", 3))
    org.stage.configure()
    ids = org.create("Lead")
    org.arrive(*ids)
    assert org.users(ids) == ["D"]


def test_a_reply_that_is_lost_is_found_by_reading_though_the_record_changed_by_it(
    org: Org,
) -> None:
    org.stage.team("AB")
    org.stage.configure(SALESFORCE_GUARDED_OBJECTS="Lead")
    org.sandbox.faults.add("/sobjects/Lead/.*", "PATCH", preset="lost_after", times=1)
    (lead,) = org.create("Lead")
    org.stage.later(seconds=5)
    org.arrive(lead)
    org.stage.later(seconds=60)
    org.stage.work()
    (row,) = org.rows()
    assert (row["assigned_user_id"], row["write_back"], row["sequence"]) == ("A", "done", 1)
    assert len(org.writes()) == 1
    assert org.users([lead]) == ["A"]


def test_an_owner_set_between_look_and_write_is_not_written_over(org: Org) -> None:
    org.stage.team("AB")
    org.stage.configure(SALESFORCE_GUARDED_OBJECTS="Lead")
    (lead,) = org.create("Lead")
    org.stage.later(seconds=5)

    def intervene(*_: object) -> None:
        if org.sandbox.owner_of(lead) != org.owner("B"):
            org.sandbox.set_owner(lead, org.owner("B"))

    org.sandbox.before_write(intervene)
    org.arrive(lead)
    org.stage.later(seconds=60)
    org.stage.work()
    assert org.users([lead]) == ["B"]
    assert [(row["status"], row["assigned_user_id"]) for row in org.rows()] == [
        ("assigned", "A"),
        ("kept", "B"),
    ]
    ids = org.create("Lead")
    org.sandbox.before_write(lambda *_: None)
    org.arrive(*ids)
    assert org.users(ids) == ["A"]


def test_a_polled_org_needs_no_message_at_all(org: Org) -> None:
    """The same leads by polling alone: an edition without outbound messages."""
    org.stage.team("AB")
    org.stage.configure(SALESFORCE_POLL_EVERY="60s")
    org.stage.work()
    ids = org.create("Lead", 4)
    org.stage.later(seconds=60)
    org.stage.work()
    assert org.users(ids) == ["A", "B", "A", "B"]
    org.stage.later(seconds=60)
    org.stage.work()
    assert len(org.rows()) == 4
    assert len(org.writes()) == 1


def test_a_foreign_org_is_refused_by_a_fault_and_told_with_both_ids(org: Org) -> None:
    org.stage.team("A")
    stranger = "00D000000000001EAA"
    address = f"{org.stage.url}/webhooks/salesforce"
    with SalesforceSender(org.sandbox, address, key=KEY) as sender, capture_logs() as logs:
        sender.org_id = stranger
        status, acked = sender.send(org.create("Lead"))
    assert (status, acked) == (403, False)
    told = [str(one.values()) for one in logs if one["event"] == "webhook_refused"]
    assert any(stranger in one and org.sandbox.org_id in one for one in told), logs
    assert org.stage.inbox() == {}
