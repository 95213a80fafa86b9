"""An assignment comes back: turn and quota follow the lead as the pool's policies say."""

from dataclasses import replace

import pytest

from connector.engine import ledger
from connector.model import (
    ManualPolicy,
    NoneAvailable,
    Reason,
    RejectPolicy,
    SkipReason,
    Status,
    StickyTurn,
    Strategy,
)
from tests.builders import NOON, contact, excluding, lead, owned_by, under, user
from tests.engine.deals import pool_of
from tests.engine.histories import History

every_strategy = pytest.mark.parametrize("strategy", list(Strategy))


def begin(who="ABC", strategy=Strategy.STRICT, **policies) -> History:
    return History(pool_of(strategy, who, **policies))


def limit(history: History, name: str, quota: int) -> None:
    board = history.board
    members = tuple(
        replace(one, daily_quota=quota) if one.user.id == name else one
        for one in board.pool.members
    )
    history.board = replace(board, pool=replace(board.pool, members=members))


def word(history: History, count: int) -> str:
    """Who gets so many new leads; ``-`` is held."""
    start = len(history.rows)
    rows = [history.assign(lead(f"N{start + number}")) for number in range(count)]
    return "".join(row.user_id or "-" for row in rows)


def received(history: History) -> dict[str, int]:
    return {one.user.id: one.standing.received for one in history.board.pool.members}


def reasons(row) -> list:
    return [(skip.user_id, skip.reason) for skip in row.skipped]


def test_a_rejected_lead_goes_to_the_next_and_the_turn_comes_back_s104():
    history = begin()
    row = history.reject(history.assign(lead("L1")))
    assert (row.status, row.reason, row.user_id) == (Status.REJECTED, Reason.ROTATION, "B")
    assert word(history, 4) == "ACAB"


def test_without_credit_the_turn_stays_used_s104():
    history = begin(reject=RejectPolicy.NO_CREDIT)
    assert history.reject(history.assign(lead("L1"))).user_id == "B"
    assert word(history, 1) == "C"


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.LEAST_ASSIGNED])
def test_a_rejected_lead_counts_for_who_has_it_in_the_end(strategy):
    history = begin(strategy=strategy)
    history.reject(history.assign(lead("L1")))
    assert received(history) == {"A": 0, "B": 1, "C": 0}
    assert sorted(word(history, 2)) == ["A", "C"]


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.LEAST_ASSIGNED])
def test_without_credit_a_rejected_lead_counts_twice(strategy):
    history = begin(strategy=strategy, reject=RejectPolicy.NO_CREDIT)
    history.reject(history.assign(lead("L1")))
    assert received(history) == {"A": 1, "B": 1, "C": 0}
    assert word(history, 1) == "C"


@every_strategy
def test_a_lead_never_comes_back_to_anyone_who_rejected_it(strategy):
    history = begin(strategy=strategy)
    row = history.assign(lead("L1"))
    had = [row.user_id]
    for _ in range(2):
        row = history.reject(row)
        had.append(row.user_id)
    row = history.reject(row)
    assert sorted(had) == ["A", "B", "C"]
    assert (row.status, row.reason, row.user_id) == (Status.HELD, Reason.NO_MEMBER_AVAILABLE, None)
    assert sorted(reasons(row)) == [(name, SkipReason.EXCLUDED) for name in "ABC"]


def test_who_rejects_a_lead_has_room_for_another():
    history = begin("AB")
    limit(history, "A", 1)
    history.reject(history.assign(lead("L1")))
    assert word(history, 2) == "AB"


def test_a_rejected_lead_falls_back_to_the_user_who_takes_what_nobody_can():
    history = begin("A", none_available=NoneAvailable.FALLBACK, fallback_user_id="F")
    history.board = replace(history.board, fallback_user=user("F"))
    row = history.reject(history.assign(lead("L1")))
    assert (row.status, row.reason, row.user_id) == (Status.REJECTED, Reason.FALLBACK, "F")


def test_under_strict_a_moved_lead_is_owed_to_the_old_user_and_a_turn_in_advance_of_the_new():
    history = begin()
    row = history.move(history.assign(lead("L1")), user("B"))
    assert (row.status, row.reason, row.user_id) == (Status.REASSIGNED, Reason.MANUAL, "B")
    assert (row.turn.member_id, row.counted) == (2, True)
    assert word(history, 6) == "ACABCA"
    assert history.rows[3].skipped[-1].reason is SkipReason.TURN_USED


def test_a_moved_lead_counts_for_its_new_user_s111():
    history = begin("AB", strategy=Strategy.LEAST_ASSIGNED)
    for number in (1, 2, 3):
        history.assign(lead(f"L{number}"))
    assert [row.user_id for row in history.rows] == ["A", "B", "A"]
    history.move(history.last, user("B"))
    assert word(history, 1) == "A"
    assert received(history) == {"A": 2, "B": 2}


def test_under_weighted_a_moved_lead_moves_a_lead_of_balance():
    history = begin("AB", strategy=Strategy.WEIGHTED)
    history.move(history.assign(lead("L1")), user("B"))
    assert [float(one) for one in ledger.balances(history.board).values()] == [0.5, -0.5]
    assert word(history, 3) == "AAB"


@every_strategy
def test_where_moves_are_ignored_the_turn_stays_where_it_was(strategy):
    history = begin(strategy=strategy, manual=ManualPolicy.IGNORE)
    first = history.assign(lead("L1"))
    stands = history.board.pool
    row = history.move(first, user("B"))
    assert row.turn == first.turn
    assert history.board.pool == stands
    assert word(history, 2) == "BC"


def test_where_moves_are_ignored_the_first_turn_comes_back_when_the_lead_is_undone():
    history = begin(manual=ManualPolicy.IGNORE)
    history.undo(history.move(history.assign(lead("L1")), user("B")))
    assert word(history, 2) == "AB"


@pytest.mark.parametrize("policy", list(ManualPolicy))
def test_quotas_move_with_the_lead_whatever_the_policy(policy):
    history = begin("AB", manual=policy)
    history.move(history.assign(lead("L1")), user("B"))
    assert history.board.takings == {"A": (), "B": (NOON,)}


def test_a_lead_can_be_moved_to_someone_who_is_no_member():
    history = begin("AB")
    row = history.move(history.assign(lead("L1")), user("X"))
    assert (row.user_id, row.turn, row.counted) == ("X", None, True)
    assert history.board.takings["X"] == (NOON,)
    assert word(history, 2) == "AB"


def test_a_lead_can_move_to_an_owner_who_is_no_user_here():
    history = begin("AB")
    row = history.move(history.assign(contact(existing_owner=None)), None)
    assert (row.user_id, row.turn, row.counted) == (None, None, False)
    assert history.board.takings == {"A": ()}
    assert word(history, 2) == "AB"


def test_a_moved_lead_tells_who_could_not_have_had_it_but_for_its_user():
    history = begin("ABC")
    row = history.assign(lead("L1", excluded=excluding("B", "C")))
    assert reasons(history.move(row, user("B"))) == [("C", SkipReason.EXCLUDED)]


def test_the_orders_of_a_moved_lead_are_those_without_and_with_its_turns():
    history = begin("ABC")
    row = history.move(history.assign(lead("L1")), user("B"))
    assert (row.order, row.order_after) == (("A", "B", "C"), ("A", "C", "B"))


@every_strategy
def test_an_undone_lead_leaves_no_trace_in_turns_and_quotas(strategy):
    history = begin(strategy=strategy)
    row = history.undo(history.assign(lead("L1")))
    assert (row.status, row.reason, row.user_id) == (Status.UNDONE, Reason.MANUAL, None)
    assert (row.turn, row.counted) == (None, False)
    assert history.board.takings == {"A": ()}
    assert received(history) == {"A": 0, "B": 0, "C": 0}
    assert word(history, 3) == "ABC"


def test_an_undone_lead_that_cost_no_turn_returns_none():
    history = begin()
    before = history.board
    history.undo(history.assign(lead("L1", preferred=user("B"))))
    assert history.board.pool == before.pool


def test_a_counted_turn_by_name_comes_back_too():
    history = begin(sticky_turn=StickyTurn.COUNTED)
    before = history.board
    history.undo(history.assign(lead("L1", preferred=user("B"))))
    assert [one.standing.owed for one in history.board.pool.members] == [0, 0, 0]
    assert received(history) == {"A": 0, "B": 0, "C": 0}
    assert word(history, 3) == "ABC"
    assert before.pool.policies.sticky_turn is StickyTurn.COUNTED


def test_an_owner_who_appeared_keeps_the_lead_and_the_turn_goes_back():
    history = begin()
    row = history.undo(history.assign(contact()), owned_by(user("C")))
    assert (row.status, row.reason) == (Status.KEPT, Reason.KEPT_EXISTING_OWNER)
    assert (row.user_id, row.turn, row.counted) == ("C", None, False)
    assert word(history, 2) == "AB"


def test_each_row_that_follows_has_its_own_sequence_and_names_what_it_took_back():
    history = begin()
    first = history.assign(lead("L1"))
    second = history.reject(first)
    third = history.undo(history.move(second, user("C")))
    assert [row.sequence for row in history.rows] == [1, 2, 3, 4]
    assert (second.gives_back.assignment_id, second.gives_back.turn) == (first.id, first.turn)
    assert third.gives_back.user_id == "C"


def test_a_refused_user_is_passed_over_in_the_same_row_and_owed_nothing():
    history = begin()
    history.assign(contact("1"))
    row = history.refuse(history.assign(contact("2")))
    assert (row.sequence, row.user_id, row.status) == (2, "C", Status.ASSIGNED)
    assert reasons(row)[0] == ("B", SkipReason.REFUSED_BY_CRM)
    assert row.turn.sequence == history.board.last_sequence == 2
    assert [one.standing.owed for one in history.board.pool.members] == [0, 0, 0]
    assert word(history, 3) == "ABC"


def test_a_refused_lead_counts_for_its_new_user_from_the_first_moment():
    history = begin("AB")
    row = history.assign(contact())
    history.wait(hours=2)
    after = history.refuse(row)
    assert history.board.takings == {"A": (), "B": (NOON,)}
    assert (after.assigned_at, after.turn.at) == (NOON, history.now)


def test_leads_given_meanwhile_keep_their_numbers():
    history = begin()
    row = history.assign(contact("1"))
    word(history, 3)
    assert history.refuse(row).sequence == 1
    assert history.assign(lead("next")).sequence == 5


def test_all_who_were_refused_are_told_and_others_keep_their_reasons():
    history = begin("ABCD")
    row = history.reject(history.assign(contact()))
    row = history.refuse(history.refuse(row))
    assert row.user_id == "D"
    assert reasons(row) == [
        ("B", SkipReason.REFUSED_BY_CRM),
        ("C", SkipReason.REFUSED_BY_CRM),
        ("A", SkipReason.EXCLUDED),
    ]


def test_a_refused_row_stays_what_it_was_to_its_lead():
    history = begin()
    first = history.assign(contact())
    row = history.refuse(history.reject(first))
    assert (row.status, row.user_id) == (Status.REJECTED, "C")
    assert row.gives_back.assignment_id == first.id


def test_a_lead_whose_last_user_is_refused_is_held():
    history = begin("A")
    row = history.refuse(history.assign(contact()))
    assert (row.status, row.user_id, row.turn) == (Status.HELD, None, None)
    assert history.board.takings == {"A": ()}


def test_only_a_row_of_a_pool_can_be_amended():
    history = begin("A")
    row = replace(history.assign(contact()), sequence=None)
    with pytest.raises(ValueError, match="in a pool"):
        history.refuse(row)


def test_a_sticky_lead_that_is_rejected_uses_the_next_turn():
    history = begin()
    history.board = under(history.board, reject=RejectPolicy.CREDIT)
    row = history.reject(history.assign(lead("L1", preferred=user("C"))))
    assert (row.user_id, row.turn.member_id) == ("A", 1)
    assert word(history, 2) == "BC"


def test_a_lead_that_cost_no_turn_costs_none_when_it_is_moved():
    history = begin()
    before = history.board.pool
    history.move(history.assign(lead("L1", preferred=user("A"))), user("B"))
    assert history.board.pool == before


def test_a_held_lead_that_is_given_by_hand_costs_its_user_a_turn():
    history = begin("AB")
    history.move(history.assign(lead("L1", excluded=excluding("A", "B"))), user("A"))
    assert word(history, 3) == "BAB"


@every_strategy
def test_a_lead_that_comes_back_by_way_of_somebody_outside_costs_its_user_a_turn_again(strategy):
    there = begin(strategy=strategy)
    there.move(there.move(there.assign(lead("L1")), user("Z")), user("A"))
    straight = begin(strategy=strategy)
    straight.move(straight.move(straight.assign(lead("L1")), user("B")), user("A"))
    assert received(there) == received(straight) == {"A": 1, "B": 0, "C": 0}
    assert word(there, 2) == "BC"
