"""The ready-made data of the sandbox org, as a client reads it."""

from __future__ import annotations

from datetime import datetime

import pytest
from salesforce_caller import serving

from adapters.sandbox.salesforce_data import SETS, fill


@pytest.fixture
def at():
    with serving() as scene:
        yield scene


def rows(call, soql: str, resource: str = "query") -> dict[str, dict]:
    answer = call.query(soql, resource)
    assert answer.status_code == 200, answer.text
    return {row["Id"]: row for row in answer.json()["records"]}


def test_the_leads_are_owned_by_all_who_own_leads_in_real_orgs(at):
    org, call, _ = at
    ids = fill(org, "leads")
    found = rows(call, "SELECT Id, OwnerId, Owner.Type, Owner.IsActive FROM Lead")
    owners = {
        name: (found[ids[name]]["Owner"]["Type"], found[ids[name]]["Owner"]["IsActive"])
        for name in ("queue_owned", "rep_owned", "inactive_owned")
    }
    assert owners == {
        "queue_owned": ("Queue", False),
        "rep_owned": ("User", True),
        "inactive_owned": ("User", False),
    }
    assert found[ids["integration_owned"]]["OwnerId"] == org.integration_user


def test_some_leads_are_gone_or_went_on_as_something_else(at):
    org, call, _ = at
    ids = fill(org, "leads")
    soql = "SELECT Id, IsDeleted, MasterRecordId, ConvertedContactId FROM Lead"
    found = rows(call, soql, "queryAll")
    assert found[ids["merged"]]["MasterRecordId"] == ids["winner"]
    assert found[ids["deleted"]]["IsDeleted"] is True
    assert found[ids["converted"]]["ConvertedContactId"] == ids["converted_contact"]
    assert not {ids["merged"], ids["deleted"]} & set(rows(call, "SELECT Id FROM Lead"))
    assert ids["small"].casefold() != ids["big"].casefold()
    assert ids["small"][:15].casefold() == ids["big"][:15].casefold()


def test_the_team_has_people_who_are_not_there(at):
    org, call, clock = at
    ids = fill(org, "team")
    found = rows(call, "SELECT Id, UserId, StartDate, EndDate, IsEnabled FROM OutOfOffice")
    away = [
        row["UserId"]
        for row in found.values()
        if row["IsEnabled"]
        and datetime.fromisoformat(row["StartDate"])
        <= clock()
        < datetime.fromisoformat(row["EndDate"])
    ]
    assert len(found) == 4
    assert away == [ids["away"]]
    assert set(rows(call, "SELECT Id FROM User WHERE IsActive = false")) == {ids["gone"]}


def test_groups_hold_each_other(at):
    org, call, _ = at
    ids = fill(org, "groups")
    soql = f"SELECT Id, UserOrGroupId FROM GroupMember WHERE GroupId = '{ids['queue']}'"
    members = {row["UserOrGroupId"] for row in rows(call, soql).values()}
    assert members == {ids["member"], ids["outer"], ids["role"]}


def test_texts_come_through_whole(at):
    org, call, _ = at
    ids = fill(org, "texts")
    found = rows(call, "SELECT Id, Company, LastName, Email FROM Lead")
    assert len(found[ids["longest"]]["Company"]) == 255
    assert found[ids["wide"]]["Company"] == "Żółć 雪 Ñandú & Søn"
    assert "\n" in found[ids["quotes"]]["Company"]
    empty = found[ids["empty"]]
    assert (empty["Company"], empty["LastName"], empty["Email"]) == (None, None, None)


def test_a_contact_and_its_account_have_two_owners(at):
    org, call, _ = at
    ids = fill(org, "accounts")
    soql = "SELECT Id, OwnerId, Account.OwnerId, Account.IsPersonAccount FROM Contact"
    found = rows(call, soql)
    contact = found[ids["contact"]]
    owners = (contact["OwnerId"], contact["Account"]["OwnerId"])
    assert owners == (ids["contact_owner"], ids["account_owner"])
    assert found[ids["person_contact"]]["Account"]["IsPersonAccount"] is True


def test_all_of_it_fits_into_one_org(at):
    org, _, _ = at
    ids = fill(org, "everything")
    assert len(set(ids.values())) == len(ids)


def test_data_that_nobody_prepared_is_an_error(at):
    org, _, _ = at
    with pytest.raises(ValueError, match="there are: " + ", ".join(SETS)):
        fill(org, "dragons")
