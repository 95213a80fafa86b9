"""Checks of the sandbox HubSpot's rules about searches."""

from __future__ import annotations

from hubspot_caller import code
from hubspot_rows import OWNER, contact, keeps


def where(*filters):
    """A group of filters, each a property, an operator and its value."""
    names = {"IN": "values", "NOT_IN": "values"}
    return {
        "filters": [
            {"propertyName": name, "operator": operator, names.get(operator, "value"): value}
            for name, operator, value in filters
        ]
    }


def found(answer):
    return [one["id"] for one in answer.json()["results"]]


@keeps("search_length", "§5 search: 3,000 characters")
def a_search_has_three_thousand_characters(portal, call, clock):
    assert call.search([where(("email", "EQ", "x" * 2700))]).status_code == 200
    assert code(call.search([where(("email", "EQ", "x" * 3000))])) == (400, "VALIDATION_ERROR")


@keeps("search_filters", "§5 search: 5 groups of 6 filters, 18 in all")
def a_search_has_eighteen_filters(portal, call, clock):
    one = ("email", "EQ", "a")
    assert call.search([where(*[one] * 6)] * 3).status_code == 200
    assert call.search([where(one)] * 5).status_code == 200
    assert call.search([where(*[one] * 7)]).status_code == 400
    assert call.search([where(one)] * 6).status_code == 400
    assert call.search([where(*[one] * 5)] * 4).status_code == 400


@keeps("search_page", "§5 search: at most 200")
def a_search_page_has_two_hundred(portal, call, clock):
    ids = [contact(portal) for _ in range(201)]
    assert len(found(call.search([], limit=200))) == 200
    assert code(call.search([], limit=len(ids))) == (400, "VALIDATION_ERROR")


@keeps("search_end", "§5 search: 10,000 results, §10 #12")
def a_search_ends_at_ten_thousand(portal, call, clock):
    assert call.search([], limit=200, after="9800").status_code == 200
    assert code(call.search([], limit=200, after="10000")) == (400, "VALIDATION_ERROR")


@keeps("search_property", "INF")
def a_filter_by_an_unknown_property_is_refused(portal, call, clock):
    assert code(call.search([where(("nonsense", "EQ", "1"))])) == (400, "VALIDATION_ERROR")


@keeps("search_lower_case", "§5 operators: IN wants lower case")
def lists_of_values_are_in_lower_case(portal, call, clock):
    lead = contact(portal, country="DE")
    assert found(call.search([where(("country", "IN", ["de"]))])) == [lead]
    assert found(call.search([where(("country", "IN", ["DE"]))])) == []


@keeps("search_bin", "§5 search: archived never appear")
def a_search_does_not_find_what_is_deleted(portal, call, clock):
    lead, gone = contact(portal), contact(portal)
    portal.delete("contacts", gone)
    assert found(call.search([])) == [lead]


@keeps("search_lag", "§5 search: eventually consistent, §10 #11")
def a_search_misses_what_changed_just_now(portal, call, clock):
    portal.index_lag = 30
    old = contact(portal)
    clock.move(seconds=30)
    fresh = contact(portal)
    assert found(call.search([])) == [old]
    assert call.record(fresh).status_code == 200
    portal.edit("contacts", old, {"firstname": "Ada"})
    assert found(call.search([])) == []
    clock.move(seconds=30)
    assert found(call.search([])) == [old, fresh]


@keeps("search_pace", "§4: 5 a second, no headers, §10 #20")
def five_searches_a_second(portal, call, clock):
    portal.ten_secondly_limit = 1
    for _ in range(5):
        answer = call.search([])
        assert answer.status_code == 200
    answer = call.search([])
    assert code(answer) == (429, "SECONDLY")
    assert answer.json()["message"] == "You have reached your secondly limit."
    assert not [name for name in answer.headers if name.startswith(("X-HubSpot", "Retry"))]
    clock.move(seconds=1)
    assert call.search([where((OWNER, "EQ", "1"))]).status_code == 200
