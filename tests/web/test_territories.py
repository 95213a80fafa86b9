"""Territories over HTTP."""

import pytest

DACH = {"all": [{"field": "country", "op": "in", "value": ["DE", "AT", "CH"]}]}


def test_the_list_is_replaced_as_a_whole(api) -> None:
    pool_id = api.pool("u1")
    rules = [
        {"name": "DACH", "when": DACH, "pool_id": pool_id},
        {"name": "Rest", "when": {}, "pool_id": pool_id},
    ]
    put = api.put("/round-robin/territories", rules)
    assert (put.status_code, put.json) == (200, rules)
    assert api.get("/round-robin/territories").json == rules
    api.put("/round-robin/territories", [])
    assert api.get("/round-robin/territories").json == []


def test_conditions_nest(api) -> None:
    when = {
        "any": [
            {"not": {"field": "country", "op": "exists"}},
            {"all": [{"field": "size", "op": "gte", "value": 100.5}, DACH]},
        ]
    }
    rules = [{"name": "A", "when": when, "pool_id": api.pool("u1")}]
    assert api.put("/round-robin/territories", rules).json == rules


def test_an_unknown_pool_changes_nothing(api) -> None:
    rules = [{"name": "A", "when": {}, "pool_id": api.pool("u1")}]
    api.put("/round-robin/territories", rules)
    refused = api.put("/round-robin/territories", [{"name": "B", "when": {}, "pool_id": "none"}])
    assert (refused.status_code, refused.json["code"]) == (404, "pool_not_found")
    assert "Give the pool's id; GET /round-robin/pools lists them." in refused.json["detail"]
    assert api.get("/round-robin/territories").json == rules


def test_an_archived_pool_takes_no_territory(api) -> None:
    pool_id = api.pool("u1")
    api.delete(f"/round-robin/pools/{pool_id}")
    refused = api.put("/round-robin/territories", [{"name": "A", "when": {}, "pool_id": pool_id}])
    assert (refused.status_code, refused.json["code"]) == (409, "pool_archived")
    assert api.get("/round-robin/territories").json == []


def test_two_territories_of_one_name_are_refused(api) -> None:
    rule = {"name": "A", "when": {}, "pool_id": api.pool("u1")}
    refused = api.put("/round-robin/territories", [rule, rule])
    assert refused.status_code == 422
    assert "twice" in refused.json["detail"]


@pytest.mark.parametrize(
    ("when", "pointer"),
    [
        ({"field": "a", "op": "like", "value": "x"}, "/0/when/op"),
        ({"field": "a", "op": "in", "value": "DE"}, "/0/when/value"),
        ({"field": "a", "op": "eq", "value": ["DE"]}, "/0/when/value"),
        ({"field": "a", "op": "eq"}, "/0/when/value"),
        ({"field": "a", "op": "exists", "value": 1}, "/0/when/value"),
        ({"all": [], "any": []}, "/0/when/any"),
        ({"all": [{"not": {"field": "a"}}]}, "/0/when/all/0/not/op"),
        ([], "/0/when"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused_where_it_stands(api, when, pointer) -> None:
    refused = api.put("/round-robin/territories", [{"name": "A", "when": when, "pool_id": "p"}])
    assert refused.status_code == 422
    assert pointer in [error["pointer"] for error in refused.json["errors"]]


@pytest.mark.parametrize("value", ["DE", ["DE"], None, {}])
def test_a_wrong_op_is_one_complaint_that_lists_all_ops(api, value) -> None:
    when = {"field": "country", "op": "is", "value": value}
    refused = api.put("/round-robin/territories", [{"name": "A", "when": when, "pool_id": "p"}])
    ops = "eq ne in not_in contains starts_with ends_with gt gte lt lte exists missing"
    assert refused.json["errors"] == [
        {"pointer": "/0/when/op", "detail": f"must be one of: {ops.replace(' ', ', ')}"}
    ]


def test_a_value_of_the_wrong_form_is_one_complaint(api) -> None:
    when = {"field": "country", "op": "eq", "value": ["DE"]}
    refused = api.put("/round-robin/territories", [{"name": "A", "when": when, "pool_id": "p"}])
    detail = "must be text, a number, true or false; a list goes with in and not_in"
    assert refused.json["errors"] == [{"pointer": "/0/when/value", "detail": detail}]


@pytest.mark.parametrize("op", ["exists", "missing"])
def test_a_value_for_an_op_that_takes_none_is_told_so(api, op) -> None:
    when = {"all": [{"field": "country", "op": op, "value": "DE"}]}
    refused = api.put("/round-robin/territories", [{"name": "A", "when": when, "pool_id": "p"}])
    assert refused.json["errors"] == [
        {"pointer": "/0/when/all/0/value", "detail": f"{op} takes no value"}
    ]


def test_nesting_has_an_end(api) -> None:
    when = {}
    for _ in range(100):
        when = {"not": when}
    refused = api.put("/round-robin/territories", [{"name": "A", "when": when, "pool_id": "p"}])
    assert refused.status_code == 422
    assert "deep" in refused.json["detail"]


def test_a_trial_says_what_matched_and_why_the_earlier_did_not(api) -> None:
    pool_id = api.pool("u1")
    api.put(
        "/round-robin/territories",
        [
            {"name": "DACH", "when": DACH, "pool_id": pool_id},
            {"name": "Rest", "when": {}, "pool_id": pool_id},
        ],
    )
    tried = api.post("/round-robin/territories/test", {"attributes": {"country": "FR"}}).json
    assert (tried["territory"], tried["pool_id"]) == ("Rest", pool_id)
    assert len(tried["passed"]) == 1
    assert "country" in tried["passed"][0]
    assert tried["passed"][0].startswith("DACH")


def test_a_trial_without_a_match_says_so(api) -> None:
    tried = api.post("/round-robin/territories/test", {"attributes": {}}).json
    assert tried == {
        "territory": None,
        "pool_id": None,
        "reason": "no_territory_match",
        "passed": [],
    }
