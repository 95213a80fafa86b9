"""How often a connection logs in when nothing comes of it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.log_ins import LogIns, too_many

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
BAD = CrmUnreachable("no such refresh token", code="bad_refresh_token")


class Connection:
    """Log-ins one after the other; which of them were made."""

    def __init__(self, *, is_final: bool = True) -> None:
        self.log_ins = LogIns()
        self.is_final = is_final

    def fails(self, now: datetime, error=BAD, made_with="r0") -> bool:
        """A log-in that gives no token; whether it was made at all."""
        before = self.log_ins.with_other(made_with)
        if before.next_at(now):
            return False
        self.log_ins = before.begun(now).failed(error, before=before, is_final=self.is_final)
        return True

    def replaces(self, now: datetime, token: str, *, refused: bool) -> bool:
        """A log-in in place of this token; whether it was made at all."""
        log_ins = self.log_ins.with_other("r0")
        if refused:
            log_ins = LogIns(
                count=log_ins.count,
                last_at=log_ins.last_at,
                made_with=log_ins.made_with,
                refused=token,
            )
        before = log_ins.after_use_of(token)
        if before.next_at(now):
            return False
        self.log_ins = before.begun(now).succeeded("r0")
        return True


@pytest.fixture
def connection() -> Connection:
    return Connection()


def test_after_five_final_refusals_the_reason_is_told_without_asking(connection, now):
    made = [connection.fails(now + n * MINUTE) for n in range(8)]

    assert made == [True] * 5 + [False] * 3
    told = too_many("hubspot", connection.log_ins, now, by_consent=True)
    assert (told.code, told.message) == (BAD.code, BAD.message)


def test_a_day_later_it_is_tried_once_more(connection, now):
    for n in range(5):
        connection.fails(now + n * MINUTE)
    a_day_later = now + timedelta(days=1, minutes=4)

    assert [connection.fails(a_day_later), connection.fails(a_day_later)] == [True, False]


def test_a_clock_that_was_set_back_does_not_prolong_the_day(connection, now):
    for n in range(5):
        connection.fails(now + n * MINUTE)

    assert connection.fails(now - timedelta(days=3))


def test_a_log_in_with_something_else_is_made_at_once(connection, now):
    for _ in range(5):
        connection.fails(now)

    assert connection.fails(now, made_with="r1")


@pytest.mark.parametrize(
    "error",
    [
        CrmAgain("502"),
        CrmPaced("429", pause_seconds=10),
        CrmUnreachable("nobody there", code="no_connection"),
    ],
)
def test_what_may_pass_by_itself_does_not_count(connection, now, error):
    assert all(connection.fails(now, error) for _ in range(9))


def test_nor_does_it_count_in_between(connection, now):
    for _ in range(4):
        connection.fails(now)
    for _ in range(9):
        connection.fails(now, CrmAgain("502"))

    assert [connection.fails(now), connection.fails(now)] == [True, False]


def test_a_refusal_that_can_be_put_right_at_the_crm_at_any_time_does_not_count(now):
    connection = Connection(is_final=False)

    assert all(connection.fails(now + n * MINUTE) for n in range(9))


def test_a_token_that_served_until_its_end_costs_nothing(connection, now):
    assert all(connection.replaces(now + n * MINUTE, f"a{n}", refused=False) for n in range(20))


def test_of_fresh_tokens_that_are_refused_two_are_asked_for_at_once_and_five_in_all(
    connection, now
):
    made = []
    for minutes in range(0, 24 * 60, 5):
        if connection.replaces(now + minutes * MINUTE, f"a{len(made)}", refused=True):
            made.append(minutes)

    assert made == [0, 5, 35, 140, 245]
    assert not connection.replaces(now + 28 * HOUR, "a5", refused=True)
    assert connection.replaces(now + 245 * MINUTE + 24 * HOUR, "a5", refused=True)


def test_what_stopped_the_log_ins_is_told_with_the_next_one_and_what_helps(connection, now):
    by_consent = too_many("hubspot", LogIns(count=2), now, by_consent=True)
    alone = too_many("salesforce", LogIns(count=2), now, by_consent=False)

    assert by_consent.code == alone.code == "token_refused"
    assert "2026-10-15 12:00 UTC" in alone.message
    assert "leadrota doctor" in alone.message
    assert "leadrota connect hubspot" in by_consent.message
    assert "leadrota connect" not in alone.message


def test_a_single_refusal_now_and_then_costs_one_log_in_each(connection, now):
    for n in range(0, 20, 2):
        assert connection.replaces(now + n * MINUTE, f"a{n}", refused=True)
        assert connection.replaces(now + n * MINUTE, f"a{n + 1}", refused=False)
