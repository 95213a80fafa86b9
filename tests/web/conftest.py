"""An app over a real database, with a CRM that signs by a plain word."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from connector.store.database import Database
from connector.web.app import build
from connector.web.context import WebContext
from tests.builders import NOON
from tests.flow.crm import MemoryCrm
from tests.web.knock import Knock, KnockSoap

TOKEN = "a-token-of-more-than-thirty-two-characters"


class World:
    """What a web test may turn: the clock, the token, the default pool; and what was woken."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now = NOON
        self.woken = 0
        self.crm = MemoryCrm()
        self.app = self.build()

    def build(self, *, token: str | None = TOKEN, default_pool: str | None = None) -> Flask:
        return build(
            WebContext(
                database=self.database,
                clock=lambda: self.now,
                receivers={"knock": Knock(), "soap": KnockSoap()},
                api_token=token,
                default_pool=default_pool,
                wake=self.wake,
                crm=lambda name: self.crm,
            )
        )

    def wake(self) -> None:
        self.woken += 1

    def later(self, **delta: float) -> datetime:
        self.now += timedelta(**delta)
        return self.now


class Caller:
    """A REST client with a token that answers with (status, body)."""

    def __init__(self, client: FlaskClient, headers: dict[str, str]) -> None:
        self.client = client
        self.headers = headers

    def __call__(self, method: str, path: str, json=None, **options):
        headers = self.headers | options.pop("headers", {})
        if json is not None:
            options["json"] = json
        return self.client.open(path, method=method, headers=headers, **options)

    def get(self, path: str, **options):
        return self("GET", path, **options)

    def post(self, path: str, json=None, **options):
        return self("POST", path, json, **options)

    def put(self, path: str, json=None, **options):
        return self("PUT", path, json, **options)

    def patch(self, path: str, json=None, **options):
        return self("PATCH", path, json, **options)

    def delete(self, path: str, **options):
        return self("DELETE", path, **options)

    def pool(self, *user_ids: str, name: str = "SDR", **more) -> str:
        body = {"name": name, "members": [{"user_id": one} for one in user_ids], **more}
        return self.post("/round-robin/pools", body).json["id"]

    def assign(self, pool_id: str, lead_id: str, *, headers=None, **more):
        body = {"lead_id": lead_id, **more}
        return self.post(f"/round-robin/pools/{pool_id}/assign", body, headers=headers or {})


@pytest.fixture
def world(sqlite: Database) -> World:
    """On SQLite. Modules whose tests go deep into the store take both databases instead."""
    return World(sqlite)


@pytest.fixture
def client(world: World) -> FlaskClient:
    """Without a token."""
    return world.app.test_client()


@pytest.fixture
def api(client: FlaskClient) -> Caller:
    return Caller(client, {"Authorization": f"Bearer {TOKEN}"})
