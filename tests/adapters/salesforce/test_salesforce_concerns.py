"""What an administrator gets wrong most, found by a look that changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.ports import Concern

Connect = Callable[..., SalesforceCrm]

NOBODY = "0055g00000ZZZZZAA5"


@pytest.fixture
def org(clock: Any) -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox(clock=clock) as sandbox:
        yield sandbox


@pytest.fixture
def queue(org: SalesforceSandbox) -> str:
    return org.add_queue("New leads")


@pytest.fixture
def dan(org: SalesforceSandbox) -> str:
    return org.add_user("Dan Default", "dan@example.com")


@pytest.fixture
def eve(org: SalesforceSandbox) -> str:
    return org.add_user("Eve", "eve@example.com")


def leads(org: SalesforceSandbox, count: int, owner: str) -> list[str]:
    return [org.create("Lead", {"LastName": str(n), "OwnerId": owner}) for n in range(count)]


def concerns(
    org: SalesforceSandbox, connect: Connect, *, ours: Collection[str] = (), **settings: object
) -> list[Concern]:
    return list(connect(org.url, **settings).concerns(lambda *_: ours))


def told(found: list[Concern]) -> list[tuple[bool, str]]:
    return [(one.loses_leads, one.text) for one in found]


def test_recent_leads_that_one_active_person_owns_are_all_kept(
    org: SalesforceSandbox, connect: Connect, dan: str
) -> None:
    leads(org, 3, dan)
    (found,) = concerns(org, connect)
    assert found.loses_leads
    assert found.text == (
        "3 of the 3 newest Lead records came with one active person as their owner, "
        f"Dan Default ({dan}): they are all kept where they are."
    )
    assert f"put {dan} into SALESFORCE_UNASSIGNED_OWNERS" in found.what_to_do


def test_leads_of_a_person_who_counts_as_nobody_are_no_concern(
    org: SalesforceSandbox, connect: Connect, dan: str
) -> None:
    leads(org, 3, dan)
    assert concerns(org, connect, unassigned_owners=frozenset({dan[:15]})) == []


def test_where_another_person_is_named_than_the_one_who_owns_them_it_is_told_too(
    org: SalesforceSandbox, connect: Connect, dan: str, eve: str
) -> None:
    leads(org, 3, dan)
    (found,) = concerns(org, connect, unassigned_owners=frozenset({eve}))
    assert dan in found.text
    assert not found.loses_leads


@pytest.mark.parametrize("who", ["queue", "integration user", "inactive user", "two people"])
def test_leads_that_are_routed_or_owned_by_many_are_no_concern(
    org: SalesforceSandbox, connect: Connect, queue: str, dan: str, eve: str, who: str
) -> None:
    left = org.add_user("Left", "left@example.com", active=False)
    owners = {
        "queue": [queue],
        "integration user": [org.integration_user],
        "inactive user": [left],
        "two people": [dan, eve],
    }[who]
    for owner in owners:
        leads(org, 3, owner)
    assert concerns(org, connect) == []


def test_a_person_who_owns_no_more_than_half_of_the_leads_is_no_concern(
    org: SalesforceSandbox, connect: Connect, queue: str, dan: str
) -> None:
    leads(org, 3, queue)
    leads(org, 3, dan)
    assert concerns(org, connect) == []
    leads(org, 1, dan)
    assert len(concerns(org, connect)) == 1


def test_owners_whom_we_set_ourselves_are_no_concern(
    org: SalesforceSandbox, connect: Connect, queue: str, dan: str
) -> None:
    ours = leads(org, 9, dan)
    assert concerns(org, connect, ours=ours) == []
    leads(org, 1, queue)
    assert concerns(org, connect, ours=ours) == []


@pytest.mark.parametrize("who", ["dan", "eve", "integration user"])
def test_it_does_not_matter_who_changed_them_since(
    org: SalesforceSandbox, connect: Connect, clock: Any, dan: str, eve: str, who: str
) -> None:
    by = {"dan": dan, "eve": eve}.get(who, org.integration_user)
    new = leads(org, 3, dan)
    clock.go(60)
    for lead in new:
        org.records.change(lead, {"City": "Berlin"}, by=by)
    assert [one.loses_leads for one in concerns(org, connect)] == [True]


def test_few_leads_of_others_beside_many_of_one_person_are_a_warning(
    org: SalesforceSandbox, connect: Connect, dan: str, eve: str
) -> None:
    leads(org, 19, dan)
    leads(org, 1, eve)
    (found,) = concerns(org, connect)
    assert not found.loses_leads
    assert found.text.startswith("19 of the 20 newest Lead records")


def test_owners_who_are_hidden_from_us_are_told(
    org: SalesforceSandbox, connect: Connect, dan: str, eve: str
) -> None:
    rows = [{"Id": one, "OwnerId": owner, "Owner": None} for owner in (dan, eve) for one in "12"]
    org.faults.add("/query", query="FROM Lead", status=200, body={"done": True, "records": rows})
    ((loses_leads, text),) = told(concerns(org, connect))
    assert not loses_leads
    assert "hides the owners of 4 of the newest Lead records" in text


def test_old_leads_do_not_count(
    org: SalesforceSandbox, connect: Connect, clock: Any, queue: str, dan: str
) -> None:
    leads(org, 5, dan)
    clock.go(31 * 86_400)
    leads(org, 3, queue)
    assert concerns(org, connect) == []


def test_only_the_newest_two_hundred_count(
    org: SalesforceSandbox, connect: Connect, clock: Any, queue: str, dan: str
) -> None:
    leads(org, 150, dan)
    clock.go(60)
    leads(org, 200, queue)
    assert concerns(org, connect) == []


def test_an_org_without_recent_leads_gets_a_hint_unless_an_owner_is_named(
    org: SalesforceSandbox, connect: Connect, dan: str
) -> None:
    (found,) = concerns(org, connect)
    assert not found.loses_leads
    assert "SALESFORCE_UNASSIGNED_OWNERS" in found.what_to_do
    assert concerns(org, connect, unassigned_owners=frozenset({dan})) == []


def test_each_object_type_is_looked_at_by_itself(
    org: SalesforceSandbox, connect: Connect, queue: str, dan: str
) -> None:
    leads(org, 5, queue)
    for _ in range(3):
        org.create("Contact", {"OwnerId": dan})
    (found,) = concerns(org, connect, objects=("Lead", "Contact"))
    assert found.text.startswith("3 of the 3 newest Contact records")


def test_an_object_type_that_cannot_be_read_hides_no_other(
    org: SalesforceSandbox, connect: Connect, dan: str
) -> None:
    leads(org, 3, dan)
    org.hide("Case")
    org.hide("Contact", "OwnerId")
    found = concerns(org, connect, objects=("None__c", "User", "Case", "Contact", "Lead"))
    assert [one.text.split()[5] for one in found] == ["Lead"]


def test_whoever_is_named_and_is_no_active_user_is_told(
    org: SalesforceSandbox, connect: Connect, queue: str, dan: str
) -> None:
    leads(org, 1, queue)
    left = org.add_user("Left", "left@example.com", active=False)
    found = concerns(org, connect, unassigned_owners=frozenset({dan, left, NOBODY}))
    where = "in SALESFORCE_UNASSIGNED_OWNERS (unassigned_owners in a table) is"
    assert told(found) == [
        (False, f"{left} {where} an inactive user."),
        (False, f"{NOBODY} {where} no user that Salesforce shows us."),
    ]


@pytest.mark.parametrize(
    ("fields", "text"),
    [((), "may not change Lead records"), (("OwnerId",), "may not change the owner of Lead")],
)
def test_owners_that_we_may_not_change_lose_leads(
    org: SalesforceSandbox, connect: Connect, queue: str, fields: tuple[str, ...], text: str
) -> None:
    leads(org, 1, queue)
    org.make_read_only("Lead", *fields)
    ((loses_leads, found),) = told(concerns(org, connect))
    assert loses_leads
    assert text in found


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_description_that_is_not_given_is_no_concern(
    org: SalesforceSandbox, connect: Connect, queue: str, status: int
) -> None:
    leads(org, 1, queue)
    body = [{"errorCode": "NOT_FOUND", "message": "m"}]
    org.faults.add("/describe$", status=status, body=body, times=None)
    assert concerns(org, connect) == []


@pytest.mark.parametrize("body", [{}, {"fields": None}, {"fields": [7, {}]}])
def test_a_description_that_says_little_is_no_concern(
    org: SalesforceSandbox, connect: Connect, queue: str, body: object
) -> None:
    leads(org, 1, queue)
    org.faults.add("/describe$", status=200, body=body)
    assert concerns(org, connect) == []


def test_what_is_guarded_and_not_routed_is_told(
    org: SalesforceSandbox, connect: Connect, queue: str
) -> None:
    leads(org, 1, queue)
    ((loses_leads, text),) = told(concerns(org, connect, guarded_objects=("Lead", "Case")))
    assert (loses_leads, text) == (
        False,
        "Case is in SALESFORCE_GUARDED_OBJECTS, but not routed.",
    )


@pytest.mark.parametrize(
    ("preset", "error"),
    [
        ("server_unavailable", CrmAgain),
        ("daily_limit", CrmPaced),
        ("api_disabled", CrmUnreachable),
    ],
)
def test_a_look_that_fails_says_so(
    org: SalesforceSandbox, connect: Connect, preset: str, error: type[Exception]
) -> None:
    org.faults.add("/query", preset=preset, times=None)
    with pytest.raises(error):
        concerns(org, connect)


def test_a_look_writes_nothing_and_costs_two_calls_for_each_object_type(
    org: SalesforceSandbox, connect: Connect, dan: str
) -> None:
    leads(org, 1, dan)
    concerns(org, connect, objects=("Lead", "Case"), unassigned_owners=frozenset({dan}))
    made = [call for call in org.calls if not call.path.endswith("/token")]
    assert {call.method for call in made} == {"GET"}
    assert len(made) == 5
