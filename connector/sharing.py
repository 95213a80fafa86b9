"""What all processes share of one connection: its pace, its pauses and its tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import structlog

from connector import pacing
from connector.errors import CrmPaced, LeadRotaError
from connector.grants import PATIENCE_SECONDS, Tokens, writing
from connector.ports import Credentials, Grant, Limit
from connector.store import calls
from connector.store.database import Database

BUCKET_SECONDS = 1.0  # to wait for a token of a bucket
LIMITS_ARE_NOTED_EVERY = timedelta(seconds=1)

NO_CREDENTIALS = Credentials()

log = structlog.get_logger()


class SharedByAll:
    """One connection's share in the database, by the promises of ``connector.ports.Shared``.

    Each call is one short transaction, so none may be made inside another. ``real_clock`` is by
    what the CRM counts calls, also where ``clock`` stands still. ``credentials`` are what the
    settings give to log in with; ``sleep`` waits so many seconds. Without ``heeds_pauses`` calls
    are admitted to a connection that rests and a log-in is made however many were in vain, for a
    look whether the CRM lets us in again.
    """

    def __init__(
        self,
        database: Database,
        connection: str,
        *,
        clock: Callable[[], datetime],
        real_clock: Callable[[], datetime],
        encryption_key: str | None,
        credentials: Credentials = NO_CREDENTIALS,
        sleep: Callable[[float], None] = time.sleep,
        heeds_pauses: bool = True,
    ) -> None:
        self._database = database
        self._connection = connection
        self._clock = clock
        self._real_clock = real_clock
        self._sleep = sleep
        self._heeds_pauses = heeds_pauses
        self._noted: dict[str, datetime] = {}  # when each limit was last written
        self._tokens = Tokens(
            database,
            connection,
            clock=clock,
            encryption_key=encryption_key,
            credentials=credentials,
            sleep=sleep,
            insists=not heeds_pauses,
        )

    def admit(self, bucket: str, *, burst: float, per_second: float) -> None:
        """Take a token of the bucket, or wait for it, or raise ``CrmPaced``."""
        if wait := self._promised(bucket, burst, per_second):
            self._sleep(wait)

    def note_limits(self, limits: Sequence[Limit]) -> None:
        """Remember what is left of the CRM's limits."""
        now = self._clock()
        news = [limit for limit in limits if self._is_news(limit.name, now)]
        if not news:
            return
        self._noted.update({limit.name: now for limit in news})
        try:
            with self._database.write() as session:
                calls.note_limits(session, self._connection, news, now=now)
        except LeadRotaError as error:
            log.warning("limits_not_noted", connection=self._connection, error=error.code)

    def access_token(
        self,
        renew: Callable[[str | None], Grant],
        *,
        rejected: str | None = None,
        seconds: float = PATIENCE_SECONDS,
    ) -> str:
        """The access token; renewed by one process alone."""
        return self._tokens.access_token(renew, rejected=rejected, seconds=seconds)

    def worked(self, access_token: str) -> None:
        """A call got through: log-ins before were not in vain."""
        self._tokens.worked(access_token)

    def refused(self, access_token: str) -> None:
        """The CRM refused this token, and no newer one is asked for."""
        self._tokens.refused(access_token)

    def keep(self, grant: Grant) -> None:
        """Store what an admin's consent brought, for all processes to use from now on."""
        self._tokens.keep(grant)

    def _promised(self, name: str, burst: float, per_second: float) -> float:
        """Take a token that is there in less than a second; how long until then."""
        with writing(self._database) as session:
            found = calls.lock_bucket(session, self._connection, name)
            now = self._real_clock()
            bucket = pacing.filled(found, now, burst=burst, per_second=per_second)
            if found is None:
                made = calls.make_bucket(session, self._connection, name, bucket)
                bucket = pacing.filled(made, now, burst=burst, per_second=per_second)
            pause = calls.pause_left(session, self._connection, self._clock())
            if pause and self._heeds_pauses:
                raise _resting(self._connection, pause)
            wait = pacing.wait_for_next(bucket, now, per_second=per_second)
            if wait > BUCKET_SECONDS:
                raise _crowded(self._connection, wait)
            calls.save_bucket(session, self._connection, name, pacing.taken(bucket))
        return wait

    def _is_news(self, name: str, now: datetime) -> bool:
        last = self._noted.get(name)
        return last is None or not timedelta() <= now - last < LIMITS_ARE_NOTED_EVERY


def _resting(connection: str, seconds: float) -> CrmPaced:
    return CrmPaced(
        f"The connection {connection!r} rests for another {seconds:.0f} s.",
        pause_seconds=seconds,
        code="connection_rests",
    )


def _crowded(connection: str, seconds: float) -> CrmPaced:
    return CrmPaced(
        f"Other calls of {connection!r} come first, for another {seconds:.1f} s, so that the CRM's "
        "limit holds.",
        pause_seconds=seconds,
        code="own_pace",
    )
