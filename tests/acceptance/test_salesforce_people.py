"""What an org says of its users decides who gets leads, without a word in Lead Rota."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from connector.store.database import Database
from tests.acceptance.org import Org
from tests.acceptance.stage import Stage
from tests.builders import NOON

HOUR = timedelta(hours=1)


@pytest.fixture
def org(sqlite: Database) -> Iterator[Org]:
    with Stage(sqlite) as stage:
        stage.team("AB")
        yield Org(stage)


def next_two(org: Org) -> list[str | None]:
    """Who gets the next two leads, some time after the org was last asked for its users."""
    org.stage.later(minutes=30)
    org.stage.work()
    ids = org.create("Lead", 2)
    org.arrive(*ids)
    return org.users(ids)


def why_not(org: Org, user: str) -> str | None:
    """Why the user cannot take a lead now."""
    (pool,) = org.stage.api.call("GET", "/round-robin/pools")
    found = org.stage.api.call("GET", f"/round-robin/pools/{pool['id']}")["members"]
    (member,) = [one for one in found if one["user_id"] == user]
    return (member["unavailable"] or {}).get("reason")


def test_who_is_out_of_office_is_passed_over_until_back(org: Org) -> None:
    assert next_two(org) == ["A", "B"]
    org.sandbox.set_out_of_office(org.owner("A"), NOON - HOUR, NOON + 3 * HOUR)
    assert next_two(org) == ["B", "B"]
    assert why_not(org, "A") == "absent"
    org.stage.later(hours=3)
    assert sorted(map(str, next_two(org))) == ["A", "B"]
    assert why_not(org, "A") is None


def test_hours_set_here_are_in_the_zone_that_the_org_tells(org: Org) -> None:
    org.sandbox.change(org.owner("A"), {"TimeZoneSidKey": "America/New_York"})
    day = {"days": ["mon", "tue", "wed", "thu", "fri"], "start": "10:00", "end": "17:00"}
    org.stage.api.call("PATCH", "/round-robin/users/A", {"working_hours": [day]})
    assert next_two(org) == ["B", "B"]  # it is half past eight there
    assert why_not(org, "A") == "outside_hours"
    org.stage.later(hours=2)
    assert next_two(org) == ["A", "B"]


def test_with_omni_channel_only_who_is_online_there_gets_leads(org: Org) -> None:
    org.sandbox.features = ["omni_channel"]
    assert next_two(org) == ["A", "B"]  # nobody is online, and nobody asks
    org.stage.configure(SALESFORCE_OMNI_CHANNEL="1")
    org.sandbox.set_presence(org.owner("B"))
    assert next_two(org) == ["B", "B"]
    assert why_not(org, "A") == "away"
    org.sandbox.set_presence(org.owner("A"), is_away=True)
    assert next_two(org) == ["B", "B"]
    org.sandbox.set_presence(org.owner("A"))
    assert next_two(org) == ["A", "B"]


def test_an_org_without_omni_channel_keeps_nobody_from_leads(org: Org) -> None:
    org.stage.configure(SALESFORCE_OMNI_CHANNEL="1")
    assert next_two(org) == ["A", "B"]


def test_where_availability_is_switched_off_the_org_is_not_asked_for_it(org: Org) -> None:
    org.stage.configure(SALESFORCE_AVAILABILITY="0")
    org.sandbox.set_out_of_office(org.owner("A"), NOON - HOUR, NOON + 3 * HOUR)
    assert next_two(org) == ["A", "B"]
    assert org.queries("OutOfOffice") == []


def test_the_turn_of_who_left_the_org_goes_to_the_next(org: Org) -> None:
    assert next_two(org) == ["A", "B"]
    org.sandbox.deactivate(org.owner("A"))
    assert next_two(org) == ["B", "B"]
    assert why_not(org, "A") == "refused_by_crm"
    assert {call.status for call in org.sandbox.calls} == {200}  # nothing was tried in vain


def test_a_day_of_looking_after_people_costs_a_small_part_of_the_days_calls(org: Org) -> None:
    for _ in range(24 * 12):
        org.stage.later(minutes=5)
        org.stage.work()
    assert len(org.calls("query")) <= 3 * 288
