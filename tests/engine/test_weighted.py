"""Weighted shares: each member's count stays within one lead of the fair share, at every moment."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine import ledger, rotation
from connector.model import Strategy
from tests.builders import NOON
from tests.engine.deals import (
    balances,
    charge,
    counted,
    deal,
    edit,
    member_of,
    pool_of,
    standing_as,
    take,
)

quick = settings(derandomize=True, deadline=None, database=None, max_examples=25)
pools = st.lists(st.integers(1, 1000), min_size=1, max_size=8)


def weighted(*weights, **named):
    names = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    named = named or {
        names[place] if place < len(names) else f"U{place}": weight
        for place, weight in enumerate(weights)
    }
    return pool_of(Strategy.WEIGHTED, named)


def run(board, leads, away=()):
    """Deal leads; return the board, the counts by name and the largest distance of anybody.

    The distance is to the exact share since the first of these leads, at every prefix.
    """
    shares = {one.user.id: one.weight for one in board.pool.members if one.user.id not in away}
    total, counts, worst = sum(shares.values()), Counter(), Fraction(0)
    for lead in range(1, leads + 1):
        pick = take(board, away)
        board = pick.board
        counts[pick.member.user.id] += 1
        # In whole numbers, times the sum of weights: fractions would take most of the time.
        worst = max(
            worst,
            max(abs(counts[name] * total - lead * weight) for name, weight in shares.items()),
        )
    return board, counts, Fraction(worst, total)


def test_five_one_one_s28():
    _, counts, worst = run(weighted(5, 1, 1), 700)
    assert counts == {"A": 500, "B": 100, "C": 100}
    assert worst < 1


def test_the_hard_set_s28():
    _, counts, worst = run(weighted(5, 50, 1, 50, 1, 50, 7, 1), 1650)
    assert [counts[name] for name in "ABCDEFGH"] == [50, 500, 10, 500, 10, 500, 70, 10]
    assert worst < 1


def test_one_heavy_member_among_light_ones():
    _, counts, worst = run(weighted(1, 100, 1, 5, 5), 1120)
    assert [counts[name] for name in "ABCDE"] == [10, 1000, 10, 50, 50]
    assert worst < 1


@pytest.mark.parametrize("seed", [1, 2])
def test_a_hundred_members_with_any_weights(seed):
    chance = random.Random(seed)
    _, _, worst = run(weighted(*(chance.randint(1, 1000) for _ in range(100))), 1000)
    assert worst < 1


@quick
@given(pools, st.integers(1, 200))
def test_counts_stay_within_one_lead_of_the_exact_share(weights, leads):
    assert run(weighted(*weights), leads)[2] < 1


@quick
@given(pools)
def test_a_whole_round_gives_everyone_exactly_their_weight(weights):
    weights = [1 + weight % 30 for weight in weights]
    _, counts, _ = run(weighted(*weights), sum(weights))
    assert [counts[name] for name in "ABCDEFGH"[: len(weights)]] == weights


@quick
@given(pools, st.lists(st.tuples(st.integers(0, 7), st.integers(1, 1000)), max_size=3))
def test_after_each_change_of_a_pool_that_is_even_the_distance_stays_below_one(weights, changes):
    """A round is dealt before each change, so that everyone is even then."""
    board = weighted(*(1 + weight % 9 for weight in weights))
    for place, weight in changes:
        board, _, _ = run(board, sum(one.weight for one in board.pool.members))
        assert set(balances(board).values()) == {0.0}
        name = board.pool.members[place % len(weights)].user.id
        board = edit(board, **{name: {"weight": 1 + weight % 9}})
        board, _, worst = run(board, sum(one.weight for one in board.pool.members))
        assert worst < 1


def test_every_block_is_exact_s29():
    board = weighted(1, 2, 5)
    for _ in range(20):
        word, board = deal(board, 8)
        assert Counter(word) == {"A": 1, "B": 2, "C": 5}


def test_equal_weights_take_turns_in_order_while_all_are_there():
    assert deal(weighted(3, 3, 3, 3), 12)[0] == "ABCDABCDABCD"


def test_leads_are_spread_and_not_given_in_blocks():
    assert deal(weighted(5, 3, 1), 9)[0] == "ABAABABAC"


def test_when_nobody_is_owed_anything_the_one_nearest_to_it_is_next():
    """A heavy member with five leads too many waits longer than a light one with a fifth."""
    board = weighted(10, 1)
    board = standing_as(board, A={"balance": -5 * ledger.LEAD}, B={"balance": -ledger.LEAD // 5})
    assert take(board).member.user.id == "B"


def test_percentages_are_only_ratios_s35():
    assert deal(weighted(50, 50, 25), 50)[0] == deal(weighted(100, 100, 50), 50)[0]


@quick
@given(pools, st.integers(2, 1000))
def test_weights_times_anything_give_the_same_sequence(weights, factor):
    larger = weighted(*(weight * factor for weight in weights))
    assert deal(weighted(*weights), 60)[0] == deal(larger, 60)[0]


def test_five_one_one_never_gives_more_than_four_in_a_row():
    board, word = weighted(5, 1, 1), ""
    for away in ("", "B", "", "A", "", "BC", "", "C", "", "AB", ""):
        dealt, board = deal(board, 23, away=away)
        word += dealt if not {"B", "C"} & set(away) else "|"
    assert "AAAAA" not in word


def test_a_newcomer_starts_even_and_by_weight_s32():
    _, board = deal(weighted(100, 100), 20)
    word, _ = deal(edit(board, order="ABC", C={"weight": 50}), 25)
    assert Counter(word) == {"A": 10, "B": 10, "C": 5}
    assert "C" in word[:5]


def test_a_new_weight_does_not_rewrite_the_past_s34():
    _, board = deal(weighted(1, 1), 20)
    assert Counter(deal(edit(board, A={"weight": 3}), 8)[0]) == {"A": 6, "B": 2}


def test_weight_zero_takes_no_turn_and_has_no_share_s36():
    word, board = deal(weighted(0, 1), 4)
    assert (word, balances(board)) == ("BBBB", {"A": 0, "B": 0})


def test_two_who_were_away_get_their_share_and_no_flood_s45():
    _, board = deal(weighted(1, 1, 1, 1), 20)
    _, board = deal(board, 12, away="AB")
    assert Counter(deal(board, 8)[0]) == {"A": 2, "B": 2, "C": 2, "D": 2}


def test_who_is_away_keeps_the_balance():
    board = take(weighted(2, 1, 1)).board
    kept = balances(board)["C"]
    _, board = deal(board, 7, away="C")
    assert balances(board)["C"] == kept == 0.25


def test_a_balance_stays_through_a_leave_of_another():
    board = take(weighted(2, 1, 1)).board
    assert balances(edit(board, remove="A")) == {"B": 0.25, "C": 0.25}


def test_who_joins_again_starts_even():
    board = edit(take(weighted(1, 1)).board, remove="A")
    assert balances(edit(board, order="AB"))["A"] == 0


def test_a_pick_changes_the_winner_only_while_the_same_members_share():
    before = take(weighted(3, 2, 1)).board
    pick = take(before)
    changed = [
        new.user.id
        for old, new in zip(before.pool.members, pick.board.pool.members, strict=True)
        if old != new
    ]
    assert changed == [pick.member.user.id]


def test_a_lead_by_other_ways_is_shared_like_the_last_turn():
    board = charge(take(weighted(1, 1)).board, "A")
    assert balances(board) == {"A": -1, "B": 1}
    assert deal(board, 2)[0] == "BB"


def test_a_lead_that_comes_back_takes_everyones_share_back():
    board = take(weighted(2, 1, 1)).board
    pick = take(board)
    assert rotation.give_back(pick.board, pick.turn, NOON).pool == replace(
        board.pool, members=_with_last_turn(board, pick)
    )


def test_it_does_so_after_the_shares_changed_too():
    first = take(weighted(2, 1, 1))
    _, board = deal(first.board, 5, away="B")
    back = ledger.balances(rotation.give_back(board, first.turn, NOON))
    was = ledger.balances(board)
    assert [float(back[number] - was[number]) for number in (1, 2, 3)] == [0.5, -0.25, -0.25]
    assert sum(back.values()) == sum(was.values()) == 0


def test_it_does_so_when_the_same_members_share_again_but_had_no_lead_since():
    first = take(weighted(2, 1, 1))
    _, board = deal(first.board, 1, away="B")
    _, board = deal(board, 1)
    assert member_of(board, "A").standing.taken == 0
    back = rotation.give_back(board, first.turn, NOON)
    assert member_of(back, "A").standing.taken == 0
    assert balances(back)["A"] == pytest.approx(balances(board)["A"] + 0.5)


class Reps:
    """A pool whose members come and go by chance, one lead at a time."""

    def __init__(self, seed, weights):
        self.chance = random.Random(seed)
        self.board = weighted(**{f"U{place}": one for place, one in enumerate(weights)})
        self.names = [one.user.id for one in self.board.pool.members]
        self.until = dict.fromkeys(self.names, 0)
        self.worst = Fraction(0)
        self.now = 0

    def send_away(self, odds, shortest, longest):
        """Each one who is here leaves with these odds, for some leads."""
        for name in self.names:
            if self.until[name] <= self.now and self.chance.random() < odds:
                self.until[name] = self.now + self.chance.randint(shortest, longest)

    def give(self, away=()):
        """One lead; the name of who gets it, None when all are away."""
        self.now += 1
        away = {name for name in self.names if self.until[name] >= self.now} | set(away)
        if len(away) == len(self.names):
            return None
        pick = take(self.board, away)
        self.board = pick.board
        self.worst = max(self.worst, *map(abs, ledger.balances(self.board).values()))
        return pick.member.user.id


def some_weights(seed):
    chance = random.Random(seed)
    return [chance.randint(1, 5) for _ in range(30)]


@pytest.mark.parametrize(
    ("weights", "odds", "shortest", "longest"),
    [
        pytest.param(some_weights(1), 1 / 300, 10, 100, id="short absences"),
        pytest.param(some_weights(2), 1 / 1000, 300, 900, id="long absences"),
        pytest.param([20] + [1] * 29, 1 / 300, 10, 100, id="one heavy member"),
        pytest.param([1] * 30, 1 / 300, 10, 100, id="equal weights"),
    ],
)
def test_balances_stay_small_while_people_come_and_go(weights, odds, shortest, longest):
    reps = Reps(7, weights)
    for _ in range(2000):
        reps.send_away(odds, shortest, longest)
        reps.give()
    assert reps.worst < 1.5


def test_balances_stay_small_while_weights_change():
    reps = Reps(8, some_weights(3))
    for _ in range(1500):
        if reps.chance.random() < 1 / 50:
            weight = {"weight": reps.chance.randint(1, 5)}
            reps.board = edit(reps.board, **{reps.chance.choice(reps.names): weight})
        reps.give()
    assert reps.worst < 1.5


def test_balances_stay_small_while_people_join_and_leave():
    reps = Reps(9, some_weights(4)[:10])
    for number in range(1500):
        if reps.chance.random() < 1 / 30:
            leaver = reps.chance.choice(reps.names)
            reps.names = [*(name for name in reps.names if name != leaver), f"N{number}"]
            reps.until[f"N{number}"] = 0
            joined = {f"N{number}": {"weight": reps.chance.randint(1, 5)}}
            reps.board = edit(edit(reps.board, remove=[leaver]), order=reps.names, **joined)
        reps.give()
    assert reps.worst < 1.5


def test_balances_stay_bounded_under_daily_quotas():
    reps = Reps(10, some_weights(5))
    quotas = {name: reps.chance.randint(3, 12) for name in reps.names}
    for _ in range(15):
        used = Counter()
        for _ in range(200):
            used[reps.give(away={name for name in quotas if used[name] >= quotas[name]})] += 1
    assert reps.worst < 5


@pytest.mark.parametrize("seed", range(4))
def test_nobody_gets_more_than_twice_the_fair_share_in_the_round_after_a_return(seed):
    """A round: as many leads as make the fair share of the one who is back their weight."""
    chance = random.Random(seed)
    reps = Reps(seed, [chance.choice([1, 1, 2, 3, 8, 40]) for _ in range(12)])
    weights = {one.user.id: one.weight for one in reps.board.pool.members}
    rounds, judged, gone = {}, 0, set()
    for _ in range(1200):
        reps.send_away(1 / 150, 5, 80)
        away = {name for name in reps.names if reps.until[name] >= reps.now + 1}
        rounds = {name: seen for name, seen in rounds.items() if name not in away}
        rounds |= {name: [0, Fraction(0)] for name in gone - away}
        gone = away
        total = sum(weights[name] for name in weights if name not in away)
        winner = reps.give()
        for name, seen in list(rounds.items()):
            seen[0] += name == winner
            seen[1] += Fraction(weights[name], total)
            assert seen[0] <= 2 * weights[name]
            if seen[1] >= weights[name]:
                judged += 1
                del rounds[name]
    assert judged > 10


def _with_last_turn(board, pick):
    """Return the members of the board; the winner remembers when they had their last turn."""
    winner = member_of(board, pick.member.user.id)
    standing = replace(winner.standing, last_turn=pick.turn.sequence)
    return tuple(
        replace(one, standing=standing) if one.id == winner.id else one
        for one in board.pool.members
    )


def test_the_last_turn_is_remembered_when_it_came_back():
    pick = take(weighted(1, 1))
    board = counted(rotation.give_back(pick.board, pick.turn, NOON))
    assert member_of(board, "A").standing.last_turn == 1
