"""What all processes share of one connection: its pace, its pauses and its OAuth tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from connector.ports import Grant, Limit
from connector.store.database import Database


class SharedByAll:
    """One connection's share in the database, by the promises of ``connector.ports.Shared``."""

    def __init__(
        self,
        database: Database,
        connection: str,
        *,
        clock: Callable[[], datetime],
        encryption_key: str | None,
    ) -> None:
        self._database = database
        self._connection = connection
        self._clock = clock
        self._encryption_key = encryption_key

    def admit(self, bucket: str, *, burst: float, per_second: float) -> None:
        """Take a token of the bucket, or wait for it, or raise ``CrmPaced``."""

    def note_limits(self, limits: Sequence[Limit]) -> None:
        """Remember what is left of the CRM's limits."""

    def access_token(
        self, renew: Callable[[str | None], Grant], *, rejected: str | None = None
    ) -> str:
        """The access token; renewed by one process alone."""
        raise NotImplementedError
