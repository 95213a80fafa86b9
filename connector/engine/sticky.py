"""Who has this lead, its person or its company already, and whether they get it again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from connector.engine.eligibility import refusal_of
from connector.engine.quotas import room_for
from connector.model import (
    Board,
    Candidate,
    Lead,
    Policies,
    StickyCheck,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    User,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the sticky steps came to."""

    user: User | None = None  # who gets the lead
    step: StickyStep | None = None  # by which step
    waits: User | None = None  # who would get it, but cannot take it now
    checks: tuple[StickyCheck, ...] = ()


def look(lead: Lead, board: Board, now: datetime) -> Found:
    """Go through the pool's sticky steps in its order; the first that can answers."""
    waits: User | None = None
    checks: list[StickyCheck] = []
    for step in _steps(board.pool.policies):
        candidate = next((one for one in lead.candidates if one.step is step), None)
        user = candidate.user if candidate else None
        refusal = _why_not(candidate, lead, board, now)
        outcome = refusal or (candidate.found if candidate else "")
        checks.append(StickyCheck(step=step, user_id=user.id if user else None, outcome=outcome))
        if user and not refusal:
            return Found(user=user, step=step, waits=waits, checks=tuple(checks))
        if user and waits is None and not lasting_refusal(user, lead):
            waits = user
    return Found(waits=waits, checks=tuple(checks))


def lasting_refusal(user: User, lead: Lead) -> str | None:
    """Why the user cannot have the lead at all, however long one waits."""
    connection = lead.record.connection if lead.record else None
    if not user.active:
        return f"{user.name} is no longer active"
    if user.id in lead.excluded:
        return f"{user.name} is excluded: {lead.excluded[user.id]}"
    if connection and connection not in user.owners:
        return f"{user.name} has no owner id in {connection}"
    if connection and connection in user.refused_by:
        return f"{user.name} is inactive in {connection}"
    return None


def _steps(policies: Policies) -> tuple[StickyStep, ...]:
    """The pool's steps in its order, then those that are switched off, so that they are shown."""
    rest = (StickyStep.PERSON, StickyStep.COMPANY, StickyStep.EARLIER_ASSIGNMENT)
    return (*policies.sticky_steps, *(one for one in rest if one not in policies.sticky_steps))


def _why_not(candidate: Candidate | None, lead: Lead, board: Board, now: datetime) -> str | None:
    """Why this step does not answer; None when it does."""
    policies = board.pool.policies
    if policies.sticky is StickyPolicy.OFF:
        return "sticky routing is off in this pool"
    if candidate is None:
        return "not looked up"
    if candidate.step not in policies.sticky_steps:
        return "this step is off in this pool"
    user = candidate.user
    if user is None:
        return candidate.found
    if refusal := lasting_refusal(user, lead):
        return refusal
    if policies.sticky is StickyPolicy.AVAILABLE:
        skip = refusal_of(user, lead, board, now)
        return f"{user.name} cannot take it now: {skip.detail or skip.reason}" if skip else None
    if policies.sticky_turn is StickyTurn.COUNTED and (full := room_for(user, board, now)):
        return f"{user.name} has no room: {full}"
    return None
