"""What happens to a Salesforce record after it came: conversion, merge, deletion, other hands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.org import Org
from tests.acceptance.stage import Stage


@pytest.fixture
def org(sqlite: Database) -> Iterator[Org]:
    with Stage(sqlite) as stage:
        stage.team("AB")
        yield Org(stage)


def test_a_converted_lead_is_left_alone(org: Org) -> None:
    (lead,) = org.create("Lead")
    org.sandbox.convert(lead)
    before = org.sandbox.get(lead)
    org.arrive(lead)
    assert org.rows() == []
    assert org.sandbox.get(lead) == before
    assert org.stage.inbox() == {("ignored", "record_closed"): 1}


def test_a_lead_that_is_converted_before_its_write_gives_the_turn_back(org: Org) -> None:
    (lead,) = org.create("Lead")
    org.sandbox.lock_row(lead, tries=1)
    org.arrive(lead)
    contact = org.sandbox.convert(lead)
    org.stage.later(minutes=1)
    org.stage.work()
    assert [(row["status"], row["write_back"]) for row in org.rows()] == [
        ("assigned", "none"),
        ("undone", "none"),
    ]
    assert org.users([contact]) == [None]
    org.arrive(*(after := org.create("Lead")))
    assert org.users(after) == ["A"]


def test_the_contact_of_a_converted_lead_is_routed_where_contacts_are(org: Org) -> None:
    org.route("Lead", "Contact")
    (lead,) = org.create("Lead")
    contact = org.sandbox.convert(lead)
    org.arrive(lead)
    (row,) = org.rows()
    assert row["lead_id"] == f"salesforce:Contact:{contact}"
    assert org.users([contact]) == ["A"]


def test_a_lead_that_is_merged_away_is_served_once_under_the_winner(org: Org) -> None:
    winner, loser = org.create("Lead", 2)
    org.sandbox.merge(winner, loser)
    org.arrive(loser)
    org.arrive(winner)
    assert [row["record"]["id"] for row in org.rows()] == [winner]
    assert org.users([winner]) == ["A"]
    assert [body["id"] for call in org.writes() for body in call.json["records"]] == [winner]


def test_the_user_of_a_merged_lead_has_the_winner_if_nobody_else_does(org: Org) -> None:
    (loser,) = org.create("Lead")
    org.arrive(loser)
    org.sandbox.change(loser, {"OwnerId": org.queue})
    org.tell(loser)  # a message that is worked when the two are one
    (winner,) = org.create("Lead")
    org.sandbox.merge(winner, loser)
    org.arrive(winner)
    assert org.users([winner]) == ["A"]
    org.arrive(*(after := org.create("Lead")))
    assert org.users(after) == ["B"]


def test_a_lead_that_is_deleted_before_it_is_told_of_is_acknowledged(org: Org) -> None:
    gone, there = org.create("Lead", 2)
    org.sandbox.delete(gone)
    org.arrive(gone, there)
    assert org.stage.inbox() == {("ignored", "record_deleted"): 1, ("done", None): 1}
    assert org.users([there]) == ["A"]


def test_a_callout_that_tells_of_a_deletion_closes_what_waits(org: Org) -> None:
    (lead,) = org.create("Lead")
    org.sandbox.lock_row(lead, tries=1)
    org.arrive(lead)
    org.sandbox.delete(lead)
    org.call_out("Lead", {"Id": lead}, event="deleted")
    org.stage.work()
    assert [row["status"] for row in org.rows()] == ["assigned", "undone"]
    org.arrive(*(after := org.create("Lead")))
    assert org.users(after) == ["A"]


def test_a_rule_of_the_org_that_takes_the_lead_away_is_followed_not_fought(org: Org) -> None:
    """Another automation, told by the message that its change sends."""
    (lead,) = org.create("Lead")
    org.arrive(lead)
    org.sandbox.set_owner(lead, org.owner("B"))
    org.arrive(lead)
    org.arrive(lead)
    first, second = org.rows()
    assert (first["assigned_user_id"], second["assigned_user_id"]) == ("A", "B")
    assert second["status"] == "reassigned"
    assert len(org.writes()) == 1


def test_a_callout_may_name_the_pool(org: Org) -> None:
    org.stage.team("C", pool="Events")
    (lead,) = org.create("Lead")
    org.call_out("Lead", {"Id": lead}, pool="Events")
    org.stage.work()
    assert org.users([lead]) == ["C"]


def test_our_own_write_comes_back_as_an_echo(org: Org) -> None:
    (lead,) = org.create("Lead")
    org.arrive(lead)
    queries = len(org.queries("Lead"))
    org.tell(lead)
    org.call_out("Lead", {"Id": lead, "OwnerId": org.owner("A")}, event="updated")
    org.stage.work()
    assert org.stage.inbox()["ignored", "own_echo"] == 2
    assert len(org.queries("Lead")) == queries
    assert len(org.rows()) == 1
