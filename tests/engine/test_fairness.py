"""How evenly a pool shared its leads, told so that nobody who was away looks unfair."""

from fractions import Fraction

import pytest

from connector.engine import fairness, rotation
from connector.model import Assignment, GivenBack, LeadKind, Reason, Status, Strategy, WriteBack
from tests.builders import NOON
from tests.engine.deals import deal, edit, pool_of, take


def row_of(turn, sequence=None, **changes):
    """A history row as far as a report reads it."""
    blank = dict.fromkeys(Assignment.__dataclass_fields__)
    sequence = sequence or turn.sequence
    known = {
        "id": f"a{sequence}",
        "pool_id": "pool",
        "sequence": sequence,
        "lead_id": f"L{sequence}",
        "kind": LeadKind.LEAD,
        "status": Status.ASSIGNED,
        "reason": Reason.ROTATION,
        "user_id": turn.user_id if turn else None,
        "assigned_at": NOON,
        "turn": turn,
        "write_back": WriteBack.NONE,
    }
    return Assignment(**{**blank, **known, **changes})


def history(board, *stretches):
    """Rows and board after ``(leads, away)`` stretches."""
    rows = []
    for leads, away in stretches:
        for _ in range(leads):
            pick = take(board, away)
            rows.append(row_of(pick.turn))
            board = pick.board
    return rows, board


def by_user(report):
    return {one.user_id: one for one in report.members}


def test_standings_are_exact():
    board = pool_of(Strategy.WEIGHTED, {"A": 2, "B": 1})
    _, board = deal(board, 4)
    shares = fairness.standings(board)
    assert shares["A"] == fairness.Share(
        fair_share=Fraction(8, 3), received=3, balance=Fraction(-1, 3)
    )
    assert shares["B"] == fairness.Share(
        fair_share=Fraction(4, 3), received=1, balance=Fraction(1, 3)
    )


@pytest.mark.parametrize("strategy", [Strategy.STRICT, Strategy.LEAST_ASSIGNED])
def test_without_weights_the_share_is_equal_among_those_who_could_take_the_lead(strategy):
    _, board = deal(pool_of(strategy, {"A": 9, "B": 1}), 3)
    _, board = deal(board, 1, away="B")
    shares = fairness.standings(board)
    assert shares["B"].fair_share == Fraction(3, 2)
    assert shares["A"].fair_share + shares["B"].fair_share == 4


def test_a_report_counts_leads_and_shares():
    rows, board = history(pool_of(Strategy.WEIGHTED, {"A": 3, "B": 1}), (8, ""))
    report = fairness.report(rows, board.pool.members)
    counts = {name: (one.received, one.fair_share) for name, one in by_user(report).items()}
    assert counts == {"A": (6, 6.0), "B": (2, 2.0)}
    assert report.leads == 8


def test_who_was_away_half_the_month_is_not_shown_as_unfair_s133():
    rows, board = history(pool_of(Strategy.STRICT, "ABC"), (30, "A"), (30, ""))
    report = fairness.report(rows, board.pool.members)
    away = by_user(report)["A"]
    assert (away.received, away.fair_share) == (10, pytest.approx(10))
    assert report.worst_distance < 1.01


def test_a_wait_is_counted_only_while_one_could_have_taken_the_lead():
    rows, board = history(pool_of(Strategy.STRICT, "ABC"), (6, ""), (20, "A"), (6, ""))
    waits = {name: one.longest_wait for name, one in _report(rows, board).items()}
    assert waits == {"A": 2, "B": 2, "C": 2}


def test_a_lead_by_other_ways_makes_nobody_wait():
    board = pool_of(Strategy.STRICT, "AB")
    first = take(board)
    turn, board = rotation.charge(first.board, 1, NOON)
    rows = [row_of(first.turn), row_of(turn, reason=Reason.STICKY)]
    report = _report(rows, board)
    assert (report["A"].received, report["B"].longest_wait) == (2, 1)


def test_the_worst_distance_is_that_at_any_moment():
    rows, board = history(pool_of(Strategy.STRICT, "ABCD"), (4, ""))
    report = fairness.report(rows, board.pool.members)
    assert report.worst_distance == 0.75
    assert {name: one.balance for name, one in by_user(report).items()} == dict.fromkeys("ABCD", 0)


def test_a_lead_that_came_back_counts_for_who_has_it_now():
    first = take(pool_of(Strategy.WEIGHTED, {"A": 2, "B": 1, "C": 1}))
    board = rotation.give_back(first.board, first.turn, NOON)
    second = take(board, away="A")
    given = GivenBack(assignment_id="a1", user_id="A", turn=first.turn, counted_at=NOON)
    rows = [row_of(first.turn), row_of(second.turn, status=Status.REJECTED, gives_back=given)]
    report = _report(rows, second.board)
    assert (report["A"].received, report["A"].fair_share) == (0, 0)
    assert (report["B"].received, report["B"].fair_share) == (1, 0.5)


def test_a_turn_that_goes_on_standing_behind_a_lead_counts_once():
    first = take(pool_of(Strategy.STRICT, "AB"))
    moved = row_of(first.turn, sequence=2, status=Status.REASSIGNED, reason=Reason.MANUAL)
    assert _report([row_of(first.turn), moved], first.board)["A"].received == 1


def test_a_turn_that_came_back_without_a_row_is_not_counted():
    rows, board = history(pool_of(Strategy.STRICT, "AB"), (3, ""))
    report = fairness.report(rows, board.pool.members, returned={3})
    assert by_user(report)["A"].received == 1


def test_rows_without_a_turn_count_for_nobody():
    board = pool_of(Strategy.STRICT, "AB")
    held = row_of(None, sequence=1, status=Status.HELD, reason=Reason.NO_MEMBER_AVAILABLE)
    report = fairness.report([held], board.pool.members)
    assert (report.leads, report.worst_distance) == (0, 0)
    assert [one.user_id for one in report.members] == ["A", "B"]


def test_who_left_is_reported_behind_those_who_are_there():
    rows, board = history(pool_of(Strategy.STRICT, "ABC"), (3, ""))
    report = fairness.report(rows, edit(board, remove="A").pool.members)
    assert [(one.user_id, one.received) for one in report.members] == [
        ("B", 1),
        ("C", 1),
        ("A", 1),
    ]


def test_rows_are_read_once():
    rows, board = history(pool_of(Strategy.STRICT, "AB"), (4, ""))
    assert fairness.report(iter(rows), board.pool.members).leads == 4


def _report(rows, board):
    return by_user(fairness.report(rows, board.pool.members))
