"""People reassign, reject and undo: turn, quota and the owner in the CRM follow."""

from dataclasses import replace

import pytest

from connector.errors import Conflict, NotFound
from connector.model import EventKind, Lead, Reason, Record, Status, WriteBack
from connector.store import assignments
from tests.builders import owned_by, user
from tests.flow.conftest import Team


def contact(record_id: str = "1") -> Record:
    return Record(connection="hubspot", object_type="contacts", id=record_id)


def code_of(refused: pytest.ExceptionInfo[Conflict]) -> str:
    return refused.value.code


def told_and_written(team: Team, pool: str, record_id: str = "1"):
    """The row of a record that came by webhook and whose owner the CRM shows."""
    team.crm.create(record_id)
    team.tell(record_id)
    team.work()
    return team.history(pool)[-1]


def test_a_reassigned_lead_moves_its_turn_from_the_old_to_the_new_user(team) -> None:
    pool = team.pool("ABC")
    moved = team.reassign(team.lead(pool, "L1"), "B", note="A is busy")
    assert (moved.user_id, moved.status, moved.reason) == ("B", Status.REASSIGNED, Reason.MANUAL)
    assert (moved.actor, moved.note, moved.sequence) == ("boss", "A is busy", 2)
    team.leads(pool, "L2", "L3", "L4", "L5")
    assert team.given(pool)[2:] == "ACAB"  # A is owed one, B is passed over once


def test_with_the_policy_ignore_a_reassigned_lead_leaves_the_turns_alone(team) -> None:
    pool = team.pool("ABC", manual="ignore")
    team.reassign(team.lead(pool, "L1"), "C")
    team.leads(pool, "L2", "L3", "L4")
    assert team.given(pool)[2:] == "BCA"


def test_reassign_without_a_user_takes_the_next_one_and_never_the_same(team) -> None:
    pool = team.pool("AB")
    row = team.reassign(team.lead(pool, "L1"))
    assert (row.user_id, row.status) == ("B", Status.REASSIGNED)
    row = team.reassign(row)
    assert (row.user_id, row.status) == ("A", Status.REASSIGNED)


def test_reassign_without_a_user_when_nobody_else_can_is_refused_and_changes_nothing(team) -> None:
    pool = team.pool("AB")
    row = team.lead(pool, "L1")
    team.absent("B", hours=1)
    with pytest.raises(Conflict) as refused:
        team.reassign(row)
    assert code_of(refused) == "no_member_available"
    assert team.given(pool) == "A"


def test_reassigning_needs_a_user_who_exists_and_does_not_have_the_lead(team) -> None:
    row = team.lead(team.pool("AB"), "L1")
    with pytest.raises(NotFound, match="'Z'"):
        team.reassign(row, "Z")
    with pytest.raises(Conflict) as refused:
        team.reassign(row, "A")
    assert code_of(refused) == "same_user"


def test_a_user_who_is_no_member_may_get_a_lead_and_uses_no_turn(team) -> None:
    pool = team.pool("AB")
    team.put_user("X")
    row = team.reassign(team.lead(pool, "L1"), "X")
    assert (row.user_id, row.turn) == ("X", None)
    team.leads(pool, "L2", "L3")
    assert team.given(pool)[2:] == "AB"


@pytest.mark.parametrize("limit", ["member", "user", "pool"])
def test_a_full_quota_refuses_a_reassignment_that_does_not_override_it(team, limit) -> None:
    pool = team.pool("AB", sticky_turn="free", daily_quota=2 if limit == "pool" else None)
    if limit == "member":
        team.change(pool, members={"B": {"daily_quota": 1}})
    if limit == "user":
        team.put_user("B", daily_quota=1)
    first, _ = team.leads(pool, "L1", "L2")
    free = team.lead(pool, "L3", existing_owner=owned_by(user("A")))
    row = free if limit == "pool" else first
    with pytest.raises(Conflict) as refused:
        team.reassign(row, "B")
    assert code_of(refused) == "quota_reached"
    assert team.reassign(row, "B", override=True).user_id == "B"


def test_a_full_pool_lets_a_lead_move_inside_it(team) -> None:
    pool = team.pool("AB", daily_quota=1)
    assert team.reassign(team.lead(pool, "L1"), "B").user_id == "B"


def test_quotas_move_with_the_lead(team) -> None:
    pool = team.pool("AB")
    team.change(pool, members={"A": {"daily_quota": 1}, "B": {"daily_quota": 1}})
    team.reassign(team.lead(pool, "L1"), "B")
    team.leads(pool, "L2", "L3")
    assert team.given(pool) == "ABA-"


def test_what_a_newer_row_speaks_for_is_superseded(team) -> None:
    pool = team.pool("ABC")
    row = team.lead(pool, "L1")
    team.reassign(row, "B")
    for change in (team.reassign, team.reject, team.undo):
        with pytest.raises(Conflict) as refused:
            change(row)
        assert code_of(refused) == "superseded"


def test_what_was_undone_cannot_be_changed_again(team) -> None:
    undone = team.undo(team.lead(team.pool("AB"), "L1"))
    for change in (team.reassign, team.reject, team.undo):
        with pytest.raises(Conflict) as refused:
            change(undone)
        assert code_of(refused) == "superseded"


def test_an_unknown_assignment_is_not_found(team) -> None:
    row = team.lead(team.pool("AB"), "L1")
    with pytest.raises(NotFound):
        team.undo(replace(row, id="unknown"))


def test_a_held_lead_can_be_given_to_somebody_by_hand(team) -> None:
    pool = team.pool("AB")
    away = [team.absent(name, hours=1) for name in "AB"]
    held = team.lead(pool, "L1")
    assert team.reassign(held, "B").user_id == "B"
    team.back("A", away[0])
    team.work()
    assert team.given(pool) == "-B"


def test_a_held_lead_has_nobody_to_give_it_back(team) -> None:
    pool = team.pool("A")
    team.absent("A", hours=1)
    with pytest.raises(Conflict) as refused:
        team.reject(team.lead(pool, "L1"))
    assert code_of(refused) == "not_assigned"


def test_a_lead_without_a_pool_can_be_given_by_hand_and_comes_by_no_turn(team) -> None:
    team.put_user("X")
    team.crm.create("1")
    team.tell("1")
    team.work()
    with team.database.read() as session:
        (held,) = assignments.all_held(session, after="", limit=9)
    with pytest.raises(Conflict) as refused:
        team.reassign(held)
    assert code_of(refused) == "no_pool"
    assert team.reassign(held, "X").user_id == "X"
    team.work()
    assert team.crm.owners() == {"1": "h-X"}


@pytest.mark.parametrize(("policy", "then"), [("credit", "ACAB"), ("no_credit", "CABC")])
def test_a_rejected_lead_goes_to_the_next_and_the_policy_says_if_the_turn_comes_back(
    team, policy, then
) -> None:
    pool = team.pool("ABC", reject=policy)
    row = team.reject(team.lead(pool, "L1"), note="not mine")
    assert (row.user_id, row.status, row.note) == ("B", Status.REJECTED, "not mine")
    team.leads(pool, "L2", "L3", "L4", "L5")
    assert team.given(pool)[2:] == then


def test_a_rejected_lead_never_returns_to_who_rejected_it(team) -> None:
    pool = team.pool("ABC")
    row = team.reject(team.lead(pool, "L1"))  # A
    row = team.reject(row)  # B
    row = team.reject(row)  # C: nobody is left
    assert row.status is Status.HELD
    team.later(hours=1)
    team.work()
    assert team.given(pool) == "ABC-"
    team.change(pool, add="D")
    team.work()
    row = team.history(pool)[-1]
    assert (row.user_id, team.given(pool)) == ("D", "ABC-D")
    team.undo(row)
    assert team.lead(pool, "L1").user_id == "D"


def test_a_record_that_was_rejected_never_returns_to_who_rejected_it(team) -> None:
    pool = team.pool("AB")
    team.reject(told_and_written(team, pool))
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    team.crm.rows["1"].owner_id = None
    team.tell("1", kind=EventKind.OWNER_CHANGED, key="cleared", owner="")
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    assert "A" not in team.given(pool)[1:]


def test_somebody_who_rejected_a_lead_is_given_it_only_by_insisting(team) -> None:
    pool = team.pool("AB")
    row = team.reject(team.lead(pool, "L1"))
    with pytest.raises(Conflict) as refused:
        team.reassign(row, "A")
    assert refused.value.code == "rejected_before"
    assert team.reassign(row, "A", override=True).user_id == "A"


def test_a_rejected_lead_does_not_leave_its_pool(team) -> None:
    other = team.pool("C", name="Other")
    pool = team.pool("A", name="First", none_available="fallback", fallback_pool_id=other)
    row = team.reject(team.lead(pool, "L1"))
    assert (row.status, row.pool_id) == (Status.HELD, pool)
    team.work()
    assert team.given(other) == ""


def test_asked_again_a_rejected_lead_answers_with_who_has_it_now(team) -> None:
    pool = team.pool("AB")
    row = team.reject(team.lead(pool, "L1"))
    assert team.lead(pool, "L1").id == row.id


def test_undo_gives_turn_and_quota_back_and_the_lead_is_new_again(team) -> None:
    pool = team.pool("AB")
    team.change(pool, members={"A": {"daily_quota": 1}})
    undone = team.undo(team.lead(pool, "L1"))
    assert (undone.user_id, undone.status, undone.counted) == (None, Status.UNDONE, False)
    again = team.lead(pool, "L1")
    assert (again.user_id, again.reason, again.sequence) == ("A", Reason.OWED, 3)


@pytest.mark.parametrize("strategy", ["weighted", "least_assigned"])
def test_undo_leaves_the_standings_as_if_the_lead_had_never_been(team, strategy) -> None:
    pool = team.pool("ABC", weights="321", strategy=strategy)
    team.leads(pool, "L1", "L2")
    before = [one.standing for one in team.board(pool).pool.members]
    team.undo(team.lead(pool, "L3"))
    after = [one.standing for one in team.board(pool).pool.members]
    assert [(s.received, s.taken, s.in_period) for s in after] == [
        (s.received, s.taken, s.in_period) for s in before
    ]


def test_a_reassigned_record_gets_its_new_owner_in_place_of_ours(team) -> None:
    pool = team.pool("ABC")
    team.reassign(told_and_written(team, pool), "C")
    team.work()
    assert team.crm.owners() == {"1": "h-C"}
    assert team.history(pool)[-1].write_back is WriteBack.DONE


def test_changes_faster_than_the_crm_is_written_end_with_the_last_owner(team) -> None:
    pool = team.pool("ABCD")
    row = told_and_written(team, pool)
    for name in "BCD":
        row = team.reassign(row, name)
    team.work()
    assert team.crm.owners() == {"1": "h-D"}


def test_a_new_owner_is_written_over_one_whose_reply_was_lost(team) -> None:
    pool = team.pool("ABC")
    row = team.reassign(told_and_written(team, pool), "B")
    team.crm.lose_replies = 1
    team.work()  # B stands in the CRM, and we do not know
    team.reassign(row, "C")
    team.later(minutes=5)
    team.work()
    assert team.crm.owners() == {"1": "h-C"}


def test_an_owner_whom_a_person_set_meanwhile_wins_over_a_reassignment(team) -> None:
    pool = team.pool("ABC")
    row = told_and_written(team, pool)
    team.crm.rows["1"].owner_id = "h-B"  # by hand
    team.reassign(row, "C")
    team.work()
    kept = team.history(pool)[-1]
    assert team.crm.owners() == {"1": "h-B"}
    assert (kept.status, kept.user_id) == (Status.KEPT, "B")


def test_undo_and_a_rejection_that_finds_nobody_withdraw_the_pending_write(team) -> None:
    pool = team.pool("A")
    for change in (team.undo, team.reject):
        row = team.lead(pool, f"L-{change.__name__}", record=contact())
        team.crm.create("1")
        change(row)
        team.work()
        assert team.crm.owners() == {"1": None}


def test_after_undo_our_owner_in_the_crm_is_written_over_by_the_next(team) -> None:
    pool = team.pool("AB")
    team.undo(told_and_written(team, pool))
    team.change(pool, members={"A": {"active": False}})
    assert team.lead(pool, "again", record=contact()).user_id == "B"
    team.work()
    assert team.crm.owners() == {"1": "h-B"}


def test_the_echo_of_an_owner_who_gave_it_back_is_no_news(team) -> None:
    pool = team.pool("AB")
    team.undo(told_and_written(team, pool))
    team.tell("1", kind=EventKind.OWNER_CHANGED, key="echo", owner="h-A")
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.ASSIGNED, Status.UNDONE]


def test_an_archived_pool_lets_nobody_change_its_assignments(team) -> None:
    pool = team.pool("AB")
    row = team.lead(pool, "L1")
    team.archive(pool)
    with pytest.raises(Conflict) as refused:
        team.reject(row)
    assert code_of(refused) == "pool_archived"


def test_asked_again_a_reassigned_lead_answers_with_who_has_it_now(team) -> None:
    pool = team.pool("AB")
    row = team.reassign(team.lead(pool, "L1"), "B")
    (again,) = team.leads(pool, Lead(id="L1"))
    assert (again.id, again.user_id) == (row.id, "B")


def test_a_lead_moves_within_a_pool_that_has_more_than_its_quota_already(team) -> None:
    pool = team.pool("AB", daily_quota=1)
    team.lead(pool, "L1")
    second = team.reassign(team.lead(pool, "L2"), "A", override=True)
    assert team.reassign(second, "B").user_id == "B"
