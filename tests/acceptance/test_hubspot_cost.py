"""What a crowd of new records costs a HubSpot portal in calls, counted at the portal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Stage, check_sequence, turns

CROWD = 1000


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        yield Portal(stage)


def burst(portal: Portal, object_type: str, ids: list[str]) -> list[dict]:
    """Deliveries of up to a hundred events, as an import sends them; the rows that came of it."""
    events = [portal.event(object_type, one, source="IMPORT") for one in ids]
    for first in range(0, len(events), 100):
        assert portal.sender.send(events[first : first + 100]) == 204
    portal.stage.work()
    (pool,) = portal.stage.api.call("GET", "/round-robin/pools")
    rows = portal.stage.api.history(pool["id"])
    assert [row["record"]["id"] for row in rows] == ids
    assert {row["write_back"] for row in rows if row["status"] == "assigned"} == {"done"}
    check_sequence(rows)
    portal.stage.check_owners(rows)
    return rows


def shares(portal: Portal) -> list[int]:
    """How many records each call was about."""
    return [len(json.loads(call.body)["inputs"]) for call in portal.sandbox.calls_to("/batch/")]


def test_a_thousand_contacts_cost_thirty_reads_and_writes_and_ten_looks_at_links(
    portal: Portal,
) -> None:
    portal.stage.team("ABCDE")
    ids = portal.create("contacts", CROWD)
    rows = burst(portal, "contacts", ids)
    assert turns(rows) == dict.fromkeys("ABCDE", CROWD // 5)
    assert len(portal.calls("objects/contacts")) <= 30
    assert len(portal.calls("associations")) <= 10
    assert portal.calls("objects/companies") == []
    assert max(shares(portal)) == 100


def test_a_thousand_contacts_of_fifty_companies_cost_ten_more_reads(portal: Portal) -> None:
    portal.stage.team("ABCDE")
    ids = portal.create("contacts", CROWD)
    for number in range(50):
        owner = portal.owner("ABCDE"[number % 5]) if number < 10 else None
        portal.company(*ids[number::50], owner=owner)
    rows = burst(portal, "contacts", ids)
    kept = {ids[place] for place in range(CROWD) if place % 50 < 10}
    by_company = {
        row["record"]["id"]: row["assigned_user_id"]
        for row in rows
        if row["sticky_step"] == "company"
    }
    assert {one: by_company[one] for one in kept} == {
        one: "ABCDE"[place % 50 % 5] for place, one in enumerate(ids) if one in kept
    }
    # Of a company that nobody owns, the first contact uses a turn and the others follow it.
    assert Counter(row["reason"] for row in rows) == {"rotation": 40, "sticky": 960}
    assert len(portal.calls("objects/contacts")) <= 30
    assert len(portal.calls("associations")) <= 10
    assert len(portal.calls("objects/companies")) <= 10


def test_a_thousand_leads_cost_at_most_ten_calls_a_step(portal: Portal) -> None:
    portal.stage.team("ABCDE")
    leads, people = portal.create("leads", CROWD), portal.create("contacts", CROWD)
    for lead, person in zip(leads, people, strict=True):
        portal.sandbox.link("leads", lead, "contacts", person, primary=True)
    for number in range(50):
        portal.company(*people[number::50], owner=portal.owner("ABCDE"[number % 5]))
    rows = burst(portal, "leads", leads)
    assert {row["sticky_step"] for row in rows} == {"company"}
    assert len(portal.calls("objects/leads")) <= 30
    steps = (
        portal.calls("associations/leads/contacts"),
        portal.calls("objects/contacts"),
        portal.calls("associations/contacts/companies"),
        portal.calls("objects/companies"),
    )
    assert [len(step) for step in steps] == [10, 10, 10, 10]
