"""Records that take no owner any more, such as converted leads; their work goes on in others."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from connector.model import Status, WriteBack
from connector.ports import Outcome, Result
from connector.store import tables

CONVERTED = "the lead was converted"


def convert(team, record_id: str, *into: str, owner: str | None = None) -> None:
    """The CRM closes the record; ``into`` are records that it goes on in, made with this owner."""
    team.crm.create(*into, owner=owner)
    row = team.crm.rows[record_id]
    row.closed = CONVERTED
    row.goes_on_in = tuple(("companies", one) for one in into)


def decide_only(team, *ids: str) -> None:
    """Decided, while the CRM takes no owner yet."""
    again = Outcome(record_id="", result=Result.AGAIN, code="BUSY", message="later")
    team.crm.refuse = dict.fromkeys(ids, again)
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()


def written_to(team) -> set[str]:
    return {write.record_id for batch in team.crm.writes for write in batch}


@pytest.mark.parametrize("owner", [None, "h-A", "h-stranger"])
def test_nobody_gets_a_closed_record(team, owner) -> None:
    pool = team.pool("AB")
    team.crm.create("1", owner=owner)
    convert(team, "1")
    team.tell("1")
    team.work()
    assert team.history(pool) == []
    with team.database.read() as session:
        assert session.execute(select(tables.inbox.c.reason)).scalars().all() == ["record_closed"]
    assert written_to(team) == set()
    assert team.crm.looked_up == []


def test_a_lead_that_waits_is_closed_and_its_turn_goes_back(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    convert(team, "1")
    team.tell("1", key="converted")
    team.work()
    (row,) = [row for row in team.history(pool) if row.current]
    assert (row.status, row.note) == (Status.UNDONE, CONVERTED)
    assert team.lead(pool, "next").user_id == "A"
    assert team.differs(pool) is None


def test_a_write_that_finds_the_record_closed_leaves_no_dead_letter(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    writes = len(team.crm.writes)
    convert(team, "1", "2", owner=None)
    team.later(hours=1)
    team.work()
    first, closed, successor = team.history(pool)
    assert first.write_back is WriteBack.NONE
    assert (closed.status, closed.note) == (Status.UNDONE, CONVERTED)
    assert (successor.record.id, successor.user_id) == ("2", "A")
    assert {write.record_id for batch in team.crm.writes[writes:] for write in batch} == {"2"}
    assert team.differs(pool) is None


def test_a_held_lead_waits_no_more(team) -> None:
    pool = team.pool("A")
    absence = team.absent("A", hours=1)
    team.crm.create("1")
    team.tell("1")
    team.work()
    convert(team, "1")
    team.tell("1", key="converted")
    team.work()
    team.back("A", absence)
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.HELD, Status.UNDONE]
    assert written_to(team) == set()


def test_the_records_in_which_it_goes_on_are_routed_once(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    convert(team, "1", "2")
    for key in ("first", "second"):
        team.tell("1", key=key)
        team.work()
    (row,) = team.history(pool)
    assert (row.record.object_type, row.record.id, row.user_id) == ("companies", "2", "A")
    assert team.crm.owners() == {"1": None, "2": "h-A"}


def test_an_owner_of_the_record_in_which_it_goes_on_stays(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    convert(team, "1", "2", owner="h-B")
    team.tell("1")
    team.work()
    (row,) = team.history(pool)
    assert (row.status, row.user_id, row.turn) == (Status.KEPT, "B", None)


def test_what_was_written_before_stays_in_the_history(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    convert(team, "1")
    team.tell("1", key="converted")
    team.work()
    (row,) = team.history(pool)
    assert (row.status, row.write_back) == (Status.ASSIGNED, WriteBack.DONE)
    assert team.lead(pool, "next").user_id == "B"
