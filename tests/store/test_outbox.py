"""The outbox holds the owner that is wanted now; what came of an older wish changes nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from connector.model import Assignment, WriteBack
from connector.store import assignments, outbox
from connector.store.database import Database, Session
from connector.store.outbox import OutboxItem, WantedOwner
from tests.store.builders import NOW, want_owners

LATER = NOW + timedelta(minutes=1)


def due(session: Session, limit: int = 100) -> list[OutboxItem]:
    return outbox.due(session, "hubspot", LATER, limit)


def state(session: Session, record_id: str = "1") -> OutboxItem:
    return outbox.of_records(session, "hubspot", "contacts", [record_id])[record_id]


def written(session: Session, assignment_id: str) -> WriteBack:
    row = assignments.get(session, assignment_id)
    assert isinstance(row, Assignment)
    return row.write_back


def want_another(
    session: Session, assignment_id: str, owner_id: str = "new", replaces: tuple[str, ...] = ()
) -> None:
    outbox.add(
        session,
        [
            WantedOwner(
                connection="hubspot",
                object_type="contacts",
                record_id="1",
                owner_id=owner_id,
                assignment_id=assignment_id,
                replaces=replaces,
            )
        ],
        LATER,
    )


def test_a_wanted_owner_is_due_at_once(database: Database) -> None:
    with database.write() as session:
        (assignment_id,) = want_owners(session, "1")
        (item,) = due(session)
        assert (item.record_id, item.owner_id, item.version) == ("1", "5501", 1)
        assert (item.attempts, item.status, item.due_at) == (1, "ready", NOW)
        found = outbox.of_assignments(session, [assignment_id, "other"])
        assert found == {assignment_id: item}


def test_a_newer_wish_replaces_the_older_one(database: Database) -> None:
    with database.write() as session:
        (assignment_id,) = want_owners(session, "1")
        (first,) = due(session)
        outbox.postpone(session, [first], due_at=LATER + timedelta(1), failing_since=NOW, error="x")
        want_another(session, assignment_id)
        (second,) = due(session)
        assert (second.id, second.version, second.owner_id) == (first.id, 2, "new")
        assert (second.attempts, second.failing_since, second.last_error) == (1, None, None)


def test_the_owner_that_may_be_written_over_is_handed_on(database: Database) -> None:
    with database.write() as session:
        (assignment_id,) = want_owners(session, "1")
        assert [item.replaces for item in due(session)] == [()]
        want_another(session, assignment_id, replaces=("5501", "5502"))
        assert [item.replaces for item in due(session)] == [("5501", "5502")]
        want_another(session, assignment_id)
        assert [item.replaces for item in due(session)] == [()]


def test_the_last_of_two_wishes_in_one_call_wins(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1", "1")
        assert [item.version for item in due(session)] == [1]


@pytest.mark.parametrize("end", ["done", "kept", "dead"])
def test_a_settled_write_is_over_and_its_assignment_says_so(database: Database, end: str) -> None:
    with database.write() as session:
        one, two = want_owners(session, "1", "2")
        sent, _ = due(session)
        settle(session, end, sent)
        assert [item.record_id for item in due(session)] == ["2"]
        assert (written(session, one), written(session, two)) == (end, WriteBack.PENDING)
        assert (state(session).status, state(session).finished_at) == (end, LATER)


@pytest.mark.parametrize("end", ["done", "kept", "dead", "postponed", "given back"])
def test_a_wish_that_changed_during_the_call_stays_ready(database: Database, end: str) -> None:
    with database.write() as session:
        (assignment_id,) = want_owners(session, "1")
        (sent,) = due(session)
    with database.write() as session:
        want_another(session, assignment_id)
    with database.write() as session:
        settle(session, end, sent)
        assert written(session, assignment_id) is WriteBack.PENDING
        (item,) = due(session)
        assert (item.owner_id, item.attempts, item.last_error) == ("new", 1, None)


def test_a_write_for_a_superseded_assignment_is_still_told_of(database: Database) -> None:
    with database.write() as session:
        (old,) = want_owners(session, "1")
        (sent,) = due(session)
        (new,) = want_owners(session, "1", owner_id="5502")
        assert written(session, old) is WriteBack.NONE
        outbox.settle_done(session, [sent], LATER)
        assert (written(session, old), written(session, new)) == ("done", "pending")


def test_dead_writes_keep_their_own_words_each(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1", "2", "3")
        one, two, three = due(session)
        outbox.kill(session, {one: ("gone", "No such \x00 record"), two: ("rule", None)}, LATER)
        assert (state(session).last_error, state(session).crm_message) == (
            "gone",
            "No such \ufffd record",
        )
        assert (state(session, "2").last_error, state(session, "2").crm_message) == ("rule", None)
        assert state(session, "3").status == "ready"
        outbox.kill(session, {three: ("rule", None)}, LATER)
        outbox.kill(session, {}, LATER)
        assert due(session) == []


def test_a_postponed_write_counts_and_remembers_its_first_failure(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1")
        for failing_since in (NOW, LATER):
            outbox.postpone(
                session,
                due(session),
                due_at=LATER,
                failing_since=failing_since,
                error="timeout",
                crm_message="slow",
            )
        (item,) = due(session)
        assert (item.attempts, item.failing_since) == (3, NOW)
        assert (item.last_error, item.crm_message) == ("timeout", "slow")


def test_a_write_given_back_does_not_count(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1")
        outbox.give_back(session, due(session))
        (item,) = due(session)
        assert item.attempts == 1


def test_a_batch_is_of_one_object_type_oldest_first(database: Database) -> None:
    with database.write() as session:
        want_owners(session, "1")
        want_owners(session, "9", object_type="leads")
        want_owners(session, "2", "3")
        assert [item.record_id for item in due(session, limit=2)] == ["1", "2"]
        outbox.settle_done(session, due(session), LATER)
        assert [item.record_id for item in due(session)] == ["9"]


def settle(session: Session, end: str, sent: OutboxItem) -> None:
    match end:
        case "done":
            outbox.settle_done(session, [sent], LATER)
        case "kept":
            outbox.settle_kept(session, [sent], LATER)
        case "dead":
            outbox.kill(session, {sent: ("x", "y")}, LATER)
        case "postponed":
            outbox.postpone(
                session, [sent], due_at=LATER + timedelta(1), failing_since=NOW, error="x"
            )
        case "given back":
            outbox.give_back(session, [sent])
