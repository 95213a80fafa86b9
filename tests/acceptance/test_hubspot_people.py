"""What a portal says of its users decides who gets leads, without a word in Lead Rota."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Stage
from tests.builders import NOON

LATER = timedelta(hours=1)


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        stage.team("AB")
        yield Portal(stage)


def next_two(portal: Portal) -> list[str | None]:
    """Who gets the next two contacts, some time after the portal was last asked for its users."""
    portal.stage.later(minutes=30)
    portal.stage.work()
    ids = portal.create("contacts", 2)
    portal.arrive("contacts", *ids)
    return portal.users("contacts", ids)


def why_not(portal: Portal, user: str) -> str | None:
    """Why the user cannot take a lead now."""
    (pool,) = portal.stage.api.call("GET", "/round-robin/pools")
    found = portal.stage.api.call("GET", f"/round-robin/pools/{pool['id']}")["members"]
    (member,) = [one for one in found if one["user_id"] == user]
    return (member["unavailable"] or {}).get("reason")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"status": "away"}, "away"),
        ({"out_of_office": [(NOON - LATER, NOON + 3 * LATER)]}, "absent"),
        # It is nine in the morning there when it matters.
        (
            {"working_hours": [("EVERY_DAY", 600, 1020)], "time_zone": "America/New_York"},
            "outside_hours",
        ),
    ],
    ids=["away", "out_of_office", "hours"],
)
def test_who_is_not_there_by_the_portals_word_is_passed_over_until_back(
    portal: Portal, said: dict[str, Any], reason: str
) -> None:
    assert next_two(portal) == ["A", "B"]
    portal.sandbox.set_availability(portal.owner("A"), **said)
    assert next_two(portal) == ["B", "B"]
    assert why_not(portal, "A") == reason
    portal.stage.later(hours=3)  # the absence is over, and it is past ten in New York
    portal.sandbox.set_availability(portal.owner("A"), status="available")
    assert sorted(map(str, next_two(portal))) == ["A", "B"]
    assert why_not(portal, "A") is None


def test_a_portal_whose_users_are_closed_to_us_still_tells_who_left(portal: Portal) -> None:
    portal.sandbox.missing_scopes = ["crm.objects.users.read"]
    assert next_two(portal) == ["A", "B"]
    portal.sandbox.archive_owner(portal.owner("A"))
    portal.stage.later(minutes=30)
    portal.stage.work()
    assert why_not(portal, "A") == "refused_by_crm"


def test_where_availability_is_switched_off_the_portal_is_not_asked_for_it(portal: Portal) -> None:
    portal.stage.configure(HUBSPOT_AVAILABILITY="0")
    portal.sandbox.set_availability(portal.owner("A"), status="away")
    assert next_two(portal) == ["A", "B"]
    assert portal.calls("objects/users") == []


def test_the_turn_of_who_left_the_portal_goes_to_the_next(portal: Portal) -> None:
    assert next_two(portal) == ["A", "B"]
    portal.sandbox.archive_owner(portal.owner("A"))
    assert next_two(portal) == ["B", "B"]
    assert why_not(portal, "A") == "refused_by_crm"
    assert {call.status for call in portal.sandbox.calls} == {200}  # nothing was tried in vain
