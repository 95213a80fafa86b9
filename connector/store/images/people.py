"""Users as plain JSON."""

from __future__ import annotations

from datetime import datetime, time

from connector.model import (
    Absence,
    Presence,
    User,
    WorkingHours,
)
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
        "working_hours": [
            {
                "days": list(hours.days),
                "start": hours.start.isoformat(),
                "end": hours.end.isoformat(),
            }
            for hours in user.working_hours
        ],
        "holidays": user.holidays,
        "absences": [
            {
                "id": one.id,
                "starts_at": moment(one.starts_at),
                "ends_at": moment(one.ends_at),
                "reason": one.reason,
            }
            for one in user.absences
        ],
        "daily_quota": user.daily_quota,
        "owners": dict(sorted(user.owners.items())),
        "refused_by": sorted(user.refused_by),
    }


def user_of(image: Image) -> User:
    """Build the user of an image."""
    built = {
        "status": Presence(image["status"]),
        "working_hours": tuple(
            WorkingHours(
                days=tuple(hours["days"]),
                start=time.fromisoformat(hours["start"]),
                end=time.fromisoformat(hours["end"]),
            )
            for hours in image["working_hours"]
        ),
        "absences": tuple(
            Absence(
                id=one["id"],
                starts_at=datetime.fromisoformat(one["starts_at"]),
                ends_at=datetime.fromisoformat(one["ends_at"]),
                reason=one["reason"],
            )
            for one in image["absences"]
        ),
        "refused_by": frozenset(image["refused_by"]),
    }
    return User(**(image | built))
