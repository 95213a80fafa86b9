"""Requests that may wait a little for work that calls a CRM."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

import structlog

T = TypeVar("T")

PATIENCE_SECONDS = 4.5  # a workflow is answered within five
# Of the web process's threads, so that webhooks are always taken in: a CRM sends ten at once.
PLACES = 16
SEATS = 8

log = structlog.get_logger()


class WaitingRoom:
    """Lets requests wait for their work, each only so long. Shared by threads.

    ``seats`` pieces of work are done at a time, and ``places`` requests wait at most.
    """

    def __init__(
        self,
        *,
        places: int = PLACES,
        seats: int = SEATS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._places = threading.BoundedSemaphore(places)
        self._seats = threading.BoundedSemaphore(seats)
        self._patience = patience_seconds

    def ask(self, work: Callable[[], T | None]) -> T | None:
        """What the work comes to; None when the room is full, it fails, or takes too long.

        Work that takes too long goes on by itself and keeps its seat until it ends.
        """
        if not self._places.acquire(blocking=False):
            return None
        try:
            until = time.monotonic() + self._patience
            if not self._seats.acquire(timeout=self._patience):
                return None
            answer: SimpleQueue[T | None] = SimpleQueue()
            threading.Thread(target=self._work, args=(work, answer), daemon=True).start()
            return answer.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return None
        finally:
            self._places.release()

    def _work(self, work: Callable[[], T | None], answer: SimpleQueue[T | None]) -> None:
        outcome = None
        try:
            outcome = work()
        except Exception:
            log.exception("work_failed")  # what was asked is stored, and the worker goes on with it
        self._seats.release()
        answer.put(outcome)
