"""What a person does with an assignment, over HTTP."""

import pytest

from connector.store.database import Database
from tests.web.conftest import World

ABSENCE = {"starts_at": "2026-10-15T00:00:00Z", "ends_at": "2026-10-20T00:00:00Z"}


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


@pytest.fixture
def made(api) -> dict:
    """L1, which is with u1 of u1, u2, u3."""
    return api.assign(api.pool("u1", "u2", "u3"), "L1").json


def act(api, made, what, json=None, **options):
    return api.post(f"/round-robin/assignments/{made['assignment_id']}/{what}", json, **options)


def test_a_lead_is_reassigned_to_a_user(api, made) -> None:
    moved = act(api, made, "reassign", {"user_id": "u3", "note": "speaks French"})
    assert moved.status_code == 200
    assert moved.json.keys() == made.keys()
    assert (moved.json["assigned_user_id"], moved.json["status"]) == ("u3", "reassigned")
    assert moved.json["reason"] == "manual"
    assert moved.json["sequence"] == made["sequence"] + 1
    row = api.get(f"/round-robin/pools/{made['pool_id']}/history?limit=1").json[0]
    assert row["note"] == "speaks French"
    assert row["actor"]


@pytest.mark.parametrize("what", ["reassign", "reject", "undo"])
@pytest.mark.parametrize(
    "body",
    [
        {"json": {}},
        {"data": b""},
        {"data": b"", "content_type": "application/json"},
        {"data": b"", "content_type": "application/x-www-form-urlencoded"},
    ],
)
def test_the_body_may_be_left_out(api, made, what, body) -> None:
    done = act(api, made, what, **body)
    assert done.status_code == 200
    assert done.json["assigned_user_id"] == (None if what == "undo" else "u2")


@pytest.mark.parametrize("what", ["reassign", "reject", "undo"])
def test_null_is_no_body(api, made, what) -> None:
    refused = act(api, made, what, data=b"null", content_type="application/json")
    assert refused.status_code == 422


def test_an_undone_lead_is_with_nobody(api, made) -> None:
    undone = act(api, made, "undo", {"note": "a test lead"}).json
    assert (undone["assigned_user_id"], undone["status"]) == (None, "undone")


def test_a_rejected_lead_goes_to_the_next(api, made) -> None:
    rejected = act(api, made, "reject").json
    assert (rejected["assigned_user_id"], rejected["status"]) == ("u2", "rejected")


def test_what_is_no_longer_current_cannot_be_changed(api, made) -> None:
    act(api, made, "reassign", {"user_id": "u3"})
    for what in ("reassign", "reject", "undo"):
        refused = act(api, made, what)
        assert (refused.status_code, refused.json["code"]) == (409, "superseded")


def test_an_unknown_user_or_assignment_is_not_found(api, made) -> None:
    missing = act(api, made, "reassign", {"user_id": "u9"})
    assert (missing.status_code, missing.json["code"]) == (404, "user_not_found")
    for what in ("reassign", "reject", "undo"):
        missing = act(api, {"assignment_id": "none"}, what)
        assert (missing.status_code, missing.json["code"]) == (404, "assignment_not_found")


def test_a_quota_holds_unless_overridden(api, made) -> None:
    api.patch("/round-robin/users/u3", {"daily_quota": 0})
    refused = act(api, made, "reassign", {"user_id": "u3"})
    assert (refused.status_code, refused.json["code"]) == (409, "quota_reached")
    moved = act(api, made, "reassign", {"user_id": "u3", "override": True})
    assert moved.json["assigned_user_id"] == "u3"


@pytest.mark.parametrize(
    ("what", "body", "pointer"),
    [
        ("reassign", {"user_id": ""}, "/user_id"),
        ("reassign", {"override": "yes"}, "/override"),
        ("reject", {"user_id": "u1"}, "/user_id"),
        ("undo", {"note": "x" * 1001}, "/note"),
        ("undo", {"note": 7}, "/note"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(api, made, what, body, pointer) -> None:
    refused = act(api, made, what, body)
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == pointer


def test_the_same_key_changes_a_lead_once(api, made) -> None:
    key = {"Idempotency-Key": "once"}
    first = act(api, made, "reassign", headers=key)
    again = act(api, made, "reassign", headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json


def test_an_assignment_shows_what_came_later(api, made) -> None:
    moved = act(api, made, "reassign", {"user_id": "u3"}).json
    undone = act(api, moved, "undo", {"note": "a test lead"}).json
    whole = api.get(f"/round-robin/assignments/{made['assignment_id']}").json
    assert [(row["status"], row["assignment_id"]) for row in whole["later"]] == [
        ("reassigned", moved["assignment_id"]),
        ("undone", undone["assignment_id"]),
    ]
    assert whole["current"] is False
    assert api.get(f"/round-robin/assignments/{undone['assignment_id']}").json["later"] == []


def test_nobody_is_asked_when_a_person_decides(api, made) -> None:
    moved = act(api, made, "reassign", {"user_id": "u3"}).json
    whole = api.get(f"/round-robin/assignments/{moved['assignment_id']}").json
    assert {member["verdict"] for member in whole["members"]} == {"not_asked"}


def test_the_refusal_names_the_newer_assignment(api, made) -> None:
    moved = act(api, made, "reassign", {"user_id": "u3"}).json
    newest = act(api, moved, "reassign", {"user_id": "u2"}).json
    for what in ("reassign", "reject", "undo"):
        assert newest["assignment_id"] in act(api, made, what).json["detail"]


def test_the_refusal_names_the_assignment_of_the_pool_that_the_lead_fell_back_to(api) -> None:
    spare_id = api.pool("u2", name="Spare")
    pool_id = api.pool("u1", name="First")
    api.post("/round-robin/users/u1/absences", ABSENCE)
    held = api.assign(pool_id, "L1").json
    fallback = {"none_available": "fallback", "fallback_pool_id": spare_id}
    api.patch(f"/round-robin/pools/{pool_id}", fallback)
    fallen = api.assign(pool_id, "L1").json
    assert (fallen["pool_id"], fallen["status"]) == (spare_id, "assigned")
    assert fallen["assignment_id"] in act(api, held, "reassign").json["detail"]


def test_the_refusal_names_no_assignment_of_an_unrelated_pool(api, made) -> None:
    moved = act(api, made, "undo").json
    other = api.assign(api.pool("u4", name="Other"), "L1").json
    refused = act(api, made, "undo").json["detail"]
    assert moved["assignment_id"] in refused
    assert other["assignment_id"] not in refused


def test_what_was_undone_is_told_so(api, made) -> None:
    undone = act(api, made, "undo").json
    refused = act(api, undone, "undo")
    assert (refused.status_code, refused.json["code"]) == (409, "superseded")
    assert "was undone" in refused.json["detail"]


def test_an_unknown_user_is_told_how_to_make_one(api, made) -> None:
    missing = act(api, made, "reassign", {"user_id": "a/z"})
    assert (missing.status_code, missing.json["code"]) == (404, "user_not_found")
    assert missing.json["detail"] == (
        "There is no user 'a/z'. PUT /round-robin/users/a%2Fz makes one."
    )
