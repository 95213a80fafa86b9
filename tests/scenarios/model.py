"""What must hold, said once more and simply, for checking the product from outside.

Knows who may take a lead and how many each has, from what the test itself has told the product. It
does not know whose turn it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.scenarios.stage import Row

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
GERMAN_HOLIDAYS = {date(2026, 12, 25), date(2026, 12, 26), date(2027, 1, 1)}
COUNTED = ("rotation", "owed", "preferred", "fallback", "manual")

Span = tuple[datetime, datetime]


@dataclass
class Person:
    """A user as the test has made it, in the words of the API."""

    active: bool = True
    status: str = "available"
    time_zone: str | None = None
    working_hours: list[Row] = field(default_factory=list)
    holidays: str | None = None
    daily_quota: int | None = None
    absences: dict[str, Span] = field(default_factory=dict)

    def is_there(self, span: Span, buffer_hours: int, zone: ZoneInfo) -> bool:
        """Neither on leave nor outside hours nor on holiday, all through that span."""
        before_leave = timedelta(hours=buffer_hours)
        first, last = span
        if any(
            start - before_leave <= last and first < end for start, end in self.absences.values()
        ):
            return False
        middle = first + (last - first) / 2
        return all(self._works(moment.astimezone(zone)) for moment in (first, middle, last))

    def _works(self, local: datetime) -> bool:
        clock = local.replace(tzinfo=None)
        if not self.working_hours:
            return not self._is_off(clock.date())
        days = (clock.date(), clock.date() - timedelta(days=1))
        return any(
            DAYS[day.weekday()] in row["days"]
            and not self._is_off(day)
            and _within(row, day, clock)
            for row in self.working_hours
            for day in days
        )

    def _is_off(self, day: date) -> bool:
        return self.holidays == "DE" and day in GERMAN_HOLIDAYS


def _within(row: Row, day: date, clock: datetime) -> bool:
    start = datetime.combine(day, time.fromisoformat(row["start"]))
    end = datetime.combine(day, time.fromisoformat(row["end"]))
    return start <= clock < (end if end > start else end + timedelta(days=1))


@dataclass
class Team:
    """A pool as the test has made it: its fields, and its members in order."""

    fields: Row
    members: dict[str, Row]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


@dataclass
class World:
    """Everybody, all pools, and of every lead what was sent and what became of it."""

    people: dict[str, Person]
    teams: dict[str, Team]
    sent: dict[str, Row] = field(default_factory=dict)  # lead id -> the body that brought it
    rows: dict[str, list[Row]] = field(default_factory=dict)  # pool -> history, oldest first
    refusers: dict[str, set[str]] = field(default_factory=dict)  # lead id -> who rejected it
    sticky_counts: set[str] = field(default_factory=set)  # assignment ids that used a turn

    def last_rows(self, pool: str) -> dict[str, Row]:
        """The row that speaks for each lead of the pool."""
        return {row["lead_id"]: row for row in self.rows[pool]}

    def waiting(self, pool: str) -> list[Row]:
        """Held leads, oldest first."""
        held = (row for row in self.last_rows(pool).values() if row["status"] == "held")
        return sorted(held, key=lambda row: row["sequence"])

    def zone(self, user_id: str, pool: str) -> ZoneInfo:
        """Where the user's days begin."""
        return ZoneInfo(self.people[user_id].time_zone or self.teams[pool]["time_zone"] or "UTC")

    def can_take(self, user_id: str, pool: str, lead_id: str, now: datetime) -> bool:
        """May this user get this lead of this pool now? Weights are not looked at."""
        person, team = self.people[user_id], self.teams[pool]
        member = team.members.get(user_id, {"active": True, "daily_quota": None})
        if not (person.active and member["active"] and person.status == "available"):
            return False
        if user_id in self.refusers.get(lead_id, ()):
            return False
        span = slot_of(self.sent[lead_id]) or (now, now)
        if not person.is_there(span, team["leave_buffer_hours"], self.zone(user_id, pool)):
            return False
        if self.is_busy(user_id, lead_id):
            return False
        return self.has_room(user_id, pool, now)

    def is_busy(self, user_id: str, lead_id: str) -> bool:
        """Does another meeting of the user lie across that of the lead?"""
        slot = slot_of(self.sent[lead_id])
        if slot is None:
            return False
        others = (
            slot_of(self.sent[row["lead_id"]])
            for pool in self.teams
            for row in self.last_rows(pool).values()
            if row["assigned_user_id"] == user_id and row["lead_id"] != lead_id
        )
        return any(other and slot[0] <= other[1] and other[0] <= slot[1] for other in others)

    def has_room(self, user_id: str, pool: str, now: datetime) -> bool:
        """Is there one left of the user's quotas, over all pools and in this one?"""
        member = self.teams[pool].members.get(user_id, {"daily_quota": None})
        here = self.taken(user_id, pool, pool, now)
        everywhere = sum(self.taken(user_id, other, pool, now) for other in self.teams)
        return _below(here, member["daily_quota"]) and _below(
            everywhere, self.people[user_id].daily_quota
        )

    def pool_has_room(self, pool: str, now: datetime, lead_id: str | None = None) -> bool:
        """Is there one left of the pool's own quota, or does this lead count already?"""
        team = self.teams[pool]
        start = self._window(ZoneInfo(team["time_zone"] or "UTC"), pool, now)
        taken = sum(moment > start for _, moment in self._takings(pool, lead_id))
        return _below(taken, team["daily_quota"])

    def taken(self, user_id: str, pool: str, judged_by: str, now: datetime) -> int:
        """Leads of the pool that count for the user, in the window of the pool that asks."""
        start = self._window(self.zone(user_id, judged_by), judged_by, now)
        return sum(who == user_id and moment > start for who, moment in self._takings(pool))

    def _window(self, zone: ZoneInfo, pool: str, now: datetime) -> datetime:
        """The last moment that does not count any more."""
        if self.teams[pool]["quota_window"] == "rolling24h":
            return now - timedelta(hours=24)
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(microseconds=1)

    def _takings(self, pool: str, but: str | None = None) -> Iterator[tuple[str, datetime]]:
        for row in self.last_rows(pool).values():
            if row["lead_id"] == but:
                continue
            counted = row["reason"] in COUNTED or row["assignment_id"] in self.sticky_counts
            if counted and row["assigned_user_id"]:
                yield row["assigned_user_id"], datetime.fromisoformat(row["assigned_at"])


def slot_of(body: Row) -> Span | None:
    """When the meeting is, to its last moment."""
    if "starts_at" not in body:
        return None
    start, end = (datetime.fromisoformat(body[name]) for name in ("starts_at", "ends_at"))
    return start, end - timedelta(microseconds=1)


def _below(count: int, quota: int | None) -> bool:
    return quota is None or count < quota
