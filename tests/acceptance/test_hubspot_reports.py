"""What users of other HubSpot integrations reported, played at the whole product."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import requests
from packaging.requirements import Requirement
from structlog.testing import capture_logs

from config import load
from connector import wiring
from connector.store.database import Database
from connector.worker import work_off
from tests.acceptance import hubspot_reports
from tests.acceptance.portal import Portal
from tests.acceptance.stage import TOKEN, Stage, check_sequence, turns

ROOT = Path(__file__).parents[2]
WIDE = 874716779721  # an id seen in a public report
HTML = "<!DOCTYPE html><html><head><title>414 Request-URI Too Large</title></head></html>"


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        yield Portal(stage)


@pytest.fixture
def oauth(portal: Portal) -> Portal:
    """The portal lets the app in by OAuth only."""
    refresh_token = portal.sandbox.use_oauth(client_id="client")
    portal.sandbox.takes_static_token = False
    portal.stage.configure(
        HUBSPOT_ACCESS_TOKEN="",
        HUBSPOT_CLIENT_ID="client",
        HUBSPOT_REFRESH_TOKEN=refresh_token,
        LEADROTA_ENCRYPTION_KEY="an encryption key of 40 characters or so",
    )
    return portal


@pytest.mark.parametrize("report", hubspot_reports.REPORTS, ids=lambda one: str(one.number))
def test_every_report_has_tests_that_are_there(report: hubspot_reports.Report) -> None:
    assert report.source
    assert report.promise.endswith(".")
    assert report.tests
    for node in report.tests:
        path, _, name = node.partition("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / path).read_text(), node


def test_no_report_is_left_out() -> None:
    assert [one.number for one in hubspot_reports.REPORTS] == list(range(1, 31))


def test_the_http_library_that_broke_every_call_is_never_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (wanted,) = [one for one in map(Requirement, project["dependencies"]) if one.name == "urllib3"]
    assert "2.6.0" not in wanted.specifier
    assert version("urllib3") in wanted.specifier
    locked = (ROOT / "requirements.lock").read_text()
    assert "urllib3==" in locked
    assert "urllib3==2.6.0" not in locked


def test_without_leave_to_read_owners_nobody_is_assigned_and_nothing_is_lost(
    portal: Portal,
) -> None:
    pool = portal.stage.team("AB")
    ids = portal.create("contacts", 2)
    owned = portal.create("contacts", hubspot_owner_id=portal.owner("B"))
    portal.sandbox.missing_scopes = ["crm.objects.owners.read"]
    with capture_logs() as logs:
        portal.arrive("contacts", *owned, *ids)
    warned = [one for one in logs if one["log_level"] == "warning"]
    assert any("crm.objects.owners.read" in str(one.values()) for one in warned), logs
    assert portal.written() == []
    assert [row for row in portal.stage.api.history(pool) if row["write_back"] == "done"] == []
    portal.sandbox.missing_scopes = []
    portal.stage.later(minutes=15)
    portal.stage.work()
    assert portal.users("contacts", [*owned, *ids]) == ["B", "A", "B"]


def test_a_user_on_the_third_page_of_owners_gets_leads(portal: Portal) -> None:
    for number in range(229):
        portal.sandbox.add_owner(f"o{number}@sales.example", "Other", str(number))
    portal.stage.team("A")
    ids = portal.create("contacts", 2)
    portal.arrive("contacts", *ids)
    assert portal.users("contacts", ids) == ["A", "A"]
    assert len({call.query for call in portal.sandbox.calls_to("/owners/")}) >= 3


def test_a_fresh_contact_that_no_search_shows_yet_gets_its_owner(portal: Portal) -> None:
    portal.stage.team("A")
    portal.sandbox.index_lag = 3600
    ids = portal.create("contacts", 2)
    portal.arrive("contacts", *ids)
    assert portal.users("contacts", ids) == ["A", "A"]
    assert portal.sandbox.calls_to("/search") == []


def test_one_record_of_a_hundred_that_a_rule_of_the_account_stops_is_a_dead_letter(
    portal: Portal,
) -> None:
    pool = portal.stage.team("AB")
    portal.stage.configure(HUBSPOT_API_VERSION="2026-09")
    portal.sandbox.admin_rule = "phone"
    ids = portal.create("contacts", 99, phone="1")
    (bad,) = portal.create("contacts")
    ids.insert(57, bad)
    portal.arrive("contacts", *ids)
    portal.stage.later(minutes=1)
    portal.stage.work()
    rows = portal.stage.api.history(pool)
    (dead,) = [row for row in rows if row["write_back"] != "done"]
    assert (dead["record"]["id"], dead["write_back"]) == (bad, "dead")
    shown = portal.stage.decision(dead)["write_back"]
    assert shown["last_error"] == "REQUIRED_PROPERTY"
    assert "Property phone is required" in shown["crm_message"]
    users = portal.users("contacts", ids)
    assert users == [None if n == 57 else "AB"[n % 2] for n in range(100)]


def test_an_expired_token_is_fetched_anew_once_and_no_lead_notices(oauth: Portal) -> None:
    pool = oauth.stage.team("AB")
    first, second = oauth.create("contacts"), oauth.create("contacts", 50)
    oauth.arrive("contacts", *first)
    oauth.sandbox.expire_tokens()
    oauth.arrive("contacts", *second)
    assert {row["write_back"] for row in oauth.stage.api.history(pool)} == {"done"}
    assert oauth.users("contacts", first + second) == [*list("AB" * 25), "A"]
    assert len(oauth.sandbox.calls_to("/token")) == 2
    assert [call.status for call in oauth.sandbox.calls].count(401) == 1


def test_a_token_that_is_about_to_end_is_fetched_before_it_does(oauth: Portal) -> None:
    oauth.stage.team("A")
    oauth.arrive("contacts", *oauth.create("contacts"))
    oauth.stage.later(minutes=27)
    oauth.arrive("contacts", *oauth.create("contacts"))
    assert len(oauth.sandbox.calls_to("/token")) == 2
    assert [call.status for call in oauth.sandbox.calls].count(401) == 0


def test_an_app_that_was_removed_stops_with_an_alert_and_goes_on_once_it_is_back(
    oauth: Portal,
) -> None:
    pool = oauth.stage.team("A")
    oauth.arrive("contacts", *oauth.create("contacts"))
    oauth.sandbox.revoke()
    ids = oauth.create("contacts", 3)
    oauth.tell("contacts", ids)
    settings = load(oauth.stage.environment)
    with capture_logs() as logs, wiring.workshop(settings, clock=oauth.stage.clock) as shop:
        for _ in range(40):
            work_off(shop)
            oauth.stage.later(minutes=15)
    assert any("leadrota connect hubspot" in str(one.values()) for one in logs), logs
    assert len(oauth.stage.api.history(pool)) == 1
    assert oauth.stage.inbox()["ready", None] == 3
    # One log-in for the first contact, then at most five that are refused: no hot loop.
    assert 1 < len(oauth.sandbox.calls_to("/token")) <= 1 + 5
    oauth.stage.configure(HUBSPOT_REFRESH_TOKEN=oauth.sandbox.use_oauth(client_id="client"))
    oauth.stage.later(minutes=15)
    oauth.stage.work()
    assert oauth.users("contacts", ids) == ["A"] * 3


def test_an_id_beyond_32_bits_is_kept_and_written_unchanged(portal: Portal) -> None:
    pool = portal.stage.team("A")
    record_id = portal.sandbox.create("contacts", {}, record_id=str(WIDE))
    portal.arrive("contacts", record_id)
    (row,) = portal.stage.api.history(pool)
    assert row["lead_id"] == f"hubspot:contacts:{WIDE}"
    assert portal.written() == [str(WIDE)]
    assert portal.users("contacts", [record_id]) == ["A"]


def test_a_change_without_the_property_it_is_about_is_taken_and_ignored(portal: Portal) -> None:
    pool = portal.stage.team("A")
    portal.route("tickets")
    (record_id,) = portal.create("tickets")
    event = portal.event("tickets", record_id, "propertyChange", name="subject", value="x")
    del event["propertyName"]
    assert portal.sender.send([event]) == 204
    portal.stage.work()
    assert portal.stage.api.history(pool) == []
    assert [status for status, _ in portal.stage.inbox()] == ["ignored"]


def test_a_change_of_an_old_record_that_is_owned_starts_nothing(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    (mine,) = portal.create("contacts")
    (theirs,) = portal.create("contacts", hubspot_owner_id=portal.owner("B"))
    portal.arrive("contacts", mine)
    written = portal.written()
    for record_id in (mine, theirs):
        portal.tell("contacts", [record_id], "propertyChange", name="country", value="DE")
    portal.stage.work()
    assert portal.written() == written
    assert turns(portal.stage.api.history(pool)) == {"A": 1}


def test_the_turns_of_three_who_are_off_are_spread_over_the_two_left(portal: Portal) -> None:
    pool = portal.stage.team("ABCDE")
    for name in "BCE":
        portal.stage.api.call("PATCH", f"/round-robin/users/{name}", {"active": False})
    portal.arrive("contacts", *portal.create("contacts", 20))
    assert turns(portal.stage.api.history(pool)) == {"A": 10, "D": 10}


def test_fifty_creations_in_one_delivery_are_ten_for_each_of_five(database: Database) -> None:
    with Stage(database) as stage:
        portal = Portal(stage)
        pool = stage.team("ABCDE")
        ids = portal.create("contacts", 50)
        portal.arrive("contacts", *ids)
        rows = stage.api.history(pool)
        assert turns(rows) == dict.fromkeys("ABCDE", 10)
        assert portal.users("contacts", ids) == list("ABCDE" * 10)
        check_sequence(rows)


def test_a_page_of_html_for_a_refusal_is_an_error_like_any_other(portal: Portal) -> None:
    pool = portal.stage.team("A")
    portal.sandbox.faults.add("/contacts/batch/read", status=414, body=HTML, times=2)
    ids = portal.create("contacts", 3)
    with capture_logs() as logs:
        portal.arrive("contacts", *ids[:2])  # refused as two, and one of them alone
        portal.arrive("contacts", ids[2])
    assert not [one for one in logs if one["log_level"] in ("error", "critical")]
    assert Counter(portal.users("contacts", ids)) == {"A": 2, None: 1}
    assert portal.stage.inbox() == {
        ("done", None): 2,
        ("dead", "HubSpot answered 414: no readable message"): 1,
    }
    assert len(portal.stage.api.history(pool)) == 2
    asked = [call.json["properties"] for call in portal.calls("objects/contacts", "batch/read")]
    assert max(map(len, asked)) <= 20


def test_a_foreign_portal_is_answered_2xx_and_a_bad_signature_401_and_told(
    portal: Portal,
) -> None:
    portal.stage.team("A")
    (record_id,) = portal.create("contacts")
    event = portal.event("contacts", record_id)
    assert portal.sender.send([event | {"portalId": 6666}]) == 204
    portal.sender.client_secret = "of another app"
    with capture_logs() as logs:
        assert portal.sender.send([event]) == 401
    assert [one["code"] for one in logs if one["event"] == "webhook_refused"] == ["bad_signature"]
    portal.stage.work()
    assert portal.stage.inbox() == {("ignored", "other_portal"): 1}
    shown = requests.get(
        f"{portal.stage.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30
    ).text
    labels = 'connection="hubspot",outcome="ignored",reason="other_portal"'
    assert f"leadrota_recent_events{{{labels}}} 1.0" in shown
