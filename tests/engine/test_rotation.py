"""Strict rotation: exactly in order among those who can take it, whatever happens around it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from connector.engine.decide import advance, decide
from connector.model import Board, Reason, Status
from tests.builders import NOON, lead, strict


def deal(board: Board, count: int, start: int = 1) -> tuple[str, Board]:
    """Who gets ``count`` leads, as a word; ``-`` stands for held."""
    word = ""
    for number in range(start, start + count):
        decision = decide(lead(f"L{number}"), board, NOON)
        board = advance(board, decision)
        word += decision.user.id if decision.user else "-"
    return word, board


def without(board: Board, name: str) -> Board:
    members = tuple(one for one in board.pool.members if one.user.id != name)
    return replace(board, pool=replace(board.pool, members=members))


def test_leads_go_round_in_order_and_wrap() -> None:
    assert deal(strict("ABC"), 7)[0] == "ABCABCA"


def test_a_new_pool_starts_with_its_first_member() -> None:
    assert deal(strict("ABC"), 1)[0] == "A"


def test_the_turn_goes_on_behind_the_member_who_was_last() -> None:
    assert deal(strict("ABCD", last="C"), 3)[0] == "DAB"


def test_an_inactive_member_is_passed_over_and_the_others_keep_their_order() -> None:
    assert deal(strict("ABCD", B={"active": False}), 6)[0] == "ACDACD"


def test_an_inactive_user_is_passed_over_in_every_pool() -> None:
    assert deal(strict("ABC", A={"user_active": False}), 4)[0] == "BCBC"


def test_weight_zero_takes_no_turn() -> None:
    assert deal(strict("AB", A={"weight": 0}), 3)[0] == "BBB"


def test_who_comes_back_waits_for_the_next_turn_and_gets_nothing_extra() -> None:
    word, board = deal(strict("ABC", C={"active": False}), 6)
    members = tuple(replace(one, active=True) for one in board.pool.members)
    again, _ = deal(replace(board, pool=replace(board.pool, members=members)), 6, start=7)
    assert (word, again) == ("ABABAB", "CABCAB")


def test_removing_someone_else_does_not_change_whose_turn_it_is() -> None:
    _, board = deal(strict("ABCDE"), 3)
    assert deal(without(board, "A"), 1)[0] == "D"


def test_an_owed_turn_is_served_first_and_does_not_move_the_rotation() -> None:
    board = strict("ABC", last="A", C={"owed": 1})
    decision = decide(lead(), board, NOON)
    assert (decision.user.id, decision.reason) == ("C", Reason.OWED)
    assert deal(advance(board, decision), 4)[0] == "BCAB"


def test_an_owed_turn_waits_while_its_member_cannot_take_leads() -> None:
    assert deal(strict("ABC", C={"owed": 1, "active": False}), 2)[0] == "AB"


def test_with_nobody_able_the_lead_is_held_and_the_place_stays() -> None:
    board = strict("AB", last="A", A={"active": False}, B={"active": False})
    decision = decide(lead(), board, NOON)
    assert (decision.status, decision.reason) == (Status.HELD, Reason.NO_MEMBER_AVAILABLE)
    assert advance(board, decision).last_assigned_member_id == board.last_assigned_member_id


def test_an_empty_pool_holds() -> None:
    assert decide(lead(), strict(""), NOON).status is Status.HELD


def test_every_decision_takes_one_sequence_number() -> None:
    _, board = deal(strict("A", A={"active": False}), 3)
    assert board.last_sequence == 3


@given(st.integers(1, 9), st.integers(0, 60))
def test_counts_are_equal_up_to_one_at_every_prefix(size: int, leads: int) -> None:
    word, _ = deal(strict("ABCDEFGHI"[:size]), leads)
    for end in range(len(word) + 1):
        counts = [word[:end].count(name) for name in "ABCDEFGHI"[:size]]
        assert max(counts) - min(counts) <= 1


@given(st.lists(st.sampled_from("ABCDE"), max_size=40))
def test_edits_of_some_never_change_the_order_of_the_others(paused: list[str]) -> None:
    """One member is switched on or off before each lead; between two turns of one member, nobody
    who stayed able is passed over."""
    board, word, off = strict("ABCDE"), "", set[str]()
    steady = set("ABCDE") - set(paused)
    for name in paused:
        off ^= {name}
        members = tuple(replace(m, active=m.user.id not in off) for m in board.pool.members)
        board = replace(board, pool=replace(board.pool, members=members))
        dealt, board = deal(board, 1)
        word += dealt
    turns = [name for name in word if name in steady]
    expected = sorted(steady)
    assert turns == [expected[place % len(expected)] for place in range(len(turns))]
