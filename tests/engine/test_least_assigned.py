"""Fewest first: evenly over the period, and no flood for who is new or comes back."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine import rotation
from connector.engine.periods import period_start
from connector.model import Period, ReturnPolicy, SkipReason, Strategy
from tests.builders import NOON
from tests.engine.deals import charge, counted, deal, edit, member_of, pool_of, standing_as, take

quick = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def fewest(who, **counts):
    """A pool in the middle of its month, where these counts of the members are known."""
    board = take(pool_of(Strategy.LEAST_ASSIGNED, who)).board
    given = {name: {"in_period": counts.get(name, 0), "last_turn": 0} for name in who}
    return standing_as(board, **given)


def test_whoever_has_the_fewest_is_next():
    assert deal(fewest("ABC", A=2, B=0, C=1), 3)[0] == "BCB"


def test_a_tie_goes_to_who_waited_longest_then_by_position():
    board = standing_as(fewest("ABC"), A={"last_turn": 1})
    assert deal(board, 6)[0] == "BCABCA"


def test_counts_are_equal_up_to_one_while_all_are_there():
    word, _ = deal(pool_of(Strategy.LEAST_ASSIGNED, "ABCD"), 40)
    assert word == "ABCD" * 10


def test_weights_do_not_count():
    board = pool_of(Strategy.LEAST_ASSIGNED, {"A": 9, "B": 1})
    assert deal(board, 4)[0] == "ABAB"


def test_a_newcomer_enters_at_the_level_of_the_others_s17():
    word, _ = deal(edit(fewest("AB", A=5, B=5), order="ABC"), 3)
    assert sorted(word) == ["A", "B", "C"]


def test_a_newcomer_may_start_from_nothing():
    board = edit(fewest("AB", A=3, B=3), order="ABC")
    assert deal(edit(board, policies=_no_level(board)), 3)[0] == "CCC"


def test_who_comes_back_enters_behind_the_one_with_the_fewest_s44():
    board = standing_as(fewest("ABC", A=10, B=8, C=3), C={"away": True})
    assert deal(board, 2)[0] == "BC"


def test_two_who_come_back_get_their_share_and_no_flood_s45():
    board = fewest("ABCD", A=5, B=5, C=5, D=5)
    _, board = deal(board, 12, away="AB")
    assert Counter(deal(board, 8)[0]) == {"A": 2, "B": 2, "C": 2, "D": 2}


def test_who_comes_back_with_more_than_the_others_keeps_the_count():
    board = standing_as(fewest("AB", A=9, B=7), A={"away": True})
    assert deal(board, 4)[0] == "BBAB"


@pytest.mark.parametrize(
    ("reason", "level"),
    [
        (SkipReason.ABSENT, True),
        (SkipReason.AWAY, True),
        (SkipReason.HOLIDAY, True),
        (SkipReason.INACTIVE, True),
        (SkipReason.OUTSIDE_HOURS, False),
        (SkipReason.QUOTA_REACHED, False),
        (SkipReason.BUSY, False),
    ],
)
def test_only_someone_who_was_away_enters_at_the_level(reason, level):
    _, board = deal(fewest("AB"), 4, away="B", reason=reason)
    assert (deal(board, 4)[0] == "ABAB") == level
    assert (deal(board, 4)[0] == "BBBB") != level


def test_a_new_month_counts_from_nothing_s30():
    zone = "Europe/Berlin"
    board = pool_of(Strategy.LEAST_ASSIGNED, "AB", time_zone=zone, returning=ReturnPolicy.NONE)
    january = datetime(2026, 1, 31, 22, 59, tzinfo=UTC)
    _, board = deal(board, 20, away="B", now=january)
    assert deal(board, 2, now=january)[0] == "BB"
    assert deal(board, 4, now=january + timedelta(minutes=1))[0] == "BABA"


def test_ever_never_counts_from_nothing():
    board = pool_of(Strategy.LEAST_ASSIGNED, "AB", period=Period.EVER, returning=ReturnPolicy.NONE)
    _, board = deal(board, 3, away="B")
    assert deal(board, 4, now=NOON + timedelta(days=4000))[0] == "BBBA"


def test_a_lead_by_other_ways_counts():
    assert deal(charge(fewest("AB", A=2, B=2), "A"), 3)[0] == "BAB"


def test_a_lead_that_is_moved_moves_its_count_s111():
    board = pool_of(Strategy.LEAST_ASSIGNED, "AB")
    _, board = deal(board, 2)
    third = take(board)
    board = charge(rotation.give_back(third.board, third.turn, NOON), "B")
    assert third.member.user.id == "A"
    assert deal(board, 1)[0] == "A"


def test_a_lead_of_an_earlier_period_changes_no_count_when_it_comes_back():
    first = take(pool_of(Strategy.LEAST_ASSIGNED, "AB", period=Period.DAY))
    tomorrow = NOON + timedelta(days=1)
    _, board = deal(first.board, 2, now=tomorrow)
    board = rotation.give_back(board, first.turn, tomorrow)
    assert member_of(board, "A").standing.in_period == 1


def test_a_new_zone_does_not_clear_the_counts():
    board = edit(fewest("AB", A=3, B=1), time_zone="Pacific/Auckland")
    assert deal(board, 3)[0] == "BBA"


def test_another_period_counts_from_nothing():
    board = edit(fewest("AB", A=3, B=1), period=Period.WEEK)
    assert deal(board, 2)[0] == "AB"


@pytest.mark.parametrize(
    ("period", "start"),
    [
        (Period.DAY, datetime(2026, 10, 24, 22, tzinfo=UTC)),
        (Period.WEEK, datetime(2026, 10, 18, 22, tzinfo=UTC)),
        (Period.MONTH, datetime(2026, 9, 30, 22, tzinfo=UTC)),
        (Period.EVER, None),
    ],
)
def test_a_period_begins_at_midnight_in_the_pools_zone(period, start):
    """On a Sunday in Berlin, an hour after the clocks went back."""
    now = datetime(2026, 10, 25, 2, tzinfo=UTC)
    assert period_start(period, now, ZoneInfo("Europe/Berlin")) == start


@quick
@given(st.lists(st.sets(st.sampled_from("ABCDE"), max_size=4), max_size=40))
def test_who_was_there_all_the_time_is_never_more_than_one_apart(absences):
    board, counts = pool_of(Strategy.LEAST_ASSIGNED, "ABCDE"), Counter()
    steady = set("ABCDE").difference(*absences)
    for away in absences:
        word, board = deal(board, 1, away=away)
        counts.update(word)
    assert len(steady) < 2 or (
        max(counts[name] for name in steady) - min(counts[name] for name in steady) <= 1
    )


@quick
@given(st.integers(2, 6), st.integers(0, 30), st.integers(1, 30))
def test_who_comes_back_gets_at_most_one_lead_more_than_anyone_else(size, before, leads):
    board = pool_of(Strategy.LEAST_ASSIGNED, "ABCDEF"[:size])
    _, board = deal(board, before, away="A")
    counts = Counter(deal(board, leads)[0])
    assert counts["A"] <= min(counts[name] for name in "BCDEF"[: size - 1]) + 1


def _no_level(board):
    return type(board.pool.policies)(returning=ReturnPolicy.NONE)


def test_order_shows_who_is_next_by_the_same_rule():
    board = counted(fewest("ABC", A=2, B=0, C=1))
    order = rotation.order(board, {1, 3}, NOON)
    assert [one.user.id for one in order] == ["C", "A", "B"]
