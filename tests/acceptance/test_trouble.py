"""CRMs that are down, lost for words or out of breath: nothing is lost, nothing is doubled."""

from __future__ import annotations

from tests.acceptance.crm import Crm
from tests.acceptance.stage import Stage, check_sequence, reads, turns, writes

HTML = "<html><body><h1>503 Service Unavailable</h1></body></html>"


def test_a_lost_reply_is_found_by_reading_and_nothing_is_written_twice(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    crm.sandbox.faults.add("/batch/update|/composite/sobjects", drop="after")
    crm.tell(crm.new(10))
    stage.work()
    assert {row["write_back"] for row in stage.api.history(pool)} == {"pending"}
    stage.later(seconds=2)
    stage.work()
    rows = stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert turns(rows) == {"A": 5, "B": 5}
    assert len(writes(crm.sandbox)) == 1
    stage.check_owners(rows)


def test_a_write_that_was_lost_on_its_way_is_made_again(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    crm.sandbox.faults.add("/batch/update|/composite/sobjects", drop="before")
    crm.tell(crm.new(10))
    stage.work()
    stage.later(seconds=2)
    stage.work()
    rows = stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert turns(rows) == {"A": 5, "B": 5}
    stage.check_owners(rows)


def test_a_pause_is_kept_to_the_second_and_the_other_crm_goes_on(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    other = Crm(stage, "salesforce" if crm.name == "hubspot" else "hubspot")
    crm.sandbox.faults.add(
        "/batch/update|/composite/sobjects", status=429, headers={"Retry-After": "17"}, body={}
    )
    crm.tell(crm.new(4))
    stage.work()
    assert stage.paused_for(crm.name) == 17
    calls = len(crm.sandbox.calls)
    stage.later(seconds=16)
    crm.tell(crm.new(2))
    other.tell(other.new(2))
    stage.work()
    assert len(crm.sandbox.calls) == calls
    others = [row for row in stage.api.history(pool) if row["lead_id"].startswith(other.name)]
    assert [row["write_back"] for row in others] == ["done"] * 2
    stage.later(seconds=1)
    stage.work()
    rows = stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert len(rows) == 8
    check_sequence(rows)
    stage.check_owners(rows)


def test_a_paused_write_keeps_its_turn_and_counts_no_attempt(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    crm.sandbox.faults.add(
        "/batch/update|/composite/sobjects",
        status=429,
        headers={"Retry-After": "60"},
        body={},
        times=3,
    )
    crm.tell(crm.new(1))
    for _ in range(4):
        stage.work()
        stage.later(seconds=60)
    (row,) = stage.api.history(pool)
    assert (row["assigned_user_id"], row["write_back"]) == ("A", "done")
    assert stage.decision(row)["write_back"]["attempts"] == 1


def test_a_crm_that_is_down_at_first_gets_its_owners_once_it_is_up(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    ids = crm.new(10)
    crm.sandbox.stop()
    crm.tell(ids)
    stage.work()
    assert stage.inbox() == {("ready", None): 10}
    assert stage.api.history(pool) == []
    stage.later(hours=30)  # longer than a failing event lives
    stage.work()
    assert stage.inbox() == {("ready", None): 10}
    crm.sandbox.start()
    stage.later(minutes=15)
    stage.work()
    rows = stage.api.history(pool)
    assert turns(rows) == {"A": 5, "B": 5}
    assert {row["write_back"] for row in rows} == {"done"}
    assert stage.inbox() == {("done", None): 10}
    stage.check_owners(rows)


def test_a_crm_that_is_down_is_probed_by_one_call_at_growing_gaps(crm: Crm) -> None:
    stage = crm.stage
    stage.team("AB")
    ids = crm.new(3)
    crm.sandbox.stop()
    crm.tell(ids)
    gaps = []
    for _ in range(8):
        stage.work()
        gap = stage.paused_for(crm.name)
        assert gap is not None
        gaps.append(gap)
        stage.later(seconds=gap)
    assert gaps == [30, 60, 120, 240, 480, 900, 900, 900]


def test_a_crm_that_goes_down_between_decision_and_write_loses_nothing(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    crm.fail_reads(after=1, status=401, body={"message": "expired"}, times=3)
    crm.tell(crm.new(4))
    stage.work()
    assert {row["write_back"] for row in stage.api.history(pool)} == {"pending"}
    for _ in range(3):
        stage.later(minutes=15)
        stage.work()
    rows = stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert turns(rows) == {"A": 2, "B": 2}
    stage.check_owners(rows)


def test_a_page_of_html_instead_of_an_answer_is_tried_again(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    # Reads are tried twice within a call: two pages for the intake, one for the write.
    crm.fail_reads(status=503, body=HTML, times=2)
    crm.sandbox.faults.add("/batch/update|/composite/sobjects", status=503, body=HTML)
    crm.tell(crm.new(4))
    for _ in range(3):
        stage.work()
        stage.later(seconds=2)
    rows = stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert turns(rows) == {"A": 2, "B": 2}
    assert len(reads(crm.sandbox)) == 5
    stage.check_owners(rows)


def test_a_write_that_works_after_an_html_page_says_what_went_wrong_meanwhile(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("A")
    crm.sandbox.faults.add("/batch/update|/composite/sobjects", status=503, body=HTML, times=None)
    crm.tell(crm.new(1))
    stage.work()
    (row,) = stage.api.history(pool)
    shown = stage.decision(row)["write_back"]
    assert (shown["state"], shown["attempts"]) == ("pending", 1)
    assert shown["last_error"]
    assert shown["next_try_at"]
    assert "<" not in f"{shown['crm_message']}"


def test_one_record_that_can_never_be_written_does_not_cost_the_others(stage: Stage) -> None:
    pool = stage.team("AB")
    leads = stage.leads(9)
    bad = leads[4]
    stage.salesforce.change(bad, {"Company": "Bad"})
    stage.salesforce.validation_rule = lambda _type, values: (
        [("Region must be filled in", "Region__c")] if values["Company"] == "Bad" else []
    )
    stage.tell_salesforce(leads)
    stage.work()
    rows = stage.api.history(pool)
    dead = [row for row in rows if row["write_back"] == "dead"]
    assert [row["record"]["id"] for row in dead] == [bad]
    assert "Region must be filled in" in stage.decision(dead[0])["write_back"]["crm_message"]
    alive = [row for row in rows if row not in dead]
    assert {row["write_back"] for row in alive} == {"done"}
    stage.check_owners(alive)


def test_a_record_deleted_before_the_write_is_a_dead_letter_in_sight(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    ids = crm.new(3)
    crm.fail_reads(after=1, status=429, headers={"Retry-After": "5"}, body={})
    crm.tell(ids)
    stage.work()
    if crm.name == "hubspot":
        stage.hubspot.delete("contacts", ids[1])
    else:
        stage.salesforce.delete(ids[1])
    stage.later(seconds=5)
    stage.work()
    rows = stage.api.history(pool)
    assert [row["write_back"] for row in rows] == ["done", "dead", "done"]
    assert stage.decision(rows[1])["write_back"]["last_error"] == "record_gone"
