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
from connector.engine.eligibility import busy, lasting_refusal, refusal_of, refusals
from connector.engine.quotas import pool_full
from connector.model import (
    Board,
    Decision,
    Lead,
    Member,
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
class _Outcome:
    """What a step comes to: who gets the lead, at what cost, and the board after that turn."""

    reason: Reason
    board: Board
    status: Status = Status.ASSIGNED
    user: User | None = None
    turn: Turn | None = None
    counted: bool = False
    step: StickyStep | None = None
    passed: tuple[Skip, ...] = ()  # who else might have got it by this step


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
    skips = refusals(lead, board, now)
    able = frozenset(member.id for member in board.pool.members) - skips.keys()
    order = rotation.order(board, able, now)
    found = sticky.look(lead, board, now)
    outcome = (
        _keep_owner(lead, board)
        or _give_as_asked(lead, board, now)
        or _give_sticky(found, board, now)
        or _hold_in_full_pool(board, now)
        or _take_turn(lead, board, able, skips, now)
        or _fall_back(lead, board)
        or _hold(lead, board)
    )
    decision = Decision(
        lead=lead,
        pool_id=board.pool.id,
        status=outcome.status,
        reason=outcome.reason,
        decided_at=now,
        user=outcome.user,
        turn=outcome.turn,
        counted=outcome.counted,
        sticky_step=outcome.step,
        stands_in_for=_whom_it_waits_for(found, outcome),
        skipped=_others(
            outcome,
            *(skips[member.id] for member in order if member.id in skips),
            *_why_not_preferred(lead, board, now),
        ),
        checks=_checks(lead, found),
        order=tuple(member.user.id for member in order),
        route=route or Route(pool_id=board.pool.id),
    )
    after = bookings.book(outcome.board, decision, at=counted_at or now)
    after = replace(after, last_sequence=board.last_sequence + 1)
    order_after = tuple(member.user.id for member in rotation.order(after, able, now))
    return replace(decision, order_after=order_after), after


def _keep_owner(lead: Lead, board: Board) -> _Outcome | None:
    """The owner whom the CRM shows stays, whether or not a user of ours. No turn is used."""
    if lead.existing_owner is None:
        return None
    return _Outcome(
        status=Status.KEPT,
        reason=Reason.STICKY,
        step=StickyStep.EXISTING_OWNER,
        user=lead.existing_owner.user,
        board=board,
    )


def _give_as_asked(lead: Lead, board: Board, now: datetime) -> _Outcome | None:
    """The user whom the caller asks for, if they can take it."""
    user = lead.preferred
    if user is None or pool_full(board, now) or refusal_of(user, lead, board, now):
        return None
    turn, after = _turn_by_name(user, board, now)
    return _Outcome(reason=Reason.PREFERRED, user=user, turn=turn, counted=True, board=after)


def _give_sticky(found: sticky.Found, board: Board, now: datetime) -> _Outcome | None:
    """Whoever has the lead, its person or its company already."""
    if found.user is None:
        return None
    if found.binds:
        return _Outcome(reason=Reason.STICKY, step=found.step, user=found.user, board=board)
    turn, after = _turn_by_name(found.user, board, now)
    return _Outcome(
        reason=Reason.STICKY,
        step=found.step,
        user=found.user,
        turn=turn,
        counted=board.pool.policies.sticky_turn is StickyTurn.COUNTED,
        board=after,
    )


def _hold_in_full_pool(board: Board, now: datetime) -> _Outcome | None:
    """A pool that has had all its leads for now gives none out, not even to a fallback user."""
    if not pool_full(board, now):
        return None
    return _Outcome(status=Status.HELD, reason=Reason.POOL_QUOTA_REACHED, board=board)


def _take_turn(
    lead: Lead, board: Board, able: frozenset[int], skips: Mapping[int, Skip], now: datetime
) -> _Outcome | None:
    """Whose turn it is among those who can take the lead; turns that are owed come first."""
    if not able:
        return None
    pick = rotation.take(board, able, skips, now)
    reason = Reason.OWED if pick.owed else Reason.ROTATION
    return _Outcome(
        reason=Reason.FALLBACK if lead.fallback_from else reason,
        user=pick.member.user,
        turn=pick.turn,
        counted=True,
        board=pick.board,
        passed=pick.passed,
    )


def _fall_back(lead: Lead, board: Board) -> _Outcome | None:
    """The pool's fallback user, whatever the hour and the user's quota. No turn is used."""
    user = board.fallback_user
    if board.pool.policies.none_available is not NoneAvailable.FALLBACK or user is None:
        return None
    if lasting_refusal(user, lead) or busy(user, lead, board):
        return None
    return _Outcome(reason=Reason.FALLBACK, user=user, counted=True, board=board)


def _hold(lead: Lead, board: Board) -> _Outcome:
    """The lead waits. Members are told of anyway; why not the fallback user is told here."""
    user = board.fallback_user
    if user is None or _member_of(board, user):
        skip = None
    else:
        skip = lasting_refusal(user, lead) or busy(user, lead, board)
    return _Outcome(
        status=Status.HELD,
        reason=Reason.NO_MEMBER_AVAILABLE,
        board=board,
        passed=(skip,) if skip else (),
    )


def _turn_by_name(user: User, board: Board, now: datetime) -> tuple[Turn | None, Board]:
    """What a lead costs that goes to a user by name: nothing, or one turn of a member."""
    member = _member_of(board, user)
    if board.pool.policies.sticky_turn is StickyTurn.FREE or member is None:
        return None, board
    return rotation.charge(board, member.id, now)


def _whom_it_waits_for(found: sticky.Found, outcome: _Outcome) -> str | None:
    """The sticky user for whom somebody stands in. An owner or whom the caller wants does not."""
    waits, user = found.waits, outcome.user
    if waits is None or user is None or waits.id == user.id:
        return None
    if outcome.status is Status.KEPT or outcome.reason is Reason.PREFERRED:
        return None
    return waits.id


def _others(outcome: _Outcome, *skips: Skip) -> tuple[Skip, ...]:
    """Everyone who could not take the lead, but for who has it now all the same."""
    winner = outcome.user.id if outcome.user else None
    return tuple(skip for skip in (*skips, *outcome.passed) if skip.user_id != winner)


def _why_not_preferred(lead: Lead, board: Board, now: datetime) -> tuple[Skip, ...]:
    """Why a preferred user who is no member cannot take it; members are told of anyway."""
    if lead.preferred is None or _member_of(board, lead.preferred):
        return ()
    skip = refusal_of(lead.preferred, lead, board, now)
    return (skip,) if skip else ()


def _member_of(board: Board, user: User) -> Member | None:
    return next((one for one in board.pool.members if one.user.id == user.id), None)


def _checks(lead: Lead, found: sticky.Found) -> tuple[StickyCheck, ...]:
    """What each sticky step found; an owner who is there ends the search."""
    owner = lead.existing_owner
    if not owner:
        outcome = "the record has no active owner"
    elif owner.user:
        outcome = f"{owner.user.name} already owns the record"
    else:
        outcome = f"owner {owner.owner_id} already owns the record and is no user here"
    user_id = owner.user.id if owner and owner.user else None
    first = StickyCheck(step=StickyStep.EXISTING_OWNER, user_id=user_id, outcome=outcome)
    if owner:
        return (first,)
    return (first, *found.checks) if lead.record else found.checks
