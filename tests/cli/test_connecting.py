"""``leadrota connect``: an admin's consent becomes stored tokens."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from adapters.hubspot import oauth
from config import load
from connector import wiring
from connector.grants import Tokens
from connector.ports import Credentials
from connector.store import schema
from connector.store.database import connect
from tests.cli.test_commands import leadrota
from tests.oauth import TokenEndpoint

KEY = "an encryption key of 40 characters or so"


@pytest.fixture
def endpoint():
    with TokenEndpoint() as serving:
        yield serving


@pytest.fixture
def settings(endpoint):
    return {
        "LEADROTA_PUBLIC_URL": "https://leads.example.com",
        "LEADROTA_ENCRYPTION_KEY": KEY,
        "HUBSPOT_CLIENT_ID": "client-1",
        "HUBSPOT_CLIENT_SECRET": "client-secret-1",
        "HUBSPOT_BASE_URL": endpoint.url,
    }


@pytest.fixture
def database(tmp_path):
    with closing(connect(f"sqlite:///{tmp_path}/leadrota.db")) as made:
        schema.upgrade(made)
        yield made


def test_without_a_code_the_address_is_told_and_how_to_go_on(tmp_path, settings, endpoint):
    told = leadrota(tmp_path, "connect", "hubspot", **settings)

    assert told.returncode == 0, told.stderr
    (address,) = told.stdout.splitlines()
    query = parse_qs(urlsplit(address).query)
    assert query["client_id"] == ["client-1"]
    assert query["redirect_uri"] == ["https://leads.example.com/oauth/hubspot"]
    assert "https://leads.example.com/oauth/hubspot must be one of" in told.stderr
    assert "leadrota connect hubspot --code …\n" in told.stderr
    assert query["scope"][0] in told.stderr
    assert endpoint.calls == []


def test_another_redirect_is_told_in_both_places(tmp_path, settings):
    told = leadrota(
        tmp_path, "connect", "hubspot", "--redirect-uri", "http://localhost:1/x", **settings
    )

    assert parse_qs(urlsplit(told.stdout.strip()).query)["redirect_uri"] == ["http://localhost:1/x"]
    assert "--code … --redirect-uri http://localhost:1/x\n" in told.stderr


def test_a_code_becomes_tokens_that_all_processes_use(tmp_path, settings, database, endpoint):
    done = leadrota(tmp_path, "connect", "hubspot", "--code", "code-1", **settings)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("hubspot is connected")
    with database.read() as session:
        assert "access-1" not in str(session.execute(text("SELECT * FROM crm_tokens")).all())
    tokens = Tokens(
        database,
        "hubspot",
        clock=wiring.utc_now,
        encryption_key=KEY,
        credentials=Credentials(),
    )

    def nobody(_refresh_token: str | None):
        raise AssertionError("the stored token is good")

    assert tokens.access_token(nobody) == "access-1"
    assert len(endpoint.calls) == 1


def test_what_was_connected_wins_over_the_refresh_token_in_the_settings(
    tmp_path, settings, database
):
    old = {"HUBSPOT_REFRESH_TOKEN": "refresh-old"}

    leadrota(tmp_path, "connect", "hubspot", "--code", "code-1", **settings, **old)

    installed = load({"DATABASE_URL": str(database.engine.url), **settings, **old})
    (hubspot,) = installed.connections
    shared = wiring.shared(hubspot, database, installed, wiring.utc_now)
    assert shared.access_token(oauth.renewal(hubspot)) == "access-1"


def test_a_code_that_is_not_taken_ends_with_1_and_stores_nothing(tmp_path, settings, database):
    failed = leadrota(tmp_path, "connect", "hubspot", "--code", "code-wrong", **settings)

    assert failed.returncode == 1
    assert failed.stderr.startswith("leadrota: HubSpot does not take")
    assert not [word for word in ("code-wrong", "client-secret-1") if word in failed.stderr]
    with database.read() as session:
        assert session.execute(text("SELECT * FROM crm_tokens")).all() == []


def test_a_code_is_not_used_up_while_there_are_no_tables(tmp_path, settings, endpoint):
    failed = leadrota(tmp_path, "connect", "hubspot", "--code", "code-1", **settings)

    assert failed.returncode == 1
    assert "leadrota db upgrade" in failed.stderr
    assert endpoint.calls == []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("other", {}),
        ("hubspot", {"HUBSPOT_CLIENT_ID": "", "HUBSPOT_ACCESS_TOKEN": "token-1"}),
    ],
    ids=["unknown", "without OAuth"],
)
def test_a_connection_without_oauth_ends_with_2(tmp_path, settings, name, change):
    refused = leadrota(tmp_path, "connect", name, **(settings | change))

    assert refused.returncode == 2
    assert "client id" in refused.stderr


def test_no_connection_at_all_is_wrong_use(tmp_path):
    assert leadrota(tmp_path, "connect", "hubspot").returncode == 2
    assert leadrota(tmp_path, "connect").returncode == 2
