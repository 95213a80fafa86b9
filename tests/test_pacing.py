"""However callers come, no stretch of time sees more calls than the limit allows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from connector import pacing
from connector.pacing import Bucket

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
RATE = {"burst": 4.0, "per_second": 2.0}


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_new_bucket_is_full():
    bucket = pacing.filled(None, NOW, **RATE)

    assert bucket == Bucket(tokens=4, filled_at=NOW)
    assert pacing.wait_for_next(bucket, NOW, per_second=2) == 0


def test_it_fills_with_time_and_never_over_the_brim():
    empty = Bucket(tokens=0, filled_at=NOW)

    assert pacing.filled(empty, later(1.5), **RATE).tokens == 3
    assert pacing.filled(empty, later(60), **RATE).tokens == 4


def test_a_smaller_burst_takes_what_is_too_much():
    full = Bucket(tokens=100, filled_at=NOW)

    assert pacing.filled(full, NOW, **RATE).tokens == 4


def test_who_comes_late_waits_behind_those_who_were_promised_a_token():
    assert pacing.wait_for_next(Bucket(tokens=0, filled_at=NOW), NOW, per_second=2) == 0.5
    assert pacing.wait_for_next(Bucket(tokens=-2, filled_at=NOW), NOW, per_second=2) == 1.5


def test_a_clock_that_runs_behind_fills_nothing_and_takes_nothing():
    bucket = Bucket(tokens=1, filled_at=later(2))

    assert pacing.filled(bucket, NOW, **RATE) == bucket
    # The next token is one of the clock that runs ahead.
    assert pacing.wait_for_next(pacing.taken(bucket), NOW, per_second=2) == 2.5


def test_a_clock_that_was_set_back_does_not_stop_the_calls_until_it_has_caught_up():
    bucket = Bucket(tokens=1, filled_at=later(3600))

    assert pacing.filled(bucket, NOW, **RATE) == Bucket(tokens=1, filled_at=NOW)


SKEW = 0.5  # seconds by which the callers' clocks run behind, at most
CALLS = st.tuples(st.floats(min_value=0, max_value=2), st.floats(min_value=0, max_value=SKEW))


@given(st.lists(CALLS, max_size=60))
def test_no_stretch_of_time_sees_more_calls_than_it_may(comings):
    """Each caller comes some time after the one before, and waits as long as it is told."""
    bucket, second, admitted = None, 0.0, []
    for gap, behind in comings:
        second += gap
        now = later(second - behind)
        bucket = pacing.filled(bucket, now, **RATE)
        wait = pacing.wait_for_next(bucket, now, per_second=2)
        admitted.append(second + wait)
        bucket = pacing.taken(bucket)

    admitted.sort()
    for first, start in enumerate(admitted):
        for last in range(first, len(admitted)):
            most = 4 + 2 * (admitted[last] - start + SKEW)
            assert last - first + 1 <= most + 1e-4
