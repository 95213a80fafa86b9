"""Boards as plain JSON, and what an edit changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from connector.model import (
    Board,
    ManualPolicy,
    Member,
    NoneAvailable,
    Period,
    Policies,
    Pool,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    Standing,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
)
from connector.store.images.moments import Image, moment, moment_of
from connector.store.images.people import user, user_of


def config(board: Board) -> Image:
    """Picture what only edits change: pool, members, and the users who matter to it.

    ``{"pool": fields, "members": {member id: fields}, "users": {user id: fields}}``, the keys as
    text; the users are the members' and the fallback user.
    """
    members = board.pool.members
    people = {member.user.id: member.user for member in members}
    if board.fallback_user:
        people[board.fallback_user.id] = board.fallback_user
    return {
        "pool": _pool(board.pool),
        "members": _sorted({str(member.id): _member(member) for member in members}),
        "users": _sorted({user_id: user(person) for user_id, person in people.items()}),
    }


def state(board: Board) -> Image:
    """Picture what decisions change: the cursor, the counters and each member's standing."""
    return {
        "cursor": board.last_assigned_member_id,
        "last_sequence": board.last_sequence,
        "turns": board.turns,
        "period_start": moment(board.period_start),
        "standings": _sorted(
            {str(member.id): asdict(member.standing) for member in board.pool.members}
        ),
    }


def board_of(config: Image, state: Image) -> Board:
    """Build the board of both images, without what it counts."""
    people = {user_id: user_of(image) for user_id, image in config["users"].items()}
    members = [
        Member(
            id=int(key),
            user=people[image["user_id"]],
            position=image["position"],
            weight=image["weight"],
            active=image["active"],
            daily_quota=image["daily_quota"],
            standing=Standing(**state["standings"][key]),
        )
        for key, image in config["members"].items()
    ]
    pool = _pool_of(config["pool"], sorted(members, key=lambda member: member.position))
    return Board(
        pool=pool,
        last_assigned_member_id=state["cursor"],
        last_sequence=state["last_sequence"],
        turns=state["turns"],
        period_start=moment_of(state["period_start"]),
        fallback_user=people.get(pool.policies.fallback_user_id or ""),
    )


def difference(before: Image, after: Image) -> Image:
    """Tell what changed from one ``config`` to another, field by field; ``{}`` when nothing did.

    A member or user who is new stands there whole, one who is gone as None.
    """
    changes = {"pool": _changed(before["pool"], after["pool"])}
    for kind in ("members", "users"):
        old, new = before[kind], after[kind]
        gone: Image = dict.fromkeys(old.keys() - new.keys())
        fields = {key: _changed(old.get(key, {}), image) for key, image in new.items()}
        changes[kind] = _sorted(gone | {key: some for key, some in fields.items() if some})
    return {kind: changed for kind, changed in changes.items() if changed}


def patched(config: Image, difference: Image) -> Image:
    """Apply what ``difference`` told to the config before, which stays as it is."""
    result: Image = {"pool": config["pool"] | difference.get("pool", {})}
    for kind in ("members", "users"):
        entries = dict(config[kind])
        for key, fields in difference.get(kind, {}).items():
            if fields is None:
                del entries[key]
            else:
                entries[key] = entries.get(key, {}) | fields
        result[kind] = _sorted(entries)
    return result


def _pool(pool: Pool) -> Image:
    policies = asdict(pool.policies)
    returning, steps = policies.pop("returning"), policies.pop("sticky_steps")
    return {
        "id": pool.id,
        "name": pool.name,
        "strategy": pool.strategy,
        "created_at": moment(pool.created_at),
        "daily_quota": pool.daily_quota,
        "period": pool.period,
        "time_zone": pool.time_zone,
        "archived_at": moment(pool.archived_at),
        **policies,
        "return": returning,
        "sticky_steps": list(steps),
    }


def _pool_of(image: Image, members: Iterable[Member]) -> Pool:
    return Pool(
        id=image["id"],
        name=image["name"],
        strategy=Strategy(image["strategy"]),
        created_at=datetime.fromisoformat(image["created_at"]),
        members=tuple(members),
        daily_quota=image["daily_quota"],
        period=Period(image["period"]),
        time_zone=image["time_zone"],
        policies=_policies_of(image),
        archived_at=moment_of(image["archived_at"]),
    )


def _policies_of(image: Image) -> Policies:
    return Policies(
        skip=SkipPolicy(image["skip"]),
        accrue_max=image["accrue_max"],
        returning=ReturnPolicy(image["return"]),
        none_available=NoneAvailable(image["none_available"]),
        fallback_user_id=image["fallback_user_id"],
        fallback_pool_id=image["fallback_pool_id"],
        sticky=StickyPolicy(image["sticky"]),
        sticky_steps=tuple(StickyStep(step) for step in image["sticky_steps"]),
        sticky_turn=StickyTurn(image["sticky_turn"]),
        manual=ManualPolicy(image["manual"]),
        reject=RejectPolicy(image["reject"]),
        quota_window=QuotaWindow(image["quota_window"]),
        leave_buffer_hours=image["leave_buffer_hours"],
    )


def _member(member: Member) -> Image:
    return {
        "user_id": member.user.id,
        "position": member.position,
        "weight": member.weight,
        "active": member.active,
        "daily_quota": member.daily_quota,
    }


def _changed(before: Image, after: Image) -> Image:
    return {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }


def _sorted(mapping: Mapping[str, Any]) -> Image:
    return {key: mapping[key] for key in sorted(mapping)}
