"""Leads that are to be assigned."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field, JsonValue, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from connector.model import LeadKind
from connector.web.fields import WORD, Email, Id, Moment, Name
from connector.web.schemas.shapes import Strict

LONGEST = timedelta(days=31)  # that a meeting may last


class LeadRecord(Strict):
    """The CRM record behind a lead."""

    connection: Name
    object_type: Name
    id: Id


class NewLead(Strict):
    """A lead to assign. ``starts_at`` and ``ends_at``: whoever gets it must be free then."""

    lead_id: Id
    kind: Annotated[LeadKind, WORD] = LeadKind.LEAD
    starts_at: Moment | None = Field(default=None, examples=["2026-10-15T12:00:00Z"])
    ends_at: Moment | None = Field(
        default=None, validate_default=True, examples=["2026-10-15T13:00:00Z"]
    )
    attributes: dict[str, JsonValue] = Field(default_factory=dict)
    email: Email | None = None
    company: Name | None = None
    preferred_user_id: Id | None = None
    record: LeadRecord | None = None

    @field_validator("ends_at")
    @classmethod
    def _fits_its_start(cls, ends_at: datetime | None, info: ValidationInfo) -> datetime | None:
        if "starts_at" not in info.data:  # is refused itself
            return ends_at
        starts_at: datetime | None = info.data["starts_at"]
        if starts_at is None and ends_at is None:
            return None
        if starts_at is None:
            raise ValueError("needs starts_at too")
        if ends_at is None:
            raise PydanticCustomError("missing_beside", "is needed with starts_at")
        if ends_at <= starts_at:
            raise ValueError("must be after starts_at")
        if ends_at - starts_at > LONGEST:
            raise ValueError(f"must be within {LONGEST.days} days after starts_at")
        return ends_at


class NewLeads(Strict):
    """Leads to assign one after the other in one transaction."""

    leads: list[NewLead] = Field(min_length=1, max_length=1000)
