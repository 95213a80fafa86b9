"""Who has this lead, its person or its company already, and whether they get it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from connector.engine.eligibility import busy, lasting_refusal, refusal_of
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
    binds: bool = False  # by no choice of the pool's: no turn is used
    waits: User | None = None  # who would get it, but cannot take it now
    checks: tuple[StickyCheck, ...] = ()


def look(lead: Lead, board: Board, now: datetime) -> Found:
    """Go through the pool's sticky steps in its order; the first that can answers."""
    policies = board.pool.policies
    candidates = {one.step: one for one in lead.candidates}
    waits: User | None = None
    checks: list[StickyCheck] = []
    for step in _steps(policies, lead.candidates):
        candidate = candidates.get(step)
        user = candidate.user if candidate else None
        binds = bool(candidate and candidate.binds)
        never = _why_never(step, candidate, lead, policies)
        is_free = user and not never and not binds
        not_now = _why_not_now(user, lead, board, now) if user and is_free else None
        outcome = never or not_now or (candidate.found if candidate else "")
        checks.append(StickyCheck(step=step, user_id=user.id if user else None, outcome=outcome))
        if user and not never and not not_now:
            return Found(user=user, step=step, binds=binds, waits=waits, checks=tuple(checks))
        if not_now:
            waits = waits or user
    return Found(waits=waits, checks=tuple(checks))


def _steps(policies: Policies, candidates: Sequence[Candidate]) -> tuple[StickyStep, ...]:
    """What binds comes first, then the pool's steps in its order, then, to be shown, the rest."""
    bound = tuple(one.step for one in candidates if one.binds)
    rest = (StickyStep.PERSON, StickyStep.COMPANY, StickyStep.EARLIER_ASSIGNMENT)
    return tuple(dict.fromkeys((*bound, *policies.sticky_steps, *rest)))


def _why_never(
    step: StickyStep, candidate: Candidate | None, lead: Lead, policies: Policies
) -> str | None:
    """Why this step has no answer, however long one waits; None when it names somebody."""
    if not (candidate and candidate.binds):
        if policies.sticky is StickyPolicy.OFF:
            return "sticky routing is off in this pool"
        if step not in policies.sticky_steps:
            return "this step is off in this pool"
    if candidate is None:
        return "not looked up"
    user = candidate.user
    if user is None:
        return candidate.found
    if not user.active:
        return f"{user.name} is no longer active"
    skip = lasting_refusal(user, lead)
    return f"{user.name} cannot have it: {skip.detail or skip.reason}" if skip else None


def _why_not_now(user: User, lead: Lead, board: Board, now: datetime) -> str | None:
    """Why the user has to wait for the next lead of theirs; None when they get this one."""
    policies = board.pool.policies
    is_choosy = policies.sticky is StickyPolicy.AVAILABLE
    # Whoever is absent may have a lead wait for them, but nobody is in two meetings at once.
    skip = refusal_of(user, lead, board, now) if is_choosy else busy(user, lead, board)
    if skip:
        return f"{user.name} cannot take it now: {skip.detail or skip.reason}"
    if policies.sticky_turn is StickyTurn.COUNTED and (full := room_for(user, board, now)):
        return f"{user.name} has no room: {full}"
    return None
