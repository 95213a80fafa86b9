"""How many calls to the sandbox org are running for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Running:
    """The calls that have no answer yet. Safe to share by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[object, float] = {}

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call as running until the block ends."""
        mark = object()
        with self._lock:
            self._since[mark] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._since[mark]

    def long_ones(self, seconds: float) -> int:
        """How many calls run for longer than that."""
        with self._lock:
            return sum(time.monotonic() - since > seconds for since in self._since.values())
