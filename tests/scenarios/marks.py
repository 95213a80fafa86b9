"""Scenarios that need more than a table: each test names those it plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., None])

PLAYED: set[str] = set()


def plays(*scenario_ids: str) -> Callable[[Test], Test]:
    """Say which scenarios a test plays."""

    def mark(test: Test) -> Test:
        PLAYED.update(scenario_ids)
        return test

    return mark
