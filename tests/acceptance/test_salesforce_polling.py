"""An org that cannot send outbound messages is asked what changed, and its leads get owners."""

from __future__ import annotations

from collections import Counter

import pytest

from connector.store.database import Database
from tests.acceptance.stage import Stage, check_sequence, salesforce_leads, turns


@pytest.fixture
def org(stage: Stage) -> Stage:
    """Salesforce asked every minute, with people who have started to work."""
    stage.configure(SALESFORCE_POLL_EVERY="1m")
    stage.team("ABC")
    stage.work()
    stage.later(minutes=1)
    return stage


def polls(stage: Stage) -> int:
    """How often the org was asked what changed."""
    return sum("SystemModstamp+%3E" in one.query.replace("%20", "+") for one in queries(stage))


def queries(stage: Stage):
    return stage.salesforce.calls_to("/query")


def pool(stage: Stage) -> str:
    (found,) = stage.api.call("GET", "/round-robin/pools")
    return str(found["id"])


def test_leads_of_an_org_that_sends_nothing_get_owners_by_the_worker_alone(org: Stage) -> None:
    ids = org.leads(7)
    org.later(minutes=1)
    done = org.work()
    rows = org.api.history(pool(org))
    assert (done.polled, done.written) == (7, 7)
    assert {row["lead_id"] for row in rows} == set(salesforce_leads(ids))
    assert turns(rows) == {"A": 3, "B": 2, "C": 2}
    check_sequence(rows)
    org.check_owners(rows)


def test_polling_again_takes_no_turn_and_reads_no_record(org: Stage) -> None:
    org.leads(7)
    org.work()
    before = org.api.history(pool(org))
    org.later(minutes=1)
    org.work()  # which tells of our own writes
    asked = len(queries(org))
    org.later(minutes=1)
    done = org.work()
    assert org.api.history(pool(org)) == before
    assert (done.polled, done.events, done.written) == (0, 0, 0)
    assert len([one for one in queries(org)[asked:] if "FROM+Lead" in one.query]) == 1
    assert org.inbox() == Counter({("done", None): 7, ("ignored", "own_echo"): 7})


def test_a_lead_that_a_message_told_of_is_not_assigned_again(org: Stage) -> None:
    (lead,) = org.leads(1)
    org.tell_salesforce([lead])
    org.work()
    assert turns(org.api.history(pool(org))) == {"A": 1}


def test_an_owner_whom_a_person_sets_is_followed_by_polling(org: Stage) -> None:
    (lead,) = org.leads(1)
    org.work()
    org.later(minutes=1)
    org.salesforce.set_owner(lead, org.owners["C"]["salesforce"])
    org.work()
    rows = org.api.history(pool(org))
    assert [(row["assigned_user_id"], row["status"]) for row in rows] == [
        ("A", "assigned"),
        ("C", "reassigned"),
    ]


def test_a_hidden_object_type_does_not_keep_leads_waiting(stage: Stage) -> None:
    stage.configure(SALESFORCE_POLL_EVERY="1m", SALESFORCE_OBJECTS="Case,Lead")
    stage.salesforce.hide("Case")
    stage.team("A")
    ids = stage.leads(2)
    stage.work()
    rows = stage.api.history(pool(stage))
    assert {row["lead_id"] for row in rows} == set(salesforce_leads(ids))


def test_an_org_that_is_down_is_asked_again_and_nothing_is_lost(org: Stage) -> None:
    org.leads(3)
    org.salesforce.faults.add("/query", status=503, times=2)
    assert org.work().written == 0
    org.later(minutes=1)
    assert org.work().written == 3


def test_without_the_setting_the_org_is_never_asked_what_changed(stage: Stage) -> None:
    stage.team("A")
    stage.leads(2)
    stage.work()
    stage.later(minutes=10)
    stage.work()
    assert polls(stage) == 0


def test_five_thousand_changes_of_owned_leads_cost_three_calls(sqlite: Database) -> None:
    with Stage(sqlite) as stage:
        stage.configure(SALESFORCE_POLL_EVERY="1m")
        stage.team("AB")
        stage.work()
        stage.salesforce.default_owner = stage.salesforce.add_user("Rep", "rep@sales.example")
        ids = stage.leads(5_000)
        stage.later(hours=1)
        for one in ids:
            stage.salesforce.change(one, {"Title": "CEO"})
        before = len(queries(stage))
        done = stage.work()
        leads = [one for one in queries(stage)[before:] if "FROM+Lead" in one.query]
        assert (done.polled, done.events, len(leads)) == (5_000, 0, 3)
        assert stage.inbox() == Counter({("ignored", "owned_already"): 5_000})
