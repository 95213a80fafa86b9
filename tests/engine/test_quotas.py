"""No quota is ever passed, and each says when it takes leads again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine.quotas import pool_full, quota_reached, user_quota_reached
from connector.model import Board, Member, Policies, QuotaWindow
from tests.builders import strict, user

NOON = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
AUCKLAND = ZoneInfo("Pacific/Auckland")
DAY, ROLLING = QuotaWindow.DAY, QuotaWindow.ROLLING24H


def board(window: QuotaWindow = DAY, *, pool_quota=None, time_zone=None, **moments) -> Board:
    """A pool of A and B. ``A=[1, 2]``: A took leads one and two hours ago, by a lead each."""
    made = strict("AB")
    policies = Policies(quota_window=window)
    pool = replace(made.pool, daily_quota=pool_quota, time_zone=time_zone, policies=policies)
    return replace(
        made, pool=pool, takings={name: hours_ago(*ago) for name, ago in moments.items()}
    )


def hours_ago(*ago: float) -> tuple[datetime, ...]:
    return tuple(sorted(NOON - each * HOUR for each in ago))


def a(*, quota=None, over_pools=None, time_zone=None) -> Member:
    someone = user("A", daily_quota=over_pools, time_zone=time_zone)
    return Member(id=1, user=someone, position=1, daily_quota=quota)


def test_a_member_below_the_quota_takes_leads():
    assert quota_reached(a(quota=3), board(A=[1, 2], B=[1, 1, 1]), NOON) is None


def test_a_member_who_reached_the_quota_takes_none_until_the_next_day():
    skip = quota_reached(a(quota=2), board(A=[1, 2]), NOON)
    assert (skip.user_id, skip.reason, skip.detail) == ("A", "quota_reached", "2/2 today")
    assert skip.until == datetime(2026, 10, 16, tzinfo=UTC)


def test_no_quota_is_no_limit():
    assert quota_reached(a(), board(A=[1] * 50), NOON) is None
    assert pool_full(board(A=[1] * 50), NOON) is None


def test_a_quota_of_zero_takes_no_leads_and_no_time_changes_that():
    skip = quota_reached(a(quota=0), board(), NOON)
    assert (skip.detail, skip.until) == ("0/0 today", None)
    assert pool_full(board(pool_quota=0), NOON) == ("0/0 today", None)


def test_leads_of_yesterday_do_not_count():
    assert quota_reached(a(quota=1), board(A=[12.5]), NOON) is None
    assert quota_reached(a(quota=1), board(A=[12]), NOON) is not None  # at midnight


@pytest.mark.parametrize(
    ("of_user", "of_pool", "ends"),
    [
        ("Pacific/Auckland", "Asia/Tokyo", "2026-10-16T11:00Z"),
        (None, "Asia/Tokyo", "2026-10-15T15:00Z"),
        (None, None, "2026-10-16T00:00Z"),
    ],
)
def test_the_day_is_the_members_own_else_the_pools_else_utc(of_user, of_pool, ends):
    skip = quota_reached(a(quota=1, time_zone=of_user), board(time_zone=of_pool, A=[0.5]), NOON)
    assert skip.until == datetime.fromisoformat(ends)


@pytest.mark.parametrize(
    ("window", "expected"),
    [(DAY, ["assigned", "assigned", "held"]), (ROLLING, ["assigned", "held", "held"])],
)
def test_s70_a_day_begins_at_local_midnight_and_a_rolling_one_never(window, expected):
    outcomes, taken = [], ()
    for minute in ("2026-10-15 23:59", "2026-10-16 00:01", "2026-10-16 00:02"):
        now = datetime.fromisoformat(minute).replace(tzinfo=AUCKLAND).astimezone(UTC)
        state = replace(board(window), takings={"A": taken})
        full = quota_reached(a(quota=1, time_zone="Pacific/Auckland"), state, now)
        outcomes.append("held" if full else "assigned")
        taken = taken if full else (*taken, now)
    assert outcomes == expected


def test_a_lead_that_is_24_hours_old_no_longer_counts():
    assert quota_reached(a(quota=1), board(ROLLING, A=[24]), NOON) is None
    assert quota_reached(a(quota=1), board(ROLLING, A=[23.99]), NOON) is not None


def test_a_rolling_quota_is_free_when_enough_leads_are_24_hours_old():
    skip = quota_reached(a(quota=2), board(ROLLING, A=[1, 2, 20]), NOON)
    assert (skip.detail, skip.until) == ("3/2 in 24 hours", NOON + 22 * HOUR)


def test_a_users_own_quota_counts_the_leads_of_all_pools():
    state = replace(board(A=[1]), elsewhere={"A": hours_ago(2, 3)})
    assert quota_reached(a(over_pools=4), state, NOON) is None
    assert quota_reached(a(over_pools=3), state, NOON).detail == "3/3 today over all pools"
    assert quota_reached(a(quota=2), state, NOON) is None


def test_of_two_quotas_that_are_reached_the_one_that_lasts_longer_is_told():
    state = replace(board(ROLLING, A=[1]), elsewhere={"A": hours_ago(23)})
    skip = quota_reached(a(quota=1, over_pools=2), state, NOON)
    assert (skip.detail, skip.until) == ("1/1 in 24 hours", NOON + 23 * HOUR)
    assert quota_reached(a(quota=1, over_pools=0), state, NOON).until is None


def test_a_user_who_is_no_member_has_only_the_quota_over_all_pools():
    someone = user("X", daily_quota=1)
    state = replace(board(), elsewhere={"X": hours_ago(1)})
    assert user_quota_reached(someone, state, NOON).detail == "1/1 today over all pools"
    assert user_quota_reached(user("X"), state, NOON) is None


def test_a_full_pool_counts_everybodys_leads():
    assert pool_full(board(pool_quota=3, A=[1, 2], B=[1], C=[22]), NOON)[0] == "3/3 today"
    assert pool_full(board(pool_quota=3, A=[1], B=[1]), NOON) is None


def test_a_pools_day_is_in_its_own_zone_whatever_the_zones_of_its_members():
    state = board(pool_quota=1, time_zone="Asia/Tokyo", A=[1])
    members = (a(time_zone="Pacific/Auckland"),)
    state = replace(state, pool=replace(state.pool, members=members))
    assert pool_full(state, NOON) == ("1/1 today", datetime(2026, 10, 15, 15, tzinfo=UTC))


def test_a_rolling_pool_quota_is_free_when_the_oldest_lead_of_anybody_is_24_hours_old():
    state = board(ROLLING, pool_quota=3, A=[1, 2], B=[5])
    assert pool_full(state, NOON) == ("3/3 in 24 hours", NOON + 19 * HOUR)


MOMENTS = st.lists(st.integers(0, 26 * 60), max_size=8).map(
    lambda ago: tuple(sorted(NOON - minutes * MINUTE for minutes in ago))
)


@settings(derandomize=True, deadline=None, database=None, max_examples=40)
@given(
    st.sampled_from([DAY, ROLLING]),
    st.sampled_from(["UTC", "Pacific/Auckland", "America/Los_Angeles"]),
    st.one_of(st.none(), st.integers(1, 4)),
    st.one_of(st.none(), st.integers(1, 6)),
    MOMENTS,
    MOMENTS,
)
def test_a_quota_lasts_until_exactly_the_first_minute_that_it_is_not_reached(
    window, time_zone, quota, over_pools, here, elsewhere
):
    member = a(quota=quota, over_pools=over_pools, time_zone=time_zone)
    state = replace(board(window), takings={"A": here}, elsewhere={"A": elsewhere})
    skip = quota_reached(member, state, NOON)
    if skip is None:
        return
    minutes = int((skip.until - NOON) / MINUTE)
    assert all(quota_reached(member, state, NOON + each * MINUTE) for each in range(minutes))
    assert quota_reached(member, state, skip.until) is None
