"""What searches of the sandbox HubSpot find, in which order, and what they refuse."""

from __future__ import annotations

import pytest
from hubspot_caller import START, code, serving
from hubspot_rows import OWNER, contact
from hubspot_rows_search import found, where

NOW = int(START.timestamp() * 1000)


@pytest.fixture
def three():
    """Three contacts: German with 9 employees, French with 10 and an owner, and one unknown."""
    with serving() as (portal, call, clock):
        owner = portal.add_owner("ann@example.test")
        de = contact(portal, country="DE", numberofemployees="9", company="Blue Sky Ltd")
        fr = contact(portal, country="FR", numberofemployees="10", **{OWNER: owner})
        clock.move(minutes=1)
        none = contact(portal)
        yield call, {"de": de, "fr": fr, "none": none}


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (("country", "EQ", "de"), "de"),
        (("country", "NEQ", "DE"), "fr"),
        (("numberofemployees", "LT", "10"), "de"),
        (("numberofemployees", "LTE", "10"), "de fr"),
        (("numberofemployees", "GT", "9"), "fr"),
        (("numberofemployees", "GTE", "9"), "de fr"),
        (("country", "IN", ["de", "it"]), "de"),
        (("country", "NOT_IN", ["de", "it"]), "fr"),
        ((OWNER, "HAS_PROPERTY", None), "fr"),
        ((OWNER, "NOT_HAS_PROPERTY", None), "de none"),
        (("company", "CONTAINS_TOKEN", "sky"), "de"),
        (("company", "CONTAINS_TOKEN", "bl*"), "de"),
        (("company", "CONTAINS_TOKEN", "bl"), ""),
        (("company", "NOT_CONTAINS_TOKEN", "red"), "de"),
        (("createdate", "GT", str(NOW)), "none"),
        (("createdate", "LTE", str(NOW)), "de fr"),
    ],
)
def test_each_operator_finds_its_records(three, one, names):
    call, ids = three
    assert found(call.search([where(one)])) == [ids[name] for name in names.split()]


def test_between_includes_both_ends(three):
    call, ids = three
    one = {
        "propertyName": "numberofemployees",
        "operator": "BETWEEN",
        "value": "9",
        "highValue": "10",
    }
    assert found(call.search([{"filters": [one]}])) == [ids["de"], ids["fr"]]
    assert found(call.search([{"filters": [{**one, "highValue": "9.5"}]}])) == [ids["de"]]


def test_filters_are_joined_by_and_groups_by_or(three):
    call, ids = three
    both = where(("country", "EQ", "DE"), ("numberofemployees", "EQ", "10"))
    assert found(call.search([both])) == []
    assert found(call.search([both, where((OWNER, "HAS_PROPERTY", None))])) == [ids["fr"]]


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ({"propertyName": "hs_object_id", "direction": "ASCENDING"}, "de fr none"),
        ({"propertyName": "hs_object_id", "direction": "DESCENDING"}, "none fr de"),
        ("-numberofemployees", "fr de none"),
        ("country", "none de fr"),
    ],
)
def test_one_sort_is_taken(three, sort, names):
    call, ids = three
    assert found(call.search([], sorts=[sort])) == [ids[name] for name in names.split()]
    assert call.search([], sorts=[sort, sort]).status_code == 400


def test_the_next_page_starts_where_the_last_ended(three):
    call, ids = three
    first = call.search([], limit=2)
    assert (found(first), first.json()["total"]) == ([ids["de"], ids["fr"]], 3)
    then = first.json()["paging"]["next"]["after"]
    last = call.search([], limit=2, after=then)
    assert found(last) == [ids["none"]]
    assert "paging" not in last.json()


@pytest.mark.parametrize("version", ["v3", "2026-03", "2026-09"])
def test_a_search_shows_the_properties_that_it_names(three, version):
    call, ids = three
    group = where(("hs_object_id", "GT", ids["fr"]))
    (one,) = call.search([group], version=version, properties=[OWNER]).json()["results"]
    assert (one["id"], one["properties"][OWNER]) == (ids["none"], None)


@pytest.mark.parametrize("name", ["after", "limit", "sorts", "properties", "filterGroups"])
def test_a_search_wants_every_field(three, name):
    call, _ = three
    body = {"filterGroups": [], "sorts": [], "properties": [], "limit": 10, "after": "0"}
    del body[name]
    answer = call.post("/crm/v3/objects/contacts/search", body)
    assert code(answer) == (400, "VALIDATION_ERROR")
    assert f"[{name}]" in answer.json()["message"]


def test_a_search_without_that_rule_gives_ten_from_the_start():
    with serving(without={"required_fields"}) as (portal, call, _):
        ids = [contact(portal) for _ in range(11)]
        answer = call.post("/crm/v3/objects/contacts/search", {})
        assert found(answer) == ids[:10]


@pytest.mark.parametrize(
    "changes",
    [
        {"limit": 0},
        {"limit": "ten"},
        {"after": "x"},
        {"filterGroups": [where(("email", "LIKE", "a"))]},
        {"filterGroups": [{"filters": [{"propertyName": "email", "operator": "EQ"}]}]},
    ],
)
def test_a_malformed_search_is_refused(three, changes):
    call, _ = three
    groups = changes.pop("filterGroups", [])
    assert code(call.search(groups, **changes)) == (400, "VALIDATION_ERROR")


def test_a_search_needs_the_scope_of_its_type():
    with serving() as (portal, call, _):
        portal.missing_scopes = ["crm.objects.contacts.read"]
        assert call.search([]).status_code == 403
        assert call.search([], kind="companies").status_code == 200
