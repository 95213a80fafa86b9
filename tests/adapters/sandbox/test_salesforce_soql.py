"""Queries against the sandbox org."""

from __future__ import annotations

import pytest
from salesforce_caller import code, serving


@pytest.fixture
def at():
    with serving() as scene:
        yield scene


def names(call, where: str) -> list[str]:
    answer = call.query(f"SELECT Name FROM Lead WHERE {where}")
    assert answer.status_code == 200, answer.text
    return [row["Name"] for row in answer.json()["records"]]


def test_a_row_has_attributes_and_nulls(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    (row,) = call.query("select id, company, isConverted from lead").json()["records"]
    assert row == {
        "attributes": {"type": "Lead", "url": f"/services/data/v64.0/sobjects/Lead/{lead}"},
        "Id": lead,
        "Company": None,
        "IsConverted": False,
    }


def test_the_owner_is_told_as_user_or_queue(at):
    org, call, _ = at
    queue = org.add_queue("Inbox")
    ann = org.add_user("Ann", "ann@example.com", active=False)
    for owner in (queue, ann):
        org.create("Lead", {"LastName": "Example", "OwnerId": owner})
    rows = call.query("SELECT Owner.Type, Owner.IsActive, Owner.Name FROM Lead").json()["records"]
    owners = [row["Owner"] for row in rows]
    assert [owner["Type"] for owner in owners] == ["Queue", "User"]
    assert [owner["IsActive"] for owner in owners] == [False, False]
    assert [owner["Name"] for owner in owners] == ["Inbox", "Ann"]
    assert {owner["attributes"]["type"] for owner in owners} == {"Name"}


def test_the_owner_of_a_contact_is_a_user_and_has_no_type(at):
    org, call, _ = at
    account = org.create("Account", {"Name": "Acme"})
    org.create("Contact", {"LastName": "Example", "AccountId": account})
    assert code(call.query("SELECT Owner.Type FROM Contact")) == (400, "INVALID_FIELD")
    soql = "SELECT Owner.IsActive, Account.OwnerId, Account.Owner.IsActive FROM Contact"
    (row,) = call.query(soql).json()["records"]
    assert row["Owner"]["IsActive"] is True
    assert row["Account"]["OwnerId"] == org.integration_user
    assert row["Account"]["Owner"]["IsActive"] is True


def test_a_relationship_to_nothing_is_null(at):
    org, call, _ = at
    org.create("Contact", {"LastName": "Example"})
    (row,) = call.query("SELECT Account.Name FROM Contact").json()["records"]
    assert row["Account"] is None


def test_text_compares_without_case_and_unescapes(at):
    org, call, _ = at
    org.create("Lead", {"LastName": "O'Hara", "Email": "A@B.example"})
    assert names(call, "Email = 'a@b.EXAMPLE'") == ["O'Hara"]
    assert names(call, r"Name = 'o\'hara'") == ["O'Hara"]
    assert names(call, "Email LIKE '%@b.%'") == ["O'Hara"]
    assert names(call, "Email LIKE 'a_b%'") == ["O'Hara"]
    assert names(call, "Email LIKE '@b%'") == []


def test_conditions_join_with_brackets_only(at):
    org, call, _ = at
    for name in ("a", "b", "c"):
        org.create("Lead", {"LastName": name, "Country": "DE" if name == "a" else None})
    assert names(call, "(Name = 'a' OR Name = 'b') AND Country = null") == ["b"]
    assert names(call, "NOT Name IN ('a', 'b')") == ["c"]
    assert names(call, "Name NOT IN ('a', 'b') AND IsConverted != true") == ["c"]
    mixed = "SELECT Id FROM Lead WHERE Name = 'a' OR Name = 'b' AND Country = null"
    assert code(call.query(mixed)) == (400, "MALFORMED_QUERY")


def test_stamps_compare_as_moments(at):
    org, call, clock = at
    org.create("Lead", {"LastName": "early"})
    clock.move(minutes=1)
    org.create("Lead", {"LastName": "late"})
    assert names(call, "SystemModstamp >= 2026-11-30T09:16:07Z") == ["late"]
    assert names(call, "CreatedDate < 2026-11-30T10:16:07+01:00") == ["early"]
    assert code(call.query("SELECT Id FROM Lead WHERE CreatedDate > 'x'")) == (400, "INVALID_FIELD")


def test_rows_are_ordered_and_limited(at):
    org, call, _ = at
    for name, country in (("a", "DE"), ("b", None), ("c", "AT")):
        org.create("Lead", {"LastName": name, "Country": country})
    tail = "Name != 'x' ORDER BY Country"
    assert names(call, tail) == ["b", "c", "a"]
    assert names(call, f"{tail} NULLS LAST") == ["c", "a", "b"]
    assert names(call, f"{tail} DESC NULLS LAST, Name LIMIT 2") == ["a", "c"]


def test_one_id_that_cannot_be_one_fails_the_query(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    answer = call.query(f"SELECT Id FROM Lead WHERE Id IN ('{lead}', '{lead[:15]}AAB')")
    assert code(answer) == (400, "INVALID_QUERY_FILTER_OPERATOR")


def test_an_error_shows_the_place(at):
    _, call, _ = at
    message = call.query("SELECT Id, Foo FROM Lead").json()[0]["message"]
    assert "ERROR at Row:1:Column:12\nNo such column 'Foo' on entity 'Lead'." in message


def test_the_caller_may_wish_for_smaller_pages(at):
    org, call, _ = at
    for number in range(201):
        org.create("Lead", {"LastName": str(number)})
    page = call.query("SELECT Id FROM Lead", Sforce_Query_Options="batchSize=10").json()
    assert len(page["records"]) == 200  # the least there is


def test_a_field_can_be_added_to_the_org(at):
    org, call, _ = at
    org.add_field("Lead", "StateCode")
    org.create("Lead", {"LastName": "Example", "StateCode": "CA"})
    assert names(call, "StateCode = 'CA'") == ["Example"]


def test_wildcards_are_escaped_in_patterns(at):
    org, call, _ = at
    for company in ("a_b", "axb", "100%", "1000", r"c\d"):
        org.create("Lead", {"LastName": company, "Company": company})
    assert names(call, r"Company LIKE 'a\_b'") == ["a_b"]
    assert names(call, "Company LIKE 'a_b'") == ["a_b", "axb"]
    assert names(call, r"Company LIKE '100\%'") == ["100%"]
    assert names(call, r"Company LIKE '%\\%'") == [r"c\d"]
    assert names(call, r"Company = 'c\\d'") == [r"c\d"]


def test_an_escape_that_soql_does_not_know_is_refused(at):
    _, call, _ = at
    for literal in (r"'a\x'", r"'a\%'"):
        soql = f"SELECT Id FROM Lead WHERE Company = {literal}"
        assert code(call.query(soql)) == (400, "MALFORMED_QUERY")


def test_rows_page_by_stamp_and_id(at):
    org, call, clock = at
    leads = [org.create("Lead", {"LastName": str(number)}) for number in range(3)]
    clock.move(seconds=1)
    leads.append(org.create("Lead", {"LastName": "late"}))
    stamp = "2026-11-30T09:15:07.000+0000"
    soql = (
        f"SELECT Id FROM Lead WHERE SystemModstamp > {stamp} "
        f"OR (SystemModstamp = {stamp} AND Id > '{leads[0]}') ORDER BY SystemModstamp, Id LIMIT 2"
    )
    assert call.ids(soql) == leads[1:3]
