"""Users, pools, and the board: all that a decision depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time

from connector.model.words import (
    ManualPolicy,
    NoneAvailable,
    Period,
    Presence,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHours:
    """On these days from ``start`` to before ``end``, on the user's own clock.

    An ``end`` that is not after ``start`` lies on the next day; the hours belong to the start day.
    """

    days: tuple[int, ...]  # 0 is Monday
    start: time
    end: time


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A user is away from ``starts_at`` to before ``ends_at``."""

    id: str
    starts_at: datetime
    ends_at: datetime
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """When a user can take leads, as one CRM tells it."""

    status: Presence = Presence.AVAILABLE
    time_zone: str | None = None  # IANA name; None: not told
    working_hours: tuple[WorkingHours, ...] = ()  # none: not told
    absences: tuple[Absence, ...] = ()  # out of office, by start


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A sales rep."""

    id: str
    name: str
    email: str | None = None
    active: bool = True
    status: Presence = Presence.AVAILABLE
    time_zone: str | None = None  # IANA name; None: the pool's, else UTC
    working_hours: tuple[WorkingHours, ...] = ()  # none given: always
    holidays: str | None = None  # country, or country and region: "DE", "DE-BY"
    absences: tuple[Absence, ...] = ()  # by start; those that ended a day ago are not loaded
    daily_quota: int | None = None  # over all pools; 0 is none a day, None is no limit
    owners: Mapping[str, str] = field(default_factory=dict)  # connection -> owner id there
    refused_by: frozenset[str] = frozenset()  # connections whose CRM calls this owner inactive
    # What each CRM tells, by connection: away anywhere is away; hours and zone only fill gaps here.
    reported: Mapping[str, Availability] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a member stands in the rotation. Only the engine's rotation changes it."""

    received: int = 0  # leads by turn since joining, without those that came back
    owed: int = 0  # strict: turns to serve before the rotation; negative: had in advance
    balance: int = 0  # fair share minus leads when shares last changed, in 1/LEAD of a lead
    taken: int = 0  # leads by turn since then
    share: int = 0  # the weight that counts since then; 0: was not able
    in_period: int = 0  # least_assigned: leads in the pool's period
    last_turn: int = 0  # sequence of the last lead by turn
    away: bool = False  # least_assigned: was away when the pool last decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user's place in one pool."""

    id: int
    user: User
    position: int  # from 1, no gaps
    weight: int = 1
    active: bool = True
    daily_quota: int | None = None
    standing: Standing = Standing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What a pool does in the cases where pools differ."""

    skip: SkipPolicy = SkipPolicy.LOSE
    accrue_max: int = 1
    returning: ReturnPolicy = ReturnPolicy.LEVEL  # "return" outside of Python
    none_available: NoneAvailable = NoneAvailable.HOLD
    fallback_user_id: str | None = None
    fallback_pool_id: str | None = None
    sticky: StickyPolicy = StickyPolicy.ACTIVE
    sticky_steps: tuple[StickyStep, ...] = (
        StickyStep.PERSON,
        StickyStep.COMPANY,
        StickyStep.EARLIER_ASSIGNMENT,
    )
    sticky_turn: StickyTurn = StickyTurn.FREE
    manual: ManualPolicy = ManualPolicy.MOVE
    reject: RejectPolicy = RejectPolicy.CREDIT
    quota_window: QuotaWindow = QuotaWindow.DAY
    leave_buffer_hours: int = 0  # no leads in the last hours before an absence


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Users who share incoming work."""

    id: str
    name: str
    strategy: Strategy = Strategy.STRICT
    created_at: datetime
    members: tuple[Member, ...] = ()  # by position
    daily_quota: int | None = None
    period: Period = Period.MONTH
    time_zone: str | None = None  # IANA name; None is UTC
    policies: Policies = Policies()
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """When a meeting takes place: from ``starts_at`` to before ``ends_at``."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All that one decision of a pool depends on, read under the pool's lock."""

    pool: Pool
    last_assigned_member_id: int | None = None  # strict goes on behind this member
    last_sequence: int = 0
    turns: int = 0  # leads by turn since shares last changed
    period_start: datetime | None = None  # least_assigned: the period that ``in_period`` counts
    fallback_user: User | None = None
    # Moments of leads that count towards quotas, by user id, oldest first, of the last 26 hours.
    takings: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)  # in this pool
    elsewhere: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)  # in other pools
    meetings: Mapping[str, tuple[Slot, ...]] = field(default_factory=dict)  # in all pools
