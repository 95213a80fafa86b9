"""Times two things in turn and compares them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median

ROUNDS = 7


def compare(
    name: str, floor: Callable[[], object], thing: Callable[[], object], *, items: int, why: str
) -> None:
    """Print how many times longer ``thing`` takes than ``floor``; both handle ``items`` items."""
    pairs = [(_seconds(floor), _seconds(thing)) for _ in range(ROUNDS)]
    line = {
        "name": name,
        "ratio": round(median(one / base for base, one in pairs), 2),
        "floor": why,
        "items": items,
        "floor_us_per_item": round(min(base for base, _ in pairs) / items * 1e6, 1),
        "us_per_item": round(min(one for _, one in pairs) / items * 1e6, 1),
    }
    print(json.dumps(line))  # noqa: T201 the output of the command


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
