"""Who gets this lead, and why not the others.

The order of the steps is the product: an owner who is there stays; then whoever had the lead
before; then the pool's turn; and when nobody can take it, it is held.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from connector.engine import rotation
from connector.engine.eligibility import refusal
from connector.model import (
    Board,
    Decision,
    Lead,
    Member,
    Reason,
    Route,
    Skip,
    Status,
    StickyCheck,
    StickyStep,
    User,
)


def decide(lead: Lead, board: Board, now: datetime, *, route: Route | None = None) -> Decision:
    """Say who of the board's pool gets the lead at ``now``. Changes nothing."""
    return replace(
        _stay(lead, board, now) or _take_turn(lead, board, now),
        checks=_check_existing_owner(lead) + _check_earlier_user(lead),
        order=tuple(member.user.id for member in rotation.order(board)),
        route=route or Route(pool_id=board.pool.id),
    )


def advance(board: Board, decision: Decision) -> Board:
    """The board after the decision: its number is used up, and the turn if one was taken."""
    board = replace(board, last_sequence=board.last_sequence + 1)
    if decision.member_id is None:
        return board
    if decision.reason is Reason.OWED:
        return rotation.pay_owed_turn(board, decision.member_id)
    return replace(board, last_assigned_member_id=decision.member_id)


def _stay(lead: Lead, board: Board, now: datetime) -> Decision | None:
    """An owner who is there stays; else whoever had this lead before gets it. No turn is used."""
    if lead.existing_owner:
        return Decision(
            lead=lead,
            pool_id=board.pool.id,
            status=Status.KEPT,
            reason=Reason.STICKY,
            sticky_step=StickyStep.EXISTING_OWNER,
            user=lead.existing_owner.user,
            decided_at=now,
        )
    if lead.earlier_user and not _why_not_earlier(lead, lead.earlier_user):
        return Decision(
            lead=lead,
            pool_id=board.pool.id,
            status=Status.ASSIGNED,
            reason=Reason.STICKY,
            sticky_step=StickyStep.EARLIER_ASSIGNMENT,
            user=lead.earlier_user,
            decided_at=now,
        )
    return None


def _take_turn(lead: Lead, board: Board, now: datetime) -> Decision:
    """The first member in turn who can take the lead; turns that are owed come first."""
    able: list[Member] = []
    skipped: list[Skip] = []
    for member in rotation.order(board):
        skip = refusal(member, lead)
        if skip:
            skipped.append(skip)
        else:
            able.append(member)
    held = Decision(
        lead=lead,
        pool_id=board.pool.id,
        status=Status.HELD,
        reason=Reason.NO_MEMBER_AVAILABLE,
        skipped=tuple(skipped),
        decided_at=now,
    )
    if not able:
        return held
    owed = next((member for member in able if member.owed), None)
    chosen = owed or able[0]
    return replace(
        held,
        status=Status.ASSIGNED,
        reason=Reason.OWED if owed else Reason.ROTATION,
        user=chosen.user,
        member_id=chosen.id,
    )


def _why_not_earlier(lead: Lead, user: User) -> str | None:
    """A phrase that says why the earlier user does not get the lead again."""
    if not user.active:
        return f"{user.name} is no longer active"
    if user.id in lead.excluded:
        return f"{user.name} is excluded: {lead.excluded[user.id]}"
    if lead.record and lead.record.connection not in user.owners:
        return f"{user.name} has no owner id in {lead.record.connection}"
    if lead.record and lead.record.connection in user.refused_by:
        return f"{user.name} is inactive in {lead.record.connection}"
    return None


def _check_existing_owner(lead: Lead) -> tuple[StickyCheck, ...]:
    owner = lead.existing_owner
    if not lead.record:
        return ()
    if not owner:
        outcome = "the record has no active owner"
    elif owner.user:
        outcome = f"{owner.user.name} already owns the record"
    else:
        outcome = f"owner {owner.owner_id} already owns the record and is no user here"
    user_id = owner.user.id if owner and owner.user else None
    return (StickyCheck(step=StickyStep.EXISTING_OWNER, user_id=user_id, outcome=outcome),)


def _check_earlier_user(lead: Lead) -> tuple[StickyCheck, ...]:
    user = lead.earlier_user
    if lead.existing_owner:
        return ()
    if lead.anew:
        outcome = lead.anew
    elif not user:
        outcome = "this lead was not assigned before"
    else:
        outcome = _why_not_earlier(lead, user) or f"{user.name} had this lead before"
    return (
        StickyCheck(
            step=StickyStep.EARLIER_ASSIGNMENT, user_id=user.id if user else None, outcome=outcome
        ),
    )
