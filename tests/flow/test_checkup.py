"""A checkup of what is here names whatever keeps leads from their owners."""

from __future__ import annotations

from contextlib import closing

import pytest

from connector.checkup import installation
from connector.checkup.findings import Finding, Level, counted, listed
from connector.checkup.installation import Installed
from connector.model import Lead, Scope, Territory
from connector.store import access, inbox
from connector.store.database import connect
from tests.flow.conftest import Team
from tests.store import rows


def found(team: Team, about: str, **said: object) -> list[tuple[Level, str]]:
    installed = Installed(
        **{"default_pool": "Sales", "api_token": True, "connections": ("hubspot",)} | said
    )
    with team.database.read() as session:
        every = list(installation.of_installation(session, installed, now=team.now))
    assert all(one.what_to_do for one in every if one.level is not Level.OK)
    return [(one.level, one.text) for one in every if one.about == about]


def advice(team: Team, text: str) -> str:
    installed = Installed(default_pool="Sales", api_token=True, connections=("hubspot",))
    with team.database.read() as session:
        every = list(installation.of_installation(session, installed, now=team.now))
    (told,) = [one.what_to_do for one in every if one.text == text]
    assert told
    return told


def test_all_is_well(team: Team) -> None:
    team.pool("A")

    assert found(team, "pools") == [(Level.OK, "Sales is the default of 1.")]
    assert found(team, "api") == [(Level.OK, "0 tokens and the one in the settings.")]
    assert found(team, "hubspot") == []


@pytest.mark.parametrize(
    ("default_pool", "connections", "level"),
    [
        ("Nowhere", ("hubspot",), Level.LOSES_LEADS),
        (None, ("hubspot",), Level.LOSES_LEADS),
        (None, (), Level.WARNING),
    ],
    ids=["not there", "not set", "not needed"],
)
def test_a_default_pool_that_is_missing(team: Team, default_pool, connections, level) -> None:
    team.pool("A")

    ((told, text),) = found(team, "pools", default_pool=default_pool, connections=connections)

    assert told is level
    assert "Leads that no territory claims are held" in text


def test_a_territory_that_takes_every_lead_needs_no_default_pool(team: Team) -> None:
    pool = team.pool("A")
    team.territories(Territory(name="Rest", when={}, pool_id=pool))

    text = "The territory Rest takes every lead that no other claims."
    assert found(team, "pools", default_pool=None) == [(Level.OK, text)]
    assert found(team, "pools", default_pool="Nowhere") == [
        (Level.NOTE, f"There is no pool 'Nowhere', which is set as the default. {text}")
    ]

    team.archive(pool)
    ((level, _),) = found(team, "pools", default_pool="Nowhere")
    assert level is Level.LOSES_LEADS


def test_an_archived_default_pool_is_missing(team: Team) -> None:
    team.archive(team.pool("A"))

    ((level, _),) = found(team, "pools")

    assert level is Level.LOSES_LEADS


def test_territories_may_do_without_a_default_pool(team: Team) -> None:
    when = {"field": "country", "op": "eq", "value": "DE"}
    team.territories(Territory(name="DACH", when=when, pool_id=team.pool("A")))

    ((level, _),) = found(team, "pools", default_pool=None)

    assert level is Level.WARNING


@pytest.mark.parametrize("why", ["no member", "user inactive", "member inactive", "no weight"])
def test_a_pool_in_which_nobody_gets_leads(team: Team, why: str) -> None:
    team.pool("A")
    pool = team.pool("" if why == "no member" else "B", name="Service")
    if why == "user inactive":
        team.put_user("B", active=False)
    if why == "member inactive":
        team.change(pool, members={"B": {"active": False}})
    if why == "no weight":
        team.change(pool, members={"B": {"weight": 0}})

    _, (level, text) = found(team, "pools")

    assert level is Level.WARNING
    assert text == "Nobody in Service can get leads: no member is active with a weight."


def test_all_pools_are_looked_at_though_they_come_page_by_page(team: Team) -> None:
    team.pool("A")
    with team.database.write() as session:
        for number in range(501):
            rows.pool(session, f"Empty {number:03}")

    _, (_, text) = found(team, "pools")

    assert "Empty 000, Empty 001" in text
    assert "and 491 more" in text


def test_an_api_without_any_token(team: Team) -> None:
    team.pool("A")

    ((level, text),) = found(team, "api", api_token=False)
    assert level is Level.WARNING
    assert "refuses every call" in text

    with team.database.write() as session:
        access.create(session, "forms", scope=Scope.ASSIGN, now=team.now)
    assert found(team, "api", api_token=False) == [(Level.OK, "1 token.")]


def test_leads_held_without_a_pool(team: Team) -> None:
    team.pool("A")
    team.routed("L1")
    team.later(hours=1)
    team.routed("L2")

    _, (level, text) = found(team, "pools")

    assert level is Level.WARNING
    assert text == "2 leads held without a pool, the oldest since 2026-10-15 12:00 UTC."
    assert "that a workflow asked for" in advice(team, text)


def test_leads_held_in_pools_are_told_together(team: Team) -> None:
    first, second = team.pool("A"), team.pool("A", name="Service")
    team.absent("A", hours=3)
    team.leads(first, Lead(id="L1"))
    team.later(hours=1)
    team.leads(second, Lead(id="L2"), Lead(id="L3"))

    assert found(team, "pools")[1:] == [
        (Level.NOTE, "3 leads held in Sales, Service, the oldest since 2026-10-15 12:00 UTC.")
    ]


def test_pools_of_the_same_name(team: Team) -> None:
    team.pool("A")
    team.later(hours=1)
    team.pool("A", name="Service")
    team.pool("A", name="sales ")

    assert found(team, "pools")[1:] == [
        (Level.WARNING, "Several pools have the name Sales; who gives it means the oldest of them.")
    ]


def test_pools_of_the_same_name_do_no_harm_when_archived(team: Team) -> None:
    team.archive(team.pool("A"))
    team.pool("A")

    assert found(team, "pools") == [(Level.OK, "Sales is the default of 1.")]


def test_what_was_given_up_on_and_what_no_worker_takes(team: Team) -> None:
    team.pool("A")
    team.tell("1", "2")
    with team.database.write() as session:
        taken = inbox.due(session, "hubspot", team.now, 1)
        inbox.kill(session, [one.id for one in taken], "gave_up", team.now)

    assert found(team, "hubspot") == [(Level.WARNING, "1 event given up on.")]
    _, (level, text) = found(team, "hubspot", connections=("hubspot-eu",))
    assert level is Level.LOSES_LEADS
    assert text.startswith("1 item of the connection hubspot cannot go on")


def test_a_database_that_fits(team: Team) -> None:
    kind = "SQLite" if team.database.is_sqlite else "PostgreSQL"

    assert installation.of_database(team.database) == Finding(
        level=Level.OK, about="database", text=f"{kind}, its tables are those of this version."
    )


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:///{}/empty.db", "leadrota db upgrade"),
        ("postgresql://u:hidden@127.0.0.1:1/x", "cannot be used just now"),
    ],
    ids=["behind", "not reached"],
)
def test_a_database_that_cannot_be_used(tmp_path, url: str, words: str) -> None:
    with closing(connect(url.format(tmp_path))) as database:
        finding = installation.of_database(database)

    assert finding.level is Level.LOSES_LEADS
    assert words in finding.text
    assert "hidden" not in finding.text


def test_of_many_names_ten_are_told() -> None:
    assert listed(["b", "A"]) == "A, b"
    assert listed(str(number) for number in range(10, 22)).endswith("18, 19 and 2 more")
    assert [counted(1, "lead"), counted(1200, "lead")] == ["1 lead", "1,200 leads"]
