"""What was recorded is what the rules say; whatever was changed by hand is found."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from connector.model import Lead
from connector.store import schema
from connector.store.tables import assignments, journal, pool_members, pool_state
from tests.flow.conftest import Team
from tests.flow.life import Life


@pytest.mark.parametrize("seed", [105, 111])
def test_a_long_life_is_replayed_to_the_same_decisions_and_the_same_board(team, seed) -> None:
    life = Life(team, seed)
    life.go(100)
    assert [team.differs(pool) for pool in life.pools] == [None, None]
    kinds = {entry.kind for pool in life.pools for entry in team.journal(pool)}
    assert {"snapshot", "edited"} <= kinds


def busy(team: Team) -> str:
    """A pool with decisions, edits and changes by hand; its audit finds nothing."""
    team.put_user("X")
    pool = team.pool("ABC", strategy="weighted", weights="211")
    first, *_ = team.leads(pool, *(Lead(id=f"L{number}") for number in range(1, 6)))
    team.change(pool, members={"B": {"weight": 3}})
    team.reassign(first, "X")
    team.reject(team.lead(pool, "L6"))
    team.change(pool, name="Renamed")
    team.leads(pool, "L7", "L8")
    assert team.differs(pool) is None
    return pool


def row(sequence: int, **values: Any) -> Any:
    return update(assignments).where(assignments.c.sequence == sequence).values(values)


def entry(number: int) -> Any:
    return journal.c.number == number


CHANGES = {
    "a user": row(2, user_id="C"),
    "a user who was chosen by hand": row(6, user_id="B"),
    "a status": row(3, status="reassigned"),
    "a reason": row(3, reason="owed"),
    "that a lead counts": row(2, counted=False),
    "that a row speaks for its lead": row(3, current=False),
    "a lead": row(3, lead_id="L99"),
    "an e-mail": row(3, email="other@firm.com"),
    "whom others follow": row(3, sticky_user_id="C"),
    "what sort of lead it is": row(3, kind="task"),
    "the kind of an entry": update(journal).where(journal.c.number == 2).values(kind="snapshot"),
    "a row in the middle": delete(assignments).where(assignments.c.sequence == 4),
    "the last row": delete(assignments).where(assignments.c.sequence == 10),
    "the cursor": update(pool_state).values(last_assigned_member_id=None),
    "the last sequence": update(pool_state).values(last_sequence=pool_state.c.last_sequence + 1),
    "a counter": update(pool_members).where(pool_members.c.user_id == "A").values(received=99),
    "a balance": update(pool_members).where(pool_members.c.user_id == "A").values(taken=99),
    "a turn that is owed": update(pool_members).values(owed=1),
    "a weight": update(pool_members).where(pool_members.c.user_id == "A").values(weight=9),
    "the beginning of the journal": delete(journal).where(entry(1)),
    "a row of the journal": delete(journal).where(entry(2)),
    "the last row of the journal": delete(journal).where(entry(3)),
    "what the journal tells": update(journal).where(entry(2)).values(body={"config": {}}),
    "where the journal tells it": update(journal).where(entry(2)).values(after_sequence=7),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_what_somebody_changed_by_hand_is_found(team, changed) -> None:
    pool = busy(team)
    with team.database.write() as session:
        assert session.execute(CHANGES[changed]).rowcount
    assert team.differs(pool)


def test_a_row_that_somebody_slipped_in_is_found(team) -> None:
    pool = busy(team)
    with team.database.write() as session:
        last = session.execute(select(assignments).where(assignments.c.sequence == 10)).one()
        more = {"id": "slipped in", "sequence": 11, "lead_id": "L99", "current": True}
        session.execute(insert(assignments).values(dict(last._mapping) | more))
    assert team.differs(pool)


def test_the_first_difference_is_told_in_a_sentence_with_its_sequence(team) -> None:
    pool = busy(team)
    with team.database.write() as session:
        session.execute(CHANGES["a user"])
    assert team.differs(pool) == "sequence 2: user is recorded as C, the rules say B"


def test_absences_that_ended_meanwhile_are_no_difference(team) -> None:
    pool = team.pool("AB", skip="hold")
    team.put_user("X")
    team.change(pool, none_available="fallback", fallback_user_id="X")
    for name in "AX":
        team.absent(name, hours=2)
    team.leads(pool, "L1", "L2")
    team.later(days=10)
    assert team.differs(pool) is None
    team.leads(pool, "L3", "L4")
    team.put_user("A", daily_quota=3)
    assert team.differs(pool) is None


def test_a_pool_that_is_older_than_the_journal_is_audited_from_its_snapshot_on(team) -> None:
    pool = team.pool("AB")
    row, *_ = team.leads(pool, "L1", "L2", "L3")
    with team.database.write() as session:
        session.execute(delete(journal))
        session.execute(update(pool_state).values(entries=0))
    schema.upgrade(team.database)
    assert team.differs(pool) is None
    team.change(pool, members={"A": {"daily_quota": 3}, "B": {"daily_quota": 2}})
    team.leads(pool, "L4", "L5", "L6")
    team.reject(row)
    assert team.given(pool) == "ABABA--"
    assert team.differs(pool) is None
