"""Leads, what is decided of them, and what CRMs tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connector.model.people import Slot, User
from connector.model.words import (
    EntryKind,
    EventKind,
    LeadKind,
    Reason,
    SkipReason,
    Status,
    StickyStep,
    WriteBack,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Territory:
    """A rule that sends a lead to a pool by its fields; the first that matches wins."""

    name: str
    when: Mapping[str, Any]  # {} matches every lead
    pool_id: str
    is_closed: bool = False  # its pool is archived


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
class Related:
    """A record of the lead's person or company, as the CRM links them."""

    step: StickyStep  # PERSON or COMPANY
    object_type: str
    id: str
    name: str | None = None
    email: str | None = None  # of a person
    owner_id: str | None = None  # None when empty
    owner_stays: bool = False  # the owner is a real, active person of the CRM


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Whom one sticky step found: in the CRM, else in the history."""

    step: StickyStep
    user: User | None
    found: str  # a phrase: "had lead_7 of the same e-mail", "this company is new"
    binds: bool = False  # whatever the pool's sticky policy; uses no turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What is to be assigned, with all that is known of it."""

    id: str
    kind: LeadKind = LeadKind.LEAD
    record: Record | None = None
    email: str | None = None
    company: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)  # fields for territories
    slot: Slot | None = None  # availability is judged then, not now
    preferred: User | None = None  # whom the caller asks for
    existing_owner: ExistingOwner | None = None
    candidates: tuple[Candidate, ...] = ()  # who has it, by the pool's sticky steps in order
    anew: str | None = None  # why an earlier decision does not count
    excluded: Mapping[str, SkipReason] = field(default_factory=dict)  # user id -> why not them
    fallback_from: str | None = None  # id of the pool where nobody could take it
    replaces: tuple[str, ...] = ()  # owner ids of ours in the CRM that may be written over
    related: tuple[Related, ...] = ()  # what the CRM links it to
    asked_pool: str | None = None  # name or id of the pool that a workflow asks for
    heir_of: Record | None = None  # the merged record whose user, ``heir``, it takes over
    heir: User | None = None
    again: bool = False  # it waits, but what was found since may serve it


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
    until: datetime | None = None  # when this hindrance ends by itself, where that is known


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyCheck:
    """What one sticky step found."""

    step: StickyStep
    user_id: str | None
    outcome: str  # a phrase a sales manager can read


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a lead cost in the rotation; what must be known to take that back."""

    member_id: int
    user_id: str
    sequence: int
    at: datetime
    shares: Mapping[int, int] = field(default_factory=dict)  # member id -> weight that counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the engine says of one lead, with every reason. Nothing is written yet."""

    lead: Lead
    pool_id: str | None
    status: Status
    reason: Reason
    decided_at: datetime
    user: User | None = None
    turn: Turn | None = None  # None: no turn was used
    counted: bool = False  # towards quotas
    sticky_step: StickyStep | None = None
    stands_in_for: str | None = None  # user id: the sticky one, who could not take it now
    skipped: tuple[Skip, ...] = ()
    checks: tuple[StickyCheck, ...] = ()
    order: tuple[str, ...] = ()  # user ids, next first, as the rotation stood before
    order_after: tuple[str, ...] = ()
    route: Route | None = None
    gives_back: GivenBack | None = None
    actor: str | None = None  # who asked for it; None: the rotation itself
    note: str | None = None  # why, in the actor's words


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """What an earlier assignment of the same lead returns to the pool with this decision."""

    assignment_id: str
    user_id: str | None
    turn: Turn | None  # None: it used none, or the policy keeps it
    counted_at: datetime | None  # None: it did not count towards quotas


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
    slot: Slot | None
    owner_id: str | None  # the CRM owner this row stands for
    turn: Turn | None
    counted: bool  # towards quotas, as long as no newer row of the pool speaks for the lead
    current: bool  # False once a newer row speaks for the lead
    write_back: WriteBack
    stands_in_for: str | None
    actor: str | None
    note: str | None
    skipped: tuple[Skip, ...]
    checks: tuple[StickyCheck, ...]
    order: tuple[str, ...]
    order_after: tuple[str, ...]
    route: Route | None
    facts: Mapping[str, Any]  # what the decision was given besides the board, as JSON
    gives_back: GivenBack | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of a pool's journal: with the decisions, all that ever changed its board."""

    number: int  # from 1 in its pool, no gaps
    after_sequence: int  # the last decision before it
    at: datetime
    kind: EntryKind
    actor: str | None
    body: Mapping[str, Any]


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
    merged_ids: tuple[str, ...] = ()  # records that this one took over: dead from now on
    pool: str | None = None  # name or id of the pool that a workflow asks for
    ignored: str | None = None  # a machine word: why this event means nothing to us
    payload: Mapping[str, Any] = field(default_factory=dict)  # as it came, without secrets
