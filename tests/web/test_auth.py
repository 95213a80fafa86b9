"""Who gets in, and how far."""

from datetime import timedelta

import pytest
from flask import g
from sqlalchemy import event

from connector.model import Scope
from connector.store import access
from tests.store.builders import statements
from tests.web.conftest import TOKEN, Caller

OPEN = ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/start.js"]
METRICS, POOLS = "/metrics", "/round-robin/pools"


def create(world, name="forms", scope=Scope.READ):
    with world.database.write() as session:
        return access.create(session, name, scope=scope, now=world.now)


def revoke(world, name="forms"):
    with world.database.write() as session:
        access.revoke(session, name, now=world.now)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def last_used(world):
    with world.database.read() as session:
        (token,) = access.listed(session)
    return token.last_used_at


def operations(client):
    """Every operation behind a token, as (method, path, scope) of the OpenAPI document."""
    for path, item in client.get("/openapi.json").json["paths"].items():
        for method, operation in item.items():
            if "security" in operation:
                ((scope,),) = [one["token"] for one in operation["security"]]
                yield method.upper(), path, scope


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer \xfc",
    ],
)
def test_without_a_token_nobody_gets_in(client, header) -> None:
    headers = {"Authorization": header} if header is not None else {}
    refused = client.get(POOLS, headers=headers)
    assert (refused.status_code, refused.json["code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_unknown_malformed_and_revoked_tokens_are_told_the_same(world, client) -> None:
    revoked = create(world)
    revoke(world)
    unknown = f"{access.PREFIX}{'x' * 43}"

    answers = [
        client.get(POOLS, headers=bearer(token))
        for token in (revoked, unknown, access.PREFIX, "x", f"{TOKEN}x", access.hash_of(revoked))
    ]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.data for answer in answers}) == 1
    assert len({str(answer.headers) for answer in answers}) == 1


def test_the_scheme_is_read_without_case(client) -> None:
    answer = client.get(METRICS, headers={"Authorization": f"bearer {TOKEN}"})
    assert answer.status_code == 200


def test_without_a_token_set_up_the_setting_is_named(world) -> None:
    for token in (None, ""):
        refused = world.build(token=token).test_client().get(POOLS, headers=bearer(TOKEN))
        assert refused.status_code == 401
        assert "LEADROTA_API_TOKEN" in refused.json["detail"]


def test_a_token_of_the_table_needs_no_setting(world) -> None:
    client = world.build(token=None).test_client()
    assert client.get(METRICS, headers=bearer(create(world))).status_code == 200


@pytest.mark.parametrize("path", OPEN)
def test_these_are_open(client, path) -> None:
    assert client.get(path).status_code == 200


def test_everything_else_wants_a_token(world, client) -> None:
    for rule in world.app.url_map.iter_rules():
        if rule.rule in OPEN or rule.rule.startswith(("/docs/assets/", "/webhooks/")):
            continue
        path = rule.rule.replace("<", "").replace(">", "")
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            assert client.open(path, method=method).status_code == 401, (method, path)


def test_the_token_is_asked_for_before_the_body_is_looked_at(world, client) -> None:
    assert client.post(POOLS, data=b"{").status_code == 401
    assert client.post(POOLS, data=b"{", headers=bearer(create(world))).status_code == 403


@pytest.mark.parametrize("scope", Scope)
def test_a_token_gets_as_far_as_its_scope_and_no_further(world, client, scope) -> None:
    headers = bearer(create(world, scope=scope))
    seen = set()
    for method, path, needed in operations(client):
        answer = client.open(path, method=method, headers=headers, data=b"{")
        assert (answer.status_code == 403) is not scope.covers(Scope(needed)), (method, path)
        seen.add(needed)
    assert seen == set(Scope)


@pytest.mark.parametrize("path", [POOLS, METRICS])
def test_a_token_for_reading_may_ask_for_the_head_alone(world, client, path) -> None:
    assert client.head(path, headers=bearer(create(world))).status_code != 403


def test_reading_asks_for_read_assigning_for_assign_and_changes_for_admin(client) -> None:
    found = {(method, path): scope for method, path, scope in operations(client)}

    assert found["GET", METRICS] == found["POST", "/round-robin/territories/test"] == "read"
    assert found["POST", "/round-robin/assign"] == "assign"
    for (method, path), scope in found.items():
        if method == "GET":
            assert scope == "read"
        elif path.rpartition("/")[2] in ("assign", "batch", "reassign", "reject", "undo"):
            assert scope == "assign"
        elif path != "/round-robin/territories/test":
            assert scope == "admin"


def test_a_missing_scope_is_told_with_the_one_that_is_needed(world, client) -> None:
    refused = client.post(POOLS, json={}, headers=bearer(create(world, scope=Scope.ASSIGN)))

    assert (refused.status_code, refused.json["code"]) == (403, "scope_missing")
    assert "scope admin" in refused.json["detail"]
    assert "'forms' has the scope assign" in refused.json["detail"]


def test_each_operation_behind_a_token_declares_that_it_may_be_refused(client) -> None:
    for path, item in client.get("/openapi.json").json["paths"].items():
        for operation in item.values():
            if "security" in operation:
                assert {"401", "403"} <= set(operation["responses"]), path


def test_a_revoked_token_is_refused_at_once(world, client) -> None:
    headers = bearer(create(world))
    assert client.get(METRICS, headers=headers).status_code == 200

    revoke(world)

    assert client.get(METRICS, headers=headers).status_code == 401


def test_the_one_who_acts_is_known_by_the_name_of_the_token(world, client) -> None:
    token = create(world)
    with client:
        client.get(METRICS, headers=bearer(token))
        named = (g.actor, g.token)
        client.get(METRICS, headers=bearer(TOKEN))
        setting = g.actor

    assert named == ("forms", access.hash_of(token))
    assert setting == "LEADROTA_API_TOKEN"


def test_a_key_of_one_token_means_nothing_to_another(world, client) -> None:
    body, key = {"attributes": {}}, {"Idempotency-Key": "k"}
    for name in ("a", "b"):
        caller = Caller(client, bearer(create(world, name)))
        answer = caller.post("/round-robin/territories/test", body, headers=key)
        assert answer.status_code == 200
        assert "Idempotency-Replayed" not in answer.headers


def test_the_last_use_is_noted_once_a_minute(world, client) -> None:
    headers = bearer(create(world))
    start, noted = world.now, []
    for seconds in (0, 30, 60):
        world.now = start + timedelta(seconds=seconds)
        client.get(METRICS, headers=headers)
        noted.append(last_used(world) - start)

    assert noted == [timedelta(0), timedelta(0), timedelta(minutes=1)]


def test_a_request_whose_use_is_noted_already_writes_nothing(world, client) -> None:
    headers = bearer(create(world))
    client.get(METRICS, headers=headers)

    with statements(world.database) as sent:
        client.get(METRICS, headers=headers)

    assert sent
    assert all(statement.startswith(("SELECT", "BEGIN DEFERRED")) for statement in sent)


def test_a_request_succeeds_even_if_its_use_cannot_be_noted(world, client) -> None:
    headers = bearer(create(world))
    world.database.close()
    event.listen(world.database.engine, "connect", only_reading)

    assert client.get(METRICS, headers=headers).status_code == 200
    assert last_used(world) is None


def only_reading(connection, _record) -> None:
    connection.execute("PRAGMA query_only=ON").close()
