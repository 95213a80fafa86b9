"""Lets the writers of one SQLite file through one at a time, whoever they are.

SQLite makes a waiting writer sleep ever longer and try again, so that newcomers overtake it: of
sixteen busy writers some wait for seconds, and a webhook must be answered in five. Here threads of
one process wait at a mutex, and one thread of each process looks for the file lock every
millisecond.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connector.errors import StoreUnavailable

try:
    import fcntl
except ImportError:  # Windows: the mutex alone, and SQLite's own waiting between processes
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 30.0
LOOK_SECONDS = 0.001


class Turnstile:
    """One for each process and file. The lock ends with the process that holds it, however."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-lock")
        self._mutex = threading.Lock()

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Wait for the turn, at most half a minute; raises ``StoreUnavailable`` after that."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        if not self._mutex.acquire(timeout=PATIENCE_SECONDS):
            raise _too_long()
        try:
            with self._file_lock(give_up_at):
                yield
        finally:
            self._mutex.release()

    @contextmanager
    def _file_lock(self, give_up_at: float) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        try:
            lock = self._path.open("ab")
        except OSError as error:
            raise StoreUnavailable(
                f"The lock file {self._path} cannot be written ({error.strerror})."
            ) from error
        with lock:  # closing it unlocks it
            while not _is_locked(lock.fileno()):
                if time.monotonic() > give_up_at:
                    raise _too_long()
                time.sleep(LOOK_SECONDS)
            yield


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _too_long() -> StoreUnavailable:
    return StoreUnavailable("Another process has been writing to the database for half a minute.")
