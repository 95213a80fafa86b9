"""Every change of pools, users and absences: whose turn it is stays, and the journal tells of it.

The boards of all pools concerned are locked and compared before and after; the engine seats the
members anew, and what differs goes into each pool's journal with who did it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from connector import changes, dispatch
from connector.engine import rotation
from connector.errors import Conflict, unknown_pool, unknown_user
from connector.model import Absence, Board, EntryKind, Pool, User
from connector.store import assignments, availability, images, journal, lanes, pools, users
from connector.store.availability import Told
from connector.store.database import Session
from connector.store.pools import NewMember, NewPool, PoolChange

REDISTRIBUTED_AT_ONCE = 1000
SYSTEM = "system"


def create_pool(session: Session, new: NewPool, *, now: datetime, actor: str | None) -> Pool:
    """Make a pool; its journal begins. Raises ``Conflict`` or ``BadInput`` like the store."""
    pools.lock_users(session, _people(new.members, new.values))
    made = pools.create(session, new, now)
    board = _board(session, made.id, now)
    nobody = replace(board, pool=replace(board.pool, members=()))
    seated = rotation.reseat(nobody, board, now)
    pools.save(session, board, seated)
    journal.begin(session, seated, at=now, actor=actor)
    return seated.pool


def change_pool(
    session: Session, pool_id: str, change: PoolChange, *, now: datetime, actor: str | None
) -> Pool:
    """Change a pool, all or nothing; whose turn is next among those who stay does not move.

    ``redistribute`` gives the leads of removed members to the next ones in turn. Raises
    ``NotFound`` (``pool_not_found``, ``member_not_found``), ``Conflict`` (``member_exists``,
    ``pool_archived``, ``too_many_leads``) or ``BadInput``.
    """
    # A fallback must not lead in a circle, and leads of those removed may wait in its pools.
    is_wide = "fallback_pool_id" in change.values
    pools.lock(session, pools.all_ids(session) if is_wide else pools.family(session, [pool_id]))
    pools.lock_users(session, _people(change.add_members, change.values))
    with _editing(session, [pool_id], now=now, actor=actor):
        pool = pools.get(session, pool_id)
        if pool is None:
            raise unknown_pool(pool_id)
        if pool.archived_at:
            raise Conflict(f"Pool {pool.name} is archived.", code="pool_archived")
        pools.change(session, pool_id, change, now)
    if change.redistribute:
        for user_id in change.remove_members:
            _redistribute(session, pool_id, user_id, now=now, actor=actor)
    return _board(session, pool_id, now).pool


def archive_pool(
    session: Session,
    pool_id: str,
    *,
    default_pool: str | None,
    now: datetime,
    actor: str | None,
) -> None:
    """Take a pool out of use; its history stays. Its held leads go to where others go now.

    Raises ``NotFound``. Archiving again changes nothing.
    """
    pools.lock(session, pools.all_ids(session))  # its held leads may go to any pool
    with _editing(session, [pool_id], now=now, actor=actor):
        if pools.get(session, pool_id) is None:
            raise unknown_pool(pool_id)
        pools.archive(session, pool_id, now)
    dispatch.leave_pool(session, pool_id, default_pool=default_pool, now=now)


def put_user(session: Session, user: User, *, now: datetime, actor: str | None) -> bool:
    """Replace a user or make one; True when made. Absences stay. Raises ``Conflict``.

    The CRM's users are read at once where an owner id is new.
    """
    _look_up_owners(session, user)
    with _editing(session, _lock_pools_of(session, [user.id]), now=now, actor=actor):
        return users.put(session, user, now)


def change_user(
    session: Session,
    user_id: str,
    revise: Callable[[User], User],
    *,
    now: datetime,
    actor: str | None,
) -> User:
    """Change a user as ``revise`` says, as they are now. Raises ``NotFound``, ``Conflict``.

    The CRM's users are read at once where an owner id is new.
    """
    if known := users.get(session, user_id):
        _look_up_owners(session, revise(known))
    with _editing(session, _lock_pools_of(session, [user_id]), now=now, actor=actor):
        user = users.get(session, user_id)
        if user is None:
            raise unknown_user(user_id)
        users.put(session, revise(user), now)
    return users.find(session, [user_id])[user_id]


def refuse_user(
    session: Session,
    user_ids: Iterable[str],
    connection: str,
    *,
    now: datetime,
    unlisted: bool = False,
) -> None:
    """Remember that this connection's CRM will not have these users own records.

    ``unlisted``: by its directory, which brings them back when it lists them as active again.
    """
    people = sorted(set(user_ids))
    why = f"{connection} calls the owner inactive"
    concerned = _lock_pools_of(session, people)
    with _editing(session, concerned, now=now, actor=SYSTEM, why=why):
        for user_id in people:
            users.refuse(session, user_id, connection, unlisted=unlisted)


def follow_directory(
    session: Session, connection: str, told: Mapping[str, Told], *, now: datetime
) -> None:
    """Take over what this connection's directory tells of these users, by user id."""
    concerned = _lock_pools_of(session, told)
    with _editing(session, concerned, now=now, actor=f"crm:{connection}"):
        availability.keep(session, connection, told, now)


def add_absence(
    session: Session, user_id: str, absence: Absence, *, now: datetime, actor: str | None
) -> Absence:
    """Note when a user is away. Raises ``NotFound`` for an unknown user."""
    with _editing(session, _lock_pools_of(session, [user_id]), now=now, actor=actor):
        if users.get(session, user_id) is None:
            raise unknown_user(user_id)
        users.add_absence(session, user_id, absence)
    return absence


def remove_absence(
    session: Session, user_id: str, absence_id: str, *, now: datetime, actor: str | None
) -> bool:
    """Forget an absence; False when there is none of this id."""
    with _editing(session, _lock_pools_of(session, [user_id]), now=now, actor=actor):
        return users.remove_absence(session, user_id, absence_id)


def _look_up_owners(session: Session, user: User) -> None:
    """Let the CRMs be asked for this user where the owner id is new. Comes before any lock."""
    before = users.get(session, user.id)
    known = before.owners if before else {}
    new = [name for name, owner_id in user.owners.items() if known.get(name) != owner_id]
    lanes.ask_for_directory(session, new)


def _people(members: Iterable[NewMember], values: Mapping[str, Any]) -> set[str]:
    """The users whom an edit of a pool brings to its board."""
    named = [member.user_id for member in members]
    return {user_id for user_id in (*named, values.get("fallback_user_id")) if user_id}


def _lock_pools_of(session: Session, user_ids: Iterable[str]) -> set[str]:
    """Lock the pools of these users, and let none more take them in until the commit."""
    people = set(user_ids)
    pools.lock(session, pools.of_users(session, people))
    pools.lock_users(session, people)
    concerned = pools.of_users(session, people)
    pools.lock(session, concerned)  # one that took them in while we waited
    return concerned


@contextmanager
def _editing(
    session: Session,
    pool_ids: Iterable[str],
    *,
    now: datetime,
    actor: str | None,
    why: str | None = None,
) -> Iterator[None]:
    """Whatever is written inside, the boards come out seated and the journals tell of it."""
    wanted = sorted(set(pool_ids))
    pools.lock(session, wanted)
    before = {one: board for one in wanted if (board := pools.board(session, one, now=now))}
    yield
    for pool_id, old in before.items():
        new = _board(session, pool_id, now)
        difference = images.difference(images.config(old), images.config(new))
        if not difference:
            continue
        seated = rotation.reseat(old, new, now)
        pools.save(session, new, seated)
        journal.add(
            session,
            pool_id,
            kind=EntryKind.EDITED,
            after_sequence=seated.last_sequence,
            at=now,
            actor=actor,
            body={"config": difference} | ({"why": why} if why else {}),
        )
        pools.set_opening(session, pool_id, now)


def _redistribute(
    session: Session, pool_id: str, user_id: str, *, now: datetime, actor: str | None
) -> None:
    """Give the leads that somebody still has from this pool to the next ones in turn."""
    rows = assignments.current_of_user(session, pool_id, user_id, limit=REDISTRIBUTED_AT_ONCE + 1)
    if len(rows) > REDISTRIBUTED_AT_ONCE:
        raise Conflict(
            f"User {user_id} has more than {REDISTRIBUTED_AT_ONCE} leads from this pool, too many "
            "to redistribute at once. Remove the member without it and reassign them.",
            code="too_many_leads",
        )
    note = f"{user_id} was removed from the pool by {actor}"
    changes.hand_on(session, pool_id, rows, now=now, actor=SYSTEM, note=note)


def _board(session: Session, pool_id: str, now: datetime) -> Board:
    board = pools.board(session, pool_id, now=now)
    if board is None:
        raise LookupError("the pool vanished inside its own transaction")
    return board
