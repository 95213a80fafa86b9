"""What happens in a portal and is told by it: merges, bins, links, our own echo; and its limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Stage, check_sequence

SECONDS_TO_MIDNIGHT = 16 * 3600  # from noon in Greenwich to midnight in New York


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        yield Portal(stage)


@pytest.fixture(params=["classic", "generic"])
def telling(request: pytest.FixtureRequest, portal: Portal) -> Iterator[Portal]:
    """A portal that tells of all that happens by itself, in both forms of events."""
    with portal.all_told() as sender:
        sender.generic = request.param == "generic"
        portal.sender = sender
        yield portal


def settle(portal: Portal) -> None:
    """Everything is told and worked, the echo of our own writes as well."""
    for _ in range(2):
        portal.sender.flush()
        portal.stage.work()
        portal.stage.later(seconds=2)
    portal.sender.flush()
    assert {one.status for one in portal.sender.deliveries} == {204}


def everybody_away(portal: Portal, names: str, *, away: bool) -> None:
    for name in names:
        status = {"status": "away" if away else "available"}
        portal.stage.api.call("PATCH", f"/round-robin/users/{name}", status)


def told(rows: list[dict]) -> list[tuple]:
    return [(row["record"]["id"], row["status"], row["assigned_user_id"]) for row in rows]


def test_our_own_write_comes_back_and_starts_nothing(telling: Portal) -> None:
    pool = telling.stage.team("AB")
    (record_id,) = telling.create("contacts")
    settle(telling)
    calls = len(telling.sandbox.calls)
    settle(telling)
    assert told(telling.stage.api.history(pool)) == [(record_id, "assigned", "A")]
    assert telling.stage.inbox() == {("done", None): 1, ("ignored", "own_echo"): 1}
    assert len(telling.sandbox.calls) == calls
    telling.sandbox.set_owner("contacts", record_id, telling.owner("B"))
    settle(telling)
    assert told(telling.stage.api.history(pool))[1:] == [(record_id, "reassigned", "B")]
    assert telling.users("contacts", [record_id]) == ["B"]


def test_the_survivor_of_a_merge_keeps_its_owner_under_its_new_id(telling: Portal) -> None:
    pool = telling.stage.team("AB")
    first, second = telling.create("contacts", 2)
    settle(telling)
    written = telling.written()
    survivor = telling.sandbox.merge(first, [second], new_id=True)
    settle(telling)
    assert survivor not in (first, second)
    assert telling.sandbox.owner_of("contacts", survivor) == telling.owner("A")
    assert telling.written() == written
    rows = telling.stage.api.history(pool)
    assert [row["status"] for row in rows if row["status"] == "assigned"] == ["assigned"] * 2
    check_sequence(rows)


def test_a_survivor_that_nobody_owns_is_served_once_and_the_dead_never(telling: Portal) -> None:
    pool = telling.stage.team("AB")
    telling.sandbox.batch_read_follows_merges = False  # so the event alone tells of the new id
    everybody_away(telling, "AB", away=True)
    first, second = telling.create("contacts", 2)
    settle(telling)
    survivor = telling.sandbox.merge(first, [second], new_id=True)
    settle(telling)
    everybody_away(telling, "AB", away=False)
    settle(telling)
    rows = telling.stage.api.history(pool)
    served = [row for row in rows if row["status"] == "assigned"]
    assert told(served) == [(survivor, "assigned", "A")]
    assert telling.written() == [survivor]
    check_sequence(rows)


def test_a_job_for_an_id_that_was_merged_away_is_done_under_the_survivor(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    old, kept = portal.create("contacts", 2)
    portal.tell("contacts", [old])
    portal.sandbox.merge(kept, [old])  # which nobody tells us
    portal.stage.work()
    portal.arrive("contacts", kept)
    assert told(portal.stage.api.history(pool)) == [(kept, "assigned", "A")]
    assert portal.written() == [kept]
    assert portal.users("contacts", [kept]) == ["A"]


def test_a_record_that_comes_out_of_the_bin_keeps_its_owner(telling: Portal) -> None:
    telling.stage.team("AB")
    (record_id,) = telling.create("contacts")
    settle(telling)
    telling.sandbox.delete("contacts", record_id)
    settle(telling)
    telling.sandbox.restore("contacts", record_id)
    settle(telling)
    assert telling.users("contacts", [record_id]) == ["A"]
    assert telling.written() == [record_id]


def test_a_record_in_the_bin_is_not_served_and_out_of_it_is(telling: Portal) -> None:
    pool = telling.stage.team("A")
    everybody_away(telling, "A", away=True)
    (record_id,) = telling.create("contacts")
    settle(telling)
    telling.sandbox.delete("contacts", record_id)
    settle(telling)
    everybody_away(telling, "A", away=False)
    settle(telling)
    assert telling.written() == []
    telling.sandbox.restore("contacts", record_id)
    settle(telling)
    assert telling.users("contacts", [record_id]) == ["A"]
    assert told(telling.stage.api.history(pool))[-1] == (record_id, "assigned", "A")


def test_a_person_who_is_erased_gets_nobody(telling: Portal) -> None:
    telling.stage.team("A")
    everybody_away(telling, "A", away=True)
    (record_id,) = telling.create("contacts")
    settle(telling)
    telling.sandbox.forget("contacts", record_id)
    settle(telling)
    everybody_away(telling, "A", away=False)
    settle(telling)
    assert telling.written() == []
    assert {status for status, _ in telling.stage.inbox()} <= {"done", "ignored"}


def test_a_lead_that_waits_goes_to_the_owner_of_the_company_it_is_linked_to(
    telling: Portal,
) -> None:
    telling.stage.team("AB")
    everybody_away(telling, "AB", away=True)
    (record_id,) = telling.create("contacts")
    settle(telling)
    assert telling.users("contacts", [record_id]) == [None]
    telling.company(record_id, owner=telling.owner("B"))
    settle(telling)
    assert telling.users("contacts", [record_id]) == ["B"]


@pytest.mark.parametrize("version", ["v3", "2026-03", "2026-09"])
def test_each_api_version_goes_the_whole_way_and_tells_of_each_record(
    portal: Portal, version: str
) -> None:
    pool = portal.stage.team("AB")
    portal.stage.configure(HUBSPOT_API_VERSION=version)
    ids = portal.create("contacts", 3)
    linked = portal.create("contacts")
    portal.company(*linked, owner=portal.owner("B"))

    def delete(_type: str, record_id: str, _properties: object) -> None:
        if record_id == ids[0] and portal.sandbox.get("contacts", ids[1]):
            portal.sandbox.delete("contacts", ids[1])

    portal.sandbox.before_write(delete)
    portal.arrive("contacts", *ids, *linked)
    rows = portal.stage.api.history(pool)
    assert [row["write_back"] for row in rows] == ["done", "dead", "done", "done"]
    assert [row["assigned_user_id"] for row in rows] == ["A", "B", "A", "B"]
    assert rows[3]["sticky_step"] == "company"
    assert portal.users("contacts", [ids[0], ids[2], *linked]) == ["A", "A", "B"]
    (write,) = portal.sandbox.calls_to("/batch/update")
    assert write.status == (200 if version == "2026-09" else 207)
    area = "/crm/v3/objects/" if version == "v3" else f"/crm/objects/{version}/"
    assert write.path == f"{area}contacts/batch/update"
    numbered = [one.path for one in portal.sandbox.calls if "/v3/" in one.path]
    assert bool(numbered) is (version == "v3")


def test_the_limit_of_the_day_rests_until_midnight_where_the_account_is(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    portal.sandbox.daily_limit = 3
    ids = portal.create("contacts", 3)
    portal.arrive("contacts", *ids)
    assert [call.status for call in portal.sandbox.calls].count(429) == 1
    assert portal.stage.paused_for("hubspot") == pytest.approx(SECONDS_TO_MIDNIGHT, abs=1)
    calls = len(portal.sandbox.calls)
    portal.stage.later(seconds=SECONDS_TO_MIDNIGHT - 60)
    portal.stage.work()
    assert len(portal.sandbox.calls) == calls
    assert portal.users("contacts", ids) == [None] * 3
    portal.sandbox.daily_limit = 1000
    portal.stage.later(seconds=61)
    portal.stage.work()
    rows = portal.stage.api.history(pool)
    assert {row["write_back"] for row in rows} == {"done"}
    assert portal.users("contacts", ids) == ["A", "B", "A"]


@pytest.mark.parametrize(
    ("preset", "seconds"),
    [("secondly_limit", 1), ("ten_secondly_limit", 10), ("limit_with_retry_after", 3)],
)
def test_a_limit_rests_as_long_as_its_policy_says(
    portal: Portal, preset: str, seconds: int
) -> None:
    portal.stage.team("A")
    portal.sandbox.faults.add("/contacts/batch/update", preset=preset)
    ids = portal.create("contacts", 2)
    portal.arrive("contacts", *ids)
    assert portal.stage.paused_for("hubspot") == seconds
    portal.stage.later(seconds=seconds)
    portal.stage.work()
    assert portal.users("contacts", ids) == ["A", "A"]
    assert len(portal.sandbox.calls_to("/batch/update")) == 2
