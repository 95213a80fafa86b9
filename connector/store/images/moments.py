"""Moments and slots as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from connector.model import Slot

Image = dict[str, Any]


def moment(when: datetime | None) -> str | None:
    """Picture a moment."""
    return when.astimezone(UTC).isoformat() if when else None


def moment_of(image: str | None) -> datetime | None:
    """Read a moment."""
    return datetime.fromisoformat(image) if image else None


def times(of_users: Mapping[str, Iterable[datetime]]) -> Image:
    """Picture when users got leads; who got none is left out."""
    pictured = {user_id: [moment(when) for when in of_users[user_id]] for user_id in of_users}
    return {user_id: pictured[user_id] for user_id in sorted(pictured) if pictured[user_id]}


def times_of(image: Mapping[str, Iterable[str]]) -> dict[str, tuple[datetime, ...]]:
    """Build what ``times`` pictured."""
    return {user_id: tuple(map(datetime.fromisoformat, of)) for user_id, of in image.items()}


def slot(slot: Slot) -> Image:
    """Picture when a meeting takes place."""
    return {"starts_at": moment(slot.starts_at), "ends_at": moment(slot.ends_at)}


def slot_of(image: Image) -> Slot:
    """Build the slot of an image."""
    return Slot(
        starts_at=datetime.fromisoformat(image["starts_at"]),
        ends_at=datetime.fromisoformat(image["ends_at"]),
    )
