"""Alive and ready."""

from connector.store.database import connect
from connector.web.app import build
from connector.web.context import WebContext
from tests.builders import NOON


def test_alive_and_ready(client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = client.get(path)
        assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_an_empty_database_is_not_ready_and_the_command_is_named(tmp_path) -> None:
    database = connect(f"sqlite:///{tmp_path}/empty.db")
    app = build(
        WebContext(
            database=database,
            clock=lambda: NOON,
            receivers={},
            api_token=None,
            default_pool=None,
            wake=lambda: None,
        )
    )
    behind = app.test_client().get("/readyz")
    assert (behind.status_code, behind.json["code"]) == (503, "store_behind")
    assert "leadrota db upgrade" in behind.json["detail"]
    assert app.test_client().get("/healthz").status_code == 200
    database.close()
