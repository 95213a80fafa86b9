"""An assignment comes back, and what follows: the next user, another user, or nobody.

Each function takes the board as it stands and the turn and quota that come back, and gives the
decision that is recorded then with the board afterwards. Where the pool's policy lets the old user
keep the turn, ``given.turn`` is None.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from connector.engine import bookings, rotation
from connector.engine.decide import decide
from connector.engine.eligibility import refusals
from connector.model import (
    Assignment,
    Board,
    Decision,
    GivenBack,
    Lead,
    ManualPolicy,
    Reason,
    Route,
    Skip,
    SkipReason,
    Status,
    Turn,
    User,
)


def to_the_next(
    lead: Lead,
    board: Board,
    now: datetime,
    *,
    given: GivenBack,
    status: Status,
    route: Route | None,
) -> tuple[Decision, Board]:
    """The next user in turn, other than ``lead.excluded``; nobody can: held."""
    board = bookings.take_back(board, given, lead, now)
    decision, board = decide(lead, board, now, route=route)
    if decision.status is not Status.HELD:
        decision = replace(decision, status=status)
    return replace(decision, gives_back=given), board


def to_user(
    lead: Lead,
    board: Board,
    now: datetime,
    *,
    user: User | None,
    given: GivenBack,
    carried: Turn | None,
    route: Route | None,
) -> tuple[Decision, Board]:
    """A user whom a person chose; None is somebody of the CRM who is no user here.

    The decision's lead prefers that user. Where turns move, the user pays for a turn that came
    back, or for a lead that no member had; a member's that had cost none stays free. ``carried``:
    the turn that goes on standing behind the lead when the policy moves none.
    """
    lead = replace(lead, preferred=user)
    board = bookings.take_back(board, given, lead, now)
    order, skipped = _stand(lead, board, now)
    turn = carried
    members = {member.user.id: member for member in board.pool.members}
    member = members.get(user.id) if user else None
    if board.pool.policies.manual is ManualPolicy.MOVE:
        turn = None
        if member and (given.turn or given.user_id not in members):
            turn, board = rotation.charge(board, member.id, now)
    decision = Decision(
        lead=lead,
        pool_id=board.pool.id,
        status=Status.REASSIGNED,
        reason=Reason.MANUAL,
        decided_at=now,
        user=user,
        turn=turn,
        counted=user is not None,
        skipped=_but(user, skipped),
        order=order,
        route=route,
        gives_back=given,
    )
    return _end(decision, board, now)


def to_nobody(
    lead: Lead,
    board: Board,
    now: datetime,
    *,
    given: GivenBack,
    status: Status,
    route: Route | None,
) -> tuple[Decision, Board]:
    """Undone, or kept by an owner who appeared in the CRM meanwhile. No turn is used."""
    board = bookings.take_back(board, given, lead, now)
    order, skipped = _stand(lead, board, now)
    owner = lead.existing_owner
    user = owner.user if owner else None
    decision = Decision(
        lead=lead,
        pool_id=board.pool.id,
        status=status,
        reason=Reason.KEPT_EXISTING_OWNER if owner else Reason.MANUAL,
        decided_at=now,
        user=user,
        skipped=_but(user, skipped),
        order=order,
        route=route,
        gives_back=given,
    )
    return _end(decision, board, now)


def amend(
    lead: Lead,
    board: Board,
    now: datetime,
    *,
    row: Assignment,
    given: GivenBack,
    refused: tuple[Skip, ...],
) -> tuple[Decision, Board]:
    """The decision that takes the place of the row, whose user cannot have the lead.

    It keeps the row's sequence, the moment for which quotas count, and what the row itself took
    back. The users of ``refused`` are out. A user who cannot own records was never due: under
    ``strict`` the turn does not come back. Raises ``ValueError`` for a row without a pool.
    """
    if row.sequence is None:
        raise ValueError("only an assignment in a pool can be amended")
    out: dict[str, SkipReason] = {**lead.excluded, **{s.user_id: s.reason for s in refused}}
    lead = replace(lead, excluded=out)
    board = bookings.take_back(board, given, lead, now, owe=False)
    before = replace(board, last_sequence=row.sequence - 1)
    decision, after = decide(lead, before, now, route=row.route, counted_at=row.assigned_at)
    told = {skip.user_id for skip in refused}
    others = tuple(skip for skip in decision.skipped if skip.user_id not in told)
    decision = replace(
        decision,
        status=decision.status if decision.status is Status.HELD else row.status,
        skipped=(*refused, *others),
        gives_back=row.gives_back,
    )
    return decision, replace(after, last_sequence=board.last_sequence)


def _stand(lead: Lead, board: Board, now: datetime) -> tuple[tuple[str, ...], tuple[Skip, ...]]:
    """The order in which the members stand for the lead, and who of them cannot take it."""
    skips = refusals(lead, board, now)
    able = {member.id for member in board.pool.members} - skips.keys()
    order = rotation.order(board, able, now)
    return (
        tuple(member.user.id for member in order),
        tuple(skips[member.id] for member in order if member.id in skips),
    )


def _but(user: User | None, skipped: tuple[Skip, ...]) -> tuple[Skip, ...]:
    """Who has the lead now was not skipped, able or not."""
    return tuple(skip for skip in skipped if user is None or skip.user_id != user.id)


def _end(decision: Decision, board: Board, now: datetime) -> tuple[Decision, Board]:
    """The decision takes its place in quotas and meetings, and its number."""
    board = bookings.book(board, decision, at=now)
    board = replace(board, last_sequence=board.last_sequence + 1)
    order_after, _ = _stand(decision.lead, board, now)
    return replace(decision, order_after=order_after), board
