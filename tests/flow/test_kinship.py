"""Who owns a lead's person or company in the CRM gets the lead, if the pool goes by that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connector.errors import CrmAgain, CrmForbidden
from connector.model import EventKind, LeadEvent, Reason, Related, StickyStep, Territory
from connector.store import inbox

PERSON, COMPANY = StickyStep.PERSON, StickyStep.COMPANY


def linked(step: StickyStep, owner: str | None, *, stays: bool = True, name: str = "Acme"):
    kind = "companies" if step is COMPANY else "contacts"
    return Related(
        step=step, object_type=kind, id="77", name=name, owner_id=owner, owner_stays=stays
    )


def told(team, *ids: str) -> None:
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()


def outcome(row, step: StickyStep) -> str:
    return next(check.outcome for check in row.checks if check.step is step)


def test_the_owner_of_the_company_gets_the_lead_without_a_turn(team) -> None:
    pool = team.pool("ABC")
    team.crm.links = {"1": [linked(COMPANY, "h-C")]}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.reason, row.sticky_step) == ("C", Reason.STICKY, COMPANY)
    assert outcome(row, COMPANY) == "C owns the company Acme in the CRM"
    assert team.crm.owners() == {"1": "h-C"}
    assert team.lead(pool, "next").user_id == "A"
    assert team.differs(pool) is None


def test_the_owner_of_the_person_goes_before_that_of_the_company(team) -> None:
    pool = team.pool("ABC")
    team.crm.links = {"1": [linked(PERSON, "h-B", name="Zoe"), linked(COMPANY, "h-C")]}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.sticky_step) == ("B", PERSON)


@pytest.mark.parametrize("before", ["h-stranger", "h-left", None])
def test_of_several_persons_the_first_whom_a_user_owns_counts(team, before) -> None:
    pool = team.pool("ABC")
    team.put_user("left", owners={"hubspot": "h-left"}, active=False)
    others = [linked(PERSON, before, name="Zoe")]
    team.crm.links = {"1": [*others, linked(PERSON, "h-B", name="Kim"), linked(COMPANY, "h-C")]}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.sticky_step) == ("B", PERSON)
    assert outcome(row, PERSON) == "B owns the person Kim in the CRM"
    assert team.differs(pool) is None


def test_without_a_user_among_them_the_first_is_told(team) -> None:
    pool = team.pool("AB")
    team.crm.links = {"1": [linked(PERSON, "h-X", name="Zoe"), linked(PERSON, "h-Y", name="Kim")]}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.reason) == ("A", Reason.ROTATION)
    assert outcome(row, PERSON) == "owner h-X of the person Zoe in the CRM is no user here"


def test_the_owner_of_the_company_need_not_be_a_member(team) -> None:
    pool = team.pool("AB")
    team.put_user("X")
    team.crm.links = {"1": [linked(COMPANY, "h-X")]}
    told(team, "1")
    assert team.given(pool) == "X"


@pytest.mark.parametrize(
    ("link", "why"),
    [
        (linked(COMPANY, "h-C", stays=False), "the owner of the company Acme in the CRM is no"),
        (linked(COMPANY, None), "nobody owns the company Acme in the CRM"),
        (linked(COMPANY, "h-?"), "owner h-? of the company Acme in the CRM is no user here"),
    ],
    ids=["left", "nobody", "stranger"],
)
def test_a_company_that_no_user_owns_leaves_the_turn_to_decide_and_says_why(team, link, why):
    pool = team.pool("ABC")
    team.crm.links = {"1": [link]}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.reason) == ("A", Reason.ROTATION)
    assert why in outcome(row, COMPANY)


def test_the_next_contact_of_a_company_that_nobody_owns_follows_the_first(team) -> None:
    pool = team.pool("ABC")
    team.crm.links = {"1": [linked(COMPANY, None)], "2": [linked(COMPANY, None)]}
    told(team, "1")
    told(team, "2")
    assert team.given(pool) == "AA"


def test_the_next_lead_of_a_person_whom_nobody_owns_follows_the_first(team) -> None:
    pool = team.pool("ABC")
    person = replace(linked(PERSON, None, name="Zoe"), email="zoe@buyer.example")
    team.crm.links = {"1": [person], "2": [person]}
    told(team, "1")
    told(team, "2")
    assert team.given(pool) == "AA"
    assert team.history(pool)[-1].sticky_step is PERSON


def test_a_pool_that_does_not_go_by_company_costs_no_look(team) -> None:
    team.pool("AB", sticky="off")
    team.crm.links = {"1": [linked(COMPANY, "h-B")]}
    told(team, "1")
    assert team.crm.looked_up == []
    assert team.crm.owners() == {"1": "h-A"}


def test_a_pool_that_goes_only_by_earlier_assignments_costs_no_look(team) -> None:
    team.pool("AB", sticky_steps=["earlier_assignment"])
    told(team, "1")
    assert team.crm.looked_up == []


def test_the_pool_that_the_territories_name_says_whether_to_look(team) -> None:
    quiet = team.pool("AB", name="Quiet", sticky="off")
    team.pool("CD", name="Sales")
    rule = {"field": "country", "op": "eq", "value": "DE"}
    team.territories(Territory(name="DE", when=rule, pool_id=quiet))
    team.crm.create("1", country="DE")
    team.crm.create("2", country="FR")
    team.tell("1", "2")
    team.work()
    assert team.crm.looked_up == [["2"]]


def test_all_leads_of_a_batch_cost_one_look(team) -> None:
    team.pool("AB")
    told(team, *map(str, range(1, 101)))
    assert [len(ids) for ids in team.crm.looked_up] == [100]


def test_owned_records_and_those_with_an_owner_on_its_way_are_not_looked_up(team) -> None:
    team.pool("AB")
    team.crm.create("1", owner="h-B")
    team.tell("1")
    told(team, "2")
    team.tell("2", kind=EventKind.CHANGED)
    team.work()
    assert team.crm.looked_up == [["2"]]


def test_a_crm_that_does_not_let_us_look_costs_stickiness_not_the_lead(team) -> None:
    pool = team.pool("AB")
    team.crm.link_errors = [CrmForbidden("the token lacks crm.objects.companies.read")]
    told(team, "1")
    assert team.given(pool) == "A"


def test_a_look_that_fails_for_the_moment_is_made_again(team) -> None:
    pool = team.pool("AB")
    team.crm.links = {"1": [linked(COMPANY, "h-B")]}
    team.crm.link_errors = [CrmAgain("502")]
    told(team, "1")
    assert team.given(pool) == ""
    team.later(seconds=2)
    team.work()
    assert team.given(pool) == "B"


def test_a_look_that_fails_again_and_again_costs_stickiness_not_the_lead(team) -> None:
    pool = team.pool("AB")
    team.crm.link_errors = [CrmAgain("502")] * 100
    told(team, "1")
    for _ in range(10):
        team.later(seconds=2)
        team.work()
    assert team.given(pool) == "A"
    assert team.crm.owners() == {"1": "h-A"}


def test_a_lead_that_waits_goes_to_the_owner_of_the_company_it_is_linked_to(team) -> None:
    pool = team.pool("A")
    team.put_user("X")
    team.absent("A", days=1)
    told(team, "1", "2")
    team.crm.links = {"1": [linked(COMPANY, "h-X")]}
    team.tell("1", kind=EventKind.LINKED)
    team.work()
    assert team.given(pool) == "--X"
    assert team.crm.owners() == {"1": "h-X", "2": None}
    assert team.differs(pool) is None


def test_a_lead_that_waits_keeps_its_place_when_a_link_brings_nobody(team) -> None:
    pool = team.pool("A", sticky="available")
    team.put_user("X")
    off = team.absent("A", days=1)
    team.absent("X", days=2)
    told(team, "1", "2")
    team.crm.links = {"1": [linked(COMPANY, "h-X")]}
    team.tell("1", kind=EventKind.LINKED)
    team.work()
    assert team.given(pool) == "--"
    team.back("A", off)
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["1", "2", "1", "2"]


def test_a_link_of_an_owned_record_changes_nothing(team) -> None:
    pool = team.pool("AB")
    told(team, "1")
    team.crm.links = {"1": [linked(COMPANY, "h-B")]}
    team.tell("1", kind=EventKind.LINKED)
    team.work()
    assert team.given(pool) == "A"


def test_a_held_lead_keeps_what_was_found_until_somebody_can_take_it(team) -> None:
    pool = team.pool("AB", sticky="available")
    team.absent("A", days=1)
    off = team.absent("B", days=1)
    team.crm.links = {"1": [linked(COMPANY, "h-B")]}
    told(team, "1")
    team.back("B", off)
    team.work()
    assert (team.history(pool)[-1].user_id, team.history(pool)[-1].sticky_step) == ("B", COMPANY)


# -- the pool that a workflow asks for


def ask(team, record_id: str, pool: str) -> None:
    event = LeadEvent(
        key=f"{record_id}:{pool}",
        kind=EventKind.CREATED,
        object_type="contacts",
        record_id=record_id,
        pool=pool,
    )
    team.crm.create(record_id)
    with team.database.write() as session:
        inbox.add(session, "hubspot", [event], team.now)
    team.work()


@pytest.mark.parametrize("name", ["EMEA", " emea ", "Emea"])
def test_a_workflow_names_the_pool_in_any_case(team, name) -> None:
    team.pool("A")
    emea = team.pool("B", name="EMEA")
    ask(team, "1", name)
    assert team.given(emea) == "B"


def test_a_workflow_may_name_the_pool_by_its_id(team) -> None:
    team.pool("A")
    emea = team.pool("B", name="EMEA")
    ask(team, "1", emea)
    assert team.given(emea) == "B"


def test_a_pool_that_does_not_exist_holds_the_lead_until_it_does(team) -> None:
    sales = team.pool("A")
    ask(team, "1", "EMEA")
    assert team.given(sales) == ""
    emea = team.pool("B", name="EMEA")
    team.work()
    assert team.given(emea) == "B"
    assert team.crm.owners() == {"1": "h-B"}


def test_an_archived_pool_is_none_that_can_be_asked_for(team) -> None:
    team.pool("A")
    emea = team.pool("B", name="EMEA")
    team.archive(emea)
    ask(team, "1", "EMEA")
    assert team.given(emea) == ""


def test_the_fields_that_territories_look_at_are_read(team) -> None:
    pool = team.pool("A")
    rule = {"not": {"any": [{"field": "plan_tier", "op": "exists"}]}}
    team.territories(Territory(name="T", when=rule, pool_id=pool))
    told(team, "1")
    assert team.crm.fields_asked == {"plan_tier"}


def test_a_lead_that_waited_is_not_decided_twice_when_its_company_finds_its_owner(team) -> None:
    pool = team.pool("A")
    team.put_user("X")
    team.absent("A", days=1)
    team.crm.create("1", "2", email="a@buyer.example")
    team.tell("1", "2")
    team.work()
    team.crm.links = {"1": [linked(COMPANY, "h-X")]}
    team.tell("1", kind=EventKind.LINKED)
    team.work()
    assert team.given(pool).count("X") == len({"1", "2"})
    assert team.differs(pool) is None


def test_the_pool_asked_for_says_whether_to_look_though_another_event_asks_for_none(team) -> None:
    team.pool("AB", sticky="off")
    emea = team.pool("BC", name="EMEA")
    team.crm.links = {"1": [linked(COMPANY, "h-C")]}
    team.tell("1")
    ask(team, "1", "EMEA")
    assert team.given(emea) == "C"
