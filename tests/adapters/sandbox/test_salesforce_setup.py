"""How an org is set up by a test: objects, features, people, and what becomes of records."""

from __future__ import annotations

from datetime import timedelta

import pytest
from salesforce_caller import START, code, serving


@pytest.fixture
def at():
    with serving() as scene:
        yield scene


def described(call, object_type: str) -> dict[str, dict]:
    told = call.get(f"/sobjects/{object_type}/describe").json()
    return {field["name"]: field for field in told["fields"]}


# -- objects


def test_describe_tells_prefix_types_and_what_a_reference_points_at(at):
    _, call, _ = at
    told = call.get("/sobjects/lead/describe").json()
    assert (told["name"], told["keyPrefix"], told["updateable"]) == ("Lead", "00Q", True)
    fields = described(call, "Lead")
    assert fields["OwnerId"]["referenceTo"] == ["Group", "User"]
    assert fields["OwnerId"]["relationshipName"] == "Owner"
    assert fields["Address"]["type"] == "address"
    assert fields["CreatedDate"]["updateable"] is False
    assert described(call, "Contact")["OwnerId"]["referenceTo"] == ["User"]
    assert described(call, "Task")["WhoId"]["referenceTo"] == ["Contact", "Lead"]


def test_a_custom_object_lives_like_any_other(at):
    org, call, _ = at
    org.add_object("Site__c", ["Region__c"])
    org.add_field("Site__c", "Partner__c", target="Account")
    ann = org.add_user("Ann", "ann@example.com")
    partner = org.create("Account", {"Name": "Acme"})
    queue = org.add_queue("Sites")
    site = org.create("Site__c", {"Name": "S1", "Partner__c": partner, "OwnerId": queue})
    assert call.patch(site, {"OwnerId": ann}, "Site__c").status_code == 204
    soql = "SELECT Owner.Type, Partner__r.Owner.IsActive FROM site__c"
    (row,) = call.query(soql).json()["records"]
    assert row["Owner"]["Type"] == "User"
    assert row["Partner__r"]["Owner"]["IsActive"] is True
    assert call.get("/sobjects/Site__c/describe").json()["keyPrefix"] == site[:3]
    assert described(call, "Site__c")["Partner__c"]["relationshipName"] == "Partner__r"


def test_a_custom_object_may_have_no_owner_or_users_only(at):
    org, call, _ = at
    org.add_object("Line__c", is_owned=False)
    org.add_object("Visit__c", by_queues=False)
    queue = org.add_queue("Visits")
    org.create("Line__c", {"Name": "L1"})
    visit = org.create("Visit__c", {"Name": "V1"})
    assert code(call.query("SELECT OwnerId FROM Line__c")) == (400, "INVALID_FIELD")
    answer = call.patch(visit, {"OwnerId": queue}, "Visit__c")
    assert code(answer) == (400, "FIELD_INTEGRITY_EXCEPTION")


def test_state_codes_are_there_where_the_org_switched_them_on(at):
    org, call, _ = at
    soql = "SELECT StateCode, CountryCode FROM Lead"
    assert code(call.query(soql)) == (400, "INVALID_FIELD")
    assert "StateCode" not in described(call, "Lead")
    org.features = ["state_codes"]
    org.create("Lead", {"LastName": "Example", "StateCode": "CA"})
    (row,) = call.query(soql).json()["records"]
    assert (row["StateCode"], row["CountryCode"]) == ("CA", None)
    assert "StateCode" in described(call, "Lead")
    org.features = []
    assert code(call.query(soql)) == (400, "INVALID_FIELD")


def test_a_feature_that_no_org_has_is_an_error(at):
    org, _, _ = at
    with pytest.raises(ValueError, match="no feature"):
        org.features = ["time_travel"]


def test_an_address_can_be_read_whole_and_not_filtered_by(at):
    org, call, _ = at
    org.create("Lead", {"LastName": "Example", "City": "Aarhus"})
    (row,) = call.query("SELECT Address FROM Lead").json()["records"]
    assert row["Address"]["city"] == "Aarhus"
    answer = call.query("SELECT Id FROM Lead WHERE Address = 'Aarhus'")
    assert code(answer) == (400, "INVALID_FIELD")


# -- people


def test_times_out_of_office_are_told(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com", time_zone="Europe/Copenhagen")
    org.set_out_of_office(ann, START, START + timedelta(days=1))
    org.set_out_of_office(ann, START, START + timedelta(days=2), is_enabled=False)
    soql = f"SELECT StartDate, IsEnabled FROM OutOfOffice WHERE UserId IN ('{ann[:15]}')"
    rows = call.query(soql).json()["records"]
    assert [row["IsEnabled"] for row in rows] == [True, False]
    assert rows[0]["StartDate"] == "2026-11-30T09:15:07.000+0000"
    later = f"EndDate > {START + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    assert len(call.ids(f"SELECT Id FROM OutOfOffice WHERE {later}")) == 1
    assert call.ids("SELECT Id FROM User WHERE TimeZoneSidKey = 'Europe/Copenhagen'") == [ann]


def test_the_current_presence_of_a_user_is_one_row(at):
    org, call, _ = at
    org.features = ["omni_channel"]
    ann, bob = (org.add_user(name, f"{name}@example.com") for name in ("ann", "bob"))
    org.set_presence(ann)
    org.set_presence(ann, is_away=True)
    org.set_presence(bob)
    org.end_presence(bob)
    soql = "SELECT UserId, IsAway FROM UserServicePresence WHERE IsCurrentState = true"
    rows = call.query(soql).json()["records"]
    assert [(row["UserId"], row["IsAway"]) for row in rows] == [(ann, True)]


def test_a_frozen_user_is_active_and_may_own(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {"LastName": "Example"})
    org.freeze(ann)
    assert call.ids("SELECT Id FROM UserLogin WHERE IsFrozen = true")
    assert call.patch(lead, {"OwnerId": ann}).status_code == 204


def test_a_user_can_come_back(at):
    org, _, _ = at
    ann = org.add_user("Ann", "ann@example.com", active=False)
    org.activate(ann)
    assert org.get(ann)["IsActive"] is True


def test_a_group_that_is_no_queue_owns_nothing(at):
    org, call, _ = at
    group = org.add_group("Sales", "RoleAndSubordinates")
    lead = org.create("Lead", {"LastName": "Example"})
    answer = call.patch(lead, {"OwnerId": group})
    assert code(answer) == (400, "INVALID_CROSS_REFERENCE_KEY")


# -- records


def test_a_conversion_may_have_an_owner_an_account_and_an_opportunity(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com")
    account = org.create("Account", {"Name": "Acme"})
    lead = org.create("Lead", {"LastName": "Example", "Company": "Acme"})
    contact = org.convert(lead, owner=ann, account_id=account, with_opportunity=True)
    soql = (
        "SELECT ConvertedContactId, ConvertedAccountId, ConvertedOpportunity.Owner.Name "
        "FROM Lead WHERE IsConverted = true"
    )
    (row,) = call.query(soql).json()["records"]
    assert (row["ConvertedContactId"], row["ConvertedAccountId"]) == (contact, account)
    assert row["ConvertedOpportunity"]["Owner"]["Name"] == "Ann"


def test_merged_accounts_leave_their_contacts_to_the_winner(at):
    org, _, _ = at
    winner, loser = (org.create("Account", {"Name": name}) for name in "ab")
    contact = org.create("Contact", {"LastName": "Example", "AccountId": loser})
    org.merge(winner, loser)
    assert org.get(contact)["AccountId"] == winner


def test_records_that_cannot_be_merged_are_an_error(at):
    org, _, _ = at
    lead, other = (org.create("Lead", {"LastName": name}) for name in "ab")
    task = org.create("Task", {"Subject": "Call"})
    for pair in ((lead, lead), (lead, org.convert(other)), (task, task)):
        with pytest.raises(ValueError, match="are merged"):
            org.merge(*pair)


def test_a_deleted_record_can_come_back(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    told = []
    org.on_change(lambda change: told.append((change.kind, change.record_id)))
    org.delete(lead)
    org.undelete(lead)
    assert call.ids("SELECT Id FROM Lead") == [lead]
    assert told == [("deleted", lead), ("undeleted", lead)]


def test_a_record_can_show_an_earlier_stamp(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Late"}, at=START - timedelta(seconds=90))
    row = call.get(f"/sobjects/Lead/{lead}").json()
    assert row["SystemModstamp"] == row["CreatedDate"] == "2026-11-30T09:13:37.000+0000"


def test_the_system_stamp_can_move_alone(at):
    org, call, clock = at
    lead = org.create("Lead", {"LastName": "Example"})
    clock.move(seconds=9)
    org.recalculate(lead)
    row = call.get(f"/sobjects/Lead/{lead}").json()
    assert row["LastModifiedDate"] == "2026-11-30T09:15:07.000+0000"
    assert row["SystemModstamp"] == "2026-11-30T09:15:16.000+0000"


def test_a_task_names_whom_and_what_it_is_about(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    account = org.create("Account", {"Name": "Acme", "Type": "Customer"})
    org.create("Task", {"Subject": "Call", "WhoId": lead, "WhatId": account})
    (row,) = call.query("SELECT Who.Type, Who.Name, What.Type FROM Task").json()["records"]
    assert (row["Who"]["Type"], row["Who"]["Name"]) == ("Lead", "Example")
    assert row["What"]["Type"] == "Account"


# -- writes


def test_a_record_can_be_refused_with_any_code(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    org.fail_row(lead, "ENTITY_IS_LOCKED", "in an approval process", tries=2)
    answers = [code(call.patch(lead, {"Country": "DE"})) for _ in range(3)]
    assert answers == [(400, "ENTITY_IS_LOCKED"), (400, "ENTITY_IS_LOCKED"), (204, None)]


def test_the_clock_can_be_moved_by_hand(at):
    org, call, _ = at
    org.clock_ahead = 3600
    lead = org.create("Lead", {"LastName": "Example"})
    row = call.get(f"/sobjects/Lead/{lead}").json()
    assert row["CreatedDate"] == "2026-11-30T10:15:07.000+0000"


def test_the_usage_may_be_followed_by_other_limits(at):
    org, call, _ = at
    org.usage_extra = "; api-bursts=1/750"
    usage = call.get("/limits").headers["Sforce-Limit-Info"]
    assert usage == "api-usage=1/100000; api-bursts=1/750"
