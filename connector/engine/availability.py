"""When a user can take leads, by what was set here and what each CRM tells.

Away in one place is away, and so is out of office. Working hours and time zone of a CRM fill only
what was not set here; where several CRMs tell, the first by the connection's name counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from connector.model import Absence, Availability, Presence, User, WorkingHours


def away(user: User) -> str | None:
    """Who says that the user is away, in words; None when nobody does."""
    if user.status is not Presence.AVAILABLE:
        return f"has set themselves to {user.status}"
    # Asked of every member for every lead, so nothing is put in order where nobody is away.
    if all(told.status is Presence.AVAILABLE for told in user.reported.values()):
        return None
    return next(
        f"set to {told.status} in {connection}"
        for connection, told in _reports(user)
        if told.status is not Presence.AVAILABLE
    )


def absences(user: User) -> tuple[Absence, ...]:
    """All absences: those noted here, by start, and then the out-of-office times of each CRM."""
    return user.absences + tuple(
        replace(each, reason=f"out of office in {connection}")
        for connection, told in _reports(user)
        for each in told.absences
    )


def working_hours(user: User) -> tuple[WorkingHours, ...]:
    """The hours set here, else those of a CRM; none: always."""
    return user.working_hours or next(
        (told.working_hours for _, told in _reports(user) if told.working_hours), ()
    )


def time_zone(user: User) -> str | None:
    """The zone set here, else that of a CRM, both for hours and for days; None: told nowhere."""
    return user.time_zone or next(
        (told.time_zone for _, told in _reports(user) if told.time_zone), None
    )


def _reports(user: User) -> Iterable[tuple[str, Availability]]:
    return sorted(user.reported.items(), key=_connection) if user.reported else ()


def _connection(report: tuple[str, Availability]) -> str:
    return report[0]
