"""May this member take this lead now? Each no comes with its reason."""

from __future__ import annotations

from connector.model import Lead, Member, Skip, SkipReason


def refusal(member: Member, lead: Lead) -> Skip | None:
    """Why the member cannot take the lead; None when they can."""
    user = member.user
    connection = lead.record.connection if lead.record else None
    if user.id in lead.excluded:
        return Skip(user_id=user.id, reason=lead.excluded[user.id])
    if not user.active:
        return _skip(member, SkipReason.INACTIVE, "the user is inactive")
    if not member.active:
        return _skip(member, SkipReason.INACTIVE, "paused in this pool")
    if member.weight == 0:
        return _skip(member, SkipReason.WEIGHT_ZERO, "the weight in this pool is 0")
    if connection and connection in user.refused_by:
        return _skip(member, SkipReason.INACTIVE, f"inactive in {connection}")
    if connection and connection not in user.owners:
        return _skip(member, SkipReason.NO_OWNER, f"no owner id in {connection}")
    return None


def _skip(member: Member, reason: SkipReason, detail: str) -> Skip:
    return Skip(user_id=member.user.id, reason=reason, detail=detail)
