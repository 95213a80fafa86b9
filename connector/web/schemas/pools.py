"""Pools as they are made and changed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from connector.model import (
    ManualPolicy,
    NoneAvailable,
    Period,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    StickyPolicy,
    StickyTurn,
    Strategy,
)
from connector.web.fields import (
    WORD,
    BufferHours,
    Email,
    Id,
    Name,
    Quota,
    TurnsKept,
    Weight,
    Zone,
    each_once,
)
from connector.web.schemas.shapes import Strict, absent

StickySteps = Annotated[
    list[Literal["person", "company", "earlier_assignment"]],
    AfterValidator(each_once),
    Field(json_schema_extra={"uniqueItems": True}),
]


class NewMember(Strict):
    """A user who joins a pool. A user that is not known yet is made."""

    user_id: Id
    name: Name | None = None
    email: Email | None = None
    weight: Weight = 1
    active: bool = True
    daily_quota: Quota | None = None


class MemberChange(Strict):
    """What changes for one member."""

    user_id: Id
    weight: Weight = Field(default_factory=absent)
    active: bool = Field(default_factory=absent)
    daily_quota: Quota | None = None


class PoolSettings(Strict):
    """How a pool shares its leads. The first word of each list is the default of a new pool."""

    strategy: Annotated[Strategy, WORD] = Field(default_factory=absent)
    daily_quota: Quota | None = Field(default=None, description="0 is none a day, null no limit.")
    period: Annotated[Period, WORD] = Field(
        default_factory=absent, description="least_assigned counts over it; default month."
    )
    time_zone: Zone | None = Field(
        default=None, description="IANA name; null is UTC.", examples=["Europe/Berlin"]
    )
    skip: Annotated[SkipPolicy, WORD] = Field(default_factory=absent)
    accrue_max: TurnsKept = Field(default_factory=absent, description="Default 1.")
    returning: Annotated[ReturnPolicy, WORD] = Field(default_factory=absent, alias="return")
    none_available: Annotated[NoneAvailable, WORD] = Field(default_factory=absent)
    fallback_user_id: Id | None = None
    fallback_pool_id: Id | None = None
    sticky: Annotated[StickyPolicy, WORD] = Field(default_factory=absent)
    sticky_steps: StickySteps = Field(
        default_factory=absent, description="Tried in this order; all three by default."
    )
    sticky_turn: Annotated[StickyTurn, WORD] = Field(default_factory=absent)
    manual: Annotated[ManualPolicy, WORD] = Field(default_factory=absent)
    reject: Annotated[RejectPolicy, WORD] = Field(default_factory=absent)
    quota_window: Annotated[QuotaWindow, WORD] = Field(default_factory=absent)
    leave_buffer_hours: BufferHours = Field(
        default_factory=absent, description="No leads in the last hours before an absence."
    )


class NewPool(PoolSettings):
    """A pool to make."""

    name: Name
    members: list[NewMember] = Field(default_factory=list, max_length=1000)


def _id_or_object(value: object) -> str:
    return "id" if isinstance(value, str) else "object"


Joining = Annotated[
    Annotated[Id, Tag("id")] | Annotated[NewMember, Tag("object")], Discriminator(_id_or_object)
]


class PoolPatch(PoolSettings):
    """What changes for a pool: all or nothing. Removed, then added, then updated, then ordered."""

    name: Name = Field(default_factory=absent)
    add_members: list[Joining] = Field(default_factory=list, max_length=1000)
    remove_members: list[Id] = Field(default_factory=list, max_length=1000)
    redistribute: bool = Field(
        default=False, description="Give the leads of the removed members to the others."
    )
    update_members: list[MemberChange] = Field(default_factory=list, max_length=1000)
    order: list[Id] = Field(default_factory=absent, max_length=10_000)
