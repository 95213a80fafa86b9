"""Access tokens of one connection: stored encrypted, fetched by one process for all."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from connector.errors import CrmAgain, CrmError, CrmPaced, LeadRotaError, StoreUnavailable, copied
from connector.log_ins import LogIns, too_many
from connector.ports import Credentials, Grant
from connector.safe import Safe, digest
from connector.store import tokens
from connector.store.database import Database, Session
from connector.store.tokens import Stored

Renew = Callable[[str | None], Grant]

MARGIN = timedelta(minutes=5)  # so long before its end a token is replaced
LEASE = timedelta(seconds=30)  # longer than any call to a token endpoint
PATIENCE_SECONDS = 10.0  # for another process that fetches a token
POLL_SECONDS = 0.2

log = structlog.get_logger()


@contextmanager
def writing(database: Database) -> Iterator[Session]:
    """One transaction; a database that cannot be used just now lets the connection pause."""
    try:
        with database.write() as session:
            yield session
    except StoreUnavailable as error:
        raise CrmPaced(error.message, pause_seconds=1.0, code=error.code) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A token in memory, used without a look at the database until ``renew_at``, if that is set."""

    access_token: str = field(repr=False)
    renew_at: datetime | None
    is_doubted: bool  # log-ins before were in vain, as far as is known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    """The right to fetch new tokens, which one thread of one process has."""

    holder: str
    refresh_token: str | None = field(repr=False)
    old_token: str | None = field(repr=False)  # where it may still be used
    before: LogIns
    begun: LogIns


class Tokens:
    """The tokens of one connection. Safe to share by threads.

    One process at a time asks the CRM; the others use the old token while it is good, else wait.
    """

    def __init__(
        self,
        database: Database,
        connection: str,
        *,
        clock: Callable[[], datetime],
        encryption_key: str | None,
        credentials: Credentials,
        sleep: Callable[[float], None] = time.sleep,
        insists: bool = False,
    ) -> None:
        """``insists``: a person waits. One log-in is made in place of a token that was refused,
        however many there were before.
        """
        self._database = database
        self._connection = connection
        self._clock = clock
        self._sleep = sleep
        self._by_consent = credentials.by_consent
        self._safe = Safe(connection, credentials, encryption_key=encryption_key)
        self._insists = insists
        self._kept: _Kept | None = None
        self._refused: str | None = None  # the last token that was noted as refused
        self._failure: CrmError | None = None
        self._failures = 0

    def access_token(
        self, renew: Renew, *, rejected: str | None = None, seconds: float = PATIENCE_SECONDS
    ) -> str:
        """The promise of ``connector.ports.Shared.access_token``."""
        failures = self._failures
        waited = 0.0
        while True:
            kept = self._kept
            if kept and kept.access_token != rejected and not self._is_due(kept.renew_at):
                return kept.access_token
            if self._failure and self._failures != failures:
                raise copied(self._failure)  # threads that wait for one log-in share its end
            found = self._look(rejected)
            if isinstance(found, str):
                return found
            if isinstance(found, CrmError):
                raise self._failed(found)
            if found:
                return self._renewed(found, renew)
            if waited >= min(seconds, PATIENCE_SECONDS):
                raise CrmAgain(
                    f"Another process is still fetching a token of {self._connection!r}.",
                    code="token_awaited",
                )
            self._sleep(POLL_SECONDS)
            waited += POLL_SECONDS

    def worked(self, access_token: str) -> None:
        """The promise of ``connector.ports.Shared.worked``."""
        kept = self._kept
        if kept is None or not kept.is_doubted or kept.access_token != access_token:
            return
        self._kept = replace(kept, is_doubted=False)  # before the others write the same
        if not self._revised(access_token, lambda log_ins: LogIns(made_with=log_ins.made_with)):
            self._kept = kept

    def refused(self, access_token: str) -> None:
        """The promise of ``connector.ports.Shared.refused``."""
        kept = self._kept
        if kept and kept.access_token == access_token:
            self._kept = None
        if access_token != self._refused and self._revised(
            access_token, lambda log_ins: replace(log_ins, refused=digest(access_token))
        ):
            self._refused = access_token

    def keep(self, grant: Grant) -> None:
        """Store what an admin's consent brought, in place of what is there."""
        log_ins = LogIns(made_with=self._safe.made_with(grant.refresh_token))
        sealed = self._safe.sealed(grant, self._clock(), log_ins)
        with writing(self._database) as session:
            tokens.lock(session, self._connection)
            tokens.keep(session, self._connection, sealed, holder=None)

    def _look(self, rejected: str | None) -> str | _Lease | CrmError | None:
        """A token that is good, or the lease to fetch one; None while another has the lease.

        An error where another log-in would be one too many.
        """
        with writing(self._database) as session:
            stored = tokens.lock(session, self._connection)
            now = self._clock()
            access_token, refresh_token = self._safe.opened(stored)
            log_ins = stored.log_ins.with_other(self._safe.made_with(refresh_token))
            hashed = access_token and digest(access_token)
            if access_token is not None and access_token == rejected:
                log_ins = replace(log_ins, refused=hashed)
            is_unwanted = access_token == rejected or (
                self._insists and hashed is not None and hashed == log_ins.refused
            )
            ends_at = stored.expires_at
            is_good = access_token and not is_unwanted and (ends_at is None or now < ends_at)
            renew_at = ends_at and ends_at - MARGIN
            if access_token and is_good and not self._is_due(renew_at):
                self._keep(access_token, renew_at, log_ins)
                return access_token
            old_token = access_token if is_good else None
            # Clocks of two machines differ a little; a longer lease is from before one went back.
            if stored.lease_until and now < stored.lease_until <= now + 2 * LEASE:
                return old_token
            before = log_ins.after_use_of(hashed)
            next_at = None if self._insists else before.next_at(now)
            if next_at:
                tokens.note(session, self._connection, before)
                return old_token or too_many(
                    self._connection, before, next_at, by_consent=self._by_consent
                )
            begun = before if self._insists else before.begun(now)
            holder = secrets.token_hex(8)
            tokens.lease(session, self._connection, holder=holder, until=now + LEASE)
            tokens.note(session, self._connection, begun)
            self._insists = False
        return _Lease(
            holder=holder,
            refresh_token=refresh_token,
            old_token=old_token,
            before=before,
            begun=begun,
        )

    def _renewed(self, lease: _Lease, renew: Renew) -> str:
        now = self._clock()
        try:
            grant = renew(lease.refresh_token)
        except CrmError as error:
            is_final = self._by_consent
            log_ins = lease.begun.failed(error, before=lease.before, is_final=is_final)
            with writing(self._database) as session:
                tokens.note(session, self._connection, log_ins, holder=lease.holder)
                if lease.old_token is None:
                    tokens.release(session, self._connection, holder=lease.holder)
            if lease.old_token is not None:
                return lease.old_token  # the lease stays: nobody asks again before it has run out
            raise self._failed(error) from None
        log_ins = lease.begun.succeeded(self._safe.made_with(grant.refresh_token))
        self._store(self._safe.sealed(grant, now, log_ins), lease.holder)
        renew_at = None
        if grant.seconds is not None:
            life = timedelta(seconds=grant.seconds)
            renew_at = now + max(life - MARGIN, life / 2)
        self._keep(grant.access_token, renew_at, log_ins)
        return grant.access_token

    def _store(self, stored: Stored, holder: str) -> None:
        # The CRM may take the old refresh token no longer, so a hitch must not lose the new one.
        for tries_left in (2, 1, 0):
            try:
                with writing(self._database) as session:
                    if tokens.keep(session, self._connection, stored, holder=holder):
                        return
                raise CrmAgain(
                    f"Another process took over to fetch a token of {self._connection!r}.",
                    code="token_awaited",
                )
            except CrmPaced:
                if not tries_left:
                    raise
                self._sleep(1.0)

    def _revised(self, access_token: str, change: Callable[[LogIns], LogIns]) -> bool:
        """Change what is known of the log-ins, if this token is still the stored one."""
        try:
            with self._database.write() as session:
                stored = tokens.lock(session, self._connection)
                if self._safe.opened(stored)[0] == access_token:
                    tokens.note(session, self._connection, change(stored.log_ins))
        except LeadRotaError as error:
            log.warning("log_ins_not_noted", connection=self._connection, error=error.code)
            return False
        return True

    def _keep(self, access_token: str, renew_at: datetime | None, log_ins: LogIns) -> None:
        self._kept = _Kept(
            access_token=access_token, renew_at=renew_at, is_doubted=log_ins.may_be_in_vain
        )

    def _is_due(self, renew_at: datetime | None) -> bool:
        return renew_at is not None and self._clock() >= renew_at

    def _failed(self, error: CrmError) -> CrmError:
        self._failure = error
        self._failures += 1
        return copied(error)
