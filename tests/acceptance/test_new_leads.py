"""A batch of new leads: spread exactly, written once, whatever comes again."""

from __future__ import annotations

import random

from connector.store.database import Database
from tests.acceptance.soap import SoapClient
from tests.acceptance.stage import (
    Stage,
    check_sequence,
    hubspot_leads,
    reads,
    salesforce_leads,
    turns,
    writes,
)


def test_a_hundred_hubspot_creations_are_spread_exactly_at_the_cost_of_three_calls(
    stage: Stage,
) -> None:
    pool = stage.team("ABCDE")
    ids = stage.contacts(100)
    stage.tell_hubspot(ids)
    drained = stage.work()
    rows = stage.api.history(pool)
    assert [row["assigned_user_id"] for row in rows] == list("ABCDE" * 20)
    assert [row["lead_id"] for row in rows] == hubspot_leads(ids)
    assert {(row["status"], row["reason"], row["write_back"]) for row in rows} == {
        ("assigned", "rotation", "done")
    }
    check_sequence(rows)
    stage.check_owners(rows)
    assert (drained.events, drained.written) == (100, 100)
    paths = [call.path for call in stage.hubspot.calls if "/contacts/batch/" in call.path]
    assert [path.rsplit("/", 1)[1] for path in paths] == ["read", "read", "update"]


def test_a_hundred_notifications_of_a_soap_client_are_acknowledged_and_spread_exactly(
    stage: Stage, soap: SoapClient
) -> None:
    pool = stage.team("ABCDE")
    ids = stage.leads(100)
    assert soap.notify(ids) is True
    stage.work()
    rows = stage.api.history(pool)
    assert [row["assigned_user_id"] for row in rows] == list("ABCDE" * 20)
    assert [row["lead_id"] for row in rows] == salesforce_leads(ids)
    check_sequence(rows)
    stage.check_owners(rows)
    assert len(reads(stage.salesforce)) == 2
    (write,) = writes(stage.salesforce)
    assert write.headers["sforce-auto-assign"] == "FALSE"


def test_the_orgs_assignment_rule_does_not_run_on_our_writes(stage: Stage) -> None:
    pool = stage.team("AB")
    boss = stage.salesforce.add_user("Boss", "boss@sales.example")
    stage.salesforce.assignment_rule = lambda *_: boss
    stage.tell_salesforce(stage.leads(4))
    stage.work()
    stage.check_owners(stage.api.history(pool))


def test_deliveries_that_come_again_in_other_groupings_change_nothing(
    stage: Stage, soap: SoapClient
) -> None:
    pool = stage.team("ABC")
    contacts, leads = stage.contacts(60), stage.leads(60)
    events = stage.tell_hubspot(contacts)
    assert soap.notify(leads) is True
    stage.work()
    before = stage.api.history(pool)
    calls = len(stage.hubspot.calls) + len(stage.salesforce.calls)
    chance = random.Random(4)
    for size in (7, 25):
        chance.shuffle(events)
        chance.shuffle(leads)
        for first in range(0, 60, size):
            again = [event | {"attemptNumber": 1} for event in events[first : first + size]]
            assert stage.hubspot_sender.send(again) == 204
            assert soap.notify(leads[first : first + size]) is True
        stage.work()
    assert stage.api.history(pool) == before
    stage.check_owners(before)
    assert len(stage.hubspot.calls) + len(stage.salesforce.calls) == calls
    assert stage.inbox() == {("done", None): 120}


def test_new_events_about_assigned_leads_change_nothing_and_write_nothing(stage: Stage) -> None:
    pool = stage.team("ABC")
    contacts, leads = stage.contacts(30), stage.leads(30)
    stage.tell_hubspot(contacts)
    stage.tell_salesforce(leads)
    stage.work()
    before = stage.api.history(pool)
    written = len(writes(stage.hubspot)) + len(writes(stage.salesforce))
    stage.tell_hubspot(contacts[::-1])
    stage.tell_salesforce(leads[::-1])
    stage.work()
    assert stage.api.history(pool) == before
    assert len(writes(stage.hubspot)) + len(writes(stage.salesforce)) == written
    # An outbound message names the owner, a creation does not: that one is looked up.
    assert stage.inbox() == {
        ("done", None): 60,
        ("ignored", "nothing_new"): 30,
        ("ignored", "own_echo"): 30,
    }


def test_both_crms_share_the_turns_of_one_pool(stage: Stage) -> None:
    pool = stage.team("ABC")
    for _ in range(3):
        stage.tell_hubspot(stage.contacts(5))
        stage.tell_salesforce(stage.leads(5))
        stage.work()
    rows = stage.api.history(pool)
    assert turns(rows) == {"A": 10, "B": 10, "C": 10}
    assert [row["assigned_user_id"] for row in rows] == list("ABC" * 10)
    check_sequence(rows)
    stage.check_owners(rows)


def test_a_thousand_leads_queued_together_cost_each_crm_at_most_thirty_calls(
    postgresql: Database,
) -> None:
    with Stage(postgresql) as stage:
        give_away_a_thousand(stage)


def give_away_a_thousand(stage: Stage) -> None:
    pool = stage.team("ABCDE")
    contacts, leads = stage.contacts(1000), stage.leads(1000)
    for first in range(0, 1000, 100):
        stage.tell_hubspot(contacts[first : first + 100])
        stage.tell_salesforce(leads[first : first + 100])
    stage.work()
    rows = stage.api.history(pool)
    assert turns(rows) == dict.fromkeys("ABCDE", 400)
    check_sequence(rows)
    stage.check_owners(rows)
    assert len(reads(stage.hubspot)) + len(writes(stage.hubspot)) <= 30
    assert len(reads(stage.salesforce)) + len(writes(stage.salesforce)) <= 30
