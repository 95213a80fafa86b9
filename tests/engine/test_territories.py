"""Territories: the first that matches names the pool; the others say why they did not."""

import pytest

from connector.engine.territories import default_route, lead_fields, route, why_not
from connector.model import Reason, Territory
from tests.builders import contact, lead


def is_in(field, *values):
    return {"field": field, "op": "in", "value": list(values)}


DACH = Territory(name="DACH", when={"all": [is_in("country", "DE", "AT", "CH")]}, pool_id="p1")
REST = Territory(name="Rest", when={}, pool_id="p2")
NOWHERE = default_route(None, named=False)


def test_the_first_territory_that_matches_wins() -> None:
    found = route(lead(attributes={"country": "AT"}), [DACH, REST], NOWHERE)
    assert (found.pool_id, found.territory, found.passed) == ("p1", "DACH", ())


def test_an_earlier_territory_says_why_it_did_not_match() -> None:
    found = route(lead(attributes={"country": "US"}), [DACH, REST], NOWHERE)
    assert (found.territory, found.passed) == (
        "Rest",
        ("DACH: country is 'US', not in ['DE', 'AT', 'CH']",),
    )


def test_without_a_match_the_default_pool_takes_the_lead() -> None:
    found = route(lead(), [DACH], default_route("p9", named=True))
    assert (found.pool_id, found.territory, found.reason) == ("p9", None, None)


def test_without_a_default_pool_the_lead_has_no_pool_and_a_reason() -> None:
    found = route(lead(), [DACH], NOWHERE)
    assert (found.pool_id, found.reason) == (None, Reason.NO_TERRITORY_MATCH)
    assert found.passed == ("DACH: country is missing",)


def test_a_default_pool_that_does_not_exist_is_another_reason() -> None:
    assert route(lead(), [], default_route(None, named=True)).reason is Reason.NO_POOL


def test_field_names_compare_without_case_so_that_one_rule_serves_both_crms() -> None:
    assert route(lead(attributes={"Country": "de "}), [DACH], NOWHERE).territory == "DACH"


def test_email_company_and_where_the_record_lives_are_fields_too() -> None:
    fields = lead_fields(contact(email="a@b.example", company="Acme"))
    assert fields["email"] == "a@b.example"
    assert fields["company"] == "Acme"
    assert (fields["connection"], fields["object_type"]) == ("hubspot", "contacts")


def test_a_null_attribute_does_not_hide_what_is_known() -> None:
    assert lead_fields(lead(email="a@b.example", attributes={"Email": None}))["email"]


@pytest.mark.parametrize(
    ("found", "op", "value", "holds"),
    [
        ("DE", "eq", "de", True),
        ("DE", "ne", "AT", True),
        ("DE", "not_in", ["AT"], True),
        ("Acme GmbH", "contains", "gmbh", True),
        (["a", "b"], "contains", "B", True),
        ("Acme", "starts_with", "AC", True),
        ("acme.de", "ends_with", ".DE", True),
        ("500", "gt", 100, True),
        ("9", "lt", 10, True),
        (10, "gte", "10", True),
        (10, "lte", 9, False),
        ("many", "gt", 100, False),
        ("50", "gt", "100", False),
        ("1000", "gte", "999", True),
        ("7", "lt", "12", True),
        ("2026-10-01", "gt", "2026-09-30", True),
        ("many", "eq", 100, False),
        ("nan", "eq", 0, False),
        ("1_000", "eq", 1000, False),
        ("\u0665", "eq", 5, False),  # a digit, but not one of ours
        ("1e3", "eq", 1000, True),
        ("-2.50", "lt", -2, True),
        ("9007199254740993", "eq", 9007199254740992, False),
        ("b", "gt", "A", True),
        (True, "eq", "true", True),
        ("x", "exists", None, True),
        ("x", "missing", None, False),
    ],
)
def test_a_comparison(found, op, value, holds) -> None:
    condition = {"field": "f", "op": op, "value": value}
    assert (why_not(condition, {"f": found}) is None) is holds


@pytest.mark.parametrize("op", ["eq", "ne", "in", "not_in", "contains", "gt", "lte", "exists"])
def test_a_missing_field_makes_a_comparison_false_and_never_an_error(op) -> None:
    assert why_not({"field": "f", "op": op, "value": ["x"]}, {}) == "f is missing"


def test_missing_holds_for_a_missing_field() -> None:
    assert why_not({"field": "f", "op": "missing"}, {}) is None


def test_conditions_nest() -> None:
    when = {"all": [{"any": [is_in("a", "1"), is_in("b", "2")]}, {"not": is_in("c", "3")}]}
    assert why_not(when, {"b": "2", "c": "4"}) is None
    assert why_not(when, {"b": "2", "c": "3"}) == "the excluded condition holds"
    assert why_not(when, {"b": "1"}) == "a is missing and b is '1', not in ['2']"


def test_any_of_nothing_never_matches_and_all_of_nothing_always_does() -> None:
    assert why_not({"any": []}, {}) == "nothing to choose from"
    assert why_not({"all": []}, {}) is None


def test_a_territory_whose_pool_is_archived_is_passed_and_says_so():
    rules = [Territory(name="Old", when={}, pool_id="p1", is_closed=True)]
    found = route(lead(), rules, default_route("p9", named=True))
    assert (found.pool_id, found.passed) == ("p9", ("Old: its pool is archived",))
