"""People change assignments: reassign, reject, undo.

Each is a new history row with its actor. Turn and quota follow the lead as the pool's policies say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from connector.engine import bookings, quotas, returns
from connector.errors import Conflict, NotFound, unknown_user
from connector.model import (
    Assignment,
    Decision,
    GivenBack,
    Lead,
    ManualPolicy,
    Reason,
    RejectPolicy,
    SkipReason,
    Status,
    User,
    WriteBack,
)
from connector.recording import Made, Round, open_round
from connector.sticky import gave_back
from connector.store import assignments, pools, users
from connector.store.database import Session
from connector.store.facts import lead_of

_INSIST = 'Send "override": true to do it all the same.'


def reassign(
    session: Session,
    assignment_id: str,
    *,
    user_id: str | None,
    override: bool = False,
    now: datetime,
    actor: str | None,
    note: str | None = None,
) -> Assignment:
    """Give the lead to this user, or to the next one in turn; never to the one who has it.

    Raises ``NotFound`` for an unknown assignment or user, ``Conflict`` when a newer row speaks for
    the lead (``superseded``), nobody else can take it (``no_member_available``), or, unless
    ``override``, the user is inactive (``user_inactive``), gave it back before
    (``rejected_before``) or has no quota left (``quota_reached``).
    """
    row, opened = _open(session, assignment_id, now)
    if user_id is None:
        if row.pool_id is None:
            raise Conflict(
                "The lead is in no pool; name the user who is to have it.", code="no_pool"
            )
        made = _to_the_next(opened, row, row.pool_id)
        if made.decision.status is Status.HELD:
            raise Conflict("Nobody else can take this lead now.", code="no_member_available")
        return write(opened, made, actor, note)
    user = users.get(session, user_id)
    if user is None:
        raise unknown_user(user_id)
    if user_id == row.user_id:
        raise Conflict(f"{user.name} has this lead already.", code="same_user")
    if not override:
        _check_user(row, user)
        _check_quotas(opened, row, user)
    lead = replace(freed(row), preferred=user)
    return move(opened, row, lead, user, actor, note)


def hand_on(
    session: Session,
    pool_id: str,
    rows: Sequence[Assignment],
    *,
    now: datetime,
    actor: str,
    note: str,
) -> None:
    """Give these leads of a pool, whose lock is held, to the next users in turn, or hold them."""
    opened = open_round(session, [pool_id], now=now, slots=[row.slot for row in rows if row.slot])
    pools.lock_records(session, [row.record for row in rows if row.record])
    for row in rows:
        made = _to_the_next(opened, row, pool_id)
        opened.note(Made(replace(made.decision, actor=actor, note=note), made.board))
    opened.write()


def reject(
    session: Session,
    assignment_id: str,
    *,
    now: datetime,
    actor: str | None,
    note: str | None = None,
) -> Assignment:
    """The user gives the lead back: it goes to the next one, or is held; never back to them.

    Raises ``NotFound``, or ``Conflict`` (``superseded``, ``not_assigned``).
    """
    row, opened = _open(session, assignment_id, now)
    if row.user_id is None or row.pool_id is None:
        raise Conflict("No member of a pool has this lead to give back.", code="not_assigned")
    board = opened.boards[row.pool_id]
    credit = board.pool.policies.reject is RejectPolicy.CREDIT
    made = returns.to_the_next(
        freed(row, without=row.user_id),
        board,
        now,
        given=given_back(row, turn=credit),
        status=Status.REJECTED,
        route=row.route,
    )
    return write(opened, Made(*made), actor, note)


def undo(
    session: Session,
    assignment_id: str,
    *,
    now: datetime,
    actor: str | None,
    note: str | None = None,
) -> Assignment:
    """Take the assignment back: nobody has the lead, turn and quota return.

    An owner whom the CRM shows already stays there. Raises ``NotFound``, or ``Conflict``
    (``superseded``).
    """
    row, opened = _open(session, assignment_id, now)
    return write(opened, to_nobody(opened, row, freed(row), Status.UNDONE), actor, note)


def given_back(row: Assignment, *, turn: bool) -> GivenBack:
    """What the row returns when it no longer stands; ``turn=False``: the turn stays used."""
    is_used = row.counted or row.user_id is None  # else it came back before: the record was gone
    return GivenBack(
        assignment_id=row.id,
        user_id=row.user_id,
        turn=row.turn if turn and is_used else None,
        counted_at=row.assigned_at if row.counted else None,
    )


def _open(session: Session, assignment_id: str, now: datetime) -> tuple[Assignment, Round]:
    """The assignment, which still speaks for its lead, and the locked board of its pool."""
    row = assignments.get(session, assignment_id)
    if row is None:
        raise NotFound(f"There is no assignment {assignment_id!r}.", code="assignment_not_found")
    slots = [row.slot] if row.slot else []
    opened = open_round(session, [row.pool_id] if row.pool_id else [], now=now, slots=slots)
    pools.lock_records(session, [row.record] if row.record else [])
    row = assignments.get(session, assignment_id) or row  # as it is under the lock
    if not row.current:
        newest = assignments.speaker(session, row)
        which = f"assignment {newest.id}" if newest else "a newer row of the history"
        raise Conflict(f"Now {which} speaks for this lead.", code="superseded")
    if row.status is Status.UNDONE:
        raise Conflict("This assignment was undone already.", code="superseded")
    if row.pool_id and opened.boards[row.pool_id].pool.archived_at:
        raise Conflict("The pool of this assignment is archived.", code="pool_archived")
    return row, opened


def freed(row: Assignment, *, without: str | None = None) -> Lead:
    """The lead for a new decision; our owner in the CRM may be written over.

    ``without``: a user who is not to get it.
    """
    lead = lead_of(row)
    excluded = gave_back(row)
    if without:
        excluded[without] = SkipReason.EXCLUDED
    return replace(
        lead,
        existing_owner=None,
        preferred=None,
        candidates=(),
        anew=None,
        excluded=excluded,
        replaces=_owners_shown(row, lead),
    )


def _owners_shown(row: Assignment, lead: Lead) -> tuple[str, ...]:
    """Which owners of ours the CRM may show: as long as a write is not known to be done, also those
    from before it.
    """
    ours = (row.owner_id,) if row.owner_id else ()
    is_sure = row.write_back is WriteBack.DONE or lead.existing_owner
    return ours if is_sure else tuple(dict.fromkeys((*ours, *lead.replaces)))


def _to_the_next(opened: Round, row: Assignment, pool_id: str) -> Made:
    """The next user in turn; held when nobody else can take it."""
    board = opened.boards[pool_id]
    moves = board.pool.policies.manual is ManualPolicy.MOVE
    made = returns.to_the_next(
        freed(row, without=row.user_id),
        board,
        opened.now,
        given=given_back(row, turn=moves),
        status=Status.REASSIGNED,
        route=row.route,
    )
    return Made(*made)


def _check_user(row: Assignment, user: User) -> None:
    """Refuse a user who is not active, or who gave this lead back before."""
    if not user.active:
        raise Conflict(f"{user.name} is not active. {_INSIST}", code="user_inactive")
    if user.id in gave_back(row):
        raise Conflict(f"{user.name} gave this lead back before. {_INSIST}", code="rejected_before")


def _check_quotas(opened: Round, row: Assignment, user: User) -> None:
    """Refuse a user who has no room, given that the lead leaves the one who has it."""
    if row.pool_id is None:
        return
    opened.include([user])
    given = given_back(row, turn=False)
    there = opened.boards[row.pool_id]
    board = bookings.take_back(there, given, lead_of(row), opened.now)
    if full := quotas.room_for(user, board, opened.now, moved_from=there):
        raise Conflict(f"{user.name} has no room: {full}. {_INSIST}", code="quota_reached")


def move(
    opened: Round,
    row: Assignment,
    lead: Lead,
    user: User | None,
    actor: str | None,
    note: str | None,
) -> Assignment:
    """Record that a person gave the lead to this user; None is nobody of ours."""
    if row.pool_id is None:
        plain = Decision(
            lead=lead,
            pool_id=None,
            status=Status.REASSIGNED,
            reason=Reason.MANUAL,
            decided_at=opened.now,
            user=user,
            counted=user is not None,
        )
        return write(opened, Made(plain, None), actor, note)
    board = opened.boards[row.pool_id]
    moves = board.pool.policies.manual is ManualPolicy.MOVE
    made = returns.to_user(
        lead,
        board,
        opened.now,
        user=user,
        given=given_back(row, turn=moves),
        carried=None if moves else row.turn,
        route=row.route,
    )
    return write(opened, Made(*made), actor, note)


def to_nobody(opened: Round, row: Assignment, lead: Lead, status: Status) -> Made:
    """The decision that no user has the lead by a turn any more: undone, or kept by its owner."""
    owner = lead.existing_owner
    if row.pool_id is None:
        plain = Decision(
            lead=lead,
            pool_id=None,
            status=status,
            reason=Reason.KEPT_EXISTING_OWNER if owner else Reason.MANUAL,
            decided_at=opened.now,
            user=owner.user if owner else None,
        )
        return Made(plain, None)
    made = returns.to_nobody(
        lead,
        opened.boards[row.pool_id],
        opened.now,
        given=given_back(row, turn=True),
        status=status,
        route=row.route,
    )
    return Made(*made)


def write(opened: Round, made: Made, actor: str | None, note: str | None) -> Assignment:
    """Write the new row, with who asked for it and why."""
    decision = replace(made.decision, actor=actor, note=note)
    place = opened.note(Made(decision, made.board))
    return opened.write()[place]
