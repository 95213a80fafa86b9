"""What a crowd of new records costs a Salesforce org in calls, counted at the org."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.org import Org
from tests.acceptance.stage import Row, Stage, check_sequence, turns

CROWD = 1000
LEADS_THEMSELVES = "FROM Lead WHERE Id IN"


@pytest.fixture
def org(sqlite: Database) -> Iterator[Org]:
    with Stage(sqlite) as stage:
        yield Org(stage)


def burst(org: Org, ids: list[str]) -> list[Row]:
    """All at once, as an import tells of them; the rows that came of it."""
    org.arrive(*ids)
    rows = org.rows()
    assert [row["record"]["id"] for row in rows] == ids
    assert {row["write_back"] for row in rows} == {"done"}
    check_sequence(rows)
    org.stage.check_owners(rows)
    return rows


def reads_and_writes(org: Org) -> int:
    """Calls about the leads themselves."""
    reads = [one for one in org.queries("Lead") if LEADS_THEMSELVES in one]
    return len(reads) + len(org.writes())


def look_ups(org: Org) -> dict[str, int]:
    """Sticky look-ups, by step."""
    leads = [one for one in org.queries("Lead") if LEADS_THEMSELVES not in one]
    return {
        "leads": len(leads),
        "contacts": len(org.queries("Contact")),
        "accounts": len(org.queries("Account")),
    }


def test_a_thousand_leads_cost_thirty_reads_and_writes_and_ten_look_ups_a_step(org: Org) -> None:
    org.stage.team("ABCDE")
    ids = [
        org.create("Lead", Email=f"somebody{number}@buyer{number}.example")[0]
        for number in range(CROWD)
    ]
    rows = burst(org, ids)
    assert turns(rows) == dict.fromkeys("ABCDE", CROWD // 5)
    assert reads_and_writes(org) <= 30
    assert all(0 < calls <= 10 for calls in look_ups(org).values()), look_ups(org)


def test_leads_without_an_address_cost_no_look_up(org: Org) -> None:
    org.stage.team("AB")
    burst(org, org.create("Lead", 100, Company=None))
    assert look_ups(org) == {"leads": 0, "contacts": 0, "accounts": 0}


def test_a_pool_that_does_not_go_by_person_or_company_costs_no_look_up(org: Org) -> None:
    pool = org.stage.team("AB")
    org.stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"sticky": "off"})
    burst(org, org.create("Lead", 100, Email="somebody@buyer.example"))
    assert look_ups(org) == {"leads": 0, "contacts": 0, "accounts": 0}


def test_a_thousand_leads_of_known_contacts_go_to_the_owners_of_these(org: Org) -> None:
    org.stage.team("ABCDE")
    leads = []
    for number in range(CROWD):
        email = f"somebody{number}@buyer{number}.example"
        if number < 500:
            org.create("Contact", Email=email.upper(), OwnerId=org.owner("ABCDE"[number % 5]))
        leads += org.create("Lead", Email=email)
    rows = burst(org, leads)
    by_person = [row for row in rows if row["sticky_step"] == "person"]
    assert [row["assigned_user_id"] for row in by_person] == list("ABCDE" * 100)
    assert Counter(row["reason"] for row in rows) == {"sticky": 500, "rotation": 500}
    assert reads_and_writes(org) <= 30
    assert all(calls <= 10 for calls in look_ups(org).values()), look_ups(org)
