"""May this member take this lead now? Each no comes with its reason.

The first that holds is told, what lasts before what passes by itself.
"""

from __future__ import annotations

from datetime import datetime

from connector.engine import calendar
from connector.engine.quotas import quota_reached, user_quota_reached
from connector.model import Board, Lead, Member, Presence, Skip, SkipReason, User


def refusal(member: Member, lead: Lead, board: Board, now: datetime) -> Skip | None:
    """Why the member cannot take the lead by turn; None when they can."""
    return _barred(member.user, member, lead, weighs=True) or _unavailable(
        member.user, member, lead, board, now
    )


def refusal_of(user: User, lead: Lead, board: Board, now: datetime) -> Skip | None:
    """Why the user, member or not, cannot take the lead when it goes to them by name.

    As for a turn, but a weight of 0 does not matter. Who is no member has no quota in the pool.
    """
    member = next((each for each in board.pool.members if each.user.id == user.id), None)
    return _barred(user, member, lead, weighs=False) or _unavailable(user, member, lead, board, now)


def _barred(user: User, member: Member | None, lead: Lead, *, weighs: bool) -> Skip | None:
    """What no passing of time changes."""
    connection = lead.record.connection if lead.record else None
    if user.id in lead.excluded:
        return Skip(user_id=user.id, reason=lead.excluded[user.id])
    if not user.active:
        return _skip(user, SkipReason.INACTIVE, "the user is inactive")
    if member and not member.active:
        return _skip(user, SkipReason.INACTIVE, "paused in this pool")
    if member and weighs and member.weight == 0:
        return _skip(user, SkipReason.WEIGHT_ZERO, "the weight in this pool is 0")
    if connection and connection in user.refused_by:
        return _skip(user, SkipReason.INACTIVE, f"inactive in {connection}")
    if connection and connection not in user.owners:
        return _skip(user, SkipReason.NO_OWNER, f"no owner id in {connection}")
    if user.status is not Presence.AVAILABLE:
        return _skip(user, SkipReason.AWAY, f"has set themselves to {user.status}")
    return None


def _unavailable(
    user: User, member: Member | None, lead: Lead, board: Board, now: datetime
) -> Skip | None:
    """What keeps the user from a lead now, or from a meeting when it takes place."""
    zone = calendar.zone(user, board.pool)
    slot = lead.slot or calendar.moment(now)
    return (
        calendar.absence(user, slot, zone, board.pool.policies.leave_buffer_hours)
        or calendar.off_work(user, slot, zone)
        or _busy(user, lead, board)
        or (quota_reached(member, board, now) if member else user_quota_reached(user, board, now))
    )


def _busy(user: User, lead: Lead, board: Board) -> Skip | None:
    slot = lead.slot
    if slot is None:
        return None
    for meeting in board.meetings.get(user.id, ()):
        if meeting.starts_at < slot.ends_at and slot.starts_at < meeting.ends_at:
            zone = calendar.zone(user, board.pool)
            at = calendar.spoken(meeting.starts_at, zone, meeting.starts_at)
            return _skip(user, SkipReason.BUSY, f"another meeting at {at}")
    return None


def _skip(user: User, reason: SkipReason, detail: str) -> Skip:
    return Skip(user_id=user.id, reason=reason, detail=detail)
