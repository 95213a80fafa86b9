"""Which fields are read of a record: the usual ones, and those that territories ask for."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from adapters.salesforce import ids, records, soql
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmForbidden


def queries(org: SalesforceSandbox) -> list[str]:
    return [parse_qs(call.query)["q"][0] for call in org.calls_to("/query")]


def test_a_field_that_is_asked_for_in_any_spelling_is_read(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.add_field("Lead", "Region__c")
    lead = org.create("Lead", {"Region__c": "North", "MobilePhone": "1"})
    wanted = ["region__C", " mobilephone ", "COUNTRY"]
    record = crm.read_records("Lead", [lead], fields=wanted)[lead]
    assert (record.attributes["Region__c"], record.attributes["MobilePhone"]) == ("North", "1")
    assert queries(org)[0].upper().count("COUNTRY") == 1


@pytest.mark.parametrize("wanted", ["email", "Company", "connection", "OBJECT_TYPE", "City", "Id",
                                    "OwnerId", "lastmodifieddate", "Owner.Name", "first name",
                                    "x' OR", "a.b.c", "", "ä", "Re gion__c"])  # fmt: skip
def test_what_is_read_anyway_or_names_no_field_costs_no_look_at_the_object(
    org: SalesforceSandbox, crm: SalesforceCrm, wanted: str
) -> None:
    lead = org.create("Lead", {})
    assert lead in crm.read_records("Lead", [lead], fields=[wanted])
    assert len(org.calls) == 2  # the log-in and the query
    assert "Owner.Name" not in queries(org)[0]


def test_fields_that_the_org_does_not_have_are_left_out(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = org.create("Lead", {"Description": "long"})
    wanted = ["lifecyclestage", "Description", "Region__c", "Nothing__r.Name"]
    assert crm.read_records("Lead", [lead], fields=wanted)[lead].attributes["Description"] == "long"
    assert len(queries(org)) == 1


def test_country_codes_are_read_where_the_org_has_them_and_a_territory_asks(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    lead = org.create("Lead", {})
    fields = ["countrycode", "StateCode"]
    assert "CountryCode" not in crm.read_records("Lead", [lead], fields=fields)[lead].attributes
    org.features = ["state_codes"]
    org.change(lead, {"CountryCode": "DK"})
    clock.go(3600)
    assert crm.read_records("Lead", [lead], fields=fields)[lead].attributes["CountryCode"] == "DK"


def test_a_field_of_a_linked_record_is_read(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    account = org.create("Account", {"Name": "Acme", "Industry": "Steel"})
    contact = org.create("Contact", {"AccountId": account})
    alone = org.create("Contact", {})
    wanted = ["account.INDUSTRY", "Account.Nothing__c", "Nobody__r.Name", "Account.BillingAddress"]
    found = crm.read_records("Contact", [contact, alone], fields=wanted)
    assert found[contact].attributes["Account.Industry"] == "Steel"
    assert found[contact].company == "Acme"
    assert found[alone].company is None
    assert len(queries(org)) == 1


def test_addresses_as_a_whole_are_left_out(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    lead = org.create("Lead", {"City": "Århus"})
    found = crm.read_records("Lead", [lead], fields=["Address", "Latitude"])
    assert "Address" not in queries(org)[0]
    assert "Latitude" in found[lead].attributes


def test_an_object_is_looked_at_once_an_hour_and_for_each_new_name(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    lead = org.create("Lead", {})

    def looks(*fields: str) -> int:
        org.forget_calls()
        crm.read_records("Lead", [lead], fields=fields)
        return len(org.calls_to("/describe"))

    assert looks("Region__c") == 1
    assert looks("Region__c") == 0
    assert looks("Region__c", "Size__c") == 1
    assert looks("size__C") == 0
    org.add_field("Lead", "Region__c")
    clock.go(3599)
    assert looks("Region__c") == 0
    clock.go(1)
    assert looks("Region__c") == 1
    assert "Region__c" in queries(org)[0]


def test_a_hidden_object_type_costs_no_more_than_the_fields_of_it(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.records.objects.hidden_objects.add("Account")
    contact = org.create("Contact", {"LastName": "Known"})
    record = crm.read_records("Contact", [contact], fields=["Account.Industry"])[contact]
    assert record.attributes["LastName"] == "Known"
    assert "Account.Name" not in record.attributes


def test_fields_that_become_visible_are_read_within_the_hour(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    lead = org.create("Lead", {"Industry": "Steel"})
    org.records.objects.hidden_fields.add(("Lead", "Industry"))
    assert "Industry" not in crm.read_records("Lead", [lead])[lead].attributes
    org.records.objects.hidden_fields.clear()
    clock.go(3600)
    assert crm.read_records("Lead", [lead])[lead].attributes["Industry"] == "Steel"


def test_records_without_an_owner_of_their_own_are_refused_by_name(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.add_object("Part__c", [], is_owned=False)
    part = org.create("Part__c", {})
    with pytest.raises(CrmForbidden, match=r"Part__c.*no owner of their own.*SALESFORCE_OBJECTS"):
        crm.read_records("Part__c", [part])


@pytest.mark.parametrize("object_type", [*ids.PREFIXES, "Some_Long_Name_of_a_Custom_Object__c"])
def test_a_full_batch_fits_into_one_address(object_type: str) -> None:
    start = records.select(object_type, records.fields(object_type))
    terms = [soql.Term("Id", "00Q5e00000XyZzZEAV")] * 200
    (group,) = soql.groups(terms, around=start)
    assert soql.size(start + soql.any_of(group)) < 8_000


def test_many_long_names_leave_room_for_a_whole_batch(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    names = [f"A_Field_with_quite_a_Long_Name_{number:03}__c" for number in range(300)]
    for name in names:
        org.add_field("Lead", name)
    leads = [org.create("Lead", {names[0]: "x"}) for _ in range(200)]
    found = crm.read_records("Lead", leads, fields=names)
    assert {record.attributes[names[0]] for record in found.values()} == {"x"}
    assert len(queries(org)) == 1
    assert len(org.calls_to("/query")[0].query) < 14_000
