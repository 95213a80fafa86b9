"""May this member take this lead now? Each no comes with its reason.

The first that holds is told, what lasts before what passes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from connector.engine import availability, calendar
from connector.engine.quotas import quota_reached, user_quota_reached
from connector.model import Board, Lead, Member, Skip, SkipReason, Slot, User


def refusals(lead: Lead, board: Board, now: datetime) -> dict[int, Skip]:
    """Which members cannot take the lead by turn and why, by member id."""
    return {
        member.id: skip
        for member in board.pool.members
        if (skip := refusal(member, lead, board, now))
    }


def refusal(member: Member, lead: Lead, board: Board, now: datetime) -> Skip | None:
    """Why the member cannot take the lead by turn; None when they can."""
    user = member.user
    return (
        lasting_refusal(user, lead)
        or _paused(user, member, weighs=True)
        or _unavailable(user, member, lead, board, now)
    )


def refusal_of(user: User, lead: Lead, board: Board, now: datetime) -> Skip | None:
    """Why the user, member or not, cannot take the lead when it goes to them by name.

    As for a turn, but a weight of 0 does not matter. Who is no member has no quota in the pool.
    """
    member = next((each for each in board.pool.members if each.user.id == user.id), None)
    return (
        lasting_refusal(user, lead)
        or _paused(user, member, weighs=False)
        or _unavailable(user, member, lead, board, now)
    )


def lasting_refusal(user: User, lead: Lead) -> Skip | None:
    """Why the user, member or not, cannot have the lead at all, however long one waits."""
    connection = lead.record.connection if lead.record else None
    if user.id in lead.excluded:
        return Skip(user_id=user.id, reason=lead.excluded[user.id])
    if not user.active:
        return _skip(user, SkipReason.INACTIVE, "the user is inactive")
    if connection and connection in user.refused_by:
        return _skip(user, SkipReason.INACTIVE, f"inactive in {connection}")
    if connection and connection not in user.owners:
        return _skip(user, SkipReason.NO_OWNER, f"no owner id in {connection}")
    return None


def _paused(user: User, member: Member | None, *, weighs: bool) -> Skip | None:
    """What keeps the user from all leads, for as long as people let it."""
    if member and not member.active:
        return _skip(user, SkipReason.INACTIVE, "paused in this pool")
    if member and weighs and member.weight == 0:
        return _skip(user, SkipReason.WEIGHT_ZERO, "the weight in this pool is 0")
    detail = availability.away(user)
    return _skip(user, SkipReason.AWAY, detail) if detail else None


def _unavailable(
    user: User, member: Member | None, lead: Lead, board: Board, now: datetime
) -> Skip | None:
    """What keeps the user from a lead now, or from a meeting when it takes place."""
    of_pool = board.pool.time_zone
    buffer_hours = board.pool.policies.leave_buffer_hours
    if lead.slot:
        skip = _hindrance(user, lead.slot, of_pool, buffer_hours)
        skip = skip or busy(user, lead, board)
    else:
        skip = _hindrance_now(_This(user), now, of_pool, buffer_hours)
    if skip:
        return skip
    return quota_reached(member, board, now) if member else user_quota_reached(user, board, now)


def _hindrance(user: User, slot: Slot, of_pool: str | None, buffer_hours: int) -> Skip | None:
    zone = calendar.zone(user, of_pool)
    return calendar.absence(user, slot, zone, buffer_hours) or calendar.off_work(user, slot, zone)


@dataclass(frozen=True, slots=True, eq=False)
class _This:
    """A user as a key that stands for this very object, and costs less than all its fields."""

    user: User

    def __hash__(self) -> int:
        return id(self.user)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and other.user is self.user


# A batch asks the same of the same users at the same moment, for each of its leads.
@lru_cache(maxsize=8192)
def _hindrance_now(
    this: _This, now: datetime, of_pool: str | None, buffer_hours: int
) -> Skip | None:
    return _hindrance(this.user, calendar.moment(now), of_pool, buffer_hours)


def busy(user: User, lead: Lead, board: Board) -> Skip | None:
    """Why the user cannot be at the meeting that the lead is: another of ours at that time."""
    slot = lead.slot
    for meeting in board.meetings.get(user.id, ()) if slot else ():
        if slot and meeting.starts_at < slot.ends_at and slot.starts_at < meeting.ends_at:
            zone = calendar.zone(user, board.pool.time_zone)
            at = calendar.spoken(meeting.starts_at, zone, meeting.starts_at)
            return _skip(user, SkipReason.BUSY, f"another meeting at {at}")
    return None


def _skip(user: User, reason: SkipReason, detail: str) -> Skip:
    return Skip(user_id=user.id, reason=reason, detail=detail)
