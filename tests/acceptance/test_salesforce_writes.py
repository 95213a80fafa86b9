"""From a message to an owner that stays, although the org and the network do their worst."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adapters.sandbox.server import Call
from tests.acceptance.stage import Row, Stage, turns

ROW = "/sobjects/Lead/"
WRITES = f"{ROW}|/composite/sobjects"


@pytest.fixture(params=["Lead", ""], ids=["guarded", "together"])
def org(stage: Stage, request: pytest.FixtureRequest) -> Stage:
    """With leads that are written one by one, and with leads that are written together."""
    stage.configure(SALESFORCE_GUARDED_OBJECTS=request.param)
    return stage


@pytest.fixture
def guarded(stage: Stage) -> Stage:
    stage.configure(SALESFORCE_GUARDED_OBJECTS="lead")
    return stage


def patches(stage: Stage) -> list[Call]:
    return [call for call in stage.salesforce.calls if call.method == "PATCH"]


def new_lead(stage: Stage) -> str:
    (lead,) = stage.leads(1)
    stage.tell_salesforce([lead])
    return lead


def shown(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    return [(row["assigned_user_id"], row["write_back"], row["sequence"]) for row in rows]


def work_for(stage: Stage, times: int) -> None:
    for _ in range(times):
        stage.work()
        stage.later(minutes=2)


def test_a_row_that_is_locked_three_times_goes_to_the_same_user(org: Stage) -> None:
    pool = org.team("AB")
    (lead,) = org.leads(1)
    org.salesforce.lock_row(lead, tries=3)
    org.tell_salesforce([lead])
    org.work()
    (row,) = org.api.history(pool)
    assert org.decision(row)["write_back"]["last_error"] == "UNABLE_TO_LOCK_ROW"
    work_for(org, 4)
    assert shown(org.api.history(pool)) == [("A", "done", 1)]
    assert len(patches(org)) == 4
    new_lead(org)
    org.work()
    assert turns(org.api.history(pool)) == {"A": 1, "B": 1}


@pytest.mark.parametrize("fault", [{"drop": "after"}, {"status": 503, "effect": True}])
def test_a_write_whose_answer_is_lost_is_found_by_reading(org: Stage, fault: dict) -> None:
    pool = org.team("AB")
    org.salesforce.faults.add(WRITES, "PATCH", **fault)
    lead = new_lead(org)
    work_for(org, 2)
    assert shown(org.api.history(pool)) == [("A", "done", 1)]
    assert org.user_of(f"salesforce:Lead:{lead}") == "A"
    assert len(patches(org)) == 1


def test_a_server_that_fails_twice_is_asked_three_times(org: Stage) -> None:
    pool = org.team("AB")
    org.salesforce.faults.add(WRITES, "PATCH", preset="unavailable_page", times=2)
    new_lead(org)
    work_for(org, 3)
    assert shown(org.api.history(pool)) == [("A", "done", 1)]
    assert [call.status for call in patches(org)][:2] == [503, 503]
    assert len(patches(org)) == 3


def test_a_user_who_left_a_moment_ago_is_passed_over_in_the_same_decision(org: Stage) -> None:
    pool = org.team("ABC")
    new_lead(org)  # A, and everybody was looked at
    org.work()
    org.salesforce.deactivate(org.owners["B"]["salesforce"])
    lead = new_lead(org)
    work_for(org, 2)
    rows = org.api.history(pool)
    assert shown(rows) == [("A", "done", 1), ("C", "done", 2)]
    skipped = org.decision(rows[1])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("B", "refused_by_crm")]
    assert org.user_of(f"salesforce:Lead:{lead}") == "C"


def test_code_of_the_org_that_fails_on_one_lead_switches_nobody_off(org: Stage) -> None:
    pool = org.team("ABC")
    body = [{"message": "operation performed with inactive user",
             "errorCode": "INACTIVE_OWNER_OR_USER", "fields": []}]  # fmt: skip
    entry = [{"success": False, "errors": [
        {"message": body[0]["message"], "statusCode": body[0]["errorCode"], "fields": []}
    ]}]  # fmt: skip
    org.salesforce.faults.add(ROW, "PATCH", status=400, body=body, times=2)
    org.salesforce.faults.add("/composite/sobjects", status=200, body=entry, times=2)
    new_lead(org)
    work_for(org, 3)
    (row,) = org.api.history(pool)
    assert row["write_back"] == "dead"
    org.salesforce.faults.clear()
    for _ in range(3):
        new_lead(org)
    org.work()
    assert turns(org.api.history(pool)[1:]) == {"A": 1, "B": 1, "C": 1}


def test_a_lead_that_someone_takes_between_look_and_write_stays_theirs(guarded: Stage) -> None:
    pool = guarded.team("AB")
    lead = new_lead(guarded)
    owner = guarded.owners["B"]["salesforce"]

    def take(_: str, record_id: str, __: object) -> None:
        guarded.later(seconds=1)
        guarded.salesforce.set_owner(record_id, owner)

    guarded.salesforce.before_write(take)
    guarded.work()
    assert guarded.salesforce.owner_of(lead) == owner
    guarded.salesforce.write_hook = None
    guarded.later(seconds=10)
    guarded.work()
    first, second = guarded.api.history(pool)
    assert (first["assigned_user_id"], first["write_back"]) == ("A", "kept")
    assert (second["assigned_user_id"], second["reason"]) == ("B", "kept_existing_owner")
    assert guarded.salesforce.owner_of(lead) == owner
    assert [call.status for call in patches(guarded)] == [412]


def override(stage: Stage, owner_id: str) -> None:
    """A flow of the org gives every lead to this owner whenever it is saved."""
    stage.salesforce.automation = lambda *_: owner_id


def test_automation_that_gives_a_lead_to_a_queue_is_not_fought(guarded: Stage) -> None:
    pool = guarded.team("AB")
    queue = guarded.salesforce.add_queue("Territory")
    override(guarded, queue)
    new_lead(guarded)
    work_for(guarded, 5)
    (row,) = guarded.api.history(pool)
    told = guarded.decision(row)["write_back"]
    assert (told["state"], told["last_error"], told["attempts"]) == ("dead", "overridden", 2)
    assert queue in told["crm_message"]
    assert len(patches(guarded)) == 2


def test_an_active_user_to_whom_automation_gives_a_lead_keeps_it(guarded: Stage) -> None:
    pool = guarded.team("AB")
    manager = guarded.hire(["Manager"])["Manager"]["salesforce"]
    override(guarded, manager)
    lead = new_lead(guarded)
    work_for(guarded, 3)
    first, second = guarded.api.history(pool)
    assert (first["assigned_user_id"], first["write_back"]) == ("A", "kept")
    assert (second["assigned_user_id"], second["reason"]) == (None, "kept_existing_owner")
    assert guarded.salesforce.owner_of(lead) == manager
    assert len(patches(guarded)) == 1
