"""Records of every type, from the portal's word that they are new to the owner it shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.sandbox.hubspot_schema import OWN_TYPE
from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Stage, check_sequence

TYPES = {
    "contacts": "lead",
    "companies": "lead",
    "deals": "lead",
    "tickets": "lead",
    "leads": "lead",
    "tasks": "task",
    "meetings": "meeting",
    OWN_TYPE: "lead",
}
MORNING = {
    "hs_meeting_start_time": "2026-10-16T09:00:00Z",
    "hs_meeting_end_time": "2026-10-16T09:30:00Z",
}


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        yield Portal(stage)


@pytest.mark.parametrize(("object_type", "kind"), TYPES.items(), ids=TYPES)
def test_a_new_record_of_any_type_gets_its_owner(
    portal: Portal, object_type: str, kind: str
) -> None:
    pool = portal.stage.team("AB")
    portal.route(*TYPES)
    ids = portal.create(object_type, 3)
    portal.arrive(object_type, *ids)
    rows = portal.stage.api.history(pool)
    assert [row["lead_id"] for row in rows] == [f"hubspot:{object_type}:{one}" for one in ids]
    assert portal.users(object_type, ids) == ["A", "B", "A"]
    assert {row["write_back"] for row in rows} == {"done"}
    assert {portal.stage.decision(row)["kind"] for row in rows} == {kind}
    check_sequence(rows)


@pytest.mark.parametrize("object_type", ["leads", OWN_TYPE])
def test_a_type_is_only_routed_where_it_is_named(portal: Portal, object_type: str) -> None:
    pool = portal.stage.team("AB")
    portal.route("contacts")
    portal.arrive(object_type, *portal.create(object_type))
    assert portal.stage.api.history(pool) == []
    assert portal.stage.inbox() == {("ignored", "object_not_routed"): 1}


def test_two_meetings_at_the_same_time_go_to_two_members(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    portal.route("meetings")
    # B has the first turn of the second meeting, and A of the third: but A is in the first.
    ids = [portal.create("meetings", **MORNING)[0]]
    portal.arrive("meetings", *ids)
    portal.stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"order": ["B", "A"]})
    portal.arrive("meetings", *portal.create("meetings"))  # without a time anybody can take it
    ids += portal.create("meetings", **MORNING)
    portal.arrive("meetings", ids[-1])
    assert portal.users("meetings", ids) == ["A", "B"]


def test_a_third_meeting_at_that_time_waits_and_tells_why(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    portal.route("meetings")
    ids = portal.create("meetings", 3, **MORNING)
    portal.arrive("meetings", *ids)
    rows = portal.stage.api.history(pool)
    assert [row["status"] for row in rows] == ["assigned", "assigned", "held"]
    skipped = portal.stage.decision(rows[2])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("A", "busy"), ("B", "busy")]
    assert portal.users("meetings", ids) == ["A", "B", None]


def test_a_meeting_goes_to_who_is_free_then_and_not_to_who_is_free_now(portal: Portal) -> None:
    portal.stage.team("AB")
    portal.route("meetings")
    absence = {"starts_at": "2026-10-16T00:00:00Z", "ends_at": "2026-10-17T00:00:00Z"}
    portal.stage.api.call("POST", "/round-robin/users/A/absences", absence | {"reason": "leave"})
    ids = portal.create("meetings", 1, **MORNING)
    portal.arrive("meetings", *ids)
    assert portal.users("meetings", ids) == ["B"]
