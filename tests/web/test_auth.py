"""Who gets in."""

import pytest

from tests.web.conftest import TOKEN

OPEN = ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/start.js"]


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
def test_without_the_token_nobody_gets_in(client, header) -> None:
    headers = {"Authorization": header} if header is not None else {}
    refused = client.get("/round-robin/pools", headers=headers)
    assert (refused.status_code, refused.json["code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_the_scheme_is_read_without_case(client) -> None:
    answer = client.get("/round-robin/pools", headers={"Authorization": f"bearer {TOKEN}"})
    assert answer.status_code == 200


def test_without_a_token_set_up_the_setting_is_named(world) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for token in (None, ""):
        refused = world.build(token=token).test_client().get("/round-robin/pools", headers=headers)
        assert refused.status_code == 401
        assert "LEADROTA_API_TOKEN" in refused.json["detail"]


@pytest.mark.parametrize("path", OPEN)
def test_these_are_open(client, path) -> None:
    assert client.get(path).status_code == 200


def test_everything_else_wants_the_token(world, client) -> None:
    for rule in world.app.url_map.iter_rules():
        if rule.rule in OPEN or rule.rule.startswith(("/docs/assets/", "/webhooks/")):
            continue
        path = rule.rule.replace("<", "").replace(">", "")
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            assert client.open(path, method=method).status_code == 401, (method, path)


def test_the_token_is_asked_for_before_the_body_is_looked_at(client) -> None:
    assert client.post("/round-robin/pools", data=b"{").status_code == 401
