"""One lane per connection: who works on it, until when, and whether it rests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from connector.store.database import Session
from connector.store.inbox import InboxItem
from connector.store.outbox import OutboxItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lane taken for one batch: exactly one of the two lists is filled."""

    connection: str
    fence: int  # grows with each claim; what an older holder reports is refused
    inbox: tuple[InboxItem, ...] = ()
    outbox: tuple[OutboxItem, ...] = ()
    probes: int = 0  # fruitless probes so far


def ensure(session: Session, names: Iterable[str]) -> None:
    """Make the lanes that are not there yet."""
    raise NotImplementedError


def claim(
    session: Session,
    *,
    holder: str,
    now: datetime,
    lease_seconds: float,
    limits: Mapping[str, tuple[int, int]],
    fill_seconds: float = 0.5,
) -> Claim | None:
    """Take the lane with due work that was served longest ago; None when there is none.

    ``limits`` holds (read batch, write batch) of each connection that may be taken.
    """
    raise NotImplementedError


def release(session: Session, claim: Claim, *, now: datetime) -> bool:
    """End the claim. First statement of its transaction; on False roll back."""
    raise NotImplementedError


def pause(session: Session, claim: Claim, *, until: datetime, reason: str, probe: bool) -> bool:
    """End the claim and let the lane rest. Instead of ``release``, by the same rule."""
    raise NotImplementedError


def next_due(session: Session, now: datetime) -> datetime | None:
    """Tell the earliest moment at which anything can be claimed."""
    raise NotImplementedError
