"""Pools as they are shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field, RootModel


class Member(BaseModel):
    """A user's place in a pool."""

    user_id: str
    name: str
    position: int
    weight: int
    active: bool
    daily_quota: int | None


class Unavailable(BaseModel):
    """Why a member cannot take a lead now, and until when, where that is known."""

    reason: str
    detail: str | None
    until: datetime | None


class MemberNow(Member):
    """A member with its standing at this moment."""

    count: int = Field(description="Leads by turn since joining, without those that came back.")
    next_up: int | None
    unavailable: Unavailable | None
    fair_share: float
    received: int
    balance: float


class PoolSettings(BaseModel):
    """How a pool shares its leads."""

    id: str
    name: str
    strategy: str
    created_at: datetime
    archived_at: datetime | None
    daily_quota: int | None
    period: str
    time_zone: str | None
    skip: str
    accrue_max: int
    returning: str = Field(serialization_alias="return")
    none_available: str
    fallback_user_id: str | None
    fallback_pool_id: str | None
    sticky: str
    sticky_steps: list[str]
    sticky_turn: str
    manual: str
    reject: str
    quota_window: str
    leave_buffer_hours: int


class Pool(PoolSettings):
    """Users who share incoming work."""

    members: list[Member]


class PoolNow(PoolSettings):
    """A pool, each member with its count, next-up place (1 is next) and why not, if so."""

    members: list[MemberNow]


class Pools(RootModel[list[Pool]]):
    """Pools, oldest first."""


class NextUser(BaseModel):
    """Who would get a lead."""

    user_id: str
    name: str


class Preview(RootModel[list[NextUser | None]]):
    """Who would get the next leads; null where nobody could take one."""


class MemberFairness(BaseModel):
    """What a member received in a period, against the fair share while able to take leads."""

    user_id: str
    name: str
    received: int
    fair_share: float
    balance: float
    longest_wait: int = Field(
        description="Most leads in a row that went to others while this member could take them."
    )
    worst_distance: float


class Fairness(BaseModel):
    """How evenly a pool's leads were shared in a period."""

    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    leads: int = Field(description="By turn, without those that came back.")
    worst_distance: float = Field(
        description="The farthest that anyone was from the fair share at any moment."
    )
    members: list[MemberFairness]
