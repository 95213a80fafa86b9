"""Who gets this lead, and why not the others.

The order of the steps is the product: an owner who is there stays; whom the caller asks for comes
next; then whoever has the lead, its person or its company; then the pool's turn; and when nobody
can take it, the pool's policy says what happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connector.engine import bookings, rotation, sticky
from connector.engine.eligibility import refusal, refusal_of
from connector.engine.quotas import pool_full
from connector.model import (
    Board,
    Decision,
    Lead,
    NoneAvailable,
    Reason,
    Route,
    Skip,
    Status,
    StickyCheck,
    StickyStep,
    StickyTurn,
    Turn,
    User,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """Who gets the lead, at what cost, and the board without the cost."""

    user: User
    reason: Reason
    board: Board
    turn: Turn | None = None
    counted: bool = True
    step: StickyStep | None = None
    passed: tuple[Skip, ...] = ()  # whose turn was due and used up already


def decide(
    lead: Lead,
    board: Board,
    now: datetime,
    *,
    route: Route | None = None,
    counted_at: datetime | None = None,
) -> tuple[Decision, Board]:
    """Say who of the board's pool gets the lead at ``now``, and how the board stands afterwards.

    ``counted_at``: the moment under which quotas count the lead, if not now.
    """
    skips = {
        member.id: skip
        for member in board.pool.members
        if (skip := refusal(member, lead, board, now))
    }
    able = frozenset(member.id for member in board.pool.members) - skips.keys()
    order = rotation.order(board, able, now)
    skipped = (
        *(skips[member.id] for member in order if member.id in skips),
        *_why_not_preferred(lead, board, now),
    )
    found = sticky.look(lead, board, now)
    decision = Decision(
        lead=lead,
        pool_id=board.pool.id,
        status=Status.HELD,
        reason=Reason.NO_MEMBER_AVAILABLE,
        decided_at=now,
        checks=(*_check_owner(lead), *(() if lead.existing_owner else found.checks)),
        order=tuple(member.user.id for member in order),
        route=route or Route(pool_id=board.pool.id),
    )
    if lead.existing_owner:
        decision = _keep(decision, lead.existing_owner.user)
    elif given := (
        _give_as_asked(lead, board, now)
        or _give_sticky(found, board, now)
        or _take_turn(lead, board, able, skips, now)
        or _fall_back(lead, board, now)
    ):
        board = given.board
        waits = found.waits
        decision = replace(
            decision,
            status=Status.ASSIGNED,
            reason=given.reason,
            user=given.user,
            turn=given.turn,
            counted=given.counted,
            sticky_step=given.step,
            stands_in_for=waits.id if waits and waits.id != given.user.id else None,
            skipped=(*skipped, *given.passed),
        )
    else:
        full = pool_full(board, now)
        reason = Reason.POOL_QUOTA_REACHED if full else Reason.NO_MEMBER_AVAILABLE
        decision = replace(decision, reason=reason, skipped=skipped)
    board = bookings.book(board, decision, at=counted_at or now)
    board = replace(board, last_sequence=board.last_sequence + 1)
    after = tuple(member.user.id for member in rotation.order(board, able, now))
    return replace(decision, order_after=after), board


def _keep(decision: Decision, user: User | None) -> Decision:
    """The owner whom the CRM shows stays, whether or not a user of ours. No turn is used."""
    return replace(
        decision,
        status=Status.KEPT,
        reason=Reason.STICKY,
        sticky_step=StickyStep.EXISTING_OWNER,
        user=user,
    )


def _give_as_asked(lead: Lead, board: Board, now: datetime) -> _Given | None:
    """The user whom the caller asks for, if they can take it."""
    user = lead.preferred
    if user is None or pool_full(board, now) or refusal_of(user, lead, board, now):
        return None
    turn, board = _sticky_turn(user, board, now)
    return _Given(user=user, reason=Reason.PREFERRED, turn=turn, board=board)


def _why_not_preferred(lead: Lead, board: Board, now: datetime) -> tuple[Skip, ...]:
    """Why a preferred user who is no member cannot take it; members are told of anyway."""
    user = lead.preferred
    if user is None or any(member.user.id == user.id for member in board.pool.members):
        return ()
    skip = refusal_of(user, lead, board, now)
    return (skip,) if skip else ()


def _give_sticky(found: sticky.Found, board: Board, now: datetime) -> _Given | None:
    """Whoever has the lead, its person or its company already."""
    if found.user is None:
        return None
    turn, after = _sticky_turn(found.user, board, now)
    return _Given(
        user=found.user,
        reason=Reason.STICKY,
        step=found.step,
        turn=turn,
        counted=board.pool.policies.sticky_turn is StickyTurn.COUNTED,
        board=after,
    )


def _take_turn(
    lead: Lead, board: Board, able: frozenset[int], skips: Mapping[int, Skip], now: datetime
) -> _Given | None:
    """Whose turn it is among those who can take the lead; turns that are owed come first."""
    if not able or pool_full(board, now):
        return None
    pick = rotation.take(board, able, skips, now)
    reason = Reason.OWED if pick.owed else Reason.ROTATION
    return _Given(
        user=pick.member.user,
        reason=Reason.FALLBACK if lead.fallback_from else reason,
        turn=pick.turn,
        board=pick.board,
        passed=pick.passed,
    )


def _fall_back(lead: Lead, board: Board, now: datetime) -> _Given | None:
    """The pool's fallback user, whatever the hour and the quota. A full pool has none."""
    user = board.fallback_user
    if board.pool.policies.none_available is not NoneAvailable.FALLBACK or user is None:
        return None
    if pool_full(board, now) or sticky.lasting_refusal(user, lead):
        return None
    return _Given(user=user, reason=Reason.FALLBACK, board=board)


def _sticky_turn(user: User, board: Board, now: datetime) -> tuple[Turn | None, Board]:
    """What a lead outside of the turns costs: nothing, or one turn of a member."""
    member = next((one for one in board.pool.members if one.user.id == user.id), None)
    if board.pool.policies.sticky_turn is StickyTurn.FREE or member is None:
        return None, board
    return rotation.charge(board, member.id, now)


def _check_owner(lead: Lead) -> tuple[StickyCheck, ...]:
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
