"""What a connection shares with other processes, when there are none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from connector.errors import CrmPaced
from connector.ports import Grant, Limit


@dataclass
class Alone:
    """Lets every call pass and notes it; keeps one OAuth token in memory."""

    admitted: list[str] = field(default_factory=list)  # the bucket of each call
    limits: list[Limit] = field(default_factory=list)  # as told last
    paused: CrmPaced | None = None
    token: str | None = None
    refresh_token: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def admit(self, bucket: str, *, burst: float, per_second: float) -> None:
        if self.paused:
            raise self.paused
        self.admitted.append(bucket)

    def note_limits(self, limits: Sequence[Limit]) -> None:
        self.limits = list(limits)

    def access_token(
        self,
        renew: Callable[[str | None], Grant],
        *,
        rejected: str | None = None,
        seconds: float = 10.0,
    ) -> str:
        with self._lock:  # threads that wait for a token share it
            if self.token is None or self.token == rejected:
                grant = renew(self.refresh_token)
                self.token, self.refresh_token = grant.access_token, grant.refresh_token
            return self.token

    def worked(self, access_token: str) -> None:
        """Nothing is counted."""

    def refused(self, access_token: str) -> None:
        """Nothing is counted."""
