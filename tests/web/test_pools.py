"""Pools over HTTP, as the contract has them."""

import pytest

from connector.store.database import Database
from tests.web.conftest import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def test_a_new_pool_is_answered_as_the_contract_has_it(api) -> None:
    members = [{"user_id": "u1", "name": "Alice"}, {"user_id": "u2", "weight": 3}]
    made = api.post("/round-robin/pools", {"name": "SDR Team A", "members": members})
    assert made.status_code == 201
    assert made.headers["Location"] == f"/round-robin/pools/{made.json['id']}"
    assert made.json == {
        "id": made.json["id"],
        "name": "SDR Team A",
        "strategy": "strict",
        "created_at": "2026-10-15T12:00:00Z",
        "members": [
            {
                "user_id": "u1",
                "name": "Alice",
                "position": 1,
                "weight": 1,
                "active": True,
                "daily_quota": None,
            },
            {
                "user_id": "u2",
                "name": "u2",
                "position": 2,
                "weight": 3,
                "active": True,
                "daily_quota": None,
            },
        ],
    }


def test_a_user_who_is_not_known_yet_is_made(api) -> None:
    api.post(
        "/round-robin/pools",
        {"name": "A", "members": [{"user_id": "u1", "name": "Alice", "email": "a@example.com"}]},
    )
    user = api.get("/round-robin/users/u1").json
    assert (user["name"], user["email"]) == ("Alice", "a@example.com")


def test_the_same_user_twice_is_a_conflict_and_makes_no_pool(api) -> None:
    members = [{"user_id": "u1"}, {"user_id": "u1"}]
    refused = api.post("/round-robin/pools", {"name": "A", "members": members})
    assert (refused.status_code, refused.json["code"]) == (409, "member_exists")
    assert api.get("/round-robin/pools").json == []


def test_a_pool_may_start_without_members(api) -> None:
    assert api.post("/round-robin/pools", {"name": "Empty"}).json["members"] == []


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("strategy", "weighted", "/strategy"),
        ("daily_quota", 5, "/daily_quota"),
        ("period", "day", "/period"),
        ("time_zone", "Europe/Berlin", "/time_zone"),
        ("skip", "hold", "/skip"),
        ("sticky", "off", "/sticky"),
        ("members", [{"user_id": "u1", "daily_quota": 3}], "/members/0/daily_quota"),
    ],
)
def test_what_comes_later_is_refused_by_name(api, field, value, pointer) -> None:
    refused = api.post("/round-robin/pools", {"name": "A", field: value})
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json["errors"]] == [pointer]
    assert "yet" in refused.json["detail"]


def test_a_quota_of_null_means_no_quota(api) -> None:
    body = {"name": "A", "daily_quota": None, "members": [{"user_id": "u", "daily_quota": None}]}
    assert api.post("/round-robin/pools", body).status_code == 201


def test_a_whole_float_counts_as_an_integer(api) -> None:
    body = {"name": "A", "members": [{"user_id": "u1", "weight": 2.0}]}
    assert api.post("/round-robin/pools", body).json["members"][0]["weight"] == 2


@pytest.mark.parametrize("weight", [-1, 1001, True, "1", 1.5, None])
def test_a_weight_is_a_number_from_0_to_1000(api, weight) -> None:
    body = {"name": "A", "members": [{"user_id": "u1", "weight": weight}]}
    refused = api.post("/round-robin/pools", body)
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/members/0/weight"


def test_the_list_is_paged_by_a_link(api, world) -> None:
    names = ["A", "B", "C"]
    for name in names:
        api.pool("u1", name=name)
        world.later(seconds=1)
    first = api.get("/round-robin/pools?limit=2")
    link = first.headers["Link"]
    assert link.endswith('; rel="next"')
    second = api.get(link[1 : link.index(">")])
    assert [pool["name"] for pool in first.json + second.json] == names
    assert "Link" not in second.headers


def test_a_made_up_cursor_is_refused(api) -> None:
    assert api.get("/round-robin/pools?cursor=nonsense").status_code == 422


def test_a_pool_shows_counts_and_who_is_next(api) -> None:
    pool_id = api.pool("u1", "u2", "u3")
    api.assign(pool_id, "L1")
    members = api.get(f"/round-robin/pools/{pool_id}").json["members"]
    assert [(m["user_id"], m["count"], m["next_up"]) for m in members] == [
        ("u1", 1, 3),
        ("u2", 0, 1),
        ("u3", 0, 2),
    ]
    assert [m["unavailable"] for m in members] == [None, None, None]


def test_a_pool_shows_why_a_member_cannot_take_a_lead(api) -> None:
    pool_id = api.pool("u1", "u2")
    api.patch("/round-robin/users/u1", {"active": False})
    first, second = api.get(f"/round-robin/pools/{pool_id}").json["members"]
    assert first["next_up"] is None
    assert first["unavailable"] == {
        "reason": "inactive",
        "detail": "the user is inactive",
        "until": None,
    }
    assert second["next_up"] == 1


def test_an_unknown_pool_is_not_found(api) -> None:
    for answer in (
        api.get("/round-robin/pools/none"),
        api.patch("/round-robin/pools/none", {"name": "A"}),
        api.get("/round-robin/pools/none/history"),
        api.assign("none", "L1"),
    ):
        assert (answer.status_code, answer.json["code"]) == (404, "pool_not_found")


def test_members_are_added_and_removed_in_one_patch(api) -> None:
    pool_id = api.pool("u1", "u2", "u3")
    changed = api.patch(
        f"/round-robin/pools/{pool_id}",
        {"add_members": ["u4", {"user_id": "u5", "weight": 2}], "remove_members": ["u2"]},
    )
    assert changed.status_code == 200
    assert [(m["user_id"], m["weight"]) for m in changed.json["members"]] == [
        ("u1", 1),
        ("u3", 1),
        ("u4", 1),
        ("u5", 2),
    ]


def test_a_removed_member_does_not_move_the_place_of_the_rotation(api) -> None:
    pool_id = api.pool("A", "B", "C", "D")
    taken = [api.assign(pool_id, lead).json["assigned_user_id"] for lead in ("L1", "L2")]
    api.patch(f"/round-robin/pools/{pool_id}", {"remove_members": ["B"]})
    taken += [api.assign(pool_id, lead).json["assigned_user_id"] for lead in ("L3", "L4", "L5")]
    assert taken == ["A", "B", "C", "D", "A"]


def test_members_name_and_order_change(api) -> None:
    pool_id = api.pool("u1", "u2")
    changed = api.patch(
        f"/round-robin/pools/{pool_id}",
        {
            "name": "New",
            "order": ["u2", "u1"],
            "update_members": [{"user_id": "u1", "weight": 3, "active": False}],
        },
    ).json
    assert changed["name"] == "New"
    assert [(m["user_id"], m["weight"], m["active"]) for m in changed["members"]] == [
        ("u2", 1, True),
        ("u1", 3, False),
    ]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"remove_members": ["u9"]}, 404, "member_not_found"),
        ({"update_members": [{"user_id": "u9", "weight": 2}]}, 404, "member_not_found"),
        ({"add_members": ["u1"]}, 409, "member_exists"),
        ({"order": ["u1"]}, 422, "order_incomplete"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(api, change, status, code) -> None:
    pool_id = api.pool("u1", "u2")
    refused = api.patch(f"/round-robin/pools/{pool_id}", {"name": "New", **change})
    assert (refused.status_code, refused.json["code"]) == (status, code)
    assert api.get(f"/round-robin/pools/{pool_id}").json["name"] == "SDR"


def test_null_is_no_name(api) -> None:
    pool_id = api.pool("u1")
    assert api.patch(f"/round-robin/pools/{pool_id}", {"name": None}).status_code == 422
