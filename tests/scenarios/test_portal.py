"""Scenarios of a HubSpot portal: whose company it is, what our writes touch, and when they fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Row, Stage
from tests.scenarios import invariants, stage
from tests.scenarios.marks import plays
from tests.scenarios.stage import users

# What HubSpot itself changes along with the owner.
STAMPS = {"hubspot_owner_id", "hubspot_owner_assigneddate", "lastmodifieddate"}


@pytest.fixture
def portal(database: Database) -> Iterator[Portal]:
    """On each kind of database; after the test, what must always be true is looked at."""
    with Stage(database) as set_up:
        yield Portal(set_up)
        desk = stage.Stage(set_up.database, **set_up.environment)
        desk.now = set_up.clock.now
        desk.pools = {one["name"]: one["id"] for one in desk.get("/pools")}
        try:
            invariants.check(desk)
        finally:
            desk.leave()


def sales(portal: Portal) -> list[Row]:
    """The history of the only pool, oldest first."""
    (pool,) = portal.stage.api.call("GET", "/round-robin/pools")
    return portal.stage.api.history(pool["id"])


def next_user(portal: Portal) -> str:
    """Whose turn it is, told by a contact that nobody knows."""
    portal.arrive("contacts", *portal.create("contacts"))
    return str(sales(portal)[-1]["assigned_user_id"])


@plays("S79", "S80")
@pytest.mark.parametrize(
    ("steps", "user"), [(["person", "company", "earlier_assignment"], "B"), (["company"], "C")]
)
def test_who_owns_the_contact_is_asked_before_who_owns_its_company(
    portal: Portal, steps: list[str], user: str
) -> None:
    pool = portal.stage.team("ABC")
    portal.stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"sticky_steps": steps})
    (contact,) = portal.create("contacts", hubspot_owner_id=portal.owner("B"))
    portal.company(contact, owner=portal.owner("C"))
    (lead,), (other,) = portal.create("leads"), portal.create("contacts")
    portal.company(other, owner=portal.owner("A"))
    portal.sandbox.link("leads", lead, "contacts", other)
    portal.sandbox.link("leads", lead, "contacts", contact, primary=True)
    portal.arrive("leads", lead)
    (row,) = sales(portal)
    assert (row["assigned_user_id"], row["reason"], row["sticky_step"]) == (
        user,
        "sticky",
        steps[0],
    )
    assert portal.users("leads", [lead]) == [user]
    assert next_user(portal) == "A"


@plays("S80")
def test_a_contact_of_a_company_goes_to_its_owner_and_uses_no_turn(portal: Portal) -> None:
    portal.stage.team("ABC")
    (contact,) = portal.create("contacts")
    portal.company(contact, owner=portal.owner("C"))
    portal.arrive("contacts", contact)
    assert portal.users("contacts", [contact]) == ["C"]
    assert next_user(portal) == "A"


@plays("S81")
def test_a_company_of_somebody_who_left_goes_to_the_rotation_and_the_decision_says_why(
    portal: Portal,
) -> None:
    portal.stage.team("XAB")
    (contact,) = portal.create("contacts")
    company = portal.company(contact, owner=portal.owner("X"))
    portal.sandbox.archive_owner(portal.owner("X"))
    portal.arrive("contacts", contact)
    (row,) = sales(portal)
    assert (row["assigned_user_id"], row["reason"]) == ("A", "rotation")
    (look,) = [one for one in portal.stage.decision(row)["checks"] if one["step"] == "company"]
    assert "the owner of the company Company 1 in the CRM is no longer active" in look["outcome"]
    # Only the record of the lead is written.
    assert portal.sandbox.owner_of("companies", company) == portal.owner("X")


@plays("S94")
def test_who_left_the_portal_is_known_before_the_next_lead_comes(portal: Portal) -> None:
    portal.stage.team("ABC")
    portal.stage.work()
    portal.sandbox.archive_owner(portal.owner("B"))
    portal.stage.later(hours=1)
    portal.stage.work()
    ids = portal.create("contacts", 3)
    portal.arrive("contacts", *ids)
    rows = sales(portal)
    assert users(rows) == ["A", "C", "A"]
    skipped = portal.stage.decision(rows[1])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("B", "inactive")]
    assert portal.users("contacts", ids) == ["A", "C", "A"]


@plays("S116")
def test_our_own_write_that_comes_back_decides_nothing(portal: Portal) -> None:
    portal.stage.team("AB")
    (contact,) = portal.create("contacts")
    portal.arrive("contacts", contact)
    before = sales(portal)
    for _ in range(2):
        portal.tell(
            "contacts",
            [contact],
            "propertyChange",
            name="hubspot_owner_id",
            value=portal.owner("A"),
            source="INTEGRATION",
        )
        portal.stage.work()
    assert sales(portal) == before
    assert portal.stage.inbox()["ignored", "own_echo"] == 2
    assert portal.written() == [contact]
    assert next_user(portal) == "B"


@plays("S122")
def test_a_write_to_a_locked_record_is_made_again_for_the_same_user(portal: Portal) -> None:
    portal.stage.team("AB")
    portal.sandbox.faults.add("/contacts/batch/update", preset="locked", times=3)
    (contact,) = portal.create("contacts")
    portal.arrive("contacts", contact)
    for _ in range(3):
        assert [(row["assigned_user_id"], row["write_back"]) for row in sales(portal)] == [
            ("A", "pending")
        ]
        portal.stage.later(seconds=60)
        portal.stage.work()
    assert [(row["assigned_user_id"], row["write_back"]) for row in sales(portal)] == [
        ("A", "done")
    ]
    assert portal.sandbox.history_of("contacts", contact, "hubspot_owner_id") == [portal.owner("A")]
    assert len(portal.written()) == 4
    assert next_user(portal) == "B"


@plays("S124")
def test_nothing_but_the_owner_of_a_record_changes(portal: Portal) -> None:
    portal.stage.team("AB")
    told = {"email": "kim@buyer.example", "phone": "1", "hs_lead_status": "NEW", "country": "DE"}
    (contact,) = portal.create("contacts", **told)
    company = portal.company(contact)
    deal = portal.create("deals")[0]
    portal.sandbox.link("deals", deal, "contacts", contact)
    before = portal.sandbox.get("contacts", contact) or {}
    links = portal.sandbox.links.from_each("contacts", "companies")
    portal.stage.later(seconds=30)
    portal.arrive("contacts", contact)
    after = portal.sandbox.get("contacts", contact) or {}
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == STAMPS
    assert after["hubspot_owner_id"] == portal.owner("A")
    assert portal.sandbox.links.from_each("contacts", "companies") == links
    assert portal.sandbox.owner_of("companies", company) is None
    assert portal.sandbox.owner_of("deals", deal) is None
