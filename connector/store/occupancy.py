"""What keeps users from taking more: the leads of a day, and meetings at the same time.

Only the window that quotas and slots look at is read, however long the history is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, select

from connector.model import Board, Slot
from connector.store.database import Session, chunks
from connector.store.tables import assignments

WINDOW = timedelta(hours=26)  # the longest calendar day, with an hour to spare


def with_takings(
    session: Session, board: Board, now: datetime, *, also: Collection[str] = ()
) -> Board:
    """Give the board the moments of counted leads, as far as quotas depend on them.

    In this pool: of everybody when the pool has a quota, else of those who have one. Elsewhere, in
    another pool or in none: of users with a quota of their own. ``also`` are users with one who are
    no members.
    """
    members = board.pool.members
    with_own = {m.user.id for m in members if m.user.daily_quota is not None} | set(also)
    with_any = with_own | {m.user.id for m in members if m.daily_quota is not None}
    columns = assignments.c
    here = _counted(now).where(columns.pool_id == board.pool.id)
    takings: dict[str, tuple[datetime, ...]] = {}
    if board.pool.daily_quota is not None:
        takings = _by_user(session, [here])
    elif with_any:
        takings = _by_user(session, _of(here, with_any))
    others = _counted(now).where(columns.pool_id.is_distinct_from(board.pool.id))
    return replace(board, takings=takings, elsewhere=_by_user(session, _of(others, with_own)))


def with_all_takings(session: Session, board: Board) -> Board:
    """Give the board the moments of all counted leads that a later decision may look at."""
    columns = assignments.c
    here = columns.pool_id == board.pool.id
    last = session.scalar(select(func.max(columns.assigned_at)).where(here))
    if last is None:
        return board
    return replace(board, takings=_by_user(session, [_counted(last).where(here)]))


def with_meetings(
    session: Session, board: Board, slots: Collection[Slot], *, also: Collection[str] = ()
) -> Board:
    """Give the board all meetings of its users, and of ``also``, that may overlap a slot."""
    if not slots:
        return board
    people = {member.user.id for member in board.pool.members} | set(also)
    if board.fallback_user:
        people.add(board.fallback_user.id)
    columns = assignments.c
    query = (
        select(columns.user_id, columns.starts_at, columns.ends_at)
        .where(
            columns.current,
            columns.starts_at.is_not(None),
            columns.starts_at < max(slot.ends_at for slot in slots),
            columns.ends_at > min(slot.starts_at for slot in slots),
        )
        .order_by(columns.starts_at, columns.ends_at)
    )
    meetings: dict[str, list[Slot]] = defaultdict(list)
    for part in _of(query, people):
        for row in session.execute(part):
            meetings[row.user_id].append(Slot(starts_at=row.starts_at, ends_at=row.ends_at))
    return replace(board, meetings={user_id: tuple(of) for user_id, of in meetings.items()})


def _counted(now: datetime) -> Select[Any]:
    columns = assignments.c
    return (
        select(columns.user_id, columns.assigned_at)
        .where(columns.counted, columns.assigned_at > now - WINDOW)
        .order_by(columns.assigned_at, columns.id)
    )


def _of(query: Select[Any], user_ids: Collection[str]) -> list[Select[Any]]:
    return [query.where(assignments.c.user_id.in_(part)) for part in chunks(sorted(user_ids))]


def _by_user(session: Session, queries: Iterable[Select[Any]]) -> dict[str, tuple[datetime, ...]]:
    moments: dict[str, list[datetime]] = defaultdict(list)
    for query in queries:
        for row in session.execute(query):
            moments[row.user_id].append(row.assigned_at)
    return {user_id: tuple(of) for user_id, of in moments.items()}
