"""Users work on their own clock: hours, days off and leave are judged where they live."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import holidays
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine import calendar
from connector.model import Absence, Availability, Slot, User, WorkingHours
from tests.builders import user

UTC_ZONE = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
WEEKDAYS = (0, 1, 2, 3, 4)
EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)

quick = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def at(text: str, zone: ZoneInfo = UTC_ZONE) -> datetime:
    """``at("2026-10-15 09:00", BERLIN)``: that moment, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


def hours(start: str, end: str, days: tuple[int, ...] = WEEKDAYS) -> WorkingHours:
    return WorkingHours(days=days, start=time.fromisoformat(start), end=time.fromisoformat(end))


def working(*rows: WorkingHours, holidays: str | None = None) -> User:
    return user("B", working_hours=rows, holidays=holidays)


def told(*rows: WorkingHours, holidays: str | None = None) -> User:
    """The same when a CRM tells the hours."""
    return user("B", reported={"hubspot": Availability(working_hours=rows)}, holidays=holidays)


def leave(start: datetime, end: datetime, reason: str | None = "vacation") -> Absence:
    return Absence(id=f"{start}", starts_at=start, ends_at=end, reason=reason)


def off(someone: User, now: datetime, zone: ZoneInfo = UTC_ZONE) -> str | None:
    skip = calendar.off_work(someone, calendar.moment(now), zone)
    return skip.reason.value if skip else None


def off_until(someone: User, now: datetime, zone: ZoneInfo = UTC_ZONE) -> datetime | None:
    skip = calendar.off_work(someone, calendar.moment(now), zone)
    assert skip is not None
    return skip.until


def off_during(someone: User, start: datetime, end: datetime, zone: ZoneInfo = UTC_ZONE) -> bool:
    return calendar.off_work(someone, Slot(starts_at=start, ends_at=end), zone) is not None


def absent(absences, now: datetime, zone: ZoneInfo = UTC_ZONE, buffer_hours: int = 0, of_crm=()):
    reported = {"hubspot": Availability(absences=tuple(of_crm))}
    someone = user("B", absences=tuple(absences), reported=reported)
    return calendar.absence(someone, calendar.moment(now), zone, buffer_hours)


@pytest.mark.parametrize(
    ("of_user", "of_pool", "expected"),
    [
        ("Asia/Tokyo", "Europe/Berlin", "Asia/Tokyo"),
        (None, "Europe/Berlin", "Europe/Berlin"),
        (None, None, "UTC"),
    ],
)
def test_a_user_lives_by_their_own_zone_else_the_pools_else_utc(of_user, of_pool, expected):
    assert calendar.zone(user("A", time_zone=of_user), of_pool) == ZoneInfo(expected)


@pytest.mark.parametrize(
    ("day", "begins", "ends"),
    [
        ("2026-03-29", "2026-03-28T23:00Z", "2026-03-29T22:00Z"),  # 23 hours
        ("2026-10-25", "2026-10-24T22:00Z", "2026-10-25T23:00Z"),  # 25 hours
    ],
)
def test_a_day_is_as_long_as_the_local_clock_makes_it(day, begins, ends):
    noon = at(f"{day} 12:00", BERLIN)
    assert calendar.start_of_day(noon, BERLIN) == datetime.fromisoformat(begins)
    assert calendar.end_of_day(noon, BERLIN) == datetime.fromisoformat(ends)


def test_a_day_without_midnight_begins_when_the_clock_is_set_forward():
    beirut = ZoneInfo("Asia/Beirut")  # 00:00 becomes 01:00
    begins = calendar.start_of_day(at("2026-03-29 12:00", beirut), beirut)
    assert begins == datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
    assert begins.astimezone(beirut).hour == 1


def test_no_hours_given_means_always():
    assert off(user("A"), at("2026-10-17 03:00")) is None


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-01-14T21:00Z", None),  # Wednesday, 16:00 there
        ("2026-01-14T22:00Z", "outside_hours"),  # 17:00 there: the end is exclusive
        ("2026-01-17T18:00Z", "outside_hours"),  # Saturday
        ("2026-01-14T14:00Z", None),  # 09:00 there: the start is inclusive
        ("2026-01-14T13:59Z", "outside_hours"),
    ],
)
def test_s49_hours_hold_on_the_users_own_clock_and_their_end_is_exclusive(now, expected):
    assert off(working(hours("09:00", "17:00")), datetime.fromisoformat(now), NEW_YORK) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-27T07:30Z", "outside_hours"),
        ("2026-03-30T07:30Z", None),
        ("2026-10-23T07:30Z", None),
        ("2026-10-26T07:30Z", "outside_hours"),
    ],
)
def test_s50_hours_follow_daylight_saving(now, expected):
    assert off(working(hours("09:00", "17:00")), datetime.fromisoformat(now), BERLIN) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-10-16 22:00", None),  # Friday evening
        ("2026-10-17 01:59", None),  # still Friday's hours
        ("2026-10-17 02:00", "outside_hours"),
        ("2026-10-17 23:00", "outside_hours"),  # Saturday evening
        ("2026-10-19 01:00", "outside_hours"),  # Monday night would be Sunday's hours
    ],
)
def test_hours_across_midnight_belong_to_the_day_they_start_on(now, expected):
    assert off(working(hours("22:00", "02:00")), at(now)) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-10-14 07:59", "outside_hours"),
        ("2026-10-14 08:00", None),
        ("2026-10-15 07:59", None),
        ("2026-10-15 08:00", "outside_hours"),
    ],
)
def test_hours_that_end_when_they_start_last_the_whole_day_round(now, expected):
    assert off(working(hours("08:00", "08:00", days=(2,))), at(now)) == expected


def test_there_may_be_several_hours_a_day_with_a_break():
    someone = working(hours("09:00", "12:00"), hours("13:00", "17:00"))
    assert off(someone, at("2026-10-15 11:59")) is None
    assert off_until(someone, at("2026-10-15 12:00")) == at("2026-10-15 13:00")


def test_outside_hours_lasts_until_the_next_start_of_hours():
    someone = working(hours("09:00", "17:00"))
    friday_evening = at("2026-10-16 18:00", BERLIN)
    skip = calendar.off_work(someone, calendar.moment(friday_evening), BERLIN)
    assert skip.until == at("2026-10-19 09:00", BERLIN)
    assert skip.detail == "outside working hours until 2026-10-19"


def test_a_start_of_hours_today_or_tomorrow_is_told_with_its_time():
    someone = working(hours("09:00", "17:00"))
    skip = calendar.off_work(someone, calendar.moment(at("2026-10-15 18:00", BERLIN)), BERLIN)
    assert skip.detail == "outside working hours until 2026-10-16 09:00 CEST"


def test_the_next_start_of_hours_is_on_no_holiday():
    someone = working(hours("09:00", "17:00"), holidays="DE")
    assert off_until(someone, at("2026-12-24 18:00", BERLIN), BERLIN) == at(
        "2026-12-28 09:00", BERLIN
    )


def test_hours_on_no_day_never_begin():
    someone = working(hours("09:00", "17:00", days=()))
    assert off_until(someone, at("2026-10-15 12:00")) is None


def test_who_works_mondays_only_waits_out_a_monday_that_is_a_holiday():
    someone = working(hours("09:00", "17:00", days=(0,)), holidays="DE")
    assert off_until(someone, at("2026-04-01 12:00", BERLIN), BERLIN) == at(
        "2026-04-13 09:00", BERLIN
    )


@pytest.mark.parametrize(
    ("zone", "day"), [("Europe/Berlin", "2026-03-29"), ("Pacific/Auckland", "2026-09-27")]
)
def test_hours_that_the_clock_leaves_out_begin_when_it_is_set_forward(zone, day):
    there = ZoneInfo(zone)
    someone = working(hours("02:30", "10:00", days=EVERY_DAY))
    assert off_until(someone, at(f"{day} 01:00", there), there) == at(f"{day} 03:00", there)


def test_hours_that_lie_in_the_hour_left_out_do_not_take_place_that_day():
    someone = working(hours("02:15", "02:45", days=EVERY_DAY))
    assert off_until(someone, at("2026-03-29 01:30", BERLIN), BERLIN) == at(
        "2026-03-30 02:15", BERLIN
    )


def test_an_hour_that_comes_twice_is_working_time_twice():
    someone = working(hours("01:00", "02:30", days=EVERY_DAY))
    between = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 for the first time
    assert off(someone, between, BERLIN) == "outside_hours"
    assert off_until(someone, between, BERLIN) == datetime(2026, 10, 25, 1, 0, tzinfo=UTC)
    assert off(someone, datetime(2026, 10, 25, 1, 29, tzinfo=UTC), BERLIN) is None


def test_hours_begin_twice_when_their_start_comes_twice():
    someone = working(hours("02:30", "10:00", days=EVERY_DAY))
    set_back = datetime(2026, 10, 25, 1, 0, tzinfo=UTC)  # from 03:00 to 02:00
    assert off(someone, set_back - MINUTE, BERLIN) is None
    assert off_until(someone, set_back, BERLIN) == set_back + 30 * MINUTE


def test_a_public_holiday_is_no_working_day_and_is_told_in_english():
    someone = working(hours("09:00", "17:00"), holidays="DE")
    skip = calendar.off_work(someone, calendar.moment(at("2026-12-25 10:00", BERLIN)), BERLIN)
    assert (skip.reason, skip.detail) == ("holiday", "Christmas Day in DE")


def test_a_regions_holidays_are_its_own():
    epiphany = at("2026-01-06 10:00", BERLIN)
    assert off(working(hours("09:00", "17:00"), holidays="DE-BY"), epiphany, BERLIN) == "holiday"
    assert off(working(hours("09:00", "17:00"), holidays="DE-HH"), epiphany, BERLIN) is None


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-12-25 01:00", None),  # the hours of the 24th
        ("2026-12-25 23:00", "holiday"),
        ("2026-12-27 01:00", "holiday"),  # the hours of the 26th
        ("2026-12-27 23:00", None),
    ],
)
def test_hours_across_midnight_are_off_when_the_day_they_start_on_is_a_holiday(now, expected):
    someone = working(hours("22:00", "02:00", days=EVERY_DAY), holidays="DE")
    assert off(someone, at(now, BERLIN), BERLIN) == expected


def test_hours_of_a_working_day_count_even_while_those_of_a_holiday_run():
    someone = working(hours("22:00", "06:00", EVERY_DAY), hours("05:00", "09:00"), holidays="DE")
    assert off(someone, at("2026-04-07 04:30", BERLIN), BERLIN) == "holiday"  # Easter Monday's
    assert off(someone, at("2026-04-07 05:30", BERLIN), BERLIN) is None


def test_without_hours_the_local_day_of_the_holiday_counts():
    someone = user("B", holidays="DE")
    assert off(someone, at("2026-12-24 23:59", BERLIN), BERLIN) is None
    assert off(someone, at("2026-12-25 00:00", BERLIN), BERLIN) == "holiday"
    assert off_until(someone, at("2026-12-25 00:00", BERLIN), BERLIN) == at(
        "2026-12-27 00:00", BERLIN
    )


@pytest.mark.parametrize("code", ["DE", "DE-BY", "US", "US-CA", "GB-SCT", "FR-Zone A"])
def test_countries_and_their_regions_are_holiday_codes(code):
    assert calendar.is_holiday_code(code)


@pytest.mark.parametrize(
    "code", ["", "XX", "de", "DEU", "DE-", "DE-XX", "DE-by", " DE", "DE-BY-X", "-", "-BY", "DE\x00"]
)
def test_anything_else_is_no_holiday_code(code):
    assert not calendar.is_holiday_code(code)


def test_a_code_that_is_no_longer_known_has_no_holidays():
    assert off(user("B", holidays="XX-YY"), at("2026-12-25 12:00")) is None


def test_an_absence_keeps_away_from_its_start_to_before_its_end():
    vacation = leave(at("2026-10-12 00:00"), at("2026-10-20 00:00"))
    assert absent([vacation], at("2026-10-11 23:59")) is None
    assert absent([vacation], at("2026-10-12 00:00")).reason == "absent"
    assert absent([vacation], at("2026-10-19 23:59")).until == at("2026-10-20 00:00")
    assert absent([vacation], at("2026-10-20 00:00")) is None


@pytest.mark.parametrize(
    ("end", "reason", "detail"),
    [
        ("2026-10-20 00:00", "vacation", "vacation until 2026-10-20"),
        ("2026-10-15 15:00", "dentist", "dentist until 2026-10-15 15:00 CEST"),
        ("2026-10-16 09:00", None, "absent until 2026-10-16 09:00 CEST"),
        ("2026-10-17 09:00", None, "absent until 2026-10-17"),
    ],
)
def test_an_absence_is_told_with_its_reason_and_its_end_on_the_users_clock(end, reason, detail):
    some = leave(at("2026-10-14 00:00", BERLIN), at(end, BERLIN), reason)
    assert absent([some], at("2026-10-15 12:00", BERLIN), BERLIN).detail == detail


def test_absences_that_overlap_or_touch_are_one():
    parts = [
        leave(at("2026-10-12 00:00"), at("2026-10-20 00:00")),
        leave(at("2026-10-13 00:00"), at("2026-10-14 00:00")),
        leave(at("2026-10-18 00:00"), at("2026-10-22 00:00")),
        leave(at("2026-10-22 00:00"), at("2026-10-23 00:00")),
        leave(at("2026-10-23 00:01"), at("2026-10-30 00:00")),
    ]
    assert absent(parts, at("2026-10-15 12:00")).until == at("2026-10-23 00:00")
    assert absent(reversed(parts), at("2026-10-15 12:00")).until == at("2026-10-23 00:00")


def test_s57_the_last_hours_before_leave_bring_no_leads():
    thursday = leave(at("2026-10-15 09:00", BERLIN), at("2026-10-24 00:00", BERLIN))
    assert absent([thursday], at("2026-10-13 08:59", BERLIN), BERLIN, buffer_hours=48) is None
    skip = absent([thursday], at("2026-10-13 09:01", BERLIN), BERLIN, buffer_hours=48)
    assert (skip.reason, skip.detail) == ("absent", "vacation begins 2026-10-15")
    assert skip.until == at("2026-10-24 00:00", BERLIN)


def test_a_gap_between_absences_that_is_shorter_than_the_buffer_is_no_return():
    parts = [
        leave(at("2026-10-12 00:00"), at("2026-10-14 00:00")),
        leave(at("2026-10-15 00:00"), at("2026-10-16 00:00")),
    ]
    assert absent(parts, at("2026-10-13 00:00"), buffer_hours=24).until == at("2026-10-16 00:00")
    assert absent(parts, at("2026-10-13 00:00"), buffer_hours=23).until == at("2026-10-14 00:00")


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_an_absence_may_last_for_as_long_as_there_are_dates(zone):
    ever = leave(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    skip = absent([ever], at("2026-10-15 12:00"), ZoneInfo(zone), buffer_hours=100_000)
    assert skip.detail.startswith("vacation until 9999-12-")


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_meeting_may_lie_at_either_end_of_all_dates(zone, day):
    start = at(f"{day} 23:00")
    someone = working(hours("09:00", "17:00", days=()), holidays="DE")
    assert off_during(someone, start, start + timedelta(minutes=30), ZoneInfo(zone))


@pytest.mark.parametrize(
    ("start", "end", "fits"),
    [
        ("2026-10-15 09:00", "2026-10-15 10:00", True),
        ("2026-10-15 08:59", "2026-10-15 10:00", False),
        ("2026-10-15 16:00", "2026-10-15 17:00", True),  # both ends are exclusive
        ("2026-10-15 16:30", "2026-10-15 17:01", False),
        ("2026-10-15 11:30", "2026-10-15 12:30", True),  # from one row into the next
        ("2026-10-15 16:00", "2026-10-16 10:00", False),
        ("2026-10-17 10:00", "2026-10-17 11:00", False),
    ],
)
def test_a_meeting_must_lie_within_hours_from_start_to_end(start, end, fits):
    someone = working(hours("09:00", "12:00"), hours("12:00", "17:00"))
    assert off_during(someone, at(start, BERLIN), at(end, BERLIN), BERLIN) is not fits


def test_a_meeting_into_a_holiday_is_refused_for_that_holiday():
    slot = Slot(starts_at=at("2026-12-24 23:00", BERLIN), ends_at=at("2026-12-25 01:00", BERLIN))
    skip = calendar.off_work(user("B", holidays="DE"), slot, BERLIN)
    assert (skip.reason, skip.until) == ("holiday", None)


@pytest.mark.parametrize(
    ("start", "end", "fits"),
    [
        ("2026-10-19 23:00", "2026-10-20 00:00", True),
        ("2026-10-19 23:00", "2026-10-20 00:01", False),
        ("2026-10-22 23:59", "2026-10-23 01:00", False),
        ("2026-10-23 00:00", "2026-10-23 01:00", True),
        ("2026-10-19 00:00", "2026-10-24 00:00", False),
    ],
)
def test_a_meeting_must_not_overlap_an_absence(start, end, fits):
    someone = user("B", absences=(leave(at("2026-10-20 00:00"), at("2026-10-23 00:00")),))
    slot = Slot(starts_at=at(start), ends_at=at(end))
    skip = calendar.absence(someone, slot, UTC_ZONE, 0)
    assert (skip is None) is fits
    assert skip is None or skip.until is None


ZONES = st.sampled_from(
    [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "America/Nuuk",
        "Pacific/Auckland",
        "Asia/Beirut",  # midnight is left out when clocks are set forward
        "America/Santiago",  # 23:00 comes twice when they are set back
        "Australia/Lord_Howe",  # they are set by half an hour
    ]
).map(ZoneInfo)
TIMES = st.builds(time, st.integers(0, 23), st.sampled_from([0, 15, 30, 45]))
ROWS = st.builds(
    WorkingHours,
    days=st.sets(st.integers(0, 6), max_size=7).map(lambda days: tuple(sorted(days))),
    start=TIMES,
    end=TIMES,
)
NEAR_CLOCK_CHANGES_AND_HOLIDAYS = st.sampled_from(
    [
        "2026-03-08",
        "2026-03-28",
        "2026-03-29",
        "2026-04-05",
        "2026-09-06",
        "2026-09-27",
        "2026-10-04",
        "2026-10-24",
        "2026-10-25",
        "2026-11-01",
        "2026-12-24",
        "2026-12-26",
    ]
)
MOMENTS = st.builds(
    lambda day, minutes: at(f"{day} 00:00") + minutes * MINUTE,
    NEAR_CLOCK_CHANGES_AND_HOLIDAYS,
    st.integers(-600, 1440),
)
SOURCES = st.sampled_from([working, told])
GERMAN = holidays.country_holidays("DE", years=range(2025, 2028))


def works(rows: list[WorkingHours], has_holidays: bool, now: datetime, zone: ZoneInfo) -> bool:
    """The rule once more, in its plainest form: some shift of yesterday or today runs now."""
    clock = now.astimezone(zone).replace(tzinfo=None)
    for day in (clock.date() - DAY, clock.date()):
        if has_holidays and day in GERMAN:
            continue
        for row in rows:
            end = day if row.end > row.start else day + DAY
            runs = datetime.combine(day, row.start) <= clock < datetime.combine(end, row.end)
            if runs and day.weekday() in row.days:
                return True
    return False


@quick
@given(st.lists(ROWS, min_size=1, max_size=3), st.booleans(), ZONES, MOMENTS, SOURCES)
def test_off_work_lasts_until_exactly_the_first_minute_of_work(
    rows, has_holidays, zone, now, source
):
    someone = source(*rows, holidays="DE" if has_holidays else None)
    skip = calendar.off_work(someone, calendar.moment(now), zone)
    assert (skip is None) is works(rows, has_holidays, now, zone)
    if skip is None:
        return
    scanned = min(skip.until or now + 4 * DAY, now + 4 * DAY)
    minutes = int((scanned - now) / MINUTE)
    assert not any(
        works(rows, has_holidays, now + minute * MINUTE, zone) for minute in range(minutes)
    )
    assert skip.until is None or works(rows, has_holidays, skip.until, zone)


@quick
@given(
    st.lists(ROWS, min_size=1, max_size=3),
    st.booleans(),
    ZONES,
    MOMENTS,
    st.integers(1, 3000),
    SOURCES,
)
def test_a_meeting_fits_when_each_of_its_minutes_is_working_time(
    rows, has_holidays, zone, start, length, source
):
    someone = source(*rows, holidays="DE" if has_holidays else None)
    fits = all(works(rows, has_holidays, start + minute * MINUTE, zone) for minute in range(length))
    assert off_during(someone, start, start + length * MINUTE, zone) is not fits


@quick
@given(
    st.lists(st.tuples(st.integers(-300, 300), st.integers(1, 200)), min_size=1, max_size=5),
    st.integers(0, 2),
    st.integers(0, 5),
)
def test_an_absence_lasts_until_exactly_the_first_minute_without_one(spans, buffer_hours, of_crm):
    now = at("2026-10-15 12:00")
    absences = [
        leave(now + start * MINUTE, now + (start + length) * MINUTE) for start, length in spans
    ]
    kinds = {"of_crm": absences[:of_crm], "buffer_hours": buffer_hours}
    here = absences[of_crm:]
    skip = absent(here, now, **kinds)
    if skip is None:
        return
    minute = now
    while minute < skip.until:
        assert absent(here, minute, **kinds)
        minute += MINUTE
    assert absent(here, skip.until, **kinds) is None


@quick
@given(ZONES, MOMENTS)
def test_a_local_day_ends_where_the_next_begins(zone, now):
    begins, ends = calendar.start_of_day(now, zone), calendar.end_of_day(now, zone)
    today = now.astimezone(zone).date()
    assert begins <= now < ends
    assert {begins.astimezone(zone).date(), (ends - MINUTE).astimezone(zone).date()} == {today}
    assert (begins - MINUTE).astimezone(zone).date() < today < ends.astimezone(zone).date()
    assert ends.astimezone(zone).date() == today + DAY
