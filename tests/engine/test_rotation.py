"""What holds under every strategy, whatever happens in whatever order."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine import ledger, rotation
from connector.model import SkipPolicy, Strategy
from tests.builders import NOON
from tests.engine.deals import balances, charge, deal, edit, member_of, pool_of, standing_as, take

quick = settings(derandomize=True, deadline=None, database=None, max_examples=60)
every_strategy = pytest.mark.parametrize("strategy", list(Strategy))


@every_strategy
def test_one_call_for_thirty_leads_is_the_same_as_thirty_calls_s05(strategy):
    board = pool_of(strategy, "ABC")
    word, after = deal(board, 30)
    assert word == "ABC" * 10
    assert [one.standing.received for one in after.pool.members] == [10, 10, 10]


@every_strategy
def test_the_first_in_order_is_who_gets_the_lead(strategy):
    board = pool_of(strategy, {"A": 1, "B": 3, "C": 2, "D": 2})
    for away in ("", "A", "BC", "D", "", "AB", ""):
        able = {one.id for one in board.pool.members if one.user.id not in away}
        order = rotation.order(board, able, NOON)
        pick = take(board, away)
        assert order[0] == pick.member == member_of(board, pick.member.user.id)
        assert {one.id for one in order[: len(able)]} == able
        board = pick.board


@every_strategy
def test_an_order_without_anybody_able_names_all(strategy):
    order = rotation.order(pool_of(strategy, "ABC"), (), NOON)
    assert sorted(one.user.id for one in order) == ["A", "B", "C"]


@every_strategy
def test_a_turn_names_the_next_sequence_and_leaves_it_to_the_decision(strategy):
    _, board = deal(pool_of(strategy, "AB"), 4)
    pick = rotation.take(board, {1, 2}, {}, NOON)
    turn, after = rotation.charge(board, 2, NOON)
    assert (pick.turn.sequence, turn.sequence) == (5, 5)
    assert pick.board.last_sequence == after.last_sequence == 4


@every_strategy
def test_the_latest_turn_stays_the_last_when_an_earlier_decision_is_made_again(strategy):
    _, board = deal(pool_of(strategy, "AB"), 3)
    _, board = rotation.charge(replace(board, last_sequence=1), 1, NOON)
    assert member_of(board, "A").standing.last_turn == 3


@every_strategy
def test_a_turn_says_among_whom_its_lead_was_shared(strategy):
    turn = take(pool_of(strategy, {"A": 3, "B": 2, "C": 1}), away="B").turn
    weighted = strategy is Strategy.WEIGHTED
    assert turn.shares == ({1: 3, 3: 1} if weighted else {1: 1, 3: 1})


@every_strategy
def test_a_turn_of_someone_who_left_changes_nothing_when_it_comes_back(strategy):
    pick = take(pool_of(strategy, "ABC"))
    board = edit(pick.board, remove="A")
    assert rotation.give_back(board, pick.turn, NOON) == board


@every_strategy
def test_a_turn_from_before_leads_were_counted_may_come_back(strategy):
    pick = take(pool_of(strategy, "AB"))
    uncounted = standing_as(pick.board, A={"received": 0})
    board = rotation.give_back(uncounted, pick.turn, NOON)
    assert member_of(board, "A").standing.received == 0


@every_strategy
def test_a_turn_that_came_back_is_the_next_one(strategy):
    _, board = deal(pool_of(strategy, "ABC"), 4)
    pick = take(board)
    board = rotation.give_back(pick.board, pick.turn, NOON)
    assert take(board).member.user.id == pick.member.user.id


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.LEAST_ASSIGNED])
def test_a_turn_that_came_back_leaves_everyone_as_before(strategy):
    _, board = deal(pool_of(strategy, {"A": 3, "B": 2, "C": 1}), 7, away="B")
    pick = rotation.take(board, {1, 3}, {}, NOON)
    back = rotation.give_back(pick.board, pick.turn, NOON)
    assert [_without_last_turn(one) for one in back.pool.members] == [
        _without_last_turn(one) for one in board.pool.members
    ]


@every_strategy
def test_a_lead_moved_by_hand_moves_the_turn(strategy):
    _, board = deal(pool_of(strategy, "ABC"), 3)
    pick = take(board)
    board = charge(rotation.give_back(pick.board, pick.turn, NOON), "B")
    received = [one.standing.received for one in board.pool.members]
    assert received == [1, 2, 1]
    assert sorted(deal(board, 2)[0]) == ["A", "C"]


@every_strategy
def test_an_edit_that_moves_nobody_changes_nothing(strategy):
    _, board = deal(pool_of(strategy, {"A": 3, "B": 2, "C": 1}), 5, away="C")
    named = edit(board, name="Other")
    assert named == replace(board, pool=replace(board.pool, name="Other"))


def test_a_new_strategy_repays_nothing_of_the_past_s27():
    word, board = deal(pool_of(Strategy.WEIGHTED, {"A": 100, "B": 50, "C": 50}), 40)
    assert [word.count(name) for name in "ABC"] == [20, 10, 10]
    word, board = deal(edit(board, strategy=Strategy.STRICT), 30)
    assert [word.count(name) for name in "ABC"] == [10, 10, 10]
    assert [one.standing.received for one in board.pool.members] == [30, 20, 20]


@pytest.mark.parametrize("new", list(Strategy))
@every_strategy
def test_a_new_strategy_starts_even(strategy, new):
    board = pool_of(strategy, {"A": 3, "B": 2, "C": 1}, skip=SkipPolicy.HOLD)
    _, board = deal(charge(board, "A"), 8, away="B")
    board = edit(board, strategy=new)
    if new is not strategy:
        assert set(balances(board).values()) == {0}
        assert {(one.standing.owed, one.standing.in_period) for one in board.pool.members} == {
            (0, 0)
        }


steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["take", "take", "take", "charge", "back", "weigh", "join", "leave", "strategy"]
        ),
        st.integers(0, 10**6),
    ),
    max_size=60,
)


@quick
@given(st.sampled_from(list(Strategy)), steps)
def test_any_mix_of_turns_and_edits_keeps_the_books(strategy, mix):
    """While nobody leaves, fair shares and leads received add up, to the last part of a lead."""
    board = pool_of(strategy, {"A": 3, "B": 1, "C": 2, "D": 1}, skip=SkipPolicy.HOLD)
    turns, names, left = [], list("ABCD"), False
    for what, number in mix:
        members = board.pool.members
        one = members[number % len(members)] if members else None
        match what:
            case "take" if members:
                away = {m.user.id for m in members if number >> m.position & 1 and m is not one}
                pick = take(board, away)
                assert pick.member.user.id not in away
                turns.append(pick.turn)
                board = pick.board
            case "charge" if one:
                board = charge(board, one.user.id)
            case "back" if turns:
                board = rotation.give_back(board, turns.pop(number % len(turns)), NOON)
            case "weigh" if one:
                board = edit(board, **{one.user.id: {"weight": 1 + number % 9}})
            case "join":
                names.append(f"N{len(names)}")
                order = [*(m.user.id for m in members), names[-1]]
                board = edit(board, order=order)
            case "leave" if one and number % 4 == 0:
                board, left = edit(board, remove=[one.user.id]), True
            case "strategy":
                new = list(Strategy)[number % 3]
                if new is not board.pool.strategy:
                    board, turns, left = edit(board, strategy=new), [], False
        if not left:
            assert sum(ledger.balances(board).values()) == 0
        assert {m.id for m in board.pool.members} >= {board.last_assigned_member_id} - {None}
        assert all(m.standing.in_period >= 0 <= m.standing.received for m in board.pool.members)
        assert board.turns >= 0
        assert all(m.standing.taken >= 0 for m in board.pool.members)


def test_thousands_of_changes_of_who_is_there_lose_no_part_of_a_lead():
    board = pool_of(Strategy.WEIGHTED, {"A": 7, "B": 3, "C": 11, "D": 1, "E": 13})
    for lead in range(3000):
        able = {number for number in range(1, 6) if lead * 7919 >> number & 1} or {1, 3}
        pick = rotation.take(board, able, {}, NOON)
        board = rotation.give_back(pick.board, pick.turn, NOON) if lead % 10 == 0 else pick.board
    assert sum(ledger.balances(board).values()) == Fraction(0)


def _without_last_turn(member):
    """The member as compared: when the last turn was, and how balances are written, may differ."""
    standing = replace(member.standing, last_turn=0, share=0, balance=0, taken=0)
    return replace(member, standing=standing)
