"""A lane is worked by one holder at a time, and the one who waited longest comes first."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from connector.store import inbox, lanes, outbox
from connector.store.database import Database
from tests.store.builders import NOW, claim, events, run_all, want_owners


@pytest.fixture(autouse=True)
def with_lanes(database: Database) -> None:
    with database.write() as session:
        lanes.ensure(session, ["hubspot", "salesforce"])
        lanes.ensure(session, ["salesforce", "hubspot"])


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_nothing_due_gives_no_claim(database: Database) -> None:
    with database.write() as session:
        assert claim(session) is None
        assert lanes.next_due(session, NOW) is None


def test_a_claim_brings_the_events_and_nobody_else_gets_the_lane(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a", "b"), NOW)
    with database.write() as session:
        first = claim(session)
        assert first is not None
        assert [item.event.key for item in first.inbox] == ["a", "b"]
        assert (first.connection, first.fence, first.outbox) == ("hubspot", 1, [])
    with database.write() as session:
        assert claim(session, holder="w2") is None
        assert lanes.next_due(session, NOW) == NOW + seconds(60)


def test_only_named_connections_are_claimed(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        assert claim(session, names=["salesforce"]) is None


def test_threads_that_claim_at_once_give_one_lane_to_one_holder(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        inbox.add(session, "salesforce", events("b"), NOW)
    got: list[str] = []
    start = threading.Barrier(8, timeout=20)

    def one() -> None:
        start.wait()
        with database.write() as session:
            if taken := claim(session):
                got.append(taken.connection)

    run_all([one] * 8)
    # Who comes upon a lane that another is just taking goes away without it, and asks again.
    with database.write() as session:
        if late := claim(session):
            got.append(late.connection)
    assert sorted(got) == ["hubspot", "salesforce"]


def test_a_lane_goes_to_the_next_holder_once_the_lease_is_over(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        first = claim(session)
    with database.write() as session:
        assert claim(session, NOW + seconds(59.9), holder="w2") is None
        second = claim(session, NOW + seconds(60), holder="w2")
    assert first is not None
    assert second is not None
    assert second.fence == first.fence + 1
    assert [item.attempts for item in second.inbox] == [2]


def test_a_stale_fence_releases_and_pauses_nothing(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        first = claim(session)
        second = claim(session, NOW + seconds(61), holder="w2")
        assert first is not None
        assert second is not None
        later = NOW + seconds(62)
        assert lanes.release(session, first, now=later) is False
        assert lanes.pause(session, first, until=later, reason="x", probe=False) is False
        assert claim(session, later, holder="w3") is None
        assert lanes.release(session, second, now=later) is True


def test_a_claim_ends_only_once(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        taken = claim(session)
        assert taken is not None
        assert lanes.pause(session, taken, until=NOW + seconds(9), reason="x", probe=False)
        assert lanes.release(session, taken, now=NOW) is False
        assert lanes.next_due(session, NOW) == NOW + seconds(9)


def test_a_late_holder_may_still_release_when_nobody_took_over(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        taken = claim(session)
        assert taken is not None
        assert lanes.release(session, taken, now=NOW + seconds(500)) is True


def test_a_paused_lane_is_not_claimed_until_the_pause_is_over(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        taken = claim(session)
        assert taken is not None
        lanes.pause(session, taken, until=NOW + seconds(10), reason="429", probe=True)
        assert claim(session, NOW + seconds(9.9)) is None
        again = claim(session, NOW + seconds(10))
        assert again is not None
        assert again.probes == 1
        lanes.release(session, again, now=NOW + seconds(11))
        last = claim(session, NOW + seconds(12))
        assert last is not None
        assert last.probes == 0


def test_a_pause_of_one_connection_leaves_the_other_alone(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        inbox.add(session, "salesforce", events("a"), NOW)
        first = claim(session, names=["hubspot"])
        assert first is not None
        lanes.pause(session, first, until=NOW + seconds(999), reason="429", probe=False)
        second = claim(session)
        assert second is not None
        assert second.connection == "salesforce"


def test_the_lane_that_was_served_longest_ago_comes_first(database: Database) -> None:
    with database.write() as session:
        for name in ("hubspot", "salesforce"):
            inbox.add(session, name, events("a", "b", "c"), NOW)
        order = []
        for step in range(4):
            moment = NOW + seconds(step)
            taken = claim(session, moment, limit=1)
            assert taken is not None
            lanes.release(session, taken, now=moment)
            order.append(taken.connection)
        assert order == ["hubspot", "salesforce", "hubspot", "salesforce"]


def test_events_that_are_not_due_do_not_block_their_lane(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a", "b"), NOW)
        taken = claim(session)
        assert taken is not None
        inbox.postpone(
            session, [taken.inbox[0].id], due_at=NOW + seconds(30), failing_since=NOW, error="x"
        )
        lanes.release(session, taken, now=NOW)
        again = claim(session)
        assert again is not None
        assert [item.event.key for item in again.inbox] == ["b"]


def test_only_work_for_later_tells_when(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        taken = claim(session)
        assert taken is not None
        inbox.postpone(
            session, [taken.inbox[0].id], due_at=NOW + seconds(30), failing_since=NOW, error="x"
        )
        lanes.release(session, taken, now=NOW)
        assert claim(session) is None
        assert lanes.next_due(session, NOW) == NOW + seconds(30)
        assert lanes.next_due(session, NOW + seconds(31)) == NOW + seconds(31)


def test_a_few_fresh_writes_wait_behind_events_to_fill_a_batch(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        want_owners(session, "1")
        taken = claim(session)
        assert taken is not None
        assert (len(taken.inbox), taken.outbox) == (1, [])


@pytest.mark.parametrize(
    ("after", "limit"), [(0.5, 100), (0, 2)], ids=["waited long enough", "a full batch"]
)
def test_writes_go_before_events_when(database: Database, after: float, limit: int) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        want_owners(session, "1", "2")
        taken = claim(session, NOW + seconds(after), limit=limit)
        assert taken is not None
        assert [item.record_id for item in taken.outbox] == ["1", "2"]
        assert taken.inbox == []
        (event,) = inbox.due(session, "hubspot", NOW, 1)
        assert event.attempts == 1  # not counted by the claim


def test_a_single_fresh_write_goes_out_at_once_when_no_event_is_due(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1")
        taken = claim(session)
        assert taken is not None
        assert [item.attempts for item in taken.outbox] == [1]


def test_a_result_that_comes_too_late_is_rolled_back_whole(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1")
        first = claim(session)
    with database.write() as session:
        claim(session, NOW + seconds(61), holder="w2")
    assert first is not None

    def report() -> None:
        with database.write() as session:
            outbox.settle_done(session, first.outbox, NOW)
            if not lanes.release(session, first, now=NOW):
                raise TimeoutError

    with pytest.raises(TimeoutError):
        report()
    with database.read() as session:
        assert outbox.of_records(session, "hubspot", "contacts", ["1"])["1"].status == "ready"


def test_a_directory_that_was_never_read_comes_before_events_and_writes(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        want_owners(session, "1")
        first = claim(session, directories=["hubspot"])
        assert first is not None
        assert (first.directory, first.inbox, first.outbox) == (True, [], [])
        lanes.release(session, first, now=NOW)
        second = claim(session, directories=["hubspot"])
    assert second is not None
    assert (second.directory, bool(second.inbox or second.outbox)) == (False, True)


def test_only_named_directories_are_claimed(database: Database) -> None:
    with database.write() as session:
        assert claim(session) is None
        taken = claim(session, directories=["salesforce"])
        assert claim(session, directories=["salesforce"]) is None
        assert claim(session, names=["salesforce"], directories=["hubspot"]) is None
    assert taken is not None
    assert (taken.connection, taken.directory) == ("salesforce", True)


def test_a_directory_is_claimed_again_when_it_is_due(database: Database) -> None:
    with database.write() as session:
        taken = claim(session, directories=["hubspot"])
        assert taken is not None
        lanes.release(session, taken, now=NOW)
        lanes.plan_directory(session, taken, NOW + seconds(300))
        assert claim(session, NOW + seconds(299.9), directories=["hubspot"]) is None
        again = claim(session, NOW + seconds(300), directories=["hubspot"])
    assert again is not None
    assert again.directory


def test_a_directory_whose_reader_died_is_claimed_when_the_lease_is_over(
    database: Database,
) -> None:
    with database.write() as session:
        assert claim(session, directories=["hubspot"])
        assert claim(session, NOW + seconds(59.9), directories=["hubspot"]) is None
        again = claim(session, NOW + seconds(60), directories=["hubspot"])
    assert again is not None
    assert again.directory


def test_a_directory_of_a_paused_lane_waits(database: Database) -> None:
    with database.write() as session:
        taken = claim(session, directories=["hubspot"])
        assert taken is not None
        lanes.plan_directory(session, taken, NOW)
        lanes.pause(session, taken, until=NOW + seconds(30), reason="x", probe=True)
        assert claim(session, NOW + seconds(29), directories=["hubspot"]) is None
        again = claim(session, NOW + seconds(30), directories=["hubspot"])
    assert again is not None
    assert again.directory


@pytest.mark.parametrize("when", ["while it is read", "after it was read"])
def test_a_directory_that_was_asked_for_is_due_at_once(database: Database, when: str) -> None:
    with database.write() as session:
        taken = claim(session, directories=["hubspot"])
        assert taken is not None
        if when == "while it is read":
            lanes.ask_for_directory(session, ["hubspot"])
        lanes.release(session, taken, now=NOW)
        lanes.plan_directory(session, taken, NOW + seconds(300))
        if when == "after it was read":
            lanes.ask_for_directory(session, ["hubspot"])
        again = claim(session, directories=["hubspot"])
    assert again is not None
    assert again.directory
