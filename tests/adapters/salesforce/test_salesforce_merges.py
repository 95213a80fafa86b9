"""A record that was merged into another is read as that other; one that was converted is closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain

Connect = Callable[..., SalesforceCrm]


def paths(org: SalesforceSandbox) -> list[str]:
    """The resource of each call that asked for records."""
    return [call.path.rstrip("/").rpartition("/")[2] for call in org.calls_to("/query")]


@pytest.mark.parametrize("object_type", ["Lead", "Contact", "Account"])
def test_a_merged_record_is_read_as_the_one_that_took_it_over(
    org: SalesforceSandbox, crm: SalesforceCrm, object_type: str
) -> None:
    ann = org.add_user("Ann", "ann@example.com")
    winner = org.create(object_type, {"OwnerId": ann, "Phone": "1"})
    loser = org.create(object_type, {"OwnerId": org.integration_user, "Phone": "2"})
    org.merge(winner, loser)
    record = crm.read_records(object_type, [loser])[loser]
    assert (record.id, record.survivor_id) == (loser, winner)
    assert (record.owner_id, record.attributes["Phone"]) == (ann, "1")
    assert paths(org) == ["query", "queryAll", "query"]


def test_a_survivor_that_is_read_anyway_is_not_read_twice(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    winner, loser = (org.create("Lead", {"LastName": name}) for name in ("Won", "Lost"))
    org.merge(winner, loser)
    found = crm.read_records("Lead", [winner, loser])
    assert {raw: (one.id, one.survivor_id) for raw, one in found.items()} == {
        winner: (winner, None),
        loser: (loser, winner),
    }
    assert paths(org) == ["query", "queryAll"]


def test_a_chain_of_merges_is_followed_to_the_one_that_lives(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    first, second, third = (org.create("Lead", {"LastName": str(n)}) for n in range(3))
    org.merge(second, first)
    org.merge(third, second)
    assert crm.read_records("Lead", [first])[first].survivor_id == third
    assert paths(org) == ["query", "queryAll", "query", "queryAll", "query"]


def test_merges_in_a_circle_end(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    first, second = (org.create("Lead", {"LastName": str(n)}) for n in range(2))
    org.merge(first, second)
    org.merge(second, first)
    assert crm.read_records("Lead", [first]) == {}
    assert len(paths(org)) < 8


def test_a_survivor_that_was_deleted_since_is_gone(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    winner, loser = (org.create("Lead", {"LastName": str(n)}) for n in range(2))
    org.merge(winner, loser)
    org.delete(winner)
    assert crm.read_records("Lead", [loser, winner]) == {}


def test_records_that_are_all_there_cost_no_look_into_the_recycle_bin(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    crm.read_records("Lead", [org.create("Lead", {}), org.create("Lead", {})])
    assert paths(org) == ["query"]


def test_nor_do_records_that_cannot_be_merged(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    assert crm.read_records("Task", ["00T000000000001"]) == {}
    assert paths(org) == ["query"]


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "INSUFFICIENT_ACCESS"), (400, "INVALID_FIELD"), (400, "INVALID_TYPE")],
)
def test_where_the_recycle_bin_is_closed_to_us_the_record_is_just_gone(
    org: SalesforceSandbox, crm: SalesforceCrm, status: int, code: str
) -> None:
    winner, loser = (org.create("Lead", {"LastName": str(n)}) for n in range(2))
    org.merge(winner, loser)
    org.faults.add("/queryAll", status=status, body=[{"errorCode": code, "message": "m"}])
    assert set(crm.read_records("Lead", [winner, loser])) == {winner}


def test_a_look_into_the_recycle_bin_that_fails_for_a_moment_is_not_taken_for_an_answer(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {})
    org.delete(lead)
    org.faults.add("/queryAll", preset="server_unavailable", times=None)
    with pytest.raises(CrmAgain):
        crm.read_records("Lead", [lead])


def test_a_merged_record_is_asked_for_with_the_fields_that_are_wanted(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    winner = org.create("Lead", {"Description": "long"})
    loser = org.create("Lead", {})
    org.merge(winner, loser)
    found = crm.read_records("Lead", [loser], fields=["description"])
    assert found[loser].attributes["Description"] == "long"


def test_a_converted_lead_is_closed_and_goes_on_in_what_is_routed_of_what_it_became(
    org: SalesforceSandbox, connect: Connect
) -> None:
    crm = connect(org.url, objects=("Lead", "opportunity", "contact"))
    lead = org.create("Lead", {"LastName": "Example", "OwnerId": org.add_queue("New leads")})
    contact = org.convert(lead)
    record = crm.read_records("Lead", [lead])[lead]
    assert record.closed == "the lead was converted"
    assert record.goes_on_in == (("Contact", contact),)
    assert record.attributes["IsConverted"] is True
    assert not any(name.startswith("ConvertedC") for name in record.attributes)


def test_a_converted_lead_of_an_org_that_routes_leads_only_goes_on_nowhere(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {"LastName": "Example"})
    org.convert(lead)
    record = crm.read_records("Lead", [lead])[lead]
    assert (record.closed, record.goes_on_in) == ("the lead was converted", ())


def test_all_that_a_lead_became_goes_on_in_one_order(
    org: SalesforceSandbox, connect: Connect
) -> None:
    crm = connect(org.url, objects=("Opportunity", "Account", "Contact", "Lead"))
    lead = org.create("Lead", {"LastName": "Example"})
    org.convert(lead)
    made = org.create("Opportunity", {"Name": "Deal"})
    org.change(lead, {"ConvertedOpportunityId": made})
    record = crm.read_records("Lead", [lead])[lead]
    assert [kind for kind, _ in record.goes_on_in] == ["Contact", "Account", "Opportunity"]


def test_an_open_lead_is_not_closed(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    lead = org.create("Lead", {})
    record = crm.read_records("Lead", [lead])[lead]
    assert (record.closed, record.goes_on_in) == (None, ())
