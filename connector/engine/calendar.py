"""When a user works: not absent, on no holiday, within their hours, all on their own clock.

A lead is judged at one moment, a meeting over its whole slot. Both are a ``Slot`` here: a moment is
one that ends where it starts. Only for moments do we say ``until`` when a hindrance lasts.

Working hours go by what the local clock shows. Where clocks are set forward or back, an hour that
does not exist is no working time, and one that comes twice is working time twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from connector.engine import availability
from connector.engine.public_holidays import holiday_name, is_holiday_code
from connector.model import Absence, Pool, Skip, SkipReason, Slot, User, WorkingHours

__all__ = [
    "absence",
    "end_of_day",
    "is_holiday_code",
    "local",
    "moment",
    "off_work",
    "pool_zone",
    "spoken",
    "start_of_day",
    "zone",
]

_DAY = timedelta(days=1)
_ALL_DAY_LONG = (WorkingHours(days=tuple(range(7)), start=time(), end=time()),)
_DAYS_AHEAD = 100  # much longer than any run of holidays: who does not work by then never does
_EARLIEST = datetime(1, 1, 9, tzinfo=UTC)
_LATEST = datetime(9999, 12, 23, tzinfo=UTC)


def zone(user: User, of_pool: str | None) -> ZoneInfo:
    """The zone that a user lives by: their own, else one that a CRM tells, the pool's, or UTC."""
    return _named(availability.time_zone(user) or of_pool or "UTC")


def pool_zone(pool: Pool) -> ZoneInfo:
    """The zone of the pool as a whole: its own, else UTC."""
    return _named(pool.time_zone or "UTC")


def local(at: datetime, zone: ZoneInfo) -> datetime:
    """What the zone's clock shows at that moment.

    The outermost days that a datetime holds are not there in every zone; moments on them are taken
    for the nearest one that is.
    """
    return min(max(at, _EARLIEST), _LATEST).astimezone(zone)


def spoken(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """The moment in words: its local day, with time and zone when that is not after tomorrow."""
    clock = local(at, zone)
    if clock.date() - local(now, zone).date() > _DAY:
        return f"{clock.date()}"
    return f"{clock.date()} {clock:%H:%M %Z}"


@lru_cache(maxsize=4096)
def start_of_day(now: datetime, zone: ZoneInfo) -> datetime:
    """When the local day of ``now`` began, in UTC."""
    return _midnight(local(now, zone).date(), zone)


@lru_cache(maxsize=4096)
def end_of_day(now: datetime, zone: ZoneInfo) -> datetime:
    """When the next local day begins, in UTC."""
    return _midnight(local(now, zone).date() + _DAY, zone)


def moment(now: datetime) -> Slot:
    """One moment, to be judged like a slot."""
    return Slot(starts_at=now, ends_at=now)


def absence(user: User, slot: Slot, zone: ZoneInfo, buffer_hours: int) -> Skip | None:
    """The absence that keeps the user away, from ``buffer_hours`` before it starts.

    ``until`` passes over further absences that leave no time in between.
    """
    buffer = timedelta(hours=buffer_hours)
    absences = availability.absences(user)
    met = next((each for each in absences if _meets(each, slot, buffer)), None)
    if met is None:
        return None
    until = met.ends_at
    for each in sorted(absences, key=lambda each: each.starts_at):
        if each.starts_at - until <= buffer:
            until = max(until, each.ends_at)
    if met.starts_at > slot.starts_at:
        detail = f"{met.reason or 'leave'} begins {spoken(met.starts_at, zone, slot.starts_at)}"
    else:
        detail = f"{met.reason or 'absent'} until {spoken(until, zone, slot.starts_at)}"
    return Skip(
        user_id=user.id,
        reason=SkipReason.ABSENT,
        detail=detail,
        until=until if _is_moment(slot) else None,
    )


def off_work(user: User, slot: Slot, zone: ZoneInfo) -> Skip | None:
    """Why the user does not work at some moment of the slot: a holiday, or not within their hours.

    Hours that cross midnight are off when the day they start on is a holiday. ``until`` is the next
    moment within hours that is no holiday.
    """
    hours = availability.working_hours(user)
    if not hours and not user.holidays:
        return None
    hours = hours or _ALL_DAY_LONG
    for at in _moments_that_tell(hours, slot, zone):
        off = _off_at(local(at, zone), hours, user.holidays)
        if off is None:
            continue
        reason, detail = off
        until = _opening(hours, user.holidays, zone, at) if _is_moment(slot) else None
        if until and reason is SkipReason.OUTSIDE_HOURS:
            detail += f" until {spoken(until, zone, at)}"
        return Skip(user_id=user.id, reason=reason, detail=detail, until=until)
    return None


def _is_moment(slot: Slot) -> bool:
    return slot.starts_at == slot.ends_at


def _meets(absence: Absence, slot: Slot, buffer: timedelta) -> bool:
    # Differences instead of shifted moments: those could leave the years that a datetime holds.
    if absence.ends_at <= slot.starts_at:
        return False
    if _is_moment(slot):
        return absence.starts_at - slot.starts_at <= buffer
    return absence.starts_at - slot.ends_at < buffer


def _off_at(
    clock: datetime, hours: tuple[WorkingHours, ...], holidays: str | None
) -> tuple[SkipReason, str] | None:
    """Why there is no work when the local clock shows this; None: there is."""
    days = _days_of_shifts(clock, hours)
    names = [holiday_name(holidays, day) for day in days or [clock.date()]]
    if all(names):
        return SkipReason.HOLIDAY, f"{names[-1]} in {holidays}"
    return None if days else (SkipReason.OUTSIDE_HOURS, "outside working hours")


def _days_of_shifts(clock: datetime, hours: tuple[WorkingHours, ...]) -> list[date]:
    """The days on which those shifts began that run when the local clock shows this."""
    today, now = clock.date(), clock.time()
    weekday = today.weekday()
    days = []
    for row in hours:
        overnight = row.end <= row.start
        if weekday in row.days and row.start <= now and (overnight or now < row.end):
            days.append(today)
        if overnight and now < row.end and (weekday - 1) % 7 in row.days:
            days.append(today - _DAY)
    return days


def _moments_that_tell(
    hours: tuple[WorkingHours, ...], slot: Slot, zone: ZoneInfo
) -> Iterator[datetime]:
    """The start of the slot and each moment in it at which work may end."""
    yield slot.starts_at
    if _is_moment(slot):
        return
    day, last = local(slot.starts_at, zone).date(), local(slot.ends_at, zone).date()
    while day <= last:
        for edge in _edges(hours, day, zone):
            if slot.starts_at < edge < slot.ends_at:
                yield edge
        day += _DAY


@lru_cache(maxsize=4096)
def _opening(
    hours: tuple[WorkingHours, ...], holidays: str | None, zone: ZoneInfo, now: datetime
) -> datetime | None:
    """The first moment after ``now`` at which there is work; None: never."""
    if not any(row.days for row in hours):
        return None
    today = local(now, zone).date()
    for ahead in range(_DAYS_AHEAD):
        for edge in _edges(hours, today + ahead * _DAY, zone):
            if edge > now and _off_at(edge.astimezone(zone), hours, holidays) is None:
                return edge
    return None


@lru_cache(maxsize=4096)
def _edges(hours: tuple[WorkingHours, ...], day: date, zone: ZoneInfo) -> tuple[datetime, ...]:
    """All moments of the local day, in order, at which work may begin or end: between two, neither.

    More moments do no harm, since each is judged for itself.
    """
    times = {each for row in hours for each in (row.start, row.end)}
    clocks = [datetime.combine(day, each, zone) for each in times]
    edges = {clock.replace(fold=fold).astimezone(UTC) for clock in clocks for fold in (0, 1)}
    change = _clock_change(day, zone)
    return tuple(sorted(edges | {change} if change else edges))


@lru_cache(maxsize=4096)
def _clock_change(day: date, zone: ZoneInfo) -> datetime | None:
    """When clocks are set forward or back on or next to that day, to the second."""
    first = datetime.combine(day, time(), UTC) - _DAY
    offset = first.astimezone(zone).utcoffset()

    def is_set_by(seconds: int) -> bool:
        return (first + timedelta(seconds=seconds)).astimezone(zone).utcoffset() != offset

    end = 3 * 86400
    if not is_set_by(end):
        return None
    return first + timedelta(seconds=bisect_left(range(end), True, key=is_set_by))


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    # Where clocks are set forward at midnight, this reads as the moment at which they are.
    return datetime.combine(day, time(), zone).astimezone(UTC)


@lru_cache(maxsize=1024)
def _named(name: str) -> ZoneInfo:
    return ZoneInfo(name)
