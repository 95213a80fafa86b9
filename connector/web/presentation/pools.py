"""How pools become answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from connector import model
from connector.engine.fairness import Report, Share
from connector.web import answers

DIGITS = 6  # of shares and balances


def pool(found: model.Pool) -> answers.Pool:
    """A pool as answered."""
    members = [answers.Member(**_member(place)) for place in found.members]
    return answers.Pool(**_settings(found), members=members)


def pool_now(
    board: model.Board,
    *,
    places: Mapping[int, int],
    hindrances: Mapping[int, model.Skip],
    shares: Mapping[str, Share],
) -> answers.PoolNow:
    """A pool as it stands at this moment.

    ``places`` (1 is next) and ``hindrances`` are by member id, ``shares`` by user id.
    """
    members = [
        answers.MemberNow(
            **_member(place),
            count=place.standing.received,
            next_up=places.get(place.id),
            unavailable=_unavailable(hindrances.get(place.id)),
            fair_share=round(float(shares[place.user.id].fair_share), DIGITS),
            received=shares[place.user.id].received,
            balance=round(float(shares[place.user.id].balance), DIGITS),
        )
        for place in board.pool.members
    ]
    return answers.PoolNow(**_settings(board.pool), members=members)


def preview(found: Sequence[model.User | None]) -> answers.Preview:
    """The next users, as answered."""
    return answers.Preview(
        [answers.NextUser(user_id=user.id, name=user.name) if user else None for user in found]
    )


def fairness(
    found: Report, names: Mapping[str, str], *, since: datetime, until: datetime
) -> answers.Fairness:
    """How evenly leads were shared, as answered. ``names`` are by user id."""
    return answers.Fairness(
        since=since,
        until=until,
        leads=found.leads,
        worst_distance=round(found.worst_distance, DIGITS),
        members=[
            answers.MemberFairness(
                user_id=one.user_id,
                name=names.get(one.user_id, one.user_id),
                received=one.received,
                fair_share=round(one.fair_share, DIGITS),
                balance=round(one.balance, DIGITS),
                longest_wait=one.longest_wait,
                worst_distance=round(one.worst_distance, DIGITS),
            )
            for one in found.members
        ],
    )


def _member(place: model.Member) -> dict[str, Any]:
    return {
        "user_id": place.user.id,
        "name": place.user.name,
        "position": place.position,
        "weight": place.weight,
        "active": place.active,
        "daily_quota": place.daily_quota,
    }


def _settings(found: model.Pool) -> dict[str, Any]:
    policies = found.policies
    return {
        "id": found.id,
        "name": found.name,
        "strategy": found.strategy,
        "created_at": found.created_at,
        "archived_at": found.archived_at,
        "daily_quota": found.daily_quota,
        "period": found.period,
        "time_zone": found.time_zone,
        "skip": policies.skip,
        "accrue_max": policies.accrue_max,
        "returning": policies.returning,
        "none_available": policies.none_available,
        "fallback_user_id": policies.fallback_user_id,
        "fallback_pool_id": policies.fallback_pool_id,
        "sticky": policies.sticky,
        "sticky_steps": list(policies.sticky_steps),
        "sticky_turn": policies.sticky_turn,
        "manual": policies.manual,
        "reject": policies.reject,
        "quota_window": policies.quota_window,
        "leave_buffer_hours": policies.leave_buffer_hours,
    }


def _unavailable(skip: model.Skip | None) -> answers.Unavailable | None:
    if skip is None:
        return None
    return answers.Unavailable(reason=skip.reason, detail=skip.detail, until=skip.until)
