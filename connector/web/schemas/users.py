"""Users and their absences."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from connector.model import Presence
from connector.web.fields import (
    WORD,
    Day,
    DayEnd,
    DayTime,
    Email,
    Holidays,
    Id,
    Moment,
    Name,
    Quota,
    Zone,
    each_once,
)
from connector.web.schemas.shapes import Strict, absent

Days = Annotated[
    list[Day],
    AfterValidator(each_once),
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
]


class Hours(Strict):
    """From start to before end; an end that is not after the start lies on the next day."""

    days: Days
    start: DayTime
    end: DayEnd


WorkingHours = Annotated[
    list[Hours], Field(max_length=100, description="In the user's own zone; [] means always.")
]


class NewUser(Strict):
    """A user as a whole; what is left out takes its default."""

    name: Name | None = None
    email: Email | None = None
    active: bool = True
    status: Annotated[Presence, WORD] = Presence.AVAILABLE
    time_zone: Zone | None = Field(default=None, examples=["Europe/Berlin"])
    working_hours: WorkingHours = Field(default_factory=list)
    holidays: Holidays | None = Field(
        default=None, description="Of a country or its region.", examples=["DE", "DE-BY"]
    )
    owners: dict[Name, Id] = Field(default_factory=dict)
    daily_quota: Quota | None = None


class UserPatch(Strict):
    """The fields of a user that change. ``owners`` too: null takes one away, the others stay."""

    name: Name = Field(default_factory=absent)
    email: Email | None = None
    active: bool = Field(default_factory=absent)
    status: Annotated[Presence, WORD] = Field(default_factory=absent)
    time_zone: Zone | None = Field(default=None, examples=["Europe/Berlin"])
    working_hours: WorkingHours = Field(default_factory=absent)
    holidays: Holidays | None = Field(
        default=None, description="Of a country or its region.", examples=["DE", "DE-BY"]
    )
    owners: dict[Name, Id | None] = Field(default_factory=absent)
    daily_quota: Quota | None = None


class NewAbsence(Strict):
    """A user is away from ``starts_at`` to before ``ends_at``."""

    starts_at: Moment = Field(examples=["2026-12-24T00:00:00Z"])
    ends_at: Moment = Field(examples=["2027-01-02T00:00:00Z"])
    reason: Name | None = None

    @field_validator("ends_at")
    @classmethod
    def _ends_after_its_start(cls, ends_at: datetime, info: ValidationInfo) -> datetime:
        starts_at = info.data.get("starts_at")
        if starts_at and ends_at <= starts_at:
            raise ValueError("must be after starts_at")
        return ends_at
