"""Owners that the CRM loses are written once more, and then no more: we fight nobody."""

from __future__ import annotations

from connector.model import EventKind, Status, WriteBack
from connector.ports import OVERRIDDEN, Outcome, Result
from connector.store import outbox


def lose(team, record_id: str, key: str) -> None:
    """Something in the CRM takes the record away from its owner, and a message tells of it."""
    team.later(minutes=1)
    team.crm.rows[record_id].owner_id = None
    team.tell(record_id, kind=EventKind.CHANGED, key=key)
    team.work()


def served(team) -> str:
    """A pool of A and B, and a record that A has."""
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    return pool


def write_of(team, pool: str) -> outbox.OutboxItem:
    (row,) = team.history(pool)
    with team.database.read() as session:
        return outbox.of_assignments(session, [row.id])[row.id]


def test_an_owner_that_got_lost_is_written_once_more_for_the_same_user(team) -> None:
    pool = served(team)
    lose(team, "1", "first")
    (row,) = team.history(pool)
    assert (row.user_id, row.write_back) == ("A", WriteBack.DONE)
    assert team.crm.owners() == {"1": "h-A"}
    assert len(team.crm.writes) == 2


def test_what_is_lost_again_is_a_dead_letter_that_says_why_and_is_left_alone(team) -> None:
    pool = served(team)
    for key in ("first", "second", "third", "fourth"):
        lose(team, "1", key)
    (row,) = team.history(pool)
    assert row.write_back is WriteBack.DEAD
    assert team.crm.owners() == {"1": None}
    assert len(team.crm.writes) == 2
    assert write_of(team, pool).last_error == OVERRIDDEN
    assert "reassign the lead" in str(write_of(team, pool).crm_message)
    assert team.lead(pool, "next").user_id == "B"
    assert team.differs(pool) is None


def test_whoever_gets_the_lead_then_is_written_and_may_be_lost_once_too(team) -> None:
    pool = served(team)
    for key in ("first", "second"):
        lose(team, "1", key)
    team.reassign(team.history(pool)[0], to="B")
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    lose(team, "1", "third")
    assert team.crm.owners() == {"1": "h-B"}
    assert team.history(pool)[-1].status is Status.REASSIGNED


def test_a_write_that_failed_for_good_is_tried_again_whenever_the_record_changes(team) -> None:
    pool = team.pool("AB")
    never = Outcome(record_id="", result=Result.NEVER, code="RULE", message="Region is missing")
    team.crm.refuse = {"1": never}
    team.crm.create("1")
    team.tell("1")
    team.work()
    for key in ("first", "second"):
        team.tell("1", kind=EventKind.CHANGED, key=key)
        team.work()
        assert team.history(pool)[0].write_back is WriteBack.DEAD
    team.crm.refuse = {}
    team.tell("1", kind=EventKind.CHANGED, key="third")
    team.work()
    assert team.history(pool)[0].write_back is WriteBack.DONE


def test_what_the_crm_called_overridden_is_not_sent_again(team) -> None:
    pool = team.pool("AB")
    fought = Outcome(record_id="", result=Result.NEVER, code=OVERRIDDEN, message="a flow took it")
    team.crm.refuse = {"1": fought}
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.refuse = {}
    lose(team, "1", "first")
    assert team.history(pool)[0].write_back is WriteBack.DEAD
    assert len(team.crm.writes) == 1
