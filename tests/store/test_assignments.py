"""History rows hold the whole decision, and one row speaks for a lead at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError

from connector.model import (
    ExistingOwner,
    GivenBack,
    LeadKind,
    Reason,
    Route,
    Skip,
    SkipReason,
    Slot,
    Status,
    StickyCheck,
    StickyStep,
    Turn,
    WriteBack,
)
from connector.store import assignments, tables
from connector.store.assignment_rows import outcome, row_of, with_outcome
from connector.store.database import Database, Session
from tests import builders
from tests.store.builders import NOW, contact, decision, empty_pool, put, user

ALICE = user("a", hubspot="5501")
HOUR = timedelta(hours=1)
TURN = Turn(member_id=7, user_id="a", sequence=42, at=NOW, shares={7: 3, 9: 1})


@pytest.fixture
def pool_id(database: Database) -> str:
    with database.write() as session:
        put(session, ALICE, user("b"))
        return empty_pool(session)


def record(session: Session, first: int, *decisions: Any) -> list[Any]:
    return assignments.record(session, decisions, first_sequence=first)


def test_a_decision_comes_back_with_every_reason(database: Database, pool_id: str) -> None:
    made = decision(
        pool_id,
        "hubspot:contacts:1",
        ALICE,
        kind=LeadKind.MEETING,
        record=contact("1"),
        email="x@example.com",
        company="X",
        attributes={"country": "DE", "size": 3},
        slot=Slot(starts_at=NOW, ends_at=NOW + HOUR),
        turn=TURN,
        counted=True,
        reason=Reason.STICKY,
        sticky_step=StickyStep.EARLIER_ASSIGNMENT,
        stands_in_for="b",
        skipped=(
            Skip(user_id="b", reason=SkipReason.ABSENT, detail="vacation", until=NOW + HOUR),
            Skip(user_id="c", reason=SkipReason.NO_OWNER, detail="none in hubspot"),
        ),
        checks=(StickyCheck(step=StickyStep.EXISTING_OWNER, user_id=None, outcome="no owner"),),
        order=("b", "a"),
        order_after=("a", "b"),
        actor="crm",
        note="as the client asked",
        route=Route(pool_id=pool_id, territory="DACH", passed=("US: country is DE",)),
    )
    with database.write() as session:
        (row,) = record(session, 42, made)
    with database.read() as session:
        assert assignments.get(session, row.id) == row
    assert (row.sequence, row.status, row.reason) == (42, Status.ASSIGNED, Reason.STICKY)
    assert (row.user_id, row.user_name, row.owner_id) == ("a", "A", "5501")
    assert (row.turn, row.counted, row.slot) == (TURN, True, made.lead.slot)
    assert (row.stands_in_for, row.actor, row.note) == ("b", made.actor, made.note)
    assert (row.kind, row.record, row.current) == (LeadKind.MEETING, contact("1"), True)
    assert (row.skipped, row.checks) == (made.skipped, made.checks)
    assert (row.order, row.order_after, row.route) == (made.order, made.order_after, made.route)
    assert (row.assigned_at, row.write_back) == (NOW, WriteBack.PENDING)


@pytest.mark.parametrize(
    ("what", "owner_id", "write_back"),
    [
        ({"record": contact("1")}, "5501", WriteBack.PENDING),
        ({"record": contact("1"), "status": Status.REASSIGNED}, "5501", WriteBack.PENDING),
        ({"record": contact("1"), "status": Status.REJECTED}, "5501", WriteBack.PENDING),
        ({"record": contact("1"), "reason": Reason.MANUAL}, "5501", WriteBack.PENDING),
        (
            {
                "record": contact("1"),
                "status": Status.REASSIGNED,
                "reason": Reason.MANUAL,
                "existing_owner": ExistingOwner(owner_id="77", user=ALICE),
            },
            "77",
            WriteBack.NONE,
        ),
        (
            {"record": contact("1"), "existing_owner": ExistingOwner(owner_id="77")},
            "5501",
            WriteBack.PENDING,
        ),
        ({"record": contact("1", "salesforce")}, None, WriteBack.NONE),
        ({}, None, WriteBack.NONE),
        (
            {
                "record": contact("1"),
                "status": Status.KEPT,
                "reason": Reason.STICKY,
                "existing_owner": ExistingOwner(owner_id="77", user=ALICE),
            },
            "77",
            WriteBack.NONE,
        ),
    ],
    ids=[
        "assigned",
        "reassigned",
        "rejected: the next one",
        "by hand here",
        "by hand in the CRM",
        "in place of the CRM's owner",
        "no owner there",
        "no record",
        "kept",
    ],
)
def test_an_owner_is_to_be_written_only_when_we_chose_it(
    database: Database,
    pool_id: str,
    what: dict[str, Any],
    owner_id: str | None,
    write_back: WriteBack,
) -> None:
    with database.write() as session:
        (row,) = record(session, 1, decision(pool_id, "x", ALICE, **what))
    assert (row.owner_id, row.write_back) == (owner_id, write_back)


def test_a_newer_row_of_the_same_lead_speaks_for_it(database: Database, pool_id: str) -> None:
    with database.write() as session:
        (held,) = record(session, 1, decision(pool_id, "x"))
        (given,) = record(session, 2, decision(pool_id, "x", ALICE))
        assert assignments.current_of_leads(session, pool_id, ["x", "y"]) == {"x": given}
        old = assignments.get(session, held.id)
    assert old is not None
    assert old.current is False


def test_of_two_rows_of_one_lead_in_one_call_the_last_speaks(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        _, last = record(session, 1, decision(pool_id, "x"), decision(pool_id, "x", ALICE))
        assert assignments.current_of_leads(session, pool_id, ["x"]) == {"x": last}


def test_another_pool_keeps_its_own_row_of_the_lead(database: Database, pool_id: str) -> None:
    with database.write() as session:
        other = empty_pool(session)
        (first,) = record(session, 1, decision(pool_id, "x", ALICE))
        (second,) = record(session, 1, decision(other, "x", ALICE))
        assert assignments.current_of_leads(session, pool_id, ["x"]) == {"x": first}
        assert assignments.current_of_leads(session, other, ["x"]) == {"x": second}


def test_a_newer_row_of_the_same_record_speaks_for_it_in_any_pool(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        other = empty_pool(session)
        (first,) = record(session, 1, decision(pool_id, "x", ALICE, record=contact("1")))
        (second,) = record(session, 1, decision(other, "y", ALICE, record=contact("1")))
        found = assignments.current_of_records(session, "hubspot", "contacts", ["1", "2"])
        assert found == {"1": second}
        assert assignments.current_of_records(session, "hubspot", "leads", ["1"]) == {}
        old = assignments.get(session, first.id)
    assert old is not None
    assert (old.current, old.write_back) == (False, WriteBack.NONE)


def test_a_lead_held_without_a_pool_no_longer_waits_once_a_pool_took_it(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        (first, _) = assignments.record(
            session, [decision(None, "x"), decision(None, "y")], first_sequence=None
        )
        assert (first.pool_id, first.sequence) == (None, None)
        assert assignments.current_of_leads(session, None, ["x"]) == {"x": first}
        record(session, 1, decision(pool_id, "x", ALICE))
        assert [row.lead_id for row in assignments.poolless_held(session, after="", limit=10)] == [
            "y"
        ]


def test_held_leads_wait_in_order_until_they_are_given(database: Database, pool_id: str) -> None:
    with database.write() as session:
        other = empty_pool(session)
        record(session, 1, *(decision(pool_id, lead) for lead in "zab"))
        record(session, 4, decision(pool_id, "given", ALICE))
        record(session, 1, decision(other, "given", ALICE))
        waiting = assignments.held(session, pool_id, connections={None}, after_sequence=0, limit=2)
        assert [row.lead_id for row in waiting] == ["z", "a"]
        assert (
            assignments.held(session, pool_id, connections={"hubspot"}, after_sequence=0, limit=2)
            == []
        )
        assert assignments.pools_with_held(session, [pool_id]) == [pool_id]
        record(session, 5, *(decision(pool_id, lead, ALICE) for lead in "zab"))
        assert (
            assignments.held(session, pool_id, connections={None}, after_sequence=0, limit=2) == []
        )
        assert assignments.pools_with_held(session, [pool_id]) == []


def test_a_row_counts_until_a_decision_gives_it_back(database: Database, pool_id: str) -> None:
    with database.write() as session:
        (first,) = record(session, 1, decision(pool_id, "x", ALICE, counted=True))
        (second,) = record(session, 2, decision(pool_id, "x", ALICE, counted=True))
        given = GivenBack(assignment_id=second.id, user_id="a", turn=None, counted_at=NOW)
        (third,) = record(
            session, 3, decision(pool_id, "x", user("b"), counted=True, gives_back=given)
        )
        found = assignments.find(session, [first.id, second.id, third.id])
    assert [found[row.id].counted for row in (first, second, third)] == [True, False, True]
    assert found[third.id].gives_back == given


def test_the_board_of_each_decision_is_given_or_none(database: Database, pool_id: str) -> None:
    with database.write() as session, pytest.raises(ValueError, match="board of each decision"):
        assignments.record(
            session,
            [decision(pool_id, "x"), decision(pool_id, "y")],
            first_sequence=1,
            boards=[builders.strict("A")],
        )


def test_rows_of_one_moment_have_ids_in_the_order_they_were_made(
    database: Database, pool_id: str
) -> None:
    made: list[str] = []
    with database.write() as session:
        for first in range(1, 40, 4):
            names = [f"L{number}" for number in range(first, first + 4)]
            made += [
                row.id for row in record(session, first, *(decision(pool_id, n) for n in names))
            ]
    assert made == sorted(made)


def test_the_current_rows_of_a_user_come_oldest_first(database: Database, pool_id: str) -> None:
    with database.write() as session:
        other = empty_pool(session)
        record(session, 1, decision(other, "there", ALICE))
        record(session, 1, *(decision(pool_id, lead, ALICE) for lead in "zyx"))
        record(session, 4, decision(pool_id, "y", user("b")))
        rows = assignments.current_of_user(session, pool_id, "a", 10)
        assert [row.lead_id for row in rows] == ["z", "x"]
        assert assignments.current_of_user(session, pool_id, "a", 1) == rows[:1]
        behind = assignments.current_of_user(session, pool_id, "a", 10, after_sequence=1)
        assert behind == rows[1:]


def test_an_amended_row_keeps_its_place(database: Database, pool_id: str) -> None:
    bob = user("b", hubspot="5502")
    skip = Skip(user_id="a", reason=SkipReason.REFUSED_BY_CRM)
    with database.write() as session:
        asked = decision(pool_id, "x", ALICE, record=contact("1"), actor="kim", note="please")
        (row,) = record(session, 1, asked)
        later = NOW + HOUR
        turn = Turn(member_id=9, user_id="b", sequence=1, at=later)
        board = replace(builders.strict("B"), elsewhere={"b": (NOW,)})
        amended = assignments.amend(
            session,
            row.id,
            decision(
                pool_id,
                "x",
                bob,
                record=contact("1"),
                turn=turn,
                counted=True,
                skipped=(skip,),
                order=("a", "b"),
                decided_at=later,
                actor="somebody else",
            ),
            board,
        )
    assert (amended.id, amended.sequence, amended.assigned_at) == (row.id, 1, NOW)
    assert (amended.user_id, amended.user_name, amended.owner_id) == ("b", "b".upper(), "5502")
    assert (amended.turn, amended.skipped, amended.order) == (turn, (skip,), ("a", "b"))
    assert (amended.write_back, amended.counted) == (WriteBack.PENDING, True)
    assert (amended.actor, amended.note) == ("kim", "please")
    assert amended.facts == {"elsewhere": {"b": [NOW.isoformat()]}}


def test_an_amended_row_can_be_seen_as_it_was(database: Database, pool_id: str) -> None:
    made = decision(
        pool_id,
        "x",
        ALICE,
        turn=TURN,
        counted=True,
        stands_in_for="b",
        order=("a", "b"),
        skipped=(Skip(user_id="b", reason=SkipReason.BUSY, until=NOW + HOUR),),
        anew="its owner was cleared",
    )
    with database.write() as session:
        (row,) = record(session, 1, made)
        was = json.loads(json.dumps(outcome(row)))
        amended = assignments.amend(session, row.id, decision(pool_id, "x"), None)
    assert with_outcome(amended, was) == replace(row, user_name=None)
    assert with_outcome(amended, was) != amended


def test_the_write_back_of_many_rows_is_noted(database: Database, pool_id: str) -> None:
    with database.write() as session:
        rows = record(session, 1, *(decision(pool_id, lead, ALICE) for lead in "xyz"))
        assignments.set_write_back(session, [rows[0].id, rows[2].id], WriteBack.DONE)
        found = assignments.find(session, [row.id for row in rows])
    assert [found[row.id].write_back for row in rows] == ["done", "none", "done"]


def test_decisions_of_two_pools_are_not_recorded_in_one_call(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        with pytest.raises(ValueError, match="one pool at a time"):
            record(session, 1, decision(pool_id, "x"), decision(None, "y"))
        with pytest.raises(ValueError, match="first sequence"):
            record(session, 1, decision(None, "y"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"sequence": 1}, {"sequence": 1}),
        ({"sequence": 1, "lead_id": "x"}, {"sequence": 2, "lead_id": "x"}),
        ({"sequence": 1, "record_id": "1"}, {"sequence": 2, "record_id": "1"}),
        ({"pool_id": None, "lead_id": "x"}, {"pool_id": None, "lead_id": "x"}),
        ({"sequence": 1}, {"sequence": 0}),
        ({"sequence": 1}, {"sequence": None}),
        ({"sequence": 1}, {"sequence": 2, "status": "unheard"}),
        ({"sequence": 1}, {"sequence": 2, "user_id": "nobody"}),
        ({"sequence": 1}, {"sequence": 2, "status": "held"}),
        ({"sequence": 1}, {"sequence": 2, "user_id": None}),
    ],
    ids=[
        "one sequence twice",
        "two current rows of a lead",
        "two current rows of a record",
        "two current rows without a pool",
        "a sequence below one",
        "no sequence in a pool",
        "an unknown status",
        "an unknown user",
        "held with a user",
        "assigned without a user",
    ],
)
def test_the_database_itself_refuses(
    database: Database, pool_id: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> None:
    def raw(number: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        made = decision(pool_id, f"L{number}", ALICE, record=contact(str(number * 9)))
        return row_of(made, board=None) | fields

    with database.write() as session:
        session.execute(insert(tables.assignments), [raw(1, first)])
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(insert(tables.assignments), [raw(2, second)])


def test_a_row_that_no_longer_speaks_leaves_room_for_the_next(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        for sequence in (1, 2, 3):
            record(session, sequence, decision(pool_id, "x", ALICE, record=contact("1")))
        count = text('SELECT count(*) FROM assignments WHERE NOT "current"')
        assert session.scalar(count) == 2
