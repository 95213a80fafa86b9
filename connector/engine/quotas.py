"""How many leads a member, a user or a pool may still take.

What counts are the moments on the board: of the calendar day in the zone, or of the last 24 hours.
A quota of 0 takes no leads at all, and no time changes that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from connector.engine import calendar
from connector.model import Board, Member, QuotaWindow, Skip, SkipReason, User

_24_HOURS = timedelta(hours=24)
_NEVER = datetime.max.replace(tzinfo=UTC)

# "5/5 today", and when the next lead may come; None: not by time.
Limit = tuple[str, datetime | None]


def pool_full(board: Board, now: datetime) -> Limit | None:
    """What says that the pool takes no more leads now; None while it does."""
    if board.pool.daily_quota is None:
        return None
    zone = calendar.pool_zone(board.pool)
    moments = [at for all_of in board.takings.values() for at in _counted(all_of, board, zone, now)]
    return _limit(board.pool.daily_quota, moments, board, zone, now)


def quota_reached(member: Member, board: Board, now: datetime) -> Skip | None:
    """Why the member's quota in this pool, or the user's over all pools, takes no more leads now.

    When both are reached the one speaks that lasts longer.
    """
    limits = [_limit_in_pool(member, board, now), _limit_over_pools(member.user, board, now)]
    return _skip(member.user, [limit for limit in limits if limit])


def room_for(
    user: User, board: Board, now: datetime, *, moved_from: Board | None = None
) -> str | None:
    """Why the quotas of user, member and pool have no room for one more lead; None when they do.

    ``moved_from``: the board with the lead at somebody else. Where it counts there already, the
    pool gets no more by the move.
    """
    adds = moved_from is None or _taken_by_pool(moved_from, now) == _taken_by_pool(board, now)
    if adds and (full := pool_full(board, now)):
        return f"the pool has {full[0]}"
    member = next((one for one in board.pool.members if one.user.id == user.id), None)
    skip = quota_reached(member, board, now) if member else user_quota_reached(user, board, now)
    return skip.detail if skip else None


def user_quota_reached(user: User, board: Board, now: datetime) -> Skip | None:
    """Why the user's quota over all pools takes no more leads now. For users who are no members."""
    limit = _limit_over_pools(user, board, now)
    return _skip(user, [limit] if limit else [])


def _taken_by_pool(board: Board, now: datetime) -> int:
    zone = calendar.pool_zone(board.pool)
    return sum(len(_counted(moments, board, zone, now)) for moments in board.takings.values())


def _limit_in_pool(member: Member, board: Board, now: datetime) -> Limit | None:
    if member.daily_quota is None:
        return None
    zone = calendar.zone(member.user, board.pool.time_zone)
    here = _counted(board.takings.get(member.user.id, ()), board, zone, now)
    return _limit(member.daily_quota, here, board, zone, now)


def _limit_over_pools(user: User, board: Board, now: datetime) -> Limit | None:
    if user.daily_quota is None:
        return None
    zone = calendar.zone(user, board.pool.time_zone)
    here = _counted(board.takings.get(user.id, ()), board, zone, now)
    elsewhere = _counted(board.elsewhere.get(user.id, ()), board, zone, now)
    limit = _limit(user.daily_quota, [*here, *elsewhere], board, zone, now)
    return (f"{limit[0]} over all pools", limit[1]) if limit else None


def _counted(
    moments: tuple[datetime, ...], board: Board, zone: ZoneInfo, now: datetime
) -> Sequence[datetime]:
    """Those that lie in the window which the pool's policy names. They come oldest first."""
    match board.pool.policies.quota_window:
        case QuotaWindow.DAY:
            return moments[bisect_left(moments, calendar.start_of_day(now, zone)) :]
        case QuotaWindow.ROLLING24H:
            return moments[bisect_right(moments, now - _24_HOURS) :]


def _limit(
    quota: int, moments: Sequence[datetime], board: Board, zone: ZoneInfo, now: datetime
) -> Limit | None:
    taken = len(moments)
    if taken < quota:
        return None
    by_day = board.pool.policies.quota_window is QuotaWindow.DAY
    detail = f"{taken}/{quota} {'today' if by_day else 'in 24 hours'}"
    if quota == 0:
        return detail, None
    if by_day:
        return detail, calendar.end_of_day(now, zone)
    # Free once so many of the oldest are too old that fewer than the quota remain.
    return detail, sorted(moments)[taken - quota] + _24_HOURS


def _skip(user: User, limits: Sequence[Limit]) -> Skip | None:
    if not limits:
        return None
    detail, until = max(limits, key=lambda limit: limit[1] or _NEVER)
    return Skip(user_id=user.id, reason=SkipReason.QUOTA_REACHED, detail=detail, until=until)
