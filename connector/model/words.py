"""The words that have fixed values: everything a column or an answer may say."""

from __future__ import annotations

from enum import StrEnum


class LeadKind(StrEnum):
    """What is handed out."""

    LEAD = "lead"
    MEETING = "meeting"
    TASK = "task"


class Strategy(StrEnum):
    """How a pool's turns are shared."""

    STRICT = "strict"  # exactly in order
    WEIGHTED = "weighted"  # in proportion to the weights, evenly at every moment
    LEAST_ASSIGNED = "least_assigned"  # whoever has the fewest in the period


class Period(StrEnum):
    """Over what time ``least_assigned`` counts; it begins anew in the pool's zone."""

    DAY = "day"
    WEEK = "week"  # from Monday
    MONTH = "month"
    EVER = "ever"


class Presence(StrEnum):
    """What a user says of themselves."""

    AVAILABLE = "available"
    AWAY = "away"


class SkipPolicy(StrEnum):
    """What becomes of an unavailable member's turn under ``strict``."""

    LOSE = "lose"  # the next one takes it; nothing is owed
    HOLD = "hold"  # one turn is kept for them
    ACCRUE = "accrue"  # up to ``accrue_max`` turns are kept


class ReturnPolicy(StrEnum):
    """Where a member who is new or was away stands under ``least_assigned``."""

    LEVEL = "level"  # at the pool's level: neither flooded nor starved
    NONE = "none"  # at their own count


class NoneAvailable(StrEnum):
    """What happens to a lead that nobody can take."""

    HOLD = "hold"
    FALLBACK = "fallback"  # to a user or another pool
    REFUSE = "refuse"  # the caller is told; nothing is recorded


class StickyPolicy(StrEnum):
    """When the user who already has the person or the company gets the lead."""

    ACTIVE = "active"  # while active, even when absent
    AVAILABLE = "available"  # only when able to take it now
    OFF = "off"


class StickyTurn(StrEnum):
    """Whether a sticky lead uses a turn and counts towards quotas."""

    FREE = "free"
    COUNTED = "counted"


class ManualPolicy(StrEnum):
    """What a person's change of the owner does to turns."""

    MOVE = "move"  # the turn moves from the old to the new user
    IGNORE = "ignore"


class RejectPolicy(StrEnum):
    """Whether a user who gives a lead back gets the turn back."""

    CREDIT = "credit"
    NO_CREDIT = "no_credit"


class QuotaWindow(StrEnum):
    """Over what time quotas count."""

    DAY = "day"  # the calendar day in the member's zone
    ROLLING24H = "rolling24h"


class Status(StrEnum):
    """What a history row says of its lead."""

    ASSIGNED = "assigned"
    HELD = "held"
    KEPT = "kept"  # the CRM's owner stays
    REASSIGNED = "reassigned"  # a person chose another owner, or had one chosen
    REJECTED = "rejected"  # the user before gave it back; this row says who has it now
    UNDONE = "undone"  # taken back; nobody has it


class Reason(StrEnum):
    """Why a decision came out as it did."""

    ROTATION = "rotation"
    OWED = "owed"  # a turn that came back was served first
    STICKY = "sticky"
    PREFERRED = "preferred"  # the caller named the user
    FALLBACK = "fallback"  # nobody of the pool could take it
    MANUAL = "manual"  # a person decided
    KEPT_EXISTING_OWNER = "kept_existing_owner"  # an owner appeared between decision and write
    NO_MEMBER_AVAILABLE = "no_member_available"
    POOL_QUOTA_REACHED = "pool_quota_reached"
    NO_TERRITORY_MATCH = "no_territory_match"
    NO_POOL = "no_pool"


class StickyStep(StrEnum):
    """Which look-up found the user who already has the lead."""

    EXISTING_OWNER = "existing_owner"
    PERSON = "person"  # same e-mail
    COMPANY = "company"  # same company, else same mail domain
    EARLIER_ASSIGNMENT = "earlier_assignment"


class SkipReason(StrEnum):
    """Why a member could not take the lead."""

    INACTIVE = "inactive"
    AWAY = "away"
    ABSENT = "absent"
    HOLIDAY = "holiday"
    OUTSIDE_HOURS = "outside_hours"
    BUSY = "busy"  # another meeting of ours at that time
    QUOTA_REACHED = "quota_reached"
    WEIGHT_ZERO = "weight_zero"
    NO_OWNER = "no_owner"  # no owner id in the lead's CRM
    EXCLUDED = "excluded"
    REFUSED_BY_CRM = "refused_by_crm"
    TURN_USED = "turn_used"  # had this turn in advance, by a lead given by hand


class WriteBack(StrEnum):
    """How far the owner write of an assignment has come."""

    NONE = "none"  # no CRM record stands behind the lead, or nothing is to be written
    PENDING = "pending"
    DONE = "done"
    KEPT = "kept"
    DEAD = "dead"


class EventKind(StrEnum):
    """What a CRM tells of a record."""

    CREATED = "created"
    CHANGED = "changed"
    OWNER_CHANGED = "owner_changed"
    LINKED = "linked"  # to another record, or no longer
    MERGED = "merged"  # others were merged into it
    DELETED = "deleted"
    OTHER = "other"  # nothing that concerns an owner; stored as ignored


class EntryKind(StrEnum):
    """What a row of a pool's journal tells, besides its decisions."""

    SNAPSHOT = "snapshot"  # the whole board, where the journal begins
    EDITED = "edited"  # what an edit changed in pool, members or users
    RETURNED = "returned"  # a turn came back outside of a decision
    AMENDED = "amended"  # a decision was replaced under its own sequence


class Scope(StrEnum):
    """What an API token may do; each scope may also do what those before it may."""

    READ = "read"
    ASSIGN = "assign"  # assign leads, pass them on, take them back
    ADMIN = "admin"

    def covers(self, needed: Scope) -> bool:
        """Tell whether this scope may do what asks for the other."""
        return list(Scope).index(self) >= list(Scope).index(needed)
