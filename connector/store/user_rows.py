"""Users as the model knows them, built from rows and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select

from connector.model import Absence, Availability, Presence, User
from connector.store import images
from connector.store.database import Session
from connector.store.tables import absences, user_availability, user_owners, users

OVER_FOR_GOOD = timedelta(days=1)  # so long after its end an absence says nothing of any slot


def read(
    session: Session, wanted: Sequence[str] | Select[Any], now: datetime | None = None
) -> dict[str, User]:
    """Build the users with these ids, by id, in three statements.

    ``wanted`` may be a query for the ids; as a list it holds at most what one statement takes. With
    ``now``, absences that ended more than a day before it are left out.
    """
    people = session.execute(select(users).where(users.c.id.in_(wanted)).order_by(users.c.id)).all()
    owners = session.execute(owners_and_reports().where(user_owners.c.user_id.in_(wanted)))
    away = _absences(absences.c.user_id.in_(wanted))
    if now:
        away = away.where(absences.c.ends_at > now - OVER_FOR_GOOD)
    return _built(people, owners, session.execute(away))


def absences_of(
    session: Session, user_id: str, after: str | None, limit: int | None
) -> list[Absence]:
    """Read a user's absences by start, behind the absence with the id ``after``."""
    query = _absences(absences.c.user_id == user_id).limit(limit)
    if after is not None:
        place = select(absences.c.starts_at).where(absences.c.id == after).scalar_subquery()
        starts_at, own_id = absences.c.starts_at, absences.c.id
        query = query.where((starts_at > place) | ((starts_at == place) & (own_id > after)))
    return [absence_of(row) for row in session.execute(query)]


def absence_of(row: Row[Any]) -> Absence:
    """Turn a row into the model's absence."""
    return Absence(id=row.id, starts_at=row.starts_at, ends_at=row.ends_at, reason=row.reason)


def columns_of(user: User) -> dict[str, Any]:
    """Turn a user into a row of the table of users."""
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "active": user.active,
        "status": user.status,
        "time_zone": user.time_zone,
        "working_hours": images.hours(user.working_hours) or None,
        "holidays": user.holidays,
        "daily_quota": user.daily_quota,
    }


def owners_and_reports() -> Select[Any]:
    """Ask for the owner ids of users, each with what its CRM tells of the user."""
    owned, told = user_owners.c, user_availability.c
    both = (told.user_id == owned.user_id) & (told.connection == owned.connection)
    columns = (told.status, told.time_zone, told.working_hours, told.out_of_office)
    return select(user_owners, *columns).join_from(
        user_owners, user_availability, both, isouter=True
    )


def availability_of(row: Row[Any]) -> Availability | None:
    """Turn a row of the CRM's reports into the model's availability; None: nothing is told."""
    if row.status is None:
        return None
    return Availability(
        status=Presence(row.status),
        time_zone=row.time_zone,
        working_hours=images.hours_of(row.working_hours or ()),
        absences=images.absences_of(row.out_of_office or ()),
    )


def columns_of_availability(told: Availability) -> dict[str, Any]:
    """Turn what a CRM tells of a user into a row."""
    return {
        "status": told.status,
        "time_zone": told.time_zone,
        "working_hours": images.hours(told.working_hours) or None,
        "out_of_office": images.absences(told.absences) or None,
    }


def _absences(condition: ColumnElement[bool]) -> Select[Any]:
    return select(absences).where(condition).order_by(absences.c.starts_at, absences.c.id)


def _built(
    people: Iterable[Row[Any]], owners: Iterable[Row[Any]], away: Iterable[Row[Any]]
) -> dict[str, User]:
    owner_ids: dict[str, dict[str, str]] = defaultdict(dict)
    refused: dict[str, set[str]] = defaultdict(set)
    reported: dict[str, dict[str, Availability]] = defaultdict(dict)
    for row in owners:
        owner_ids[row.user_id][row.connection] = row.owner_id
        if row.refused or row.unlisted:
            refused[row.user_id].add(row.connection)
        if told := availability_of(row):
            reported[row.user_id][row.connection] = told
    absent: dict[str, list[Absence]] = defaultdict(list)
    for row in away:
        absent[row.user_id].append(absence_of(row))
    return {
        row.id: User(
            id=row.id,
            name=row.name,
            email=row.email,
            active=row.active,
            status=Presence(row.status),
            time_zone=row.time_zone,
            working_hours=images.hours_of(row.working_hours or ()),
            holidays=row.holidays,
            absences=tuple(absent.get(row.id, ())),
            daily_quota=row.daily_quota,
            owners=owner_ids.get(row.id, {}),
            refused_by=frozenset(refused.get(row.id, ())),
            reported=reported.get(row.id, {}),
        )
        for row in people
    }
