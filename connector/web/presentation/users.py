"""How users become answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time

from connector import model
from connector.web import answers
from connector.web.fields import DAYS


def user(found: model.User) -> answers.User:
    """A user as answered."""
    return answers.User(
        user_id=found.id,
        name=found.name,
        email=found.email,
        active=found.active,
        status=found.status,
        time_zone=found.time_zone,
        working_hours=[_hours(row) for row in found.working_hours],
        holidays=found.holidays,
        owners=dict(found.owners),
        daily_quota=found.daily_quota,
        reported={name: _reported(found.reported[name]) for name in sorted(found.reported)},
        inactive_in=sorted(found.refused_by),
    )


def absence(found: model.Absence) -> answers.Absence:
    """An absence as answered."""
    return answers.Absence(
        id=found.id, starts_at=found.starts_at, ends_at=found.ends_at, reason=found.reason
    )


def absences(found: Sequence[model.Absence]) -> answers.Absences:
    """Absences as answered."""
    return answers.Absences([absence(one) for one in found])


def _reported(told: model.Availability) -> answers.Reported:
    return answers.Reported(
        status=told.status,
        time_zone=told.time_zone,
        working_hours=[_hours(row) for row in told.working_hours],
        absences=[
            answers.Away(starts_at=one.starts_at, ends_at=one.ends_at) for one in told.absences
        ],
    )


def _hours(row: model.WorkingHours) -> answers.HoursShown:
    # Midnight as an end is told as 24:00, so that nobody takes it for the start of that day.
    end = "24:00" if row.end == time(0) else f"{row.end:%H:%M}"
    return answers.HoursShown(
        days=[DAYS[day] for day in row.days], start=f"{row.start:%H:%M}", end=end
    )
