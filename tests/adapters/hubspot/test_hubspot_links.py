"""Whom the person and the company of a record belong to."""

import pytest

from connector.errors import CrmAgain, CrmForbidden, CrmNever
from connector.model import Related, StickyStep
from tests.builders import seen


def link(one, *others):
    """An item of an associations answer; each other is an id or an id with its types."""
    to = [
        {"toObjectId": other[0], "associationTypes": list(map(kind, other[1:]))}
        if isinstance(other, tuple)
        else {"toObjectId": other, "associationTypes": [kind(279)]}
        for other in others
    ]
    return {"from": {"id": one}, "to": to}


def kind(number):
    if isinstance(number, str):  # an account's own type with the number of one of HubSpot's
        return {"category": "USER_DEFINED", "typeId": int(number), "label": "Boss"}
    return {"category": "HUBSPOT_DEFINED", "typeId": number, "label": None}


class Portal:
    """Answers associations and batch reads from what it is told."""

    def __init__(self, answers):
        self.answers = answers
        self.links = {}
        self.records = {}
        answers.answer("/associations/", self._associations)
        answers.answer("/batch/read", self._read)

    def link(self, of, to, *items):
        self.links[f"{of}/{to}"] = items

    def add(self, object_type, record_id, **properties):
        self.records[object_type, record_id] = properties

    def calls(self):
        return [path.removesuffix("/batch/read") for path in self.answers.paths("/batch/read")]

    def _associations(self, request):
        pair = "/".join(request.path.split("/")[4:6])
        asked = {item["id"] for item in request.body["inputs"]}
        items = [item for item in self.links.get(pair, ()) if item["from"]["id"] in asked]
        return 200, {"results": items}

    def _read(self, request):
        object_type = request.path.split("/")[4]
        results, errors = [], []
        for item in request.body["inputs"]:
            values = self.records.get((object_type, item["id"]))
            if values is None:
                context = {"ids": [item["id"]]}
                errors.append({"category": "OBJECT_NOT_FOUND", "context": context})
            else:
                shown = {name: values.get(name) for name in request.body["properties"]}
                results.append({"id": item["id"], "properties": shown})
        return (207 if errors else 200), {"results": results, "errors": errors}


@pytest.fixture
def portal(answers):
    answers.employ("5501", "5502")
    return Portal(answers)


def company(record_id, **more):
    return Related(step=StickyStep.COMPANY, object_type="companies", id=record_id, **more)


def contact(record_id, **more):
    return Related(step=StickyStep.PERSON, object_type="contacts", id=record_id, **more)


def test_a_contact_is_linked_to_its_primary_company(portal, crm):
    portal.link("contacts", "companies", link("1", (70, 279), (71, 279, 1), (72, 279)))
    portal.add("companies", "71", name="Ada Ltd", hubspot_owner_id="5501")

    assert crm.related("contacts", seen("1")) == {
        "1": [company("71", name="Ada Ltd", owner_id="5501", owner_stays=True)]
    }


def test_without_a_primary_company_the_first_counts(portal, crm):
    portal.link("contacts", "companies", link("1", (72, 279), (70, 279)))
    portal.add("companies", "72", domain="ada.test", hubspot_owner_id="7777")

    assert crm.related("contacts", seen("1")) == {
        "1": [company("72", name="ada.test", owner_id="7777", owner_stays=False)]
    }


def test_a_type_of_the_accounts_own_is_not_taken_for_primary(portal, crm):
    portal.link("contacts", "companies", link("1", (70, 279), (71, 279, "1")))
    portal.add("companies", "70")
    portal.add("companies", "71")

    assert crm.related("contacts", seen("1")) == {"1": [company("70")]}


def test_a_lead_has_its_primary_contact_and_that_ones_company(portal, crm):
    portal.link("leads", "contacts", link("1", (20, 700), (21, 608), (22, 608, 578)))
    portal.link("contacts", "companies", link("22", (71, 1)))
    portal.add(
        "contacts", "22", firstname="Ada", lastname="Example", email="a@x.test",
        hubspot_owner_id="5502",
    )  # fmt: skip
    portal.add("companies", "71", name="Ada Ltd")

    assert crm.related("leads", seen("1")) == {
        "1": [
            contact("22", name="Ada Example", email="a@x.test", owner_id="5502", owner_stays=True),
            company("71", name="Ada Ltd"),
        ]
    }


def test_a_lead_without_a_primary_contact_has_a_plain_one_before_any_other(portal, crm):
    portal.link("leads", "contacts", link("1", (20, 700), (21, 608)))
    portal.add("contacts", "21", email="a@x.test")

    assert crm.related("leads", seen("1")) == {
        "1": [contact("21", name="a@x.test", email="a@x.test")]
    }


@pytest.mark.parametrize("object_type", ["deals", "tickets", "tasks", "meetings", "2-31337"])
def test_other_records_have_a_contact_and_its_company(portal, crm, object_type):
    portal.link(object_type, "contacts", link("1", (20, 3)))
    portal.link("contacts", "companies", link("20", (71, 1)))
    portal.add("contacts", "20", lastname="Example")
    portal.add("companies", "71")

    assert crm.related(object_type, seen("1")) == {
        "1": [contact("20", name="Example"), company("71")]
    }


@pytest.mark.parametrize(("object_type", "primary"), [("deals", 5), ("tickets", 26)])
def test_a_deal_or_ticket_without_a_contact_has_a_company_of_its_own(
    portal, crm, object_type, primary
):
    portal.link(object_type, "contacts", link("1", 20))
    portal.link(object_type, "companies", link("1", 70), link("2", 70, (71, primary)))
    portal.add("contacts", "20")
    portal.add("companies", "70")
    portal.add("companies", "71")

    assert crm.related(object_type, seen("1", "2")) == {"1": [contact("20")], "2": [company("71")]}


def test_companies_are_linked_to_nobody(portal, crm):
    assert crm.related("companies", seen("1")) == {}
    assert crm.related("contacts", {}) == {}
    assert portal.answers.requests == []


def test_each_step_is_one_call_for_a_hundred_records(portal, crm):
    leads = [str(n) for n in range(100)]
    portal.link("leads", "contacts", *(link(one, 1000 + int(one)) for one in leads))
    portal.link("contacts", "companies", *(link(str(1000 + int(one)), 70) for one in leads))
    for one in leads:
        portal.add("contacts", str(1000 + int(one)))
    portal.add("companies", "70", hubspot_owner_id="5501")

    found = crm.related("leads", seen(*leads))

    assert len(found) == 100
    assert sorted(portal.calls()) == [
        "/crm/v3/objects/companies",
        "/crm/v3/objects/contacts",
        "/crm/v4/associations/contacts/companies",
        "/crm/v4/associations/leads/contacts",
    ]
    (asked,) = [r for r in portal.answers.requests if "objects/companies" in r.path]
    assert asked.body["inputs"] == [{"id": "70"}]


def test_ids_of_64_bits_are_numbers_on_the_wire_and_texts_for_us(portal, crm):
    big = 9_007_199_254_740_993  # the first that a float cannot hold
    portal.link("contacts", "companies", link("874716779721", (big, 1)))
    portal.add("companies", str(big))

    assert crm.related("contacts", seen("874716779721")) == {"874716779721": [company(str(big))]}


def test_a_record_that_is_gone_is_no_link(portal, crm):
    portal.link("contacts", "companies", link("1", 70), link("2", 71))
    portal.add("companies", "71")

    assert crm.related("contacts", seen("1", "2", "3")) == {"2": [company("71")]}


def test_a_company_that_was_merged_is_its_survivor(answers, crm):
    answers.employ("5501")
    answers.say(200, {"results": [link("1", 70)]})
    survivor = {"id": "75", "properties": {"hubspot_owner_id": "5501"}}
    answers.say(200, {"results": [survivor]})

    assert crm.related("contacts", seen("1")) == {
        "1": [company("75", owner_id="5501", owner_stays=True)]
    }


@pytest.mark.parametrize("status", [200, 207])
def test_an_item_that_was_refused_is_linked_to_none(answers, crm, status):
    error = {
        "category": "OBJECT_NOT_FOUND",
        "subCategory": "crm.associations.NO_ASSOCIATIONS_FOUND",
        "message": "No company is associated",
        "context": {"fromObjectId": ["2"]},
    }
    answers.say(status, {"results": [link("1", 70)], "errors": [error], "numErrors": 1})
    answers.say(200, {"results": [{"id": "70", "properties": {}}]})

    assert crm.related("contacts", seen("1", "2")) == {"1": [company("70")]}


@pytest.mark.parametrize("category", ["RATE_LIMITS", "INTERNAL_ERROR"])
def test_an_item_that_failed_for_a_moment_is_asked_again(answers, crm, category):
    answers.say(207, {"results": [], "errors": [{"category": category, "message": "busy"}]})

    with pytest.raises(CrmAgain, match="busy"):
        crm.related("contacts", seen("1"))


@pytest.mark.parametrize(
    "item",
    [
        {},
        5,
        {"from": 5, "to": []},
        {"from": {"id": "1"}},
        {"from": {"id": "1"}, "to": 5},
        {"from": {"id": "1"}, "to": [5, {}]},
        {"from": {"id": "1"}, "to": [{"toObjectId": True}, {"toObjectId": 1.5}]},
        {"from": {"id": "1"}, "to": []},
        {"from": {"id": "99"}, "to": [{"toObjectId": 70}]},
        {"from": {"id": None}, "to": [{"toObjectId": 70}]},
    ],
    ids=repr,
)
def test_an_item_of_any_shape_is_linked_to_none(answers, crm, item):
    answers.say(200, {"results": [item]})

    assert crm.related("contacts", seen("1")) == {}
    assert len(answers.requests) == 1


@pytest.mark.parametrize("types", [5, None, [5], [{}], [{"category": 5, "typeId": []}]], ids=repr)
def test_types_of_any_shape_are_no_primary(answers, crm, types):
    to = [{"toObjectId": 70}, {"toObjectId": 71, "associationTypes": types}]
    answers.say(200, {"results": [{"from": {"id": 1}, "to": to}]})
    answers.say(200, {"results": [{"id": "70", "properties": {}}]})

    assert crm.related("contacts", seen("1")) == {"1": [company("70")]}


def test_an_own_type_that_has_no_contacts_is_asked_once_an_hour(answers, crm, clock):
    refusal = {"category": "VALIDATION_ERROR", "message": "no association definition"}
    answers.say(400, refusal)
    assert crm.related("2-31337", seen("1")) == {}
    assert crm.related("2-31337", seen("2")) == {}
    assert len(answers.requests) == 1

    clock.now += 3600
    answers.say(200, {"results": [link("2", 20)]})
    answers.say(200, {"results": [{"id": "20", "properties": {}}]})
    answers.say(200, {"results": []})
    assert crm.related("2-31337", seen("2")) == {"2": [contact("20")]}


def test_a_refusal_for_a_type_that_has_contacts_is_told(answers, crm):
    answers.say(400, {"category": "VALIDATION_ERROR", "message": "no number"})
    with pytest.raises(CrmNever, match="no number"):
        crm.related("leads", seen("x"))

    answers.say(200, {"results": []})
    assert crm.related("leads", seen("1")) == {}


def test_companies_that_are_closed_to_us_are_told(portal, crm):
    portal.link("contacts", "companies", link("1", 70))
    scopes = {"requiredGranularScopes": ["crm.objects.companies.read"]}
    refusal = {"category": "MISSING_SCOPES", "message": "no", "context": scopes}
    portal.answers._replies.insert(0, ("objects/companies", lambda _: (403, refusal)))

    with pytest.raises(CrmForbidden, match=r"crm\.objects\.companies\.read"):
        crm.related("contacts", seen("1"))


def test_companies_that_are_closed_to_us_do_not_cost_the_person(portal, crm):
    portal.link("leads", "contacts", link("1", 20))
    portal.add("contacts", "20")
    portal.link("contacts", "companies", link("20", 70))
    refusal = {"category": "MISSING_SCOPES", "message": "no"}
    portal.answers._replies.insert(0, ("objects/companies", lambda _: (403, refusal)))

    assert crm.related("leads", seen("1")) == {"1": [contact("20")]}


def test_associations_that_are_closed_to_us_are_told(answers, crm):
    error = {"category": "MISSING_SCOPES", "message": "no"}
    answers.say(207, {"results": [], "errors": [error]})

    with pytest.raises(CrmForbidden):
        crm.related("contacts", seen("1"))
