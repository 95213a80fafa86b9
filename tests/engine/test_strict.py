"""Strict rotation: exactly in order among those who can take it, whatever happens around it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine import rotation
from connector.model import SkipPolicy, SkipReason, Strategy
from tests.builders import NOON
from tests.engine.deals import charge, deal, edit, member_of, pool_of, standing_as, take

quick = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def strict(who, **changes):
    return pool_of(Strategy.STRICT, who, **changes)


def test_leads_go_round_in_order_and_wrap():
    assert deal(strict("ABC"), 7)[0] == "ABCABCA"


def test_the_next_batch_starts_behind_the_last_one_s03():
    word, board = deal(strict("ABC"), 4)
    assert (word, deal(board, 2)[0]) == ("ABCA", "BC")


def test_small_batches_stay_even_s11():
    board, counts = strict("ABC"), dict.fromkeys("ABC", 0)
    for _ in range(15):
        word, board = deal(board, 4)
        counts = {name: count + word.count(name) for name, count in counts.items()}
        assert max(counts.values()) - min(counts.values()) <= 1
    assert counts == {"A": 20, "B": 20, "C": 20}


def test_weights_other_than_zero_count_alike():
    assert deal(strict({"A": 7, "B": 1, "C": 100}), 6)[0] == "ABCABC"


def test_who_comes_back_waits_for_their_next_turn_s41():
    first, board = deal(strict("ABC"), 3)
    second, board = deal(board, 6, away="C")
    assert (first, second, deal(board, 3)[0]) == ("ABC", "ABABAB", "CAB")


def test_a_member_appended_at_the_end_is_next_at_the_rounds_end_s42():
    _, board = deal(strict("ABC"), 2)
    assert deal(edit(board, order="ABCD"), 3)[0] == "CDA"


def test_removing_someone_else_moves_nobodys_turn_s96():
    _, board = deal(strict("ABCDE"), 3)
    assert deal(edit(board, remove="A"), 1)[0] == "D"


def test_someone_new_in_front_moves_nobodys_turn_s96():
    _, board = deal(strict("ABCDE"), 3)
    assert deal(edit(board, order="ZABCDE"), 3)[0] == "DEZ"


def test_the_rotation_goes_on_when_the_last_one_is_removed_s97():
    _, board = deal(strict("ABCD"), 2)
    assert deal(edit(board, remove="B"), 3)[0] == "CDA"


def test_the_rotation_goes_on_when_the_last_one_and_their_neighbours_are_removed():
    _, board = deal(strict("ABCDE"), 3)
    assert deal(edit(board, remove="BC"), 3)[0] == "DEA"


def test_the_rotation_starts_anew_when_nobody_ahead_of_the_last_one_stays():
    _, board = deal(strict("ABC"), 1)
    assert deal(edit(board, remove="A"), 3)[0] == "BCB"


def test_the_place_is_behind_the_last_assigned_in_a_new_order_too():
    _, board = deal(strict("ABCD"), 2)
    assert deal(edit(board, order="DBAC"), 4)[0] == "ACDB"


def test_a_lost_turn_is_not_made_up_for_s47():
    _, board = deal(strict("ABC"), 1)
    away, board = deal(board, 4, away="B")
    assert (away, deal(board, 7)[0]) == ("CACA", "BCABCAB")


def test_turns_accrue_up_to_the_most_s47():
    board = strict("ABC", skip=SkipPolicy.ACCRUE, accrue_max=2)
    _, board = deal(board, 1)
    away, board = deal(board, 4, away="B")
    assert (away, deal(board, 7)[0]) == ("CACA", "BBBCABC")


def test_one_turn_is_held():
    board = strict("ABC", skip=SkipPolicy.HOLD)
    _, board = deal(board, 9, away="B")
    assert deal(board, 4)[0] == "BBCA"


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        (SkipReason.ABSENT, 1),
        (SkipReason.AWAY, 1),
        (SkipReason.OUTSIDE_HOURS, 1),
        (SkipReason.HOLIDAY, 1),
        (SkipReason.BUSY, 1),
        (SkipReason.QUOTA_REACHED, 0),
        (SkipReason.INACTIVE, 0),
        (SkipReason.WEIGHT_ZERO, 0),
        (SkipReason.EXCLUDED, 0),
        (SkipReason.NO_OWNER, 0),
    ],
)
def test_a_turn_is_kept_only_for_someone_who_is_not_there(reason, kept):
    board = take(strict("AB", skip=SkipPolicy.HOLD), away="A", reason=reason).board
    assert member_of(board, "A").standing.owed == kept


def test_a_turn_is_kept_only_for_someone_whom_the_rotation_passes_over():
    board = take(strict("ABC", skip=SkipPolicy.HOLD), away="C").board
    assert member_of(board, "C").standing.owed == 0


def test_a_turn_that_came_back_is_not_lost_because_another_cannot_be_kept():
    board = standing_as(strict("AB", skip=SkipPolicy.HOLD), A={"owed": 3})
    assert member_of(take(board, away="A").board, "A").standing.owed == 3


def test_an_owed_turn_is_served_first_and_does_not_move_the_rotation():
    _, board = deal(strict("ABC"), 1)
    pick = take(standing_as(board, C={"owed": 1}))
    assert (pick.member.user.id, pick.owed) == ("C", True)
    assert deal(pick.board, 3)[0] == "BCA"


def test_an_owed_turn_waits_while_its_member_cannot_take_leads():
    board = standing_as(strict("ABC"), C={"owed": 1})
    word, board = deal(board, 3, away="C")
    assert (word, deal(board, 2)[0]) == ("ABA", "CB")


def test_serving_an_owed_turn_passes_over_nobody():
    board = standing_as(strict("ABC", skip=SkipPolicy.HOLD), C={"owed": 1})
    assert member_of(take(board, away="A").board, "A").standing.owed == 0


def test_who_had_a_turn_in_advance_is_passed_over_once_s82():
    _, board = deal(strict("ABC"), 1)
    assert deal(charge(board, "C"), 4)[0] == "BABC"


def test_a_pick_names_those_whose_turn_was_used():
    pick = take(charge(strict("ABC"), "A"))
    assert [(skip.user_id, skip.reason) for skip in pick.passed] == [("A", SkipReason.TURN_USED)]


def test_when_all_had_turns_in_advance_the_rotation_goes_round_until_one_is_due():
    board = standing_as(strict("ABC"), A={"owed": -4}, B={"owed": -2}, C={"owed": -2})
    pick = take(board)
    owed = [one.standing.owed for one in pick.board.pool.members]
    assert (pick.member.user.id, owed) == ("B", [-1, 0, 0])


def test_a_turn_in_advance_is_not_used_up_by_an_absence():
    board = standing_as(strict("ABC"), A={"owed": -1})
    _, board = deal(board, 4, away="A")
    assert deal(board, 4)[0] == "BCAB"


def test_a_rejected_lead_brings_the_turn_back_s104():
    first = take(strict("ABC"))
    board = rotation.give_back(first.board, first.turn, NOON)
    second = take(board, away="A", reason=SkipReason.EXCLUDED)
    assert second.member.user.id == "B"
    assert deal(second.board, 4)[0] == "ACAB"


def test_a_rejected_lead_may_cost_the_turn_s104():
    board = take(strict("ABC")).board
    board = take(board, away="A", reason=SkipReason.EXCLUDED).board
    assert deal(board, 1)[0] == "C"


def test_a_turn_may_be_over_though_its_lead_comes_back():
    first = take(strict("AB"))
    board = rotation.give_back(first.board, first.turn, NOON, owe=False)
    standing = member_of(board, "A").standing
    assert (standing.owed, standing.received, deal(board, 1)[0]) == (0, 0, "B")


@quick
@given(st.integers(1, 9), st.integers(0, 60))
def test_counts_are_equal_up_to_one_at_every_prefix(size, leads):
    names = "ABCDEFGHI"[:size]
    word, _ = deal(strict(names), leads)
    for end in range(len(word) + 1):
        counts = [word[:end].count(name) for name in names]
        assert max(counts) - min(counts) <= 1


@quick
@given(st.lists(st.tuples(st.sampled_from("ABCDE"), st.booleans()), max_size=40))
def test_absences_and_removals_of_some_never_change_the_order_of_the_others(changes):
    """Before each lead one member goes away or comes back, or leaves for good and joins again."""
    board, word, away = strict("ABCDE"), "", set()
    steady = sorted(set("ABCDE") - {name for name, _ in changes})
    for name, leaves in changes:
        if leaves:
            names = "".join(one.user.id for one in board.pool.members if one.user.id != name)
            board = edit(edit(board, remove=name), order=names + name)
        else:
            away ^= {name}
        if len(away) < len("ABCDE"):
            dealt, board = deal(board, 1, away=away)
            word += dealt
    turns = [name for name in word if name in steady]
    assert turns == [steady[place % len(steady)] for place in range(len(turns))]


@quick
@given(
    st.lists(st.integers(-4, 3), min_size=1, max_size=6),
    st.integers(0, 6),
    st.sets(st.integers(1, 6)),
)
def test_the_first_in_order_gets_the_lead_as_if_the_rotation_went_step_by_step(owed, last, out):
    names = "ABCDEF"[: len(owed)]
    board = standing_as(
        strict(names), **{name: {"owed": turns} for name, turns in zip(names, owed, strict=True)}
    )
    able = {one.id for one in board.pool.members} - out
    if not able:
        return
    cursor = last if last <= len(names) else None
    board = edit(board)
    board = type(board)(pool=board.pool, last_assigned_member_id=cursor)
    left = dict(enumerate(owed, 1))
    place = cursor or 0
    round_ = [1 + (place + step) % len(names) for step in range(len(names))]
    winner = next((one for one in round_ if one in able and left[one] > 0), None)
    if winner is None:
        for one in round_ * 10:
            if one in able and left[one] == 0:
                winner = one
                break
            left[one] += one in able
    pick = rotation.take(board, able, {}, NOON)
    assert pick.member.id == winner == rotation.order(board, able, NOON)[0].id
    left[winner] -= left[winner] > 0
    assert {one.id: one.standing.owed for one in pick.board.pool.members} == left
