"""An object type is polled by one holder at a time, when it is due, and from where it was read."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from connector.ports import Mark
from connector.store import inbox, lanes, marks
from connector.store.database import Database, Session
from connector.store.marks import Place
from tests.store.builders import NOW, claim, events, run_all

SINCE = NOW - timedelta(minutes=5)
BOTH = {"salesforce": ["Account", "Lead"]}


@pytest.fixture(autouse=True)
def with_marks(database: Database) -> None:
    with database.write() as session:
        lanes.ensure(session, ["hubspot", "salesforce"])
        marks.ensure(session, BOTH, since=SINCE, now=NOW)


def taken(session: Session, now: datetime = NOW, **how: object) -> lanes.Claim:
    found = claim(session, now, polls=BOTH, **how)  # type: ignore[arg-type]
    assert found
    return found


def end(session: Session, done: lanes.Claim, due_at: datetime) -> None:
    assert lanes.release(session, done, now=NOW)
    marks.plan(session, done.connection, done.poll, due_at)


def test_a_mark_is_made_once(database: Database) -> None:
    with database.write() as session:
        to = Place(mark=Mark(at=NOW, record_id="7"), again_from=SINCE)
        marks.move(session, "salesforce", "Lead", to)
        marks.ensure(session, BOTH, since=NOW, now=NOW)
        assert marks.place(session, "salesforce", "Lead") == to
        assert marks.place(session, "salesforce", "Account") == Place(mark=Mark(at=SINCE))


def test_one_object_type_is_claimed_at_a_time(database: Database) -> None:
    with database.write() as session:
        first = taken(session)
        assert (first.connection, first.poll, first.inbox) == ("salesforce", "Account", [])
        assert claim(session, polls=BOTH) is None
        end(session, first, NOW + timedelta(minutes=1))
        assert taken(session).poll == "Lead"


def test_the_type_that_has_been_due_for_longest_comes_first(database: Database) -> None:
    with database.write() as session:
        marks.plan(session, "salesforce", "Account", NOW)
        marks.plan(session, "salesforce", "Lead", NOW - timedelta(seconds=1))
        assert taken(session).poll == "Lead"


def test_nothing_is_claimed_before_it_is_due(database: Database) -> None:
    later = NOW + timedelta(seconds=60)
    with database.write() as session:
        for object_type in BOTH["salesforce"]:
            marks.plan(session, "salesforce", object_type, later)
        assert claim(session, later - timedelta(seconds=0.1), polls=BOTH) is None
        assert taken(session, later).poll


def test_only_polled_object_types_are_claimed(database: Database) -> None:
    with database.write() as session:
        assert claim(session) is None
        assert claim(session, polls={"hubspot": ["Account", "Lead"]}) is None
        assert claim(session, polls={"salesforce": []}) is None
        found = claim(session, polls={"salesforce": ["Lead"]})
    assert found
    assert found.poll == "Lead"


def test_a_type_whose_reader_died_is_claimed_when_the_lease_is_over(database: Database) -> None:
    polls = {"salesforce": ["Lead"]}
    with database.write() as session:
        assert claim(session, polls=polls)
        assert claim(session, NOW + timedelta(seconds=59.9), polls=polls) is None
        again = claim(session, NOW + timedelta(seconds=60), polls=polls)
    assert again
    assert again.poll == "Lead"


def test_a_directory_comes_before_a_poll(database: Database) -> None:
    with database.write() as session:
        first = taken(session, directories=["salesforce"])
        assert (first.directory, first.poll) == (True, "")


def test_polls_and_events_take_turns_while_both_are_due(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "salesforce", events(*"abcdef"), NOW)
        order = []
        for _ in range(6):
            found = taken(session, limit=1)
            order.append(found.poll or found.inbox[0].event.key)
            if found.poll:
                end(session, found, NOW)
            else:
                inbox.finish(session, [item.id for item in found.inbox], NOW)
                lanes.release(session, found, now=NOW)
    assert order == ["a", "Account", "b", "Account", "c", "Account"]


def test_a_claim_that_was_lost_is_not_held(database: Database) -> None:
    with database.write() as session:
        late = taken(session)
        assert lanes.hold(session, late)
        other = taken(session, NOW + timedelta(seconds=61))
        assert not lanes.hold(session, late)
        assert lanes.hold(session, other)
        lanes.release(session, other, now=NOW)
        assert not lanes.hold(session, other)


def test_holders_that_claim_at_once_get_the_type_once(database: Database) -> None:
    got: list[str] = []

    def one() -> None:
        with database.write() as session:
            if found := claim(session, polls={"salesforce": ["Lead"]}):
                got.append(found.poll)

    run_all([one] * 6)
    assert got == ["Lead"]


def test_a_page_of_two_thousand_events_is_stored_once(database: Database) -> None:
    many = events(*(str(number) for number in range(2_000)))
    with database.write() as session:
        assert inbox.add(session, "salesforce", many, NOW) == 2_000
        assert inbox.add(session, "salesforce", many, NOW) == 0
