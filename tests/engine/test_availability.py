"""What was set here and what each CRM tells of a user, put together."""

from datetime import UTC, datetime, time, timedelta

import pytest

from connector.engine import availability, calendar
from connector.engine.eligibility import refusal
from connector.model import (
    Absence,
    Availability,
    Board,
    Member,
    Presence,
    SkipReason,
    Slot,
    WorkingHours,
)
from tests.builders import lead, strict, user

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)  # a Thursday
HOUR = timedelta(hours=1)
AWAY = Availability(status=Presence.AWAY)
MORNING = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(8), end=time(11)),)
NIGHT = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(20), end=time(23)),)


def off(start: int, end: int, reason: str | None = None) -> Absence:
    """From so many hours from now to so many."""
    return Absence(
        id=f"{start}", starts_at=NOW + start * HOUR, ends_at=NOW + end * HOUR, reason=reason
    )


def told(**by_connection: Availability):
    return {"reported": by_connection}


def why(of_lead=None, **of_user):
    member = Member(id=1, position=1, user=user("B", **of_user))
    return refusal(member, of_lead or lead(), strict("A"), NOW)


@pytest.mark.parametrize(
    ("of_user", "detail"),
    [
        (told(hubspot=Availability()), None),
        (told(hubspot=AWAY), "set to away in hubspot"),
        (told(b=AWAY, a=AWAY), "set to away in a"),
        (told(a=Availability(), b=AWAY), "set to away in b"),
        (told(hubspot=AWAY) | {"status": Presence.AWAY}, "has set themselves to away"),
        ({"status": Presence.AWAY} | told(hubspot=Availability()), "has set themselves to away"),
    ],
)
def test_away_in_one_place_is_away(of_user, detail):
    skip = why(**of_user)
    assert (skip and (skip.reason, skip.detail, skip.until)) == (
        detail and (SkipReason.AWAY, detail, None)
    )


def test_out_of_office_in_a_crm_is_an_absence_with_its_end():
    skip = why(**told(hubspot=Availability(absences=(off(-1, 1),))))
    assert (skip.reason, skip.until) == (SkipReason.ABSENT, NOW + HOUR)
    assert skip.detail == "out of office in hubspot until 2026-10-15 13:00 UTC"


@pytest.mark.parametrize(
    ("here", "there", "until"),
    [
        ((off(-1, 1, "dentist"),), (off(1, 3),), 3),
        ((off(2, 4, "dentist"),), (off(-1, 2),), 4),
        ((off(-1, 3, "dentist"),), (off(0, 1),), 3),
        ((off(5, 6, "dentist"),), (off(-1, 2),), 2),
    ],
)
def test_absences_of_both_kinds_that_touch_are_one(here, there, until):
    skip = why(absences=here, **told(hubspot=Availability(absences=there)))
    assert skip.until == NOW + until * HOUR


def test_no_meeting_is_booked_into_an_out_of_office_time():
    of_user = told(hubspot=Availability(absences=(off(2, 4),)))
    assert why(**of_user) is None
    skip = why(lead(slot=Slot(starts_at=NOW + 3 * HOUR, ends_at=NOW + 5 * HOUR)), **of_user)
    assert (skip.reason, skip.until) == (SkipReason.ABSENT, None)


@pytest.mark.parametrize(
    ("here", "reports", "hours"),
    [
        ((), {}, ()),
        ((), {"hubspot": MORNING}, MORNING),
        (NIGHT, {"hubspot": MORNING}, NIGHT),
        ((), {"b": NIGHT, "a": MORNING}, MORNING),
        ((), {"b": NIGHT, "a": ()}, NIGHT),
    ],
)
def test_hours_of_a_crm_fill_a_gap_only(here, reports, hours):
    reported = {name: Availability(working_hours=rows) for name, rows in reports.items()}
    someone = user("B", working_hours=here, reported=reported)
    assert availability.working_hours(someone) == hours


@pytest.mark.parametrize(
    ("here", "reports", "of_pool", "zone"),
    [
        ("Asia/Tokyo", {"hubspot": "Europe/Berlin"}, "America/Lima", "Asia/Tokyo"),
        (None, {"hubspot": "Europe/Berlin"}, "America/Lima", "Europe/Berlin"),
        (None, {"b": "Asia/Tokyo", "a": "Europe/Berlin"}, None, "Europe/Berlin"),
        (None, {"b": "Asia/Tokyo", "a": None}, None, "Asia/Tokyo"),
        (None, {"hubspot": None}, "America/Lima", "America/Lima"),
        (None, {"hubspot": None}, None, "UTC"),
    ],
)
def test_the_zone_of_a_crm_fills_a_gap_before_the_pools(here, reports, of_pool, zone):
    reported = {name: Availability(time_zone=of) for name, of in reports.items()}
    someone = user("B", time_zone=here, reported=reported)
    assert str(calendar.zone(someone, of_pool)) == zone


def test_hours_of_a_crm_are_judged_on_the_users_own_clock_when_that_is_set():
    hours = Availability(working_hours=NIGHT, time_zone="Europe/Berlin")
    assert why(time_zone="Asia/Tokyo", **told(hubspot=hours)) is None  # 21:00 there
    skip = why(**told(hubspot=hours))
    assert skip.until == datetime(2026, 10, 15, 18, 0, tzinfo=UTC)  # 20:00 in Berlin


def test_the_day_of_a_quota_is_that_of_the_zone_which_the_crm_tells():
    late = NOW.replace(hour=15, minute=30)  # half past midnight in Tokyo
    board = Board(pool=strict("A").pool, takings={"B": (NOW,)})
    for zone, is_full in (("Asia/Tokyo", False), ("Europe/Berlin", True)):
        someone = user("B", reported={"hubspot": Availability(time_zone=zone)})
        member = Member(id=1, position=1, user=someone, daily_quota=1)
        assert bool(refusal(member, lead(), board, late)) is is_full
