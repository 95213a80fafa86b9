"""Alive and ready."""

from flask import Flask
from structlog.testing import capture_logs

from connector.store.database import connect
from connector.web.app import build
from connector.web.context import EXTENSION, WebContext
from tests.builders import NOON
from tests.flow.crm import MemoryCrm


def app_over(url: str) -> Flask:
    return build(
        WebContext(
            database=connect(url),
            clock=lambda: NOON,
            receivers={},
            api_token=None,
            default_pool=None,
            wake=lambda: None,
            crm=lambda name: MemoryCrm(),
        )
    )


def test_alive_and_ready(client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = client.get(path)
        assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_a_lost_database_is_named_in_the_log_only(tmp_path) -> None:
    app = app_over(f"sqlite:///{tmp_path}/missing/leadrota.db")
    with capture_logs() as logs:
        lost = app.test_client().get("/readyz")
    assert (lost.status_code, lost.json["code"]) == (503, "store_unavailable")
    assert int(lost.headers["Retry-After"]) > 0
    assert "unable to open" not in lost.json["detail"]
    assert "unable to open" in logs[0]["detail"]


def test_an_empty_database_is_not_ready_and_the_command_is_named(tmp_path) -> None:
    app = app_over(f"sqlite:///{tmp_path}/empty.db")
    behind = app.test_client().get("/readyz")
    assert (behind.status_code, behind.json["code"]) == (503, "store_behind")
    assert "leadrota db upgrade" in behind.json["detail"]
    assert app.test_client().get("/healthz").status_code == 200
    app.extensions[EXTENSION].database.close()
