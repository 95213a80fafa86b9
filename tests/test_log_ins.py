"""How often a connection logs in when nothing comes of it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.log_ins import LogIns

MINUTE = timedelta(minutes=1)
BAD = CrmUnreachable("no such refresh token", code="bad_refresh_token")


@pytest.fixture
def log_ins() -> LogIns:
    return LogIns("hubspot")


def fail(log_ins: LogIns, now: datetime, error=BAD, refresh_token="r0"):
    """One log-in that gives no token; what it was stopped by, if anything."""
    stopped = log_ins.begin(None, refresh_token, now, is_alive=False)
    if stopped is None:
        log_ins.failed(error)
    return stopped


def test_after_five_refusals_the_reason_is_told_without_asking(log_ins, now):
    stopped = [fail(log_ins, now + n * MINUTE) for n in range(8)]

    assert stopped == [None] * 5 + [BAD] * 3


def test_a_day_later_it_is_tried_once_more(log_ins, now):
    for n in range(5):
        fail(log_ins, now + n * MINUTE)
    a_day_later = now + timedelta(days=1, minutes=4)

    assert [fail(log_ins, a_day_later), fail(log_ins, a_day_later)] == [None, BAD]


def test_a_clock_that_was_set_back_does_not_prolong_the_day(log_ins, now):
    for n in range(5):
        fail(log_ins, now + n * MINUTE)

    assert fail(log_ins, now - timedelta(days=3)) is None


def test_another_refresh_token_is_tried_at_once(log_ins, now):
    for _ in range(5):
        fail(log_ins, now)

    assert fail(log_ins, now, refresh_token="r1") is None


@pytest.mark.parametrize(
    "error",
    [
        CrmAgain("502"),
        CrmPaced("429", pause_seconds=10),
        CrmUnreachable("nobody there", code="no_connection"),
    ],
)
def test_what_may_pass_by_itself_does_not_count(log_ins, now, error):
    assert [fail(log_ins, now, error) for _ in range(9)] == [None] * 9


def test_nor_does_it_count_in_between(log_ins, now):
    for _ in range(4):
        fail(log_ins, now)
    for _ in range(9):
        fail(log_ins, now, CrmAgain("502"))

    assert [fail(log_ins, now), fail(log_ins, now)] == [None, BAD]


def test_a_token_that_served_until_its_end_costs_nothing(log_ins, now):
    for n in range(20):
        assert log_ins.begin(f"a{n}", "r0", now + n * MINUTE, is_alive=True) is None
        log_ins.succeeded("r0")


def replace(log_ins: LogIns, now: datetime, token: str, *, is_alive: bool):
    """The CRM refuses a token, or refused it before it ended: log in for another."""
    log_ins.refused = token
    stopped = log_ins.begin(token, "r0", now, is_alive=is_alive)
    if stopped is None:
        log_ins.succeeded("r0")
    return stopped


def test_a_fresh_token_that_is_refused_too_is_not_replaced_while_it_lives(log_ins, now):
    assert replace(log_ins, now, "a0", is_alive=True) is None

    stopped = replace(log_ins, now, "a1", is_alive=True)

    assert stopped.code == "token_refused"
    assert "leadrota connect hubspot" in stopped.message
    assert replace(log_ins, now + 31 * MINUTE, "a1", is_alive=False) is None


def test_five_tokens_in_a_row_that_are_refused_are_enough_for_a_day(log_ins, now):
    assert replace(log_ins, now, "a0", is_alive=True) is None
    ends = [replace(log_ins, now + n * 31 * MINUTE, f"a{n}", is_alive=False) for n in range(1, 7)]

    assert ends[:4] == [None] * 4
    assert [end.code for end in ends[4:]] == ["token_refused"] * 2


def test_a_single_refusal_now_and_then_costs_one_log_in_each(log_ins, now):
    for n in range(0, 20, 2):
        assert replace(log_ins, now + n * MINUTE, f"a{n}", is_alive=True) is None
        assert log_ins.begin(f"a{n + 1}", "r0", now + n * MINUTE, is_alive=True) is None
        log_ins.succeeded("r0")
