"""Scenarios of a Salesforce org: whose account it is, what our writes touch, and when they fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.org import Org
from tests.acceptance.stage import Stage
from tests.scenarios import invariants, stage
from tests.scenarios.marks import plays
from tests.scenarios.stage import users

# What Salesforce itself changes along with the owner.
STAMPS = {"OwnerId", "LastModifiedDate", "LastModifiedById", "SystemModstamp"}


@pytest.fixture
def org(database: Database) -> Iterator[Org]:
    """On each kind of database; after the test, what must always be true is looked at."""
    with Stage(database) as set_up:
        yield Org(set_up)
        desk = stage.Stage(set_up.database, **set_up.environment)
        desk.now = set_up.clock.now
        desk.pools = {one["name"]: one["id"] for one in desk.get("/pools")}
        try:
            invariants.check(desk)
        finally:
            desk.leave()


def next_user(org: Org) -> str:
    """Whose turn it is, told by a lead that nobody knows."""
    org.arrive(*org.create("Lead"))
    return str(org.rows()[-1]["assigned_user_id"])


@plays("S79")
@pytest.mark.parametrize(
    ("steps", "user"), [(["person", "company", "earlier_assignment"], "B"), (["company"], "C")]
)
def test_who_has_the_person_as_a_lead_is_asked_before_who_has_the_account(
    org: Org, steps: list[str], user: str
) -> None:
    pool = org.stage.team("ABC")
    org.stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"sticky_steps": steps})
    org.create("Lead", Email="kim@acme.example", OwnerId=org.owner("B"))
    org.create("Account", Website="https://www.acme.example/", OwnerId=org.owner("C"))
    (lead,) = org.create("Lead", Email="Kim@ACME.example")
    org.arrive(lead)
    (row,) = org.rows()
    assert (row["assigned_user_id"], row["reason"], row["sticky_step"]) == (
        user,
        "sticky",
        steps[0],
    )
    assert org.users([lead]) == [user]
    assert next_user(org) == "A"


@plays("S79")
def test_an_unowned_lead_of_the_person_yields_to_a_contact(org: Org) -> None:
    org.stage.team("ABC")
    org.create("Lead", Email="kim@acme.example")  # in the queue
    account = org.create("Account", OwnerId=org.owner("B"))[0]
    org.create("Contact", Email="kim@acme.example", AccountId=account, OwnerId=org.owner("C"))
    (lead,) = org.create("Lead", Email="kim@acme.example")
    org.arrive(lead)
    (row,) = org.rows()
    assert (row["assigned_user_id"], row["sticky_step"]) == ("C", "person")


@plays("S81")
def test_an_account_of_somebody_who_left_goes_to_the_rotation_and_the_decision_says_why(
    org: Org,
) -> None:
    org.stage.team("XAB")
    (account,) = org.create("Account", Name="Acme", Website="acme.example", OwnerId=org.owner("X"))
    org.sandbox.deactivate(org.owner("X"))
    (lead,) = org.create("Lead", Email="kim@acme.example")
    org.arrive(lead)
    (row,) = org.rows()
    assert (row["assigned_user_id"], row["reason"]) == ("A", "rotation")
    (look,) = [one for one in org.stage.decision(row)["checks"] if one["step"] == "company"]
    assert "the owner of the company Acme in the CRM is no longer active" in look["outcome"]
    # Only the record of the lead is written.
    assert org.sandbox.owner_of(account) == org.owner("X")


@plays("S94")
def test_who_left_the_org_is_known_before_the_next_lead_comes(org: Org) -> None:
    org.stage.team("ABC")
    org.stage.work()
    org.sandbox.deactivate(org.owner("B"))
    org.stage.later(hours=1)
    org.stage.work()
    ids = org.create("Lead", 3)
    org.arrive(*ids)
    rows = org.rows()
    assert users(rows) == ["A", "C", "A"]
    skipped = org.stage.decision(rows[1])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("B", "inactive")]
    assert org.users(ids) == ["A", "C", "A"]


@plays("S94", "S123")
def test_who_left_since_is_refused_by_the_org_and_the_next_has_the_lead_at_once(org: Org) -> None:
    org.stage.team("ABC")
    org.arrive(*org.create("Lead"))  # the people are known to be active for a minute
    org.arrive(*org.create("Lead", OwnerId=org.owner("B")))
    org.sandbox.deactivate(org.owner("B"))
    (lead,) = org.create("Lead")
    org.arrive(lead)
    row = org.rows()[-1]
    assert (row["assigned_user_id"], row["write_back"]) == ("C", "done")
    skipped = org.stage.decision(row)["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("B", "refused_by_crm")]
    assert org.users([lead]) == ["C"]
    (pool,) = org.stage.api.call("GET", "/round-robin/pools")
    members = org.stage.api.call("GET", f"/round-robin/pools/{pool['id']}")["members"]
    assert [one["user_id"] for one in members if one["unavailable"]] == ["B"]


@plays("S114")
def test_a_person_who_is_faster_than_the_write_wins_and_the_turn_comes_back(org: Org) -> None:
    org.stage.team("ABC")
    (lead,) = org.create("Lead")
    org.sandbox.lock_row(lead, tries=1)
    org.arrive(lead)
    org.sandbox.set_owner(lead, org.owner("C"))
    org.stage.later(seconds=60)
    org.stage.work()
    assert [(row["status"], row["assigned_user_id"]) for row in org.rows()] == [
        ("assigned", "A"),
        ("kept", "C"),
    ]
    assert org.users([lead]) == ["C"]
    assert next_user(org) == "A"


@plays("S116")
def test_our_own_write_that_comes_back_decides_nothing(org: Org) -> None:
    org.stage.team("AB")
    (lead,) = org.create("Lead")
    org.arrive(lead)
    before = org.rows()
    for _ in range(2):
        org.arrive(lead)
    assert org.rows() == before
    assert org.stage.inbox()["ignored", "own_echo"] == 2
    assert len(org.writes()) == 1
    assert next_user(org) == "B"


@plays("S117")
@pytest.mark.parametrize("guarded", ["", "Lead"], ids=["in_batches", "one_by_one"])
def test_the_orgs_assignment_rules_do_not_run_on_our_writes(org: Org, guarded: str) -> None:
    org.stage.team("AB")
    org.stage.configure(SALESFORCE_GUARDED_OBJECTS=guarded)
    default = org.sandbox.add_user("Default", "default@sales.example")
    org.sandbox.assignment_rule = lambda *_: default
    ids = org.create("Lead", 4)
    org.arrive(*ids)
    assert org.users(ids) == ["A", "B", "A", "B"]
    assert {call.headers["sforce-auto-assign"] for call in org.writes()} == {"FALSE"}


@plays("S122")
def test_a_write_to_a_locked_record_is_made_again_for_the_same_user(org: Org) -> None:
    org.stage.team("AB")
    (lead,) = org.create("Lead")
    org.sandbox.lock_row(lead, tries=3)
    org.arrive(lead)
    for _ in range(3):
        assert [(row["assigned_user_id"], row["write_back"]) for row in org.rows()] == [
            ("A", "pending")
        ]
        org.stage.later(seconds=60)
        org.stage.work()
    (row,) = org.rows()
    assert (row["assigned_user_id"], row["write_back"]) == ("A", "done")
    assert org.stage.decision(row)["write_back"]["attempts"] == 4
    assert len(org.writes()) == 4
    assert next_user(org) == "B"


@plays("S124")
@pytest.mark.parametrize("guarded", ["", "Lead"], ids=["in_batches", "one_by_one"])
def test_nothing_but_the_owner_of_a_record_changes(org: Org, guarded: str) -> None:
    org.stage.team("AB")
    org.stage.configure(SALESFORCE_GUARDED_OBJECTS=guarded)
    (account,) = org.create("Account", Name="Acme", Website="acme.example")
    told = {"FirstName": "Kim", "Phone": "1", "LeadSource": "Web", "Country": "Denmark"}
    (lead,) = org.create("Lead", Email="kim@acme.example", **told)
    before, account_before = org.sandbox.get(lead), org.sandbox.get(account)
    org.stage.later(seconds=30)
    org.arrive(lead)
    after = org.sandbox.get(lead)
    assert {name for name in before if before[name] != after[name]} <= STAMPS
    assert after["OwnerId"] == org.owner("A")
    assert org.sandbox.get(account) == account_before
