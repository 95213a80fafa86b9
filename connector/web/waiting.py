"""Requests that may wait a little for work that calls a CRM."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

import structlog

T = TypeVar("T")

PATIENCE_SECONDS = 4.5  # a workflow is answered within five
SEATS = 4  # of the web process's eight threads, so that webhooks are always taken in

log = structlog.get_logger()


class WaitingRoom:
    """Lets a few requests wait for their work at a time; each only so long. Shared by threads."""

    def __init__(self, *, seats: int = SEATS, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._seats = threading.BoundedSemaphore(seats)
        self._patience = patience_seconds

    def ask(self, work: Callable[[], T | None]) -> T | None:
        """What the work comes to; None when all seats are taken, it fails, or takes too long.

        Work that takes too long goes on by itself and keeps its seat until it ends.
        """
        if not self._seats.acquire(blocking=False):
            return None
        answer: SimpleQueue[T | None] = SimpleQueue()
        threading.Thread(target=self._work, args=(work, answer), daemon=True).start()
        try:
            return answer.get(timeout=self._patience)
        except Empty:
            return None

    def _work(self, work: Callable[[], T | None], answer: SimpleQueue[T | None]) -> None:
        outcome = None
        try:
            outcome = work()
        except Exception:
            log.exception("work_failed")  # what was asked is stored, and the worker goes on with it
        self._seats.release()
        answer.put(outcome)
