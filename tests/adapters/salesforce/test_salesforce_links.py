"""Whom the person and the company of a record belong to, found in the org by few queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import pytest

from adapters.salesforce import clues, lookups
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmForbidden
from connector.model import Related, StickyStep

Connect = Callable[..., SalesforceCrm]
PERSON, COMPANY = StickyStep.PERSON, StickyStep.COMPANY
Linked = Mapping[StickyStep, Related]


@pytest.fixture
def org(clock: Any) -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox(clock=clock) as sandbox:
        sandbox.default_owner = sandbox.add_queue("New")
        yield sandbox


@pytest.fixture
def ann(org: SalesforceSandbox) -> str:
    return org.add_user("Ann", "ann@sandbox.example")


@pytest.fixture
def bob(org: SalesforceSandbox) -> str:
    return org.add_user("Bob", "bob@sandbox.example")


@pytest.fixture
def left(org: SalesforceSandbox) -> str:
    return org.add_user("Left", "left@sandbox.example", active=False)


def queries(org: SalesforceSandbox) -> list[str]:
    return [parse_qs(call.query)["q"][0] for call in org.calls_to("/query")]


def lead(org: SalesforceSandbox, **fields: object) -> str:
    return org.create("Lead", {"LastName": "Example", "Company": "Acme", **fields})


def account(org: SalesforceSandbox, **fields: object) -> str:
    return org.create("Account", {"Name": "Acme Ltd", **fields})


def contact(org: SalesforceSandbox, **fields: object) -> str:
    return org.create("Contact", {"LastName": "Known", **fields})


def linked(
    org: SalesforceSandbox, crm: SalesforceCrm, record_id: str, object_type: str = "Lead"
) -> Linked:
    """What comes first of each step for one record. Its calls are left in ``org.calls``."""
    found = crm.read_records(object_type, [record_id])
    org.forget_calls()
    related = crm.related(object_type, found).get(record_id, ())
    steps = [one.step for one in related]
    assert steps == sorted(steps, reverse=True)  # persons before companies
    return {one.step: one for one in reversed(related)}


# The person.


def test_the_person_is_the_open_lead_with_the_same_e_mail(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    known = lead(org, Email="Kim@Acme.Example", FirstName="Kim", OwnerId=ann)
    new = lead(org, Email="kim@acme.example")
    assert linked(org, crm, new)[PERSON] == Related(
        step=PERSON,
        object_type="Lead",
        id=known,
        name="Kim Example",
        email="Kim@Acme.Example",
        owner_id=ann,
        owner_stays=True,
    )


def test_each_owner_of_the_same_person_is_told_once_leads_before_contacts(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str
) -> None:
    contact = org.create(
        "Contact", {"LastName": "Kim", "Email": "kim@acme.example", "OwnerId": bob}
    )
    known = [lead(org, Email="kim@acme.example", OwnerId=ann) for _ in range(2)]
    new = lead(org, Email="kim@acme.example")
    related = crm.related("Lead", crm.read_records("Lead", [new]))[new]
    assert [one.id for one in related if one.step is PERSON] == [min(known), contact]


def test_a_lead_is_not_its_own_person(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    new = lead(org, Email="kim@acme.example")
    assert linked(org, crm, new) == {}
    assert linked(org, crm, new[:15]) == {}


def test_a_converted_lead_is_nobodys_person_but_its_contact_is(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    made = org.convert(lead(org, Email="kim@acme.example", OwnerId=ann))
    person = linked(org, crm, lead(org, Email="kim@acme.example"))[PERSON]
    assert (person.object_type, person.id, person.owner_id) == ("Contact", made, ann)


def test_leads_come_before_contacts(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str
) -> None:
    contact(org, Email="kim@acme.example", OwnerId=ann)
    known = lead(org, Email="kim@acme.example", OwnerId=bob)
    assert linked(org, crm, lead(org, Email="kim@acme.example"))[PERSON].id == known


def test_a_lead_whose_owner_left_yields_to_a_contact_whose_owner_stays(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, left: str
) -> None:
    lead(org, Email="kim@acme.example", OwnerId=left)
    known = contact(org, Email="kim@acme.example", OwnerId=ann)
    assert linked(org, crm, lead(org, Email="kim@acme.example"))[PERSON].id == known


def test_an_owner_who_left_is_named_but_does_not_stay(
    org: SalesforceSandbox, crm: SalesforceCrm, left: str
) -> None:
    contact(org, Email="kim@acme.example", OwnerId=left)
    person = linked(org, crm, lead(org, Email="kim@acme.example"))[PERSON]
    assert (person.owner_id, person.owner_stays) == (left, False)


@pytest.mark.parametrize("who", ["queue", "integration user", "holding user"])
def test_these_owners_of_a_person_are_nobody(
    org: SalesforceSandbox, connect: Connect, who: str
) -> None:
    holding = org.add_user("Inbox", "inbox@sandbox.example")
    owner = {
        "queue": org.add_queue("More"),
        "integration user": org.integration_user,
        "holding user": holding,
    }[who]
    crm = connect(org.url, unassigned_owners=frozenset({holding}))
    lead(org, Email="kim@acme.example", OwnerId=owner)
    person = linked(org, crm, lead(org, Email="kim@acme.example"))[PERSON]
    assert (person.owner_id, person.owner_stays) == (None, False)


def test_of_several_the_one_whose_owner_stays_comes_first_then_the_newest_then_the_lowest_id(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any, ann: str, bob: str, left: str
) -> None:
    def go() -> None:
        clock.go(60)

    new = lead(org, Email="kim@acme.example")
    first = contact(org, Email="kim@acme.example", OwnerId=ann)
    go()
    second = contact(org, Email="kim@acme.example", OwnerId=bob)
    twin = contact(org, Email="kim@acme.example", OwnerId=ann)
    go()
    contact(org, Email="kim@acme.example", OwnerId=left)
    assert linked(org, crm, new)[PERSON].id == min(second, twin)
    go()
    org.change(first, {"Title": "CEO"})
    assert linked(org, crm, new)[PERSON].id == first


def test_a_case_names_its_person(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str
) -> None:
    contact(org, Email="other@acme.example", OwnerId=bob)
    known = contact(org, Email="kim@acme.example", OwnerId=ann)
    case = org.create("Case", {"ContactId": known, "SuppliedEmail": "other@acme.example"})
    assert linked(org, crm, case, "Case")[PERSON].id == known


@pytest.mark.parametrize("object_type", ["Task", "Event"])
@pytest.mark.parametrize("make", [lead, contact])
def test_a_task_and_an_event_name_their_person(
    org: SalesforceSandbox,
    crm: SalesforceCrm,
    ann: str,
    object_type: str,
    make: Callable[..., str],
) -> None:
    known = make(org, Email="kim@acme.example", OwnerId=ann)
    record = org.create(object_type, {"WhoId": known, "OwnerId": org.integration_user})
    person = linked(org, crm, record, object_type)[PERSON]
    assert (person.id, person.owner_id) == (known, ann)


# The company.


def test_the_company_is_the_account_of_the_contact_with_the_same_e_mail(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str
) -> None:
    known = account(org, OwnerId=bob)
    account(org, Website="acme.example", OwnerId=ann)
    contact(org, Email="kim@acme.example", OwnerId=ann, AccountId=known)
    both = linked(org, crm, lead(org, Email="kim@acme.example"))
    assert both[PERSON].owner_id == ann
    assert both[COMPANY] == Related(
        step=COMPANY,
        object_type="Account",
        id=known,
        name="Acme Ltd",
        owner_id=bob,
        owner_stays=True,
    )


@pytest.mark.parametrize(
    "website",
    ["acme.example", "www.acme.example", "https://www.ACME.example/", "http://acme.example:80/de",
     "acme.example/shop?x=1", "HTTPS://acme.example#top", " https://acme.example "],
)  # fmt: skip
def test_else_the_company_is_the_account_with_the_web_domain_of_the_e_mail(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, website: str
) -> None:
    known = account(org, Website=website, OwnerId=ann)
    company = linked(org, crm, lead(org, Email="kim@Acme.Example"))[COMPANY]
    assert (company.id, company.owner_id) == (known, ann)


@pytest.mark.parametrize(
    "website",
    ["notacme.example", "acme.example.evil.test", "shop.acme.example", "evil.test/acme.example",
     "https://evil.test?acme.example", "https://acme.example@evil.test/", "acme-example", None],
)  # fmt: skip
def test_another_host_is_another_company(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, website: str | None
) -> None:
    account(org, Website=website, OwnerId=ann)
    assert linked(org, crm, lead(org, Email="kim@acme.example")) == {}


def test_the_domain_of_a_free_mailbox_is_nobodys_company(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    account(org, Website="https://gmail.com", OwnerId=ann)
    assert linked(org, crm, lead(org, Email="kim@gmail.com")) == {}
    assert not any("Website" in query for query in queries(org))


def test_a_lead_without_an_e_mail_of_its_company_goes_by_its_website(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    known = account(org, Website="https://www.acme.example", OwnerId=ann)
    new = lead(org, Email="kim@gmail.com", Website="acme.example/about")
    assert linked(org, crm, new)[COMPANY].id == known


def test_a_page_on_a_host_that_companies_share_is_no_company(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    account(org, Website="https://www.facebook.com/other", OwnerId=ann)
    assert linked(org, crm, lead(org, Website="https://facebook.com/acme")) == {}
    assert queries(org) == []


def test_an_account_of_a_contact_yields_to_one_by_domain_whose_owner_stays(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, left: str
) -> None:
    contact(org, Email="kim@acme.example", AccountId=account(org, OwnerId=left))
    known = account(org, Website="acme.example", OwnerId=ann)
    assert linked(org, crm, lead(org, Email="kim@acme.example"))[COMPANY].id == known


@pytest.mark.parametrize("object_type", ["Contact", "Opportunity", "Case", "Task", "Event"])
def test_the_account_that_a_record_names_is_its_company_whoever_owns_it(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, left: str, object_type: str
) -> None:
    account(org, Website="acme.example", OwnerId=ann)
    named = account(org, Website="acme.example", OwnerId=left)
    fields = {"Contact": {"Email": "kim@acme.example"}, "Case": {"SuppliedEmail": "k@acme.example"}}
    record = org.create(object_type, {"AccountId": named, **fields.get(object_type, {})})
    company = linked(org, crm, record, object_type)[COMPANY]
    assert (company.id, company.owner_stays) == (named, False)


def test_a_named_account_stays_the_company_beside_records_that_go_by_domain(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, left: str
) -> None:
    known = account(org, Website="acme.example", OwnerId=ann)
    named = account(org, OwnerId=left)
    inside = contact(org, Email="kim@acme.example", AccountId=named)
    alone = contact(org, Email="lou@acme.example")
    related = crm.related("Contact", crm.read_records("Contact", [inside, alone]))
    assert [links[-1].id for links in (related[inside], related[alone])] == [named, known]


def test_a_task_may_name_its_account_only(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    task = org.create("Task", {"WhatId": account(org, OwnerId=ann)})
    assert linked(org, crm, task, "Task")[COMPANY].owner_id == ann


def test_the_company_of_a_task_is_that_of_the_lead_it_names(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    account(org, Website="acme.example", OwnerId=ann)
    task = org.create("Task", {"WhoId": lead(org, Email="kim@acme.example")})
    assert linked(org, crm, task, "Task")[COMPANY].owner_id == ann


def test_an_account_is_linked_to_another_of_the_same_web_domain(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    known = account(org, Website="www.acme.example", OwnerId=ann)
    new = account(org, Website="https://acme.example")
    assert {step: one.id for step, one in linked(org, crm, new, "Account").items()} == {
        COMPANY: known
    }


def test_an_open_lead_names_the_person_and_an_account_the_company(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str
) -> None:
    """S79: e-mail known as a lead of one, web domain known as an account of another."""
    lead(org, Email="kim@acme.example", OwnerId=bob)
    account(org, Website="acme.example", OwnerId=ann)
    both = linked(org, crm, lead(org, Email="kim@acme.example"))
    assert (both[PERSON].owner_id, both[COMPANY].owner_id) == (bob, ann)


# What it costs.


def test_two_hundred_leads_cost_at_most_two_queries_a_step(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    leads = []
    for number in range(200):
        email = f"first.lastname@company-{number:03}.example"
        leads.append(lead(org, Email=email))
        company = account(org, Website=f"company-{number:03}.example", OwnerId=ann)
        if number % 2:
            contact(org, Email=email, AccountId=company, OwnerId=ann)
    found = crm.read_records("Lead", leads)
    org.forget_calls()
    related = crm.related("Lead", found)
    assert len(related) == 200
    assert all(links[-1].owner_id == ann for links in related.values())
    assert [query.split("FROM ")[1].split()[0] for query in queries(org)] == [
        "Lead",
        "Contact",
        "Account",
        "Account",
    ]


def test_websites_are_not_searched_where_the_account_is_known(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    known = account(org, Website="acme.example", OwnerId=ann)
    contact(org, Email="kim@acme.example", AccountId=known, OwnerId=ann)
    assert linked(org, crm, lead(org, Email="kim@acme.example"))[COMPANY].id == known
    assert not any("Website" in query for query in queries(org))


def test_longer_e_mails_are_spread_over_as_few_addresses_as_take_them(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    emails = [
        f"{number:03}.{'x' * 60}@company-{'y' * 50}.{number:03}.example" for number in range(200)
    ]
    leads = [lead(org, Email=email) for email in emails]
    for email in emails:
        contact(org, Email=email, OwnerId=ann)
    found = crm.read_records("Lead", leads)
    org.forget_calls()
    related = crm.related("Lead", found)
    assert {record_id for record_id, links in related.items() if links[0].owner_id == ann} == set(
        leads
    )
    assert sum("FROM Contact" in query for query in queries(org)) == 3
    assert max(len(call.query) for call in org.calls_to("/query")) < 14_000


def test_nothing_is_asked_where_there_is_nothing_to_ask(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    records = crm.read_records("Lead", [lead(org), lead(org, Website="none")])
    org.forget_calls()
    assert crm.related("Lead", records) == {}
    assert crm.related("Lead", {}) == {}
    assert org.calls == []


def test_an_e_mail_that_thousands_of_leads_share_is_not_paged_through(
    org: SalesforceSandbox,
    crm: SalesforceCrm,
    clock: Any,
    ann: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lookups, "MOST_ROWS", 20)
    known = lead(org, Email="kim@acme.example", OwnerId=ann)
    clock.go(60)
    for _ in range(50):
        lead(org, Email="test@test.example")
    clock.go(60)  # the new ones are the newest of their own address
    new = [lead(org, Email="test@test.example"), lead(org, Email="kim@acme.example")]
    found = crm.read_records("Lead", new)
    org.forget_calls()
    related = crm.related("Lead", found)
    assert related[new[1]][0].id == known
    asked = [query for query in queries(org) if "FROM Lead" in query]
    assert len(asked) == 2
    assert all("LIMIT 20" in query for query in asked)


# What is typed into fields.


@pytest.mark.parametrize(
    "email",
    ["o'neil@acme.example", '"a b"@acme.example', "a\\'b@acme.example", "x' OR Id != '@a.example",
     "50%@acme.example", "a_b@acme.example", "jörg@müller.example", "a\nb@acme.example",
     "a\\@acme.example", "a&b=c+d#e@acme.example", "{0}@acme.example"],
)  # fmt: skip
def test_an_e_mail_finds_itself_and_nothing_else_whatever_is_in_it(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, bob: str, email: str
) -> None:
    for other in ("axb@acme.example", "500@acme.example", "", "' OR Id != '"):
        contact(org, Email=other, OwnerId=bob)
    known = contact(org, Email=email, OwnerId=ann)
    assert linked(org, crm, lead(org, Email=email))[PERSON].id == known


@pytest.mark.parametrize("domain", ["a_b.example", "a%b.example", "o'neil.example", "a\\b.example"])
def test_a_domain_is_no_pattern(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, domain: str
) -> None:
    account(org, Website="axb.example", OwnerId=ann)
    account(org, Website="https://axxb.example", OwnerId=ann)
    assert COMPANY not in linked(org, crm, lead(org, Email=f"kim@{domain}"))


def test_a_pattern_is_escaped(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    linked(org, crm, lead(org, Email="kim@a_b.example"))
    assert "Website LIKE '%a\\_b.example%'" in queries(org)[-1]


@pytest.mark.parametrize(
    "website",
    ["", "  ", "n/a", "none", "http://", "://", "https:///x", "a b.example", "x." * 200, 7],
)
def test_what_is_no_web_address_has_no_host(website: object) -> None:
    assert clues.host(website) is None


# What is hidden from us.


@pytest.mark.parametrize(
    ("object_type", "field", "left_over"),
    [
        ("Lead", "Email", {"Contact", "Account"}),
        ("Contact", "AccountId", {"Lead", "Account"}),
        ("Account", "Website", {"Lead"}),
    ],
)
def test_what_is_hidden_costs_only_itself_and_is_asked_again_after_an_hour(
    org: SalesforceSandbox,
    crm: SalesforceCrm,
    clock: Any,
    ann: str,
    object_type: str,
    field: str,
    left_over: set[str],
) -> None:
    lead(org, Email="kim@acme.example", OwnerId=ann)
    contact(org, Email="kim@acme.example", OwnerId=ann)
    account(org, Website="acme.example", OwnerId=ann)
    found = crm.read_records("Lead", [new := lead(org, Email="kim@acme.example")])
    org.records.fields[object_type].remove(field)

    def related() -> tuple[set[str], int]:
        org.forget_calls()
        links = crm.related("Lead", found)[new]
        return {one.object_type for one in links}, len(org.calls_to("/query"))

    assert related() == (left_over, 3)
    assert related() == (left_over, 2)
    org.records.fields[object_type].append(field)
    clock.go(3600)
    assert related() == ({"Lead", "Account"}, 3)


def test_a_connection_that_may_look_up_nothing_is_told_so(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    found = crm.read_records("Lead", [lead(org, Email="kim@acme.example")])
    for object_type in ("Lead", "Contact", "Account"):
        org.records.fields[object_type].remove("LastModifiedDate")
    for _ in range(2):
        with pytest.raises(CrmForbidden) as closed:
            crm.related("Lead", found)
        assert closed.value.code == "INVALID_FIELD"
    assert len(org.calls_to("/query")) == 1 + 3


def test_websites_that_take_too_long_to_search_are_left_alone_for_an_hour(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    known = contact(org, Email="kim@gmail.com", OwnerId=ann)
    fields = {"Email": "kim@gmail.com", "Website": "acme.example"}
    found = crm.read_records("Lead", [new := lead(org, **fields)])
    org.faults.add("/query", preset="query_timeout", after=2, times=2)
    assert [one.id for one in crm.related("Lead", found)[new]] == [known]
    org.forget_calls()
    assert [one.id for one in crm.related("Lead", found)[new]] == [known]
    assert not any("Website" in query for query in queries(org))


def test_a_look_up_that_fails_for_a_moment_is_tried_again_later(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    found = crm.read_records("Lead", [lead(org, Email="kim@acme.example")])
    org.faults.add("/query", preset="server_unavailable", times=None)
    with pytest.raises(CrmAgain):
        crm.related("Lead", found)
