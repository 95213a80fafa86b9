"""A checkup of a connection, with the adapter as the worker has it, against the sandbox CRMs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta

import pytest
import requests
from sqlalchemy import update

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.salesforce import SalesforceSandbox
from config import load
from connector import edits, wiring
from connector.checkup import connections
from connector.checkup.connections import Subject
from connector.checkup.findings import Finding, Level
from connector.errors import BadSettings
from connector.ports import Concern, Crm, Ours
from connector.store.tables import lanes
from tests.flow.conftest import Team

Examine = Callable[..., list[Finding]]


@pytest.fixture
def team(sqlite) -> Team:
    team = Team(sqlite)
    team.pool("A")
    return team


@pytest.fixture
def portal() -> Iterator[HubSpotSandbox]:
    """A portal in which A can own records."""
    with HubSpotSandbox() as sandbox:
        sandbox.add_owner("a@example.com", "Ada", owner_id="11")
        yield sandbox


@pytest.fixture
def org() -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def hubspot(team: Team, portal: HubSpotSandbox) -> Examine:
    team.put_user("A", owners={"hubspot": "11"})
    team.tell("1")

    def examine(clock=None, **changes: str) -> list[Finding]:
        env = {
            "LEADROTA_PUBLIC_URL": "https://leads.example.com",
            "HUBSPOT_ACCESS_TOKEN": portal.access_token,
            "HUBSPOT_CLIENT_SECRET": portal.client_secret,
            "HUBSPOT_BASE_URL": portal.url,
        }
        return examined(team, env | changes, clock or (lambda: team.now))

    return examine


@pytest.fixture
def salesforce(team: Team, org: SalesforceSandbox) -> Examine:
    owner = org.add_user("A", "a@sales.example")
    team.put_user("A", owners={"salesforce": owner})

    def examine(**changes: str) -> list[Finding]:
        env = {
            "SALESFORCE_LOGIN_URL": org.url,
            "SALESFORCE_CLIENT_ID": "sandbox-client",
            "SALESFORCE_CLIENT_SECRET": "sandbox-secret",
            "SALESFORCE_ORG_ID": org.org_id,
        }
        return examined(team, env | changes, lambda: team.now, proof=None)

    return examine


def examined(team: Team, env, clock, **changes) -> list[Finding]:
    settings = load(env)
    (one,) = settings.connections

    def open_crm() -> Crm:
        return wiring.visitor(one, team.database, settings, clock)

    of_one = {
        "name": one.name,
        "objects": one.objects,
        "open": open_crm,
        "proof": "A key",
        "account": getattr(one, "portal_id", None),
    }
    found = connections.examine(team.database, Subject(**of_one | changes), clock=clock)
    assert {finding.about for finding in found} == {one.name}
    return found


def texts(found: list[Finding], level: Level) -> list[str]:
    return [one.text for one in found if one.level is level]


def bad(found: list[Finding]) -> list[tuple[Level, str]]:
    return [(one.level, one.text) for one in found if one.level is not Level.OK]


def test_a_portal_in_which_all_is_well(hubspot, portal) -> None:
    found = hubspot()

    assert bad(found) == []
    told = texts(found, Level.OK)
    assert told[:6] == [
        "A key proves each webhook.",
        "The last event came at 2026-10-15 12:00 UTC.",
        "The token is valid; records can be read: contacts, leads.",
        "It is the account 4242.",
        "1 user of ours can own records there.",
        "It tells of 1 of 1 owner who is away.",
    ]
    assert [text.split("left")[1] for text in told[6:]] == [" (daily).", " (ten_secondly)."]


def test_the_account_is_that_of_the_token_and_not_what_is_set(hubspot) -> None:
    told = "The token is of the account 4242, but HUBSPOT_PORTAL_ID says 777: "

    assert bad(hubspot(HUBSPOT_PORTAL_ID="777")) == [
        (Level.LOSES_LEADS, told + "every event is ignored.")
    ]
    found = hubspot(HUBSPOT_PORTAL_ID="4242")
    assert bad(found) == []
    assert "It is the account 4242." in texts(found, Level.OK)


def test_nothing_is_written(hubspot, portal) -> None:
    portal.create("contacts", {"email": "lead@example.com"}, record_id="501")

    hubspot()

    asked = [(call.method, call.path) for call in portal.calls]
    assert ("POST", "/crm/v3/objects/contacts/batch/read") in asked
    assert all(
        method == "GET" or path.endswith(("/batch/read", "/search")) for method, path in asked
    )


def test_a_token_that_is_not_valid(hubspot, portal) -> None:
    found = hubspot(HUBSPOT_ACCESS_TOKEN="another-token")

    ((level, text),) = bad(found)
    assert level is Level.LOSES_LEADS
    assert text.startswith("The CRM does not let us in: the token is not valid")
    assert "HubSpot answered 401" in text
    assert "another-token" not in text
    assert len(portal.calls) == 1


def test_limits_told_long_ago_are_not_shown_of_a_portal_that_does_not_let_us_in(hubspot) -> None:
    assert [one for one in hubspot() if "calls are left" in one.text]

    shut = hubspot(HUBSPOT_ACCESS_TOKEN="another-token")
    away = hubspot(HUBSPOT_BASE_URL="http://127.0.0.1:1")

    assert not [one for one in [*shut, *away] if "calls are left" in one.text]


def test_a_portal_that_cannot_be_reached(hubspot) -> None:
    ((level, text),) = bad(hubspot(HUBSPOT_BASE_URL="http://127.0.0.1:1"))

    assert level is Level.LOSES_LEADS
    assert text.startswith("The CRM cannot be reached (its account).")


def test_a_scope_that_is_missing_for_one_object_type_hides_no_other_finding(
    hubspot, portal
) -> None:
    portal.missing_scopes = ["crm.objects.leads.read"]
    portal.add_owner("b@example.com", "Bea", owner_id="12")

    found = hubspot()

    (text,) = texts(found, Level.LOSES_LEADS)
    assert "records of the type leads" in text
    assert "crm.objects.leads.read" in text
    assert "The token is valid; records can be read: contacts." in texts(found, Level.OK)
    assert texts(found, Level.NOTE) == ["1 owner there who is no user here: Bea (12)."]


def test_an_object_type_that_is_none(hubspot) -> None:
    found = hubspot(HUBSPOT_OBJECTS="contacts,nonsense")

    (text,) = texts(found, Level.LOSES_LEADS)
    assert "records of the type nonsense" in text


def test_without_the_scope_for_companies_nobody_gets_leads_by_them(hubspot, portal) -> None:
    portal.missing_scopes = ["crm.objects.companies.read"]

    found = bad(hubspot(HUBSPOT_OBJECTS="contacts"))

    ((level, text),) = found
    assert level is Level.WARNING
    assert text.startswith("Whoever owns the person or company of contacts gets no leads by that.")
    assert "crm.objects.companies.read" in text


def test_without_the_scope_for_owners_nobody_gets_leads(hubspot, portal) -> None:
    portal.missing_scopes = ["crm.objects.owners.read"]

    (text,) = texts(hubspot(), Level.LOSES_LEADS)

    assert "(its users)" in text
    assert "crm.objects.owners.read" in text


def test_without_the_scope_for_users_nobody_is_away(hubspot, portal) -> None:
    portal.missing_scopes = ["crm.objects.users.read"]

    ((level, text),) = bad(hubspot())

    assert level is Level.WARNING
    assert text.startswith("Who is away is not fully told.")
    assert "crm.objects.users.read" in text
    assert bad(hubspot(HUBSPOT_AVAILABILITY="0")) == []


def test_a_user_whom_the_crm_refused_is_told_of(hubspot, team) -> None:
    with team.database.write() as session:
        edits.refuse_user(session, ["A"], "hubspot", now=team.now)

    ((level, text),) = bad(hubspot())

    assert level is Level.WARNING
    assert text.startswith("The CRM refused to have them own records: A.")


def test_owners_and_users_who_do_not_match(hubspot, team, portal) -> None:
    team.put_user("B", owners={"hubspot": "12"})
    team.put_user("C", owners={"hubspot": "99"})
    team.put_user("D", owners={"hubspot": "98"}, active=False)
    portal.add_owner("b@example.com", owner_id="12", archived=True)
    portal.add_owner("q@example.com", "Queue", owner_id="13", type="QUEUE")
    portal.add_owner("e@example.com", "Eve", owner_id="14")
    portal.add_owner("f@example.com", "Fay", owner_id="15")

    assert bad(hubspot()) == [
        (Level.WARNING, "The CRM does not list as active: B, C. They get no leads there."),
        (Level.NOTE, "2 owners there who are no user here: Eve (14), Fay (15)."),
    ]


def test_another_portal_than_that_of_our_users(hubspot, team) -> None:
    team.put_user("A", owners={"hubspot": "99"})

    (text,) = texts(hubspot(), Level.LOSES_LEADS)

    assert text.startswith("The CRM lists none of our users as active")


def test_members_without_an_owner_id(hubspot, team) -> None:
    team.pool("BCD", name="Service")
    team.put_user("B", owners={"salesforce": "0055g000000AAAAAA4"})
    team.put_user("C", owners={})
    team.put_user("D", owners={}, active=False)

    (text,) = texts([one for one in hubspot() if one.what_to_do], Level.WARNING)

    assert text.startswith("Members of pools without an owner id: B, C.")


def test_few_calls_that_are_left(hubspot, portal) -> None:
    portal.daily_limit = 140
    with requests.Session() as other_app:
        other_app.headers["Authorization"] = f"Bearer {portal.access_token}"
        for _ in range(126):
            other_app.get(f"{portal.url}/account-info/v3/details")

    assert bad(hubspot()) == [(Level.WARNING, "13 of 140 calls are left (daily).")]


def rest(team: Team, *, probes: int) -> None:
    with team.database.write() as session:
        session.execute(
            update(lanes).values(
                paused_until=team.now + timedelta(hours=1),
                pause_reason="HubSpot answered 4xx: so it said",
                probes=probes,
            )
        )


def test_a_connection_that_rests_since_the_crm_asked_for_it_is_left_alone(
    hubspot, team, portal
) -> None:
    rest(team, probes=0)

    found = hubspot()

    assert bad(found) == [
        (
            Level.WARNING,
            "The connection rests until 2026-10-15 13:00:00 UTC: HubSpot answered 4xx: so it said",
        )
    ]
    assert portal.calls == []


def test_a_connection_that_rests_since_it_was_not_let_in_is_tried(hubspot, team, portal) -> None:
    rest(team, probes=2)

    found = hubspot()

    ((_, text),) = bad(found)
    assert text.startswith("The connection rests until")
    assert "The token is valid; records can be read: contacts, leads." in texts(found, Level.OK)


def test_a_pause_that_is_over_is_none(hubspot, team) -> None:
    rest(team, probes=0)
    team.later(hours=1)

    assert bad(hubspot()) == []


def test_limits_and_failures_that_pass_lose_nothing(hubspot, portal) -> None:
    portal.faults.add("/account-info", preset="server_error", times=2)
    ((level, text),) = bad(hubspot())
    assert level is Level.WARNING
    assert text.startswith("This could not be read just now (its account).")

    portal.faults.clear()
    portal.daily_limit = 0
    assert Level.LOSES_LEADS not in [one.level for one in hubspot()]


def test_a_crm_that_takes_too_long_is_asked_no_more(hubspot, team, portal) -> None:
    def clock():
        return team.later(seconds=13)

    (text,) = [one.text for one in hubspot(clock) if "too slowly" in one.text]

    assert "from records of the type" in text
    assert not [call for call in portal.calls if "/owners" in call.path]


def test_settings_that_open_nothing_are_told(team) -> None:
    def refuse() -> Crm:
        raise BadSettings("The key cannot be read.")

    subject = Subject(name="hubspot", objects=("contacts",), open=refuse, proof="A key")

    found = connections.examine(team.database, subject, clock=lambda: team.now)

    assert bad(found)[1:] == [(Level.LOSES_LEADS, "The key cannot be read.")]


def test_an_org_in_which_all_is_well(salesforce, org) -> None:
    org.create("Lead", {"OwnerId": org.add_queue("New leads")})

    found = salesforce()

    assert [level for level, _ in bad(found)] == [Level.WARNING, Level.NOTE]
    assert bad(found)[0][1].startswith("No key is set")
    assert texts(found, Level.OK) == [
        "The token is valid; records can be read: Lead.",
        "1 user of ours can own records there.",
        "It tells of 1 of 1 owner who is away.",
        "99,999 of 100,000 calls are left (daily).",
    ]
    assert texts(found, Level.NOTE) == ["No event has come yet."]


def test_an_org_that_does_not_let_us_in(salesforce) -> None:
    found = salesforce(SALESFORCE_CLIENT_SECRET="wrong")

    (text,) = texts(found, Level.LOSES_LEADS)
    assert text.startswith("The CRM does not let us in")


def test_an_object_type_that_an_org_hides(salesforce) -> None:
    (text,) = texts(salesforce(SALESFORCE_OBJECTS="Lead,Hidden__c"), Level.LOSES_LEADS)

    assert "records of the type Hidden__c" in text


def test_records_that_are_there_are_read_too(salesforce, org) -> None:
    org.create("Lead", {"LastName": "Example"})

    salesforce()

    asked = [call.query for call in org.calls if "FROM+Lead" in call.query.replace("%20", "+")]
    assert any("Id+IN" in one.replace("%20", "+") for one in asked)


def test_a_crm_is_told_which_owners_are_from_us(team, monkeypatch) -> None:
    team.pool("A")
    team.crm.create("1", "2")
    team.tell("1")
    team.work()
    asked: list[Collection[str]] = []

    def concerns(ours: Ours) -> list[Concern]:
        asked.append(ours("contacts", ["1", "2"]))
        return []

    monkeypatch.setattr(team.crm, "concerns", concerns)
    subject = Subject(name="hubspot", objects=("contacts",), open=lambda: team.crm, proof="A key")
    connections.examine(team.database, subject, clock=lambda: team.now)
    assert asked == [{"1"}]
