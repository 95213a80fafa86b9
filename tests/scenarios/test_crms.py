"""Scenarios in which a CRM tells of leads and shows their owners, with HubSpot and Salesforce."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from connector.store.database import Database
from tests.acceptance.crm import READS, Crm
from tests.acceptance.stage import Row, Stage, writes
from tests.scenarios import invariants, stage
from tests.scenarios.marks import plays
from tests.scenarios.stage import users

KIM = "kim@acme.example"
COMPANIES = count(1)


@pytest.fixture(params=["hubspot-postgresql", "salesforce-sqlite"])
def crm(request: pytest.FixtureRequest) -> Iterator[Crm]:
    """Each CRM and each database once; after the test, what must always be true is looked at."""
    name, kind = request.param.split("-")
    with Stage(request.getfixturevalue(kind)) as set_up:
        yield Crm(set_up, name)
        desk = stage.Stage(set_up.database, **set_up.environment)
        desk.now = set_up.clock.now
        desk.pools = {one["name"]: one["id"] for one in desk.get("/pools")}
        try:
            invariants.check(desk)
        finally:
            desk.leave()


def new_lead(crm: Crm, *, email: str | None = None, owner: str | None = None) -> str:
    """A record of a company that nobody had before, unless the e-mail says otherwise."""
    number = next(COMPANIES)
    email = email or f"lead@company{number}.example"
    if crm.name == "hubspot":
        return crm.stage.contacts(1, email=email, hubspot_owner_id=owner)[0]
    owned = {"OwnerId": owner} if owner else {}
    return crm.stage.leads(1, Email=email, Company=f"Company {number}", **owned)[0]


def new_leads(crm: Crm, number: int, *, owner: str | None = None) -> list[str]:
    """So many of them."""
    return [new_lead(crm, owner=owner) for _ in range(number)]


def change(crm: Crm, record_id: str, **fields: str) -> None:
    """A person edits the record in the CRM."""
    if crm.name == "hubspot":
        crm.stage.hubspot.edit("contacts", record_id, fields)
    else:
        crm.stage.salesforce.change(
            record_id, {name.title(): value for name, value in fields.items()}
        )


def arrive(crm: Crm, *record_ids: str) -> list[Row]:
    """The CRM tells of these, the worker works; the rows of the pool Sales, oldest first."""
    crm.tell(list(record_ids))
    crm.stage.work()
    return sales(crm)


def sales(crm: Crm) -> list[Row]:
    """The history of the pool Sales, oldest first."""
    pools = crm.stage.api.call("GET", "/round-robin/pools")
    return crm.stage.api.history(next(one["id"] for one in pools if one["name"] == "Sales"))


def edit(crm: Crm, **fields: Any) -> None:
    """Change the only pool."""
    (pool,) = crm.stage.api.call("GET", "/round-robin/pools")
    crm.stage.api.call("PATCH", f"/round-robin/pools/{pool['id']}", fields)


@plays("S01")
def test_creation_and_change_of_the_same_record_use_one_turn(crm: Crm) -> None:
    crm.stage.team("ABCDEF")
    ids = new_leads(crm, 12)
    for record_id in ids:
        crm.tell([record_id])
        if crm.name == "hubspot":
            crm.stage.tell_hubspot([record_id], "propertyChange", name="country", value="DE")
        else:
            crm.tell([record_id])  # an update sends the same message once more
        crm.stage.work()
    rows = sales(crm)
    assert users(rows) == list("ABCDEF") * 2
    assert crm.users_of(ids) == users(rows)


@plays("S06")
def test_leads_that_a_member_creates_are_spread_over_all(sqlite: Database) -> None:
    with Stage(sqlite) as set_up:
        crm = Crm(set_up, "salesforce")
        set_up.team("ABC")
        set_up.configure(SALESFORCE_UNASSIGNED_OWNERS=crm.owner("A"))
        ids = new_leads(crm, 6, owner=crm.owner("A"))
        rows = arrive(crm, *ids)
        assert users(rows) == list("ABCABC")
        assert crm.users_of(ids) == list("ABCABC")


@plays("S09")
def test_a_webhook_for_an_empty_pool_is_taken_and_the_lead_waits(crm: Crm) -> None:
    crm.stage.hire("A")
    crm.stage.api.pool([])
    (row,) = arrive(crm, new_lead(crm))
    assert (row["status"], row["reason"]) == ("held", "no_member_available")


@plays("S10")
def test_a_queue_cannot_stand_in_for_a_user(crm: Crm) -> None:
    crm.stage.team("AB")
    queue = crm.stage.salesforce.add_queue("Night shift")
    desk = stage.Stage(crm.stage.database, **crm.stage.environment)
    answer = desk.call("PUT", "/users/Night", {"owners": {"salesforce": queue}})
    desk.leave()
    assert answer.status == 422, answer
    assert answer.body["errors"][0]["pointer"] == "/owners/salesforce"
    assert users(arrive(crm, *new_leads(crm, 4))) == list("ABAB")


@plays("S21")
def test_a_record_that_a_person_gave_away_moves_nobodys_turn(crm: Crm) -> None:
    crm.stage.team("ABC")
    arrive(crm, new_lead(crm))
    arrive(crm, new_lead(crm, owner=crm.owner("C")))
    rows = arrive(crm, new_lead(crm))
    assert [(row["status"], row["assigned_user_id"]) for row in rows] == [
        ("assigned", "A"),
        ("kept", "C"),
        ("assigned", "B"),
    ]


@plays("S79", "S80")
@pytest.mark.parametrize(
    ("steps", "user"), [(["person", "company", "earlier_assignment"], "B"), (["company"], "C")]
)
def test_who_has_the_person_is_found_before_who_has_the_company(
    crm: Crm, steps: list[str], user: str
) -> None:
    crm.stage.team("BCA")
    edit(crm, sticky="off")
    arrive(crm, new_lead(crm, email=KIM))
    arrive(crm, new_lead(crm, email="lee@acme.example"))
    edit(crm, sticky="active", sticky_steps=steps)
    rows = arrive(crm, new_lead(crm, email=KIM.upper()))
    assert users(rows) == ["B", "C", user]
    assert (rows[2]["reason"], rows[2]["sticky_step"]) == ("sticky", steps[0])


@plays("S81")
def test_a_customer_of_somebody_who_left_the_crm_goes_to_the_rotation(crm: Crm) -> None:
    crm.stage.team("XAB")
    arrive(crm, new_lead(crm, email=KIM))
    crm.fire("X")
    record_id = new_lead(crm, email=KIM)
    rows = arrive(crm, record_id)
    assert users(rows) == ["X", "A"]
    assert crm.users_of([record_id]) == ["A"]
    assert users(arrive(crm, new_lead(crm)))[-1] == "B"


@plays("S91")
def test_a_field_that_is_set_before_the_lead_is_read_counts(crm: Crm) -> None:
    crm.stage.team("A")
    north = crm.stage.team("B", pool="North")
    country = "country" if crm.name == "hubspot" else "Country"
    rule = {"field": country, "op": "eq", "value": "DE"}
    rules = [{"name": "Germany", "when": rule, "pool_id": north}]
    crm.stage.api.call("PUT", "/round-robin/territories", rules)
    record_id = new_lead(crm)
    crm.tell([record_id])
    change(crm, record_id, country="DE")
    crm.stage.work()
    assert sales(crm) == []
    assert users(crm.stage.api.history(north)) == ["B"]
    assert crm.users_of([record_id]) == ["B"]


@plays("S94", "S123")
def test_a_user_whom_the_crm_refuses_is_passed_over_in_the_same_decision(crm: Crm) -> None:
    crm.stage.team("ABC")
    crm.stage.work()  # the directory is read; B leaves between two readings
    crm.fire("B")
    ids = new_leads(crm, 3)
    rows = [arrive(crm, record_id)[-1] for record_id in ids]
    assert users(rows) == ["A", "C", "A"]
    refused = crm.stage.decision(rows[1])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in refused] == [("B", "refused_by_crm")]
    assert crm.users_of(ids) == ["A", "C", "A"]


@plays("S114")
def test_a_person_who_is_faster_than_the_write_wins_and_the_turn_comes_back(crm: Crm) -> None:
    crm.stage.team("ABC")
    record_id = new_lead(crm)
    # Put off the look before the write; earlier ones read the lead and, in Salesforce, its kin.
    status, earlier = (429, 1) if crm.name == "hubspot" else (503, 4)
    crm.sandbox.faults.add(
        READS, after=earlier, status=status, headers={"Retry-After": "5"}, body={}
    )
    arrive(crm, record_id)
    crm.set_owner(record_id, crm.owner("C"))
    crm.stage.later(seconds=5)
    crm.stage.work()
    rows = sales(crm)
    assert [(row["status"], row["reason"], row["assigned_user_id"]) for row in rows] == [
        ("assigned", "rotation", "A"),
        ("kept", "kept_existing_owner", "C"),
    ]
    assert crm.users_of([record_id]) == ["C"]
    assert writes(crm.sandbox) == []
    assert users(arrive(crm, *new_leads(crm, 2)))[2:] == ["A", "B"]


@plays("S119")
def test_an_event_that_comes_five_times_and_late_is_one_decision(database: Database) -> None:
    with Stage(database) as set_up:
        crm = Crm(set_up, "hubspot")
        set_up.team("AB")
        record_id = new_lead(crm)
        older = set_up.hubspot_sender.event("creation", "contacts", record_id)
        set_up.later(seconds=9)
        newer = set_up.hubspot_sender.event(
            "propertyChange", "contacts", record_id, name="country", value="DE"
        )
        with ThreadPoolExecutor(2) as threads:
            told = threads.map(set_up.hubspot_sender.send, [[newer], [newer]])
        assert [*told, *(set_up.hubspot_sender.send([newer]) for _ in range(3))] == [204] * 5
        set_up.work()
        before = sales(crm)
        assert users(before) == ["A"]
        set_up.hubspot_sender.send([older])
        set_up.work()
        assert sales(crm) == before
        assert users(arrive(crm, new_lead(crm))) == ["A", "B"]
