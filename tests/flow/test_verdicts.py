"""What the CRM says of an assignment: another owner, a refusal, a record that is gone."""

import pytest

from connector import verdicts
from connector.errors import CrmPaced
from connector.model import (
    EntryKind,
    EventKind,
    ExistingOwner,
    Reason,
    Record,
    SkipReason,
    Status,
    WriteBack,
)
from connector.ports import Outcome, Result
from tests.builders import user
from tests.flow.conftest import Team


def told(team: Team, *ids: str) -> None:
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()


def set_by_hand(team: Team, record_id: str, owner: str) -> None:
    """A person sets the owner in the CRM, whose webhook tells of it."""
    team.crm.rows[record_id].owner_id = owner
    team.tell(record_id, kind=EventKind.OWNER_CHANGED, key=f"hand {owner}", owner=owner)
    team.work()


def turns(team: Team, pool: str, count: int) -> str:
    before = len(team.history(pool))
    team.leads(pool, *(f"T{before + number}" for number in range(count)))
    return team.given(pool)[before:]


@pytest.mark.parametrize(("policy", "then"), [("move", "ACAB"), ("ignore", "BCAB")])
def test_an_owner_set_by_hand_is_followed_as_the_policy_says(team, policy, then) -> None:
    pool = team.pool("ABC", manual=policy)
    told(team, "1")
    set_by_hand(team, "1", "h-B")
    row = team.history(pool)[-1]
    assert (row.user_id, row.status, row.reason) == ("B", Status.REASSIGNED, Reason.MANUAL)
    assert (row.actor, row.note) == (None, "the owner was set in the CRM")
    assert row.write_back is WriteBack.NONE
    assert turns(team, pool, 4) == then


def test_an_owner_who_is_no_user_takes_the_lead_away_and_the_turn_comes_back(team) -> None:
    pool = team.pool("AB")
    told(team, "1")
    set_by_hand(team, "1", "99")
    assert team.history(pool)[-1].user_id is None
    assert turns(team, pool, 3) == "ABA"


def test_quotas_follow_an_owner_set_by_hand(team) -> None:
    pool = team.pool("AB")
    team.change(pool, members={"A": {"daily_quota": 1}, "B": {"daily_quota": 1}})
    told(team, "1")
    set_by_hand(team, "1", "h-B")
    assert turns(team, pool, 2) == "A-"


def test_a_follow_of_what_a_newer_row_speaks_for_does_nothing(team) -> None:
    pool = team.pool("ABC")
    told(team, "1")
    (row,) = team.history(pool)
    team.reassign(row, "C")
    owner = ExistingOwner(owner_id="h-B", user=user("B"))
    with team.database.write() as session:
        verdicts.follow(session, row, owner, now=team.now)
    assert team.given(pool) == "AC"


def test_the_turn_of_a_record_that_is_gone_comes_back_once(team) -> None:
    pool = team.pool("AB")
    team.crm.read_errors = [None, CrmPaced("wait", pause_seconds=1)]
    told(team, "1")
    del team.crm.rows["1"]
    team.later(seconds=1)
    team.work()
    (_, entry) = team.journal(pool)
    assert entry.kind is EntryKind.RETURNED
    (row,) = team.history(pool)
    with team.database.write() as session:
        verdicts.return_turn(session, row, now=team.now)
    team.undo(row)
    assert [one.kind for one in team.journal(pool)] == ["snapshot", "returned"]
    standings = [one.standing for one in team.board(pool).pool.members]
    assert [(one.received, one.owed) for one in standings] == [(0, 1), (0, 0)]
    assert team.differs(pool) is None


def test_the_turn_of_a_record_that_is_gone_is_not_returned_to_who_has_it_no_more(team) -> None:
    pool = team.pool("AB")
    told(team, "1")
    (row,) = team.history(pool)
    team.reassign(row, "B")
    with team.database.write() as session:
        verdicts.return_turn(session, row, now=team.now)
    assert [one.kind for one in team.journal(pool)] == ["snapshot"]


def test_an_amended_decision_keeps_its_place_and_names_who_was_refused(team) -> None:
    pool = team.pool("ABC")
    team.crm.inactive |= {"h-A", "h-B"}
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.sequence, row.user_id, row.write_back) == (1, "C", WriteBack.DONE)
    refused = [skip.user_id for skip in row.skipped if skip.reason is SkipReason.REFUSED_BY_CRM]
    assert refused == ["A", "B"]
    assert [one.kind for one in team.journal(pool)][-1] == EntryKind.AMENDED
    assert team.differs(pool) is None


def test_a_lead_that_all_refusals_left_without_anybody_goes_out_later(team) -> None:
    pool = team.pool("AB")
    team.crm.inactive |= {"h-A", "h-B"}
    told(team, "1")
    assert team.history(pool)[0].status is Status.HELD
    team.crm.inactive.clear()
    team.put_user("B")  # as good as new
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    assert team.differs(pool) is None


def test_a_record_that_turns_a_user_down_goes_to_the_next_and_then_to_nobody(team) -> None:
    pool = team.pool("ABC")
    team.crm.refuse["1"] = Outcome(
        record_id="1", result=Result.REFUSED_OWNER, code="OWNER", message="not this one"
    )
    told(team, "1")
    (row,) = team.history(pool)
    assert (row.user_id, row.write_back) == ("B", WriteBack.DEAD)
    assert team.differs(pool) is None


def test_a_user_switched_off_before_the_write_hands_the_lead_on(team) -> None:
    pool = team.pool("AB")
    record = Record(connection="hubspot", object_type="contacts", id="1")
    team.crm.create("1")
    team.lead(pool, "L1", record=record)
    team.put_user("A", active=False)
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    assert team.differs(pool) is None


def test_a_reassignment_that_the_crm_refuses_goes_to_the_next(team) -> None:
    pool = team.pool("ABC")
    told(team, "1")
    team.crm.inactive.add("h-B")
    team.reassign(team.history(pool)[0], "B")
    team.work()
    assert team.crm.owners()["1"] in ("h-A", "h-C")
    assert team.differs(pool) is None


def test_a_kept_owner_gives_the_turn_back(team) -> None:
    pool = team.pool("AB")
    record = Record(connection="hubspot", object_type="contacts", id="1")
    team.crm.create("1", owner="77")
    team.lead(pool, "L1", record=record)
    team.work()
    row = team.history(pool)[-1]
    assert (row.status, row.reason, row.user_id) == (Status.KEPT, Reason.KEPT_EXISTING_OWNER, None)
    assert turns(team, pool, 3) == "ABA"
