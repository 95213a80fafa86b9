"""When a failed item is due again."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from connector import backoff
from tests.builders import NOON


def test_the_first_retry_comes_within_two_seconds() -> None:
    assert backoff.retry_at(NOON, attempts=1, chance=1.0) == NOON + timedelta(seconds=2)


def test_gaps_double() -> None:
    assert backoff.retry_at(NOON, attempts=4, chance=1.0) == NOON + timedelta(seconds=16)


def test_jitter_is_full() -> None:
    assert backoff.retry_at(NOON, attempts=9, chance=0.0) == NOON


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_no_gap_is_longer_than_an_hour(attempts: int, chance: float) -> None:
    due = backoff.retry_at(NOON, attempts=attempts, chance=chance)
    assert NOON <= due <= NOON + timedelta(hours=1)


def test_an_item_is_given_up_after_a_day_of_failures() -> None:
    assert not backoff.gave_up(NOON + timedelta(hours=23, minutes=59), NOON)
    assert backoff.gave_up(NOON + timedelta(hours=24), NOON)


def test_a_dead_connection_is_probed_after_thirty_seconds_and_then_at_most_every_quarter() -> None:
    gaps = [backoff.probe_at(NOON, probes=n) - NOON for n in range(8)]
    assert gaps[0] == timedelta(seconds=30)
    assert gaps == sorted(gaps)
    assert gaps[-1] == timedelta(minutes=15)
