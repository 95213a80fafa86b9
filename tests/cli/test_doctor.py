"""``leadrota doctor``: 0 when all is well, 1 when leads would be lost, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from click.testing import CliRunner

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.salesforce import SalesforceSandbox
from connector import edits
from connector.cli import main
from connector.model import EventKind, LeadEvent
from connector.store import inbox, schema
from connector.store.database import Database, connect
from connector.store.pools import NewMember, NewPool
from tests.builders import NOON, user
from tests.cli.test_commands import leadrota


@pytest.fixture
def portal() -> Iterator[HubSpotSandbox]:
    with HubSpotSandbox() as sandbox:
        sandbox.add_owner("a@example.com", "Ada", owner_id="11")
        yield sandbox


@pytest.fixture
def org() -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def database(tmp_path) -> Iterator[Database]:
    """A folder's database with one pool of one user, who is in both CRMs."""
    owners = {"hubspot": "11", "salesforce": "0055g000000AAAAAA4"}
    with closing(connect(f"sqlite:///{tmp_path}/leadrota.db")) as made:
        schema.upgrade(made)
        with made.write() as session:
            edits.put_user(session, user("A", owners=owners), now=NOON, actor=None)
            new = NewPool(values={"name": "Sales"}, members=[NewMember(user_id="A")])
            edits.create_pool(session, new, now=NOON, actor=None)
            event = LeadEvent(
                key="1",
                kind=EventKind.CREATED,
                object_type="contacts",
                record_id="1",
                payload={},
                ignored="own_echo",
            )
            inbox.add(session, "hubspot", [event], NOON)
        yield made


@pytest.fixture
def hubspot(portal) -> dict[str, str]:
    return {
        "LEADROTA_PUBLIC_URL": "https://leads.example.com",
        "LEADROTA_DEFAULT_POOL": "Sales",
        "LEADROTA_API_TOKEN": "hidden-" * 6,
        "HUBSPOT_ACCESS_TOKEN": portal.access_token,
        "HUBSPOT_CLIENT_SECRET": portal.client_secret,
        "HUBSPOT_BASE_URL": portal.url,
    }


@pytest.fixture
def salesforce(org) -> dict[str, str]:
    org.add_user("A", "a@sales.example", user_id="0055g000000AAAAAA4")
    return {
        "SALESFORCE_LOGIN_URL": org.url,
        "SALESFORCE_CLIENT_ID": "sandbox-client",
        "SALESFORCE_CLIENT_SECRET": "sandbox-secret",
        "SALESFORCE_ORG_ID": org.org_id,
        "SALESFORCE_WEBHOOK_KEY": "hidden-key-of-webhooks",
    }


def findings(result) -> list[dict]:
    return json.loads(result.stdout)["findings"]


def test_all_is_well_in_plain_lines(tmp_path, database, hubspot):
    result = leadrota(tmp_path, "doctor", **hubspot)

    assert (result.returncode, result.stderr) == (0, "")
    settings, checked = result.stdout.split("\n\nChecked\n")
    assert not [line for line in settings.splitlines() if line != line.rstrip()]
    lines = [line.split(maxsplit=2) for line in settings.splitlines()]
    assert lines[0] == ["Settings"]
    assert ["LEADROTA_DEFAULT_POOL", "Sales", "environment"] in lines
    assert ["DATABASE_URL", "sqlite:///leadrota.db", "default"] in lines
    assert ["HUBSPOT_ACCESS_TOKEN", "••••", "(1 to 15 characters)  environment"] in lines
    assert {line.split()[0] for line in checked.splitlines()} == {"ok"}
    assert "  ok           database: SQLite, its tables are those of this version." in checked
    assert "hubspot: The token is valid; records can be read: contacts, leads." in checked
    assert "hidden" not in result.stdout
    assert hubspot["HUBSPOT_ACCESS_TOKEN"] not in result.stdout


def test_json_holds_the_same_and_nothing_else(tmp_path, database, hubspot):
    result = leadrota(tmp_path, "doctor", "--json", **hubspot)

    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert {
        "name": "LEADROTA_DEFAULT_POOL",
        "value": "Sales",
        "source": "environment",
        "place": "LEADROTA_DEFAULT_POOL",
    } in document["settings"]
    assert {
        "level": "ok",
        "about": "pools",
        "text": "Sales is the default of 1.",
        "what_to_do": None,
    } in document["findings"]
    assert {one["level"] for one in document["findings"]} == {"ok"}
    assert "hidden" not in result.stdout


def test_what_would_lose_leads_ends_with_1_and_the_way_out(tmp_path, database, hubspot):
    result = leadrota(tmp_path, "doctor", **hubspot | {"LEADROTA_DEFAULT_POOL": "Inbound"})

    assert result.returncode == 1
    lines = result.stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "LOSES LEADS" in line]
    assert "pools: There is no pool 'Inbound'" in lines[place]
    assert lines[place + 1].strip().endswith("of a pool that is there: Sales.")


def test_a_token_of_another_account_than_the_one_that_is_set(tmp_path, database, hubspot):
    result = leadrota(tmp_path, "doctor", **hubspot, HUBSPOT_PORTAL_ID="777")

    assert result.returncode == 1
    assert "The token is of the account 4242, but HUBSPOT_PORTAL_ID says 777" in result.stdout


def test_every_connection_is_looked_at_though_one_fails(
    tmp_path, database, hubspot, salesforce, org
):
    hubspot["HUBSPOT_BASE_URL"] = "http://127.0.0.1:1"
    salesforce["SALESFORCE_UNASSIGNED_OWNERS"] = "0055g000000AAAAAA4"

    result = leadrota(tmp_path, "doctor", "--json", **hubspot, **salesforce)

    assert result.returncode == 1
    told = [(one["about"], one["text"]) for one in findings(result)]
    assert [about for about, _ in told if about in ("hubspot", "salesforce")][-1] == "salesforce"
    assert any("hubspot" in one and "cannot be reached" in text for one, text in told)
    assert ("salesforce", "The token is valid; records can be read: Lead.") in told
    assert ("salesforce", "A key proves each webhook.") in told


def test_recent_leads_of_one_person_fail_until_the_person_is_named(
    tmp_path, database, salesforce, org
):
    salesforce["LEADROTA_DEFAULT_POOL"] = "Sales"
    dan = org.add_user("Dan Default", "dan@sales.example")
    for number in range(3):
        org.create("Lead", {"LastName": f"L{number}", "OwnerId": dan})

    result = leadrota(tmp_path, "doctor", "--json", **salesforce)

    assert result.returncode == 1
    (finding,) = [one for one in findings(result) if one["level"] == "loses_leads"]
    assert finding["about"] == "salesforce"
    assert f"put {dan} into SALESFORCE_UNASSIGNED_OWNERS" in finding["what_to_do"]

    salesforce["SALESFORCE_UNASSIGNED_OWNERS"] = dan
    assert leadrota(tmp_path, "doctor", **salesforce).returncode == 0


def test_wrong_settings_are_findings_and_no_value_is_shown(tmp_path, database):
    given = {"PORT": "hidden", "LEADROTA_API_TOKEN": "hidden", "LEADROTA_DEFAULT_POOL": "hidden"}

    result = leadrota(tmp_path, "doctor", "--json", **given)

    assert result.returncode == 1
    assert [(one["level"], one["text"].split()[0]) for one in findings(result)] == [
        ("loses_leads", "PORT"),
        ("loses_leads", "LEADROTA_API_TOKEN"),
    ]
    assert "hidden" not in result.stdout + result.stderr


def test_a_database_address_that_is_none_is_a_finding(tmp_path):
    result = leadrota(tmp_path, "doctor", "--json", DATABASE_URL="sqlite://")

    assert result.returncode == 1
    assert "in memory" in findings(result)[-1]["text"]


def test_a_database_that_cannot_be_reached_ends_the_look(tmp_path, hubspot, portal):
    url = "postgres://leads:hidden@127.0.0.1:1/leads"

    result = leadrota(tmp_path, "doctor", **hubspot, DATABASE_URL=url)

    assert result.returncode == 1
    assert "LOSES LEADS  database: The database cannot be used just now" in result.stdout
    assert "postgres://••••@127.0.0.1:1/leads" in result.stdout
    assert "hidden" not in result.stdout + result.stderr
    assert portal.calls == []


def test_tables_that_are_behind_end_with_1_and_the_command(tmp_path):
    result = leadrota(tmp_path, "doctor")

    assert result.returncode == 1
    assert "leadrota db upgrade" in result.stdout


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"HUBSPOT_PORTAL": "7"}, "warning: HUBSPOT_PORTAL is no setting and has no effect."),
        (
            {"LEADROTA_PUBLIC_URL": "http://127.0.0.1:8000"},
            "note: No CRM outside of this machine can call http://127.0.0.1:8000.",
        ),
    ],
    ids=["a warning", "not public"],
)
def test_of_settings_that_start_it_is_told_what_may_be_wrong(
    tmp_path, database, hubspot, change, text
):
    result = leadrota(tmp_path, "doctor", "--json", **(hubspot | change))

    assert result.returncode == 0
    told = [f"{one['level']}: {one['text']}" for one in findings(result)]
    assert [one for one in told if one.startswith(text)]


def test_no_connection_and_no_public_address_are_told(tmp_path, database, salesforce):
    pool = {"LEADROTA_DEFAULT_POOL": "Sales"}

    alone = findings(leadrota(tmp_path, "doctor", "--json", **pool))
    closed = findings(leadrota(tmp_path, "doctor", "--json", **pool, **salesforce))

    assert (alone[0]["level"], alone[0]["text"]) == ("note", "No CRM is connected.")
    assert (closed[0]["level"], closed[0]["text"]) == ("note", "LEADROTA_PUBLIC_URL is not set.")


def test_names_from_a_crm_cannot_steer_the_terminal(tmp_path, database, hubspot, portal):
    portal.add_owner("b@example.com", "Bea\x1b[2J\x9b2J\nok", owner_id="12")

    result = leadrota(tmp_path, "doctor", **hubspot)

    assert result.returncode == 0
    assert not [one for one in result.stdout if not (one.isprintable() or one == "\n")]
    (line,) = [line for line in result.stdout.splitlines() if "Bea" in line]
    assert line.endswith("ok (12).")


@pytest.mark.parametrize("arguments", [("more",), ("--nonsense",)])
def test_wrong_use_ends_with_2(arguments):
    assert CliRunner().invoke(main, ["doctor", *arguments]).exit_code == 2
