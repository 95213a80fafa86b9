"""Items on which our own code failed are worked one by one, so that none spoils a batch again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

WORD = "internal_error"

T = TypeVar("T")


def apart(items: Sequence[T], error_of: Callable[[T], str | None]) -> list[T]:
    """The first item alone if it is suspect, else the batch without those that are."""
    if items and error_of(items[0]) == WORD:
        return [items[0]]
    return [item for item in items if error_of(item) != WORD]
