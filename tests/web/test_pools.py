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
        "archived_at": None,
        "daily_quota": None,
        "period": "month",
        "time_zone": None,
        "skip": "lose",
        "accrue_max": 1,
        "return": "level",
        "none_available": "hold",
        "fallback_user_id": None,
        "fallback_pool_id": None,
        "sticky": "active",
        "sticky_steps": ["person", "company", "earlier_assignment"],
        "sticky_turn": "free",
        "manual": "move",
        "reject": "credit",
        "quota_window": "day",
        "leave_buffer_hours": 0,
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


def test_every_setting_of_a_pool_can_be_given_and_changed(api) -> None:
    other = api.pool("u9", name="Other")
    given = {
        "strategy": "weighted",
        "daily_quota": 50,
        "period": "week",
        "time_zone": "Europe/Berlin",
        "skip": "accrue",
        "accrue_max": 3,
        "return": "none",
        "none_available": "fallback",
        "fallback_user_id": "u9",
        "fallback_pool_id": other,
        "sticky": "available",
        "sticky_steps": ["company", "person"],
        "sticky_turn": "counted",
        "manual": "ignore",
        "reject": "no_credit",
        "quota_window": "rolling24h",
        "leave_buffer_hours": 4,
    }
    made = api.post("/round-robin/pools", {"name": "A", **given}).json
    assert made | given == made
    plain = api.pool("u1")
    changed = api.patch(f"/round-robin/pools/{plain}", given).json
    assert changed | given == changed
    assert api.get(f"/round-robin/pools/{plain}").json | given == changed | {
        "members": api.get(f"/round-robin/pools/{plain}").json["members"]
    }


def test_null_takes_a_limit_a_zone_and_a_fallback_away(api) -> None:
    api.put("/round-robin/users/u1", {})
    pool_id = api.pool("u1", daily_quota=5, time_zone="Europe/Berlin", fallback_user_id="u1")
    nothing = {"daily_quota": None, "time_zone": None, "fallback_user_id": None}
    assert api.patch(f"/round-robin/pools/{pool_id}", nothing).json.items() >= nothing.items()


def test_a_member_s_quota_is_set_and_taken_away(api) -> None:
    members = [{"user_id": "u1", "daily_quota": 0}, {"user_id": "u2", "daily_quota": 7}]
    pool_id = api.post("/round-robin/pools", {"name": "A", "members": members}).json["id"]
    updates = [{"user_id": "u1", "daily_quota": 3}, {"user_id": "u2", "daily_quota": None}]
    changed = api.patch(f"/round-robin/pools/{pool_id}", {"update_members": updates}).json
    assert [member["daily_quota"] for member in changed["members"]] == [3, None]
    changed = api.patch(
        f"/round-robin/pools/{pool_id}", {"update_members": [{"user_id": "u1", "weight": 2}]}
    ).json
    assert (changed["members"][0]["weight"], changed["members"][0]["daily_quota"]) == (2, 3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("strategy", "random"),
        ("daily_quota", -1),
        ("daily_quota", "5"),
        ("period", "year"),
        ("time_zone", "Mars/Base"),
        ("skip", None),
        ("accrue_max", 0),
        ("return", "flood"),
        ("sticky_steps", ["person", "person"]),
        ("sticky_steps", ["existing_owner"]),
        ("sticky_steps", None),
        ("leave_buffer_hours", 1.5),
        ("returning", "none"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(api, field, value) -> None:
    pool_id = api.pool("u1")
    for refused in (
        api.post("/round-robin/pools", {"name": "A", field: value}),
        api.patch(f"/round-robin/pools/{pool_id}", {field: value}),
    ):
        assert refused.status_code == 422
        assert refused.json["errors"][0]["pointer"].startswith(f"/{field}")


@pytest.mark.parametrize("field", ["fallback_user_id", "fallback_pool_id"])
def test_a_fallback_that_does_not_exist_is_refused(api, field) -> None:
    refused = api.post("/round-robin/pools", {"name": "A", field: "none"})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == f"/{field}"


def test_pools_that_fall_back_in_a_circle_are_refused(api) -> None:
    first = api.pool("u1", name="First")
    second = api.pool("u2", name="Second", none_available="fallback", fallback_pool_id=first)
    circle = {"none_available": "fallback", "fallback_pool_id": second}
    refused = api.patch(f"/round-robin/pools/{first}", circle)
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/fallback_pool_id"


def test_a_fallback_needs_somebody_to_fall_back_to(api) -> None:
    refused = api.post("/round-robin/pools", {"name": "A", "none_available": "fallback"})
    assert refused.status_code == 422


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


def test_a_pool_shows_shares_and_balances(api) -> None:
    pool_id = api.pool("u1", "u2", "u3", strategy="weighted")
    api.assign(pool_id, "L1")
    members = api.get(f"/round-robin/pools/{pool_id}").json["members"]
    assert [(m["fair_share"], m["received"], m["balance"]) for m in members] == [
        (0.333333, 1, -0.666667),
        (0.333333, 0, 0.333333),
        (0.333333, 0, 0.333333),
    ]


def test_a_pool_shows_until_when_a_member_is_away(api) -> None:
    pool_id = api.pool("u1", "u2")
    absence = {"starts_at": "2026-10-15T00:00:00Z", "ends_at": "2026-10-20T00:00:00Z"}
    api.post("/round-robin/users/u1/absences", {**absence, "reason": "vacation"})
    first, second = api.get(f"/round-robin/pools/{pool_id}").json["members"]
    assert first["unavailable"]["reason"] == "absent"
    assert "vacation" in first["unavailable"]["detail"]
    assert first["unavailable"]["until"] == "2026-10-20T00:00:00Z"
    assert (first["next_up"], second["next_up"]) == (None, 1)


def test_an_archived_pool_takes_no_leads_and_keeps_its_history(api) -> None:
    pool_id = api.pool("u1")
    api.assign(pool_id, "L1")
    gone = api.delete(f"/round-robin/pools/{pool_id}")
    assert (gone.status_code, gone.data) == (204, b"")
    assert api.get("/round-robin/pools").json == []
    refused = api.assign(pool_id, "L2")
    assert (refused.status_code, refused.json["code"]) == (409, "pool_archived")
    assert len(api.get(f"/round-robin/pools/{pool_id}/history").json) == 1
    shown = api.get(f"/round-robin/pools/{pool_id}").json
    assert shown["archived_at"] == "2026-10-15T12:00:00Z"
    refused = api.patch(f"/round-robin/pools/{pool_id}", {"name": "New"})
    assert (refused.status_code, refused.json["code"]) == (409, "pool_archived")


def test_the_leads_of_a_removed_member_can_go_to_the_others(api) -> None:
    pool_id = api.pool("A", "B", "C")
    for number in range(1, 8):
        api.assign(pool_id, f"L{number}")
    api.patch(f"/round-robin/pools/{pool_id}", {"remove_members": ["A"], "redistribute": True})
    rows = api.get(f"/round-robin/pools/{pool_id}/history?limit=3").json[::-1]
    assert [(row["lead_id"], row["assigned_user_id"]) for row in rows] == [
        ("L1", "B"),
        ("L4", "C"),
        ("L7", "B"),
    ]
    assert {row["actor"] for row in rows} == {"system"}
    assert all(row["note"].endswith("by LEADROTA_API_TOKEN") for row in rows)


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
        api.post("/round-robin/pools/none/assign/batch", {"leads": [{"lead_id": "L1"}]}),
        api.get("/round-robin/pools/none/preview"),
        api.get("/round-robin/pools/none/fairness"),
        api.delete("/round-robin/pools/none"),
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
