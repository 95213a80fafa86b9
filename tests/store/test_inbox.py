"""Each event is stored once and worked off, however often it is told."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select

from connector.model import EventKind, LeadEvent
from connector.store import inbox, tables
from connector.store.database import Database, Session
from tests.store.builders import NOW, events

LATER = NOW + timedelta(minutes=1)


def due(session: Session, limit: int = 100) -> list[inbox.InboxItem]:
    return inbox.due(session, "hubspot", LATER, limit)


def kept(session: Session, key: str) -> tuple[str, str | None, bool]:
    row = session.execute(select(tables.inbox).where(tables.inbox.c.event_key == key)).one()
    return row.status, row.reason, row.finished_at is not None


def test_an_event_comes_back_as_it_came_in(database: Database) -> None:
    event = LeadEvent(
        key="k",
        kind=EventKind.OWNER_CHANGED,
        object_type="contacts",
        record_id="88000000123",
        occurred_at=NOW - timedelta(seconds=5),
        owner_id="",
        account="62515",
        payload={"a": [1, None, "ü"]},
    )
    with database.write() as session:
        assert inbox.add(session, "hubspot", [event], NOW) == 1
        (item,) = due(session)
    assert item.event == event
    assert (item.attempts, item.failing_since) == (1, None)


def test_an_event_told_again_is_stored_once(database: Database) -> None:
    with database.write() as session:
        assert inbox.add(session, "hubspot", events("a", "b", "a"), NOW) == 2
        assert inbox.add(session, "hubspot", events("b", "c"), NOW) == 1
        assert inbox.add(session, "salesforce", events("a"), NOW) == 1
        assert inbox.add(session, "hubspot", [], NOW) == 0
        assert [item.event.key for item in due(session)] == ["a", "b", "c"]


def test_an_ignored_event_is_kept_with_its_reason_and_never_due(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a", ignored="other_portal"), NOW)
        assert due(session) == []
        assert kept(session, "a") == ("ignored", "other_portal", True)


def test_a_batch_is_of_one_object_type_oldest_first(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        inbox.add(session, "hubspot", events("b", object_type="leads"), NOW)
        inbox.add(session, "hubspot", events("c", "d"), NOW)
        assert [item.event.key for item in due(session, limit=2)] == ["a", "c"]
        inbox.finish(session, [item.id for item in due(session)], LATER)
        assert [item.event.key for item in due(session)] == ["b"]


def test_every_way_to_end_an_event_takes_it_out(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a", "b", "c"), NOW)
        a, b, c = (item.id for item in due(session))
        inbox.finish(session, [a], LATER)
        inbox.ignore(session, [b], "no_record", LATER)
        inbox.kill(session, [c], "gave_up", LATER)
        assert due(session) == []
        assert kept(session, "a") == ("done", None, True)
        assert kept(session, "b") == ("ignored", "no_record", True)
        assert kept(session, "c") == ("dead", "gave_up", True)


def test_a_postponed_event_counts_and_remembers_its_first_failure(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        (item,) = due(session)
        inbox.postpone(
            session, [item.id], due_at=LATER + timedelta(seconds=1), failing_since=LATER, error="x"
        )
        assert due(session) == []
        (item,) = inbox.due(session, "hubspot", LATER + timedelta(seconds=1), 9)
        assert (item.attempts, item.failing_since) == (2, LATER)
        inbox.postpone(
            session, [item.id], due_at=LATER, failing_since=LATER + timedelta(hours=1), error="x"
        )
        (item,) = due(session)
        assert (item.attempts, item.failing_since) == (3, LATER)


def test_an_event_given_back_does_not_count(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        (item,) = due(session)
        inbox.postpone(session, [item.id], due_at=LATER, failing_since=NOW, error="x")
        (item,) = due(session)
        inbox.give_back(session, [item.id])
        (item,) = due(session)
        assert (item.attempts, item.failing_since) == (2, None)


def test_an_event_that_has_ended_is_not_revived(database: Database) -> None:
    with database.write() as session:
        inbox.add(session, "hubspot", events("a"), NOW)
        (item,) = due(session)
        inbox.finish(session, [item.id], LATER)
        inbox.postpone(session, [item.id], due_at=LATER, failing_since=NOW, error="x")
        inbox.kill(session, [item.id], "x", LATER)
        assert kept(session, "a") == ("done", None, True)
