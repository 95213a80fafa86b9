"""Boards, users and turns as plain JSON, for the journal and the trace of a decision, and back.

Equal things give equal JSON text: mappings and sets are sorted, times are ISO 8601 in UTC. What a
board counts (takings, meetings) is no part of its images: the history tells that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, time
from typing import Any

from connector.model import (
    Absence,
    Board,
    GivenBack,
    ManualPolicy,
    Member,
    NoneAvailable,
    Period,
    Policies,
    Pool,
    Presence,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    Skip,
    SkipPolicy,
    SkipReason,
    Slot,
    Standing,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
    Turn,
    User,
    WorkingHours,
)

Image = dict[str, Any]


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


def user(user: User) -> Image:
    """Picture a user."""
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "active": user.active,
        "status": user.status,
        "time_zone": user.time_zone,
        "working_hours": [
            {
                "days": list(hours.days),
                "start": hours.start.isoformat(),
                "end": hours.end.isoformat(),
            }
            for hours in user.working_hours
        ],
        "holidays": user.holidays,
        "absences": [
            {
                "id": one.id,
                "starts_at": moment(one.starts_at),
                "ends_at": moment(one.ends_at),
                "reason": one.reason,
            }
            for one in user.absences
        ],
        "daily_quota": user.daily_quota,
        "owners": _sorted(user.owners),
        "refused_by": sorted(user.refused_by),
    }


def user_of(image: Image) -> User:
    """Build the user of an image."""
    built = {
        "status": Presence(image["status"]),
        "working_hours": tuple(
            WorkingHours(
                days=tuple(hours["days"]),
                start=time.fromisoformat(hours["start"]),
                end=time.fromisoformat(hours["end"]),
            )
            for hours in image["working_hours"]
        ),
        "absences": tuple(
            Absence(
                id=one["id"],
                starts_at=datetime.fromisoformat(one["starts_at"]),
                ends_at=datetime.fromisoformat(one["ends_at"]),
                reason=one["reason"],
            )
            for one in image["absences"]
        ),
        "refused_by": frozenset(image["refused_by"]),
    }
    return User(**(image | built))


def turn(turn: Turn) -> Image:
    """Picture what a lead cost."""
    return {
        "member_id": turn.member_id,
        "user_id": turn.user_id,
        "sequence": turn.sequence,
        "at": moment(turn.at),
        "shares": {str(member_id): turn.shares[member_id] for member_id in sorted(turn.shares)},
    }


def turn_of(image: Image) -> Turn:
    """Build the turn of an image."""
    shares = {int(member_id): share for member_id, share in image["shares"].items()}
    return Turn(**(image | {"at": datetime.fromisoformat(image["at"]), "shares": shares}))


def given_back(given: GivenBack) -> Image:
    """Picture what an earlier assignment returns."""
    return {
        "assignment_id": given.assignment_id,
        "user_id": given.user_id,
        "turn": turn(given.turn) if given.turn else None,
        "counted_at": moment(given.counted_at),
    }


def given_back_of(image: Image) -> GivenBack:
    """Build what ``given_back`` pictured."""
    return GivenBack(
        assignment_id=image["assignment_id"],
        user_id=image["user_id"],
        turn=turn_of(image["turn"]) if image["turn"] else None,
        counted_at=moment_of(image["counted_at"]),
    )


def skips(skipped: Iterable[Skip]) -> list[Any]:
    """Picture who could not take a lead, shortly."""
    return [[one.user_id, one.reason, one.detail, moment(one.until)] for one in skipped]


def skips_of(image: list[Any]) -> tuple[Skip, ...]:
    """Build what ``skips`` pictured; rows of an earlier version had no end."""
    return tuple(
        Skip(
            user_id=user_id,
            reason=SkipReason(reason),
            detail=detail,
            until=moment_of(next(iter(until), None)),
        )
        for user_id, reason, detail, *until in image
    )


def slot(slot: Slot) -> Image:
    """Picture when a meeting takes place."""
    return {"starts_at": moment(slot.starts_at), "ends_at": moment(slot.ends_at)}


def slot_of(image: Image) -> Slot:
    """Build the slot of an image."""
    return Slot(
        starts_at=datetime.fromisoformat(image["starts_at"]),
        ends_at=datetime.fromisoformat(image["ends_at"]),
    )


def times(of_users: Mapping[str, Iterable[datetime]]) -> Image:
    """Picture when users got leads; who got none is left out."""
    pictured = {user_id: [moment(when) for when in of] for user_id, of in of_users.items()}
    return _sorted({user_id: of for user_id, of in pictured.items() if of})


def times_of(image: Mapping[str, Iterable[str]]) -> dict[str, tuple[datetime, ...]]:
    """Build what ``times`` pictured."""
    return {user_id: tuple(map(datetime.fromisoformat, of)) for user_id, of in image.items()}


def moment(when: datetime | None) -> str | None:
    """Picture a moment."""
    return when.astimezone(UTC).isoformat() if when else None


def moment_of(image: str | None) -> datetime | None:
    """Read a moment."""
    return datetime.fromisoformat(image) if image else None


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
