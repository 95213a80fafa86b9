"""Many leads at once, and a look ahead."""

import pytest

from connector.store.database import Database
from tests.web.conftest import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def batch(api, pool_id, leads, **options):
    return api.post(f"/round-robin/pools/{pool_id}/assign/batch", {"leads": leads}, **options)


def ids(*names):
    return [{"lead_id": name} for name in names]


def test_a_batch_answers_each_lead_like_a_single_call_in_order(api) -> None:
    pool_id, twin = api.pool("u1", "u2", "u3"), api.pool("u1", "u2", "u3")
    results = batch(api, pool_id, ids("L1", "L2", "L1", "L3", "L4")).json["results"]
    assert [row["lead_id"] for row in results] == ["L1", "L2", "L1", "L3", "L4"]
    assert [row["assigned_user_id"] for row in results] == ["u1", "u2", "u1", "u3", "u1"]
    assert results[0] == results[2]
    single = api.assign(twin, "T1").json
    own = {name: single[name] for name in ("lead_id", "assignment_id", "pool_id")}
    assert results[0] | own == single


def test_held_leads_of_a_batch_say_so(api) -> None:
    answer = batch(api, api.pool(), ids("L1", "L2"))
    assert answer.status_code == 200
    assert [row["status"] for row in answer.json["results"]] == ["held", "held"]


def test_refused_leads_of_a_batch_have_no_ids(api) -> None:
    pool_id = api.pool("u1", none_available="refuse")
    api.patch("/round-robin/users/u1", {"daily_quota": 1})
    taken, refused = batch(api, pool_id, ids("L1", "L2")).json["results"]
    assert taken["status"] == "assigned"
    assert refused | {"skipped": []} == {
        "lead_id": "L2",
        "assigned_user_id": None,
        "assigned_user_name": None,
        "assignment_id": None,
        "sequence": None,
        "assigned_at": None,
        "pool_id": pool_id,
        "territory": None,
        "status": "refused",
        "reason": "no_member_available",
        "sticky_step": None,
        "record": None,
        "skipped": [],
    }
    assert refused["skipped"][0]["reason"] == "quota_reached"
    assert len(api.get(f"/round-robin/pools/{pool_id}/history").json) == 1


@pytest.mark.parametrize(
    ("leads", "pointer"),
    [
        ([], "/leads"),
        (ids(*(f"L{n}" for n in range(1001))), "/leads"),
        ([*ids("L1", "L2", "L3"), {"lead_id": ""}], "/leads/3/lead_id"),
        ([*ids("L1"), {"lead_id": "L2", "email": 7}], "/leads/1/email"),
        ([*ids("L1"), {"lead_id": "L2", "preferred_user_id": "x"}], "/leads/1/preferred_user_id"),
        (
            [*ids("L1"), {"lead_id": "L2", "starts_at": "2026-10-16T09:00:00Z"}],
            "/leads/1/ends_at",
        ),
        (
            [{"lead_id": "L1", "record": {"connection": "x", "object_type": "a", "id": "1"}}],
            "/leads/0/record/connection",
        ),
        (
            [{"lead_id": "L1", "record": {"connection": "knock", "object_type": "a", "id": "x"}}],
            "/leads/0/record/id",
        ),
    ],
)
def test_one_bad_lead_refuses_the_whole_batch(api, leads, pointer) -> None:
    pool_id = api.pool("u1")
    refused = batch(api, pool_id, leads)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json["errors"]] == [pointer]
    assert api.get(f"/round-robin/pools/{pool_id}/history").json == []


def test_a_thousand_leads_are_one_batch(api) -> None:
    pool_id = api.pool("u1", "u2", "u3", "u4")
    results = batch(api, pool_id, ids(*(f"L{n}" for n in range(1000)))).json["results"]
    assert [row["assigned_user_id"] for row in results] == ["u1", "u2", "u3", "u4"] * 250
    assert [row["sequence"] for row in results] == list(range(1, 1001))


def test_a_batch_is_repeated_under_its_key(api) -> None:
    pool_id, key = api.pool("u1"), {"Idempotency-Key": "key"}
    first = batch(api, pool_id, ids("L1"), headers=key)
    again = batch(api, pool_id, ids("L1"), headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.data == first.data


def test_a_preview_shows_the_next_users_and_changes_nothing(api) -> None:
    pool_id = api.pool("u1", "u2")
    api.put("/round-robin/users/u1", {"name": "Alice"})
    path = f"/round-robin/pools/{pool_id}/preview?count=3"
    expected = [
        {"user_id": "u1", "name": "Alice"},
        {"user_id": "u2", "name": "u2"},
        {"user_id": "u1", "name": "Alice"},
    ]
    assert api.get(path).json == expected
    assert api.get(path).json == expected
    assert api.assign(pool_id, "L1").json["assigned_user_id"] == "u1"


def test_a_preview_is_ten_long_and_null_where_nobody_is(api) -> None:
    assert api.get(f"/round-robin/pools/{api.pool()}/preview").json == [None] * 10


@pytest.mark.parametrize("count", ["0", "1001", "x", "-1", "1.0", ""])
def test_a_preview_has_a_sensible_length(api, count) -> None:
    refused = api.get(f"/round-robin/pools/{api.pool()}/preview?count={count}")
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/count"
