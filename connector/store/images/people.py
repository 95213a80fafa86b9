"""Users as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time
from typing import Any

from connector.model import Absence, Availability, Presence, User, WorkingHours
from connector.store.images.moments import Image, moment


def user(user: User) -> Image:
    """Picture a user."""
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "active": user.active,
        "status": user.status,
        "time_zone": user.time_zone,
        "working_hours": hours(user.working_hours),
        "holidays": user.holidays,
        "absences": absences(user.absences),
        "daily_quota": user.daily_quota,
        "owners": dict(sorted(user.owners.items())),
        "refused_by": sorted(user.refused_by),
        # Also when empty, else a difference could not tell that nothing is reported any more.
        "reported": {
            connection: _availability(user.reported[connection])
            for connection in sorted(user.reported)
        },
    }


def user_of(image: Image) -> User:
    """Build the user of an image; those of earlier versions tell of no reports."""
    built = {
        "status": Presence(image["status"]),
        "working_hours": hours_of(image["working_hours"]),
        "absences": absences_of(image["absences"]),
        "refused_by": frozenset(image["refused_by"]),
        "reported": {
            connection: _availability_of(report)
            for connection, report in image.get("reported", {}).items()
        },
    }
    return User(**(image | built))


def hours(rows: Iterable[WorkingHours]) -> list[Any]:
    """Picture working hours."""
    return [
        {"days": list(row.days), "start": row.start.isoformat(), "end": row.end.isoformat()}
        for row in rows
    ]


def hours_of(images: Iterable[Image]) -> tuple[WorkingHours, ...]:
    """Build the working hours of an image."""
    return tuple(
        WorkingHours(
            days=tuple(image["days"]),
            start=time.fromisoformat(image["start"]),
            end=time.fromisoformat(image["end"]),
        )
        for image in images
    )


def absences(rows: Iterable[Absence]) -> list[Any]:
    """Picture absences."""
    return [
        {
            "id": one.id,
            "starts_at": moment(one.starts_at),
            "ends_at": moment(one.ends_at),
            "reason": one.reason,
        }
        for one in rows
    ]


def absences_of(images: Iterable[Image]) -> tuple[Absence, ...]:
    """Build the absences of an image."""
    return tuple(
        Absence(
            id=image["id"],
            starts_at=datetime.fromisoformat(image["starts_at"]),
            ends_at=datetime.fromisoformat(image["ends_at"]),
            reason=image["reason"],
        )
        for image in images
    )


def _availability(told: Availability) -> Image:
    return {
        "status": told.status,
        "time_zone": told.time_zone,
        "working_hours": hours(told.working_hours),
        "absences": absences(told.absences),
    }


def _availability_of(image: Image) -> Availability:
    return Availability(
        status=Presence(image["status"]),
        time_zone=image["time_zone"],
        working_hours=hours_of(image["working_hours"]),
        absences=absences_of(image["absences"]),
    )
