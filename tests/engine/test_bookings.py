"""What a decision leaves in quotas and meetings, and how that is taken back."""

from dataclasses import replace
from datetime import timedelta

from connector.engine import bookings
from connector.engine.decide import decide
from connector.model import GivenBack, Slot
from tests.builders import NOON, contact, lead, owned_by, strict, user

HOUR = timedelta(hours=1)
MEETING = Slot(starts_at=NOON, ends_at=NOON + HOUR)


def test_a_lead_counts_from_its_moment_for_its_user():
    _, board = decide(lead(), strict("AB"), NOON)
    assert board.takings == {"A": (NOON,)}


def test_a_lead_can_count_for_an_earlier_moment_and_moments_stay_in_order():
    board = replace(strict("A"), takings={"A": (NOON,)})
    _, board = decide(lead(), board, NOON, counted_at=NOON - HOUR)
    assert board.takings == {"A": (NOON - HOUR, NOON)}


def test_moments_that_no_quota_looks_at_any_more_are_forgotten():
    old, recent = NOON - 26 * HOUR, NOON - 25 * HOUR
    _, board = decide(lead(), replace(strict("A"), takings={"A": (old, recent)}), NOON)
    assert board.takings == {"A": (recent, NOON)}


def test_a_meeting_is_in_the_way_of_others_even_when_it_does_not_count():
    given = contact(slot=MEETING, existing_owner=owned_by(user("B")))
    _, board = decide(given, strict("AB"), NOON)
    assert (board.takings, board.meetings) == ({}, {"B": (MEETING,)})


def test_a_lead_that_nobody_got_leaves_nothing():
    board = strict("A", A={"active": False})
    decision, after = decide(lead(slot=MEETING), board, NOON)
    assert bookings.book(after, decision, at=NOON) == after


def test_what_was_booked_can_be_taken_back():
    before = replace(strict("AB"), takings={"A": (NOON - HOUR,)})
    decision, board = decide(lead(slot=MEETING), before, NOON)
    given = GivenBack(assignment_id="a", user_id="A", turn=None, counted_at=NOON)
    board = bookings.take_back(board, given, decision.lead, NOON)
    assert board.takings == {"A": (NOON - HOUR,)}
    assert board.meetings == {"A": ()}


def test_only_one_of_two_leads_of_one_moment_is_taken_back():
    board = replace(strict("A"), takings={"A": (NOON, NOON)}, meetings={"A": (MEETING, MEETING)})
    given = GivenBack(assignment_id="a", user_id="A", turn=None, counted_at=NOON)
    board = bookings.take_back(board, given, lead(slot=MEETING), NOON)
    assert (board.takings, board.meetings) == ({"A": (NOON,)}, {"A": (MEETING,)})


def test_what_is_not_on_the_board_any_more_needs_no_taking_back():
    board = strict("A")
    given = GivenBack(assignment_id="a", user_id="X", turn=None, counted_at=NOON - 100 * HOUR)
    board = bookings.take_back(board, given, lead(slot=MEETING), NOON)
    assert (board.takings, board.meetings) == ({"X": ()}, {"X": ()})


def test_a_row_without_a_user_gives_nothing_back():
    board = replace(strict("A"), takings={"A": (NOON,)})
    given = GivenBack(assignment_id="a", user_id=None, turn=None, counted_at=None)
    assert bookings.take_back(board, given, lead(slot=MEETING), NOON) == board
