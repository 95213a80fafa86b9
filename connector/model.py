"""The words of Lead Rota as frozen data that every layer shares.

Times are aware UTC datetimes. Ids of ours are plain ``id``; ids of a CRM are text, since HubSpot's
pass 32 bits and Salesforce's differ only by case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class LeadKind(StrEnum):
    """What is handed out."""

    LEAD = "lead"
    MEETING = "meeting"
    TASK = "task"


class Strategy(StrEnum):
    """How a pool's turns are shared."""

    STRICT = "strict"


class Status(StrEnum):
    """What a history row says of its lead."""

    ASSIGNED = "assigned"
    HELD = "held"
    KEPT = "kept"  # the CRM's owner stays
    REASSIGNED = "reassigned"  # a person chose another owner


class Reason(StrEnum):
    """Why a decision came out as it did."""

    ROTATION = "rotation"
    OWED = "owed"  # a turn that came back was served first
    STICKY = "sticky"
    MANUAL = "manual"  # a person set the owner in the CRM
    KEPT_EXISTING_OWNER = "kept_existing_owner"  # an owner appeared between decision and write
    NO_MEMBER_AVAILABLE = "no_member_available"
    NO_TERRITORY_MATCH = "no_territory_match"
    NO_POOL = "no_pool"


class StickyStep(StrEnum):
    """Which look-up found the user who already has the lead."""

    EXISTING_OWNER = "existing_owner"
    EARLIER_ASSIGNMENT = "earlier_assignment"


class SkipReason(StrEnum):
    """Why a member could not take the lead."""

    INACTIVE = "inactive"
    WEIGHT_ZERO = "weight_zero"
    NO_OWNER = "no_owner"  # no owner id in the lead's CRM
    EXCLUDED = "excluded"
    REFUSED_BY_CRM = "refused_by_crm"


class WriteBack(StrEnum):
    """How far the owner write of an assignment has come."""

    NONE = "none"  # no CRM record stands behind the lead, or nothing is to be written
    PENDING = "pending"
    DONE = "done"
    KEPT = "kept"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A sales rep."""

    id: str
    name: str
    email: str | None = None
    active: bool = True
    time_zone: str | None = None  # IANA name
    owners: Mapping[str, str] = field(default_factory=dict)  # connection -> owner id there
    refused_by: frozenset[str] = frozenset()  # connections whose CRM calls this owner inactive


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user's place in one pool."""

    id: int
    user: User
    position: int  # from 1, no gaps
    weight: int = 1
    active: bool = True
    owed: int = 0  # turns that came back and are served before the rotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Users who share incoming work."""

    id: str
    name: str
    strategy: Strategy = Strategy.STRICT
    created_at: datetime
    members: tuple[Member, ...] = ()  # by position


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All that one decision of a pool depends on, read under the pool's lock."""

    pool: Pool
    last_assigned_member_id: int | None = None  # the rotation goes on behind this member
    last_sequence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Territory:
    """A rule that sends a lead to a pool by its fields; the first that matches wins."""

    name: str
    when: Mapping[str, Any]  # {} matches every lead
    pool_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A CRM record: ``("hubspot", "contacts", "88000000123")``."""

    connection: str
    object_type: str
    id: str

    @property
    def lead_id(self) -> str:
        """The id under which the record is a lead of ours."""
        return f"{self.connection}:{self.object_type}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingOwner:
    """The active owner whom the CRM shows for a record."""

    owner_id: str
    user: User | None = None  # None: a real person of the CRM, but no user of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What is to be assigned, with all that is known of it."""

    id: str
    kind: LeadKind = LeadKind.LEAD
    record: Record | None = None
    email: str | None = None
    company: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)  # fields for territories
    existing_owner: ExistingOwner | None = None
    earlier_user: User | None = None  # who got this same lead before
    anew: str | None = None  # why an earlier decision does not count
    excluded: Mapping[str, SkipReason] = field(default_factory=dict)  # user id -> why not them


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Which pool a lead goes to, and how that was found."""

    pool_id: str | None
    territory: str | None = None  # None with a pool: named by the caller or the default pool
    reason: Reason | None = None  # why there is no pool
    passed: tuple[str, ...] = ()  # one sentence for each earlier territory that did not match


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """One member who could not take the lead."""

    user_id: str
    reason: SkipReason
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyCheck:
    """What one sticky step found."""

    step: StickyStep
    user_id: str | None
    outcome: str  # a phrase a sales manager can read


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the engine says of one lead, with every reason. Nothing is written yet."""

    lead: Lead
    pool_id: str | None
    status: Status
    reason: Reason
    decided_at: datetime
    user: User | None = None
    member_id: int | None = None  # whose turn was used; None when none was
    sticky_step: StickyStep | None = None
    skipped: tuple[Skip, ...] = ()
    checks: tuple[StickyCheck, ...] = ()
    order: tuple[str, ...] = ()  # user ids, next first, as the rotation stood before
    route: Route | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A decision that was recorded: one history row."""

    id: str
    pool_id: str | None
    sequence: int | None  # None without a pool
    lead_id: str
    kind: LeadKind
    status: Status
    reason: Reason
    sticky_step: StickyStep | None
    user_id: str | None
    user_name: str | None
    assigned_at: datetime
    record: Record | None
    email: str | None
    company: str | None
    attributes: Mapping[str, Any]
    owner_id: str | None  # the CRM owner this row stands for
    member_id: int | None
    current: bool  # False once a newer row speaks for the lead
    write_back: WriteBack
    skipped: tuple[Skip, ...]
    checks: tuple[StickyCheck, ...]
    order: tuple[str, ...]
    route: Route | None


class EventKind(StrEnum):
    """What a CRM tells of a record."""

    CREATED = "created"
    CHANGED = "changed"
    OWNER_CHANGED = "owner_changed"
    OTHER = "other"  # nothing that concerns an owner; stored as ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadEvent:
    """One thing a CRM told us. ``key`` is the same whenever the same thing is told again."""

    key: str
    kind: EventKind
    object_type: str
    record_id: str
    occurred_at: datetime | None = None
    owner_id: str | None = None  # the owner the event names; "" says it was cleared
    account: str | None = None  # the CRM account that sent it, where that is not checked yet
    ignored: str | None = None  # a machine word: why this event means nothing to us
    payload: Mapping[str, Any] = field(default_factory=dict)  # as it came, without secrets
