"""Users as they are shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field, RootModel


class HoursShown(BaseModel):
    """From start to before end; an end that is not after the start lies on the next day."""

    days: list[str]
    start: str
    end: str


class Away(BaseModel):
    """Out of office from ``starts_at`` to before ``ends_at``."""

    starts_at: datetime
    ends_at: datetime


class Reported(BaseModel):
    """When a user can take leads, as a CRM tells it. Hours and zone count where none are set."""

    status: str
    time_zone: str | None
    working_hours: list[HoursShown]
    absences: list[Away]


class User(BaseModel):
    """A sales rep."""

    user_id: str
    name: str
    email: str | None
    active: bool
    status: str
    time_zone: str | None
    working_hours: list[HoursShown]
    holidays: str | None
    owners: dict[str, str]
    daily_quota: int | None
    reported: dict[str, Reported] = Field(description="By connection; read from the CRM.")
    inactive_in: list[str] = Field(
        description="Connections whose CRM does not have the user own records."
    )


class Users(RootModel[list[User]]):
    """Users by id."""


class Absence(BaseModel):
    """A user is away from ``starts_at`` to before ``ends_at``."""

    id: str
    starts_at: datetime
    ends_at: datetime
    reason: str | None


class Absences(RootModel[list[Absence]]):
    """A user's absences, by start."""
