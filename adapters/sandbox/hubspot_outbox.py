"""What a sandbox HubSpot has to send: each thing when it is due, ten requests at a time."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, Self, TypeVar

PARALLEL = 10
Item = TypeVar("Item")


class Outbox(Generic[Item]):
    """Sends from a background thread; a subclass says how (``deliver``) and what comes again.

    Used as a context manager, or with ``start`` and ``stop``. ``changed`` guards what several
    threads touch.
    """

    def __init__(self) -> None:
        self.batch_size = 1
        self.changed = threading.Condition()
        self.running = False
        self._order = itertools.count()
        self._due: list[tuple[float, int, Item]] = []
        self._in_flight = 0
        self._held = False

    def deliver(self, batch: list[Item]) -> None:
        """Send one request; ``put`` again what it did not bring home."""
        raise NotImplementedError

    def arrange(self, batch: list[Item]) -> None:
        """Put a batch in the order in which it is sent."""

    def start(self) -> Self:
        """Begin to send."""
        self.running = True
        self._threads = ThreadPoolExecutor(PARALLEL, thread_name_prefix="hubspot-outbox")
        self._loop = threading.Thread(target=self._run, name="hubspot-outbox", daemon=True)
        self._loop.start()
        return self

    def stop(self) -> None:
        """Stop sending; what was not delivered is dropped."""
        with self.changed:
            self.running = False
            self._due.clear()
            self.changed.notify_all()
        self._loop.join()
        self._threads.shutdown()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def put(self, item: Item, *, delay: float = 0.0) -> None:
        """Have one thing sent in so many seconds."""
        with self.changed:
            heapq.heappush(self._due, (time.monotonic() + delay, next(self._order), item))
            self.changed.notify_all()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let things gather inside the block, so that they leave in full batches after it."""
        with self.changed:
            self._held = True
        try:
            yield
        finally:
            with self.changed:
                self._held = False
                self.changed.notify_all()

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything is delivered or lost; ``TimeoutError`` if it takes too long."""
        with self.changed:
            if not self.changed.wait_for(lambda: not self._due and not self._in_flight, timeout):
                waiting = len(self._due)
                raise TimeoutError(f"{waiting} things wait, {self._in_flight} requests run")

    # -- the background thread

    def _run(self) -> None:
        while True:
            with self.changed:
                batch = self._next_batch()
                while not batch and self.running:
                    self.changed.wait(self._seconds_to_next())
                    batch = self._next_batch()
                if not self.running:
                    return
                self._in_flight += 1
            self._threads.submit(self._deliver, batch)

    def _next_batch(self) -> list[Item]:
        batch: list[Item] = []
        if self._held or self._in_flight >= PARALLEL:
            return batch
        while self._due and self._due[0][0] <= time.monotonic() and len(batch) < self.batch_size:
            batch.append(heapq.heappop(self._due)[2])
        self.arrange(batch)
        return batch

    def _seconds_to_next(self) -> float | None:
        if not self._due or self._held or self._in_flight >= PARALLEL:
            return None
        return max(0.0, self._due[0][0] - time.monotonic())

    def _deliver(self, batch: list[Item]) -> None:
        try:
            self.deliver(batch)
        finally:
            with self.changed:
                self._in_flight -= 1
                self.changed.notify_all()
