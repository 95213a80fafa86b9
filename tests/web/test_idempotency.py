"""The same POST again under the same key."""

import hashlib

import pytest

from connector.errors import StoreUnavailable
from connector.store import idempotency
from connector.store.database import Database
from tests.web.conftest import TOKEN, World

KEY = {"Idempotency-Key": "key-1"}
BODY = {"name": "A", "members": [{"user_id": "u1"}]}


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def test_the_first_answer_comes_again(api) -> None:
    first = api.post("/round-robin/pools", BODY, headers=KEY)
    again = api.post("/round-robin/pools", BODY, headers=KEY)
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (again.status_code, again.data) == (first.status_code, first.data)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.content_type == first.content_type == "application/json"
    assert len(api.get("/round-robin/pools").json) == 1


def test_without_a_key_each_post_counts(api) -> None:
    api.post("/round-robin/pools", BODY)
    api.post("/round-robin/pools", BODY)
    assert len(api.get("/round-robin/pools").json) == 2


def test_another_body_or_path_is_refused(api) -> None:
    pool_id = api.post("/round-robin/pools", BODY, headers=KEY).json["id"]
    other_body = api.post("/round-robin/pools", BODY | {"name": "B"}, headers=KEY)
    other_path = api.post(f"/round-robin/pools/{pool_id}/assign", {"lead_id": "L"}, headers=KEY)
    for refused in (other_body, other_path):
        assert (refused.status_code, refused.json["code"]) == (422, "idempotency_key_reused")


def test_a_key_that_is_still_running_is_a_conflict(api, world) -> None:
    token = hashlib.sha256(TOKEN.encode()).hexdigest()
    body_hash = hashlib.sha256(b'{"attributes":{}}').hexdigest()
    path = "/round-robin/territories/test"
    with world.database.write() as session:
        idempotency.begin(session, token, "key-1", path, body_hash, world.now)
    post = {"data": b'{"attributes":{}}', "content_type": "application/json", "headers": KEY}
    running = api.post(path, **post)
    assert (running.status_code, running.json["code"]) == (409, "idempotency_key_running")
    assert int(running.headers["Retry-After"]) > 0


def test_a_refusal_is_kept_too(api) -> None:
    path = "/round-robin/pools/none/assign"
    first = api.post(path, {"lead_id": "L"}, headers=KEY)
    again = api.post(path, {"lead_id": "L"}, headers=KEY)
    assert first.status_code == again.status_code == 404
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content_type == "application/problem+json"
    assert again.data == first.data


def test_after_a_day_the_key_is_new(api, world) -> None:
    api.post("/round-robin/pools", BODY, headers=KEY)
    world.later(hours=24)
    again = api.post("/round-robin/pools", BODY, headers=KEY)
    assert "Idempotency-Replayed" not in again.headers


def test_a_failure_of_ours_is_not_kept(api, world) -> None:
    moments = iter([world.now])

    def clock():
        for moment in moments:  # the key is taken, then the work fails
            return moment
        raise StoreUnavailable("gone")

    app = world.build()
    context = app.extensions["leadrota"]
    object.__setattr__(context, "clock", clock)
    failed = app.test_client().open(
        "/round-robin/pools", method="POST", json=BODY, headers=api.headers | KEY
    )
    assert failed.status_code == 503
    tried_again = api.post("/round-robin/pools", BODY, headers=KEY)
    assert tried_again.status_code == 201
    assert "Idempotency-Replayed" not in tried_again.headers


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_1_to_200_characters(api, key) -> None:
    refused = api.post("/round-robin/pools", BODY, headers={"Idempotency-Key": key})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/Idempotency-Key"
