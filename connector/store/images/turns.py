"""Turns, what comes back, and who was skipped, as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from connector.model import (
    GivenBack,
    Skip,
    SkipReason,
    Turn,
)
from connector.store.images.moments import Image, moment, moment_of


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
