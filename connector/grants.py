"""OAuth tokens of one connection: stored encrypted, fetched by one process for all."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connector.encryption import Cipher, WrongKey
from connector.errors import CrmAgain, CrmError, CrmPaced, CrmUnreachable, StoreUnavailable, copied
from connector.log_ins import LogIns
from connector.ports import Grant
from connector.store import tokens
from connector.store.database import Database, Session
from connector.store.tokens import Stored

Renew = Callable[[str | None], Grant]

MARGIN = timedelta(minutes=5)  # so long before its end a token is replaced
LEASE = timedelta(seconds=30)  # longer than any call to a token endpoint
PATIENCE_SECONDS = 10.0  # for another process that fetches a token
POLL_SECONDS = 0.2


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
    """A token in memory, used without a look at the database until ``renew_at``."""

    access_token: str = field(repr=False)
    renew_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    """The right to fetch new tokens, which one thread of one process has."""

    holder: str
    refresh_token: str | None = field(repr=False)
    old_token: str | None = field(repr=False)  # where it may still be used


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
        given_refresh_token: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``given_refresh_token`` stands in the settings; another than last time wins once."""
        self._database = database
        self._connection = connection
        self._clock = clock
        self._sleep = sleep
        self._cipher = Cipher(encryption_key) if encryption_key else None
        self._given_hash = _hash(given_refresh_token) if given_refresh_token else None
        self._kept: _Kept | None = None
        self._log_ins = LogIns(connection)
        self._failure: CrmError | None = None
        self._failures = 0

    def access_token(self, renew: Renew, *, rejected: str | None = None) -> str:
        """The promise of ``connector.ports.Shared.access_token``."""
        failures = self._failures
        waited = 0.0
        while True:
            kept = self._kept
            if kept and kept.access_token != rejected and self._clock() < kept.renew_at:
                return kept.access_token
            if self._failure and self._failures != failures:
                raise copied(self._failure)  # threads that wait for one log-in share its end
            found = self._look(rejected)
            if isinstance(found, str):
                return found
            if found:
                return self._renewed(found, renew)
            if waited >= PATIENCE_SECONDS:
                raise CrmAgain(
                    f"Another process is still fetching a token of {self._connection!r}.",
                    code="token_awaited",
                )
            self._sleep(POLL_SECONDS)
            waited += POLL_SECONDS

    def keep(self, grant: Grant) -> None:
        """Store what an admin's consent brought, in place of what is there."""
        now = self._clock()
        with writing(self._database) as session:
            tokens.lock(session, self._connection)
            tokens.keep(session, self._connection, self._encrypted(grant, now), holder=None)

    def _look(self, rejected: str | None) -> str | _Lease | None:
        """A token that is good, or the lease to fetch one; None while another has the lease."""
        if rejected is not None:
            self._log_ins.refused = rejected
        with writing(self._database) as session:
            stored = tokens.lock(session, self._connection)
            now = self._clock()
            access_token, refresh_token = self._decrypted(stored)
            ends_at = stored.expires_at or now
            is_good = access_token is not None and access_token != rejected and now < ends_at
            if access_token and is_good and now < ends_at - MARGIN:
                self._kept = _Kept(access_token=access_token, renew_at=ends_at - MARGIN)
                return access_token
            old_token = access_token if is_good else None
            # Clocks of two machines differ a little; a longer lease is from before one went back.
            if stored.lease_until and now < stored.lease_until <= now + 2 * LEASE:
                return old_token
            is_alive = now < ends_at
            refusal = self._log_ins.begin(access_token, refresh_token, now, is_alive=is_alive)
            if refusal and old_token is None:
                raise self._failed(refusal)
            if refusal:
                return old_token
            holder = secrets.token_hex(8)
            tokens.lease(session, self._connection, holder=holder, until=now + LEASE)
        return _Lease(holder=holder, refresh_token=refresh_token, old_token=old_token)

    def _renewed(self, lease: _Lease, renew: Renew) -> str:
        now = self._clock()
        try:
            grant = renew(lease.refresh_token)
        except CrmError as error:
            self._log_ins.failed(error)
            if lease.old_token is not None:
                return lease.old_token  # the lease stays: nobody asks again before it has run out
            with writing(self._database) as session:
                tokens.release(session, self._connection, holder=lease.holder)
            raise self._failed(error) from None
        self._log_ins.succeeded(grant.refresh_token)
        self._store(self._encrypted(grant, now), lease.holder)
        life = timedelta(seconds=grant.seconds or 3600.0)
        self._kept = _Kept(
            access_token=grant.access_token, renew_at=now + max(life - MARGIN, life / 2)
        )
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

    def _failed(self, error: CrmError) -> CrmError:
        self._failure = error
        self._failures += 1
        return copied(error)

    def _encrypted(self, grant: Grant, now: datetime) -> Stored:
        cipher = self._needed_cipher()
        return Stored(
            access_token=cipher.encrypt(grant.access_token),
            expires_at=now + timedelta(seconds=grant.seconds or 3600.0),
            refresh_token=cipher.encrypt(grant.refresh_token),
            given_hash=self._given_hash,
            lease_until=None,
        )

    def _decrypted(self, stored: Stored) -> tuple[str | None, str | None]:
        cipher = self._needed_cipher()
        if self._given_hash and self._given_hash != stored.given_hash:
            return None, None  # the settings hold a newer one
        try:
            return (
                stored.access_token and cipher.decrypt(stored.access_token),
                stored.refresh_token and cipher.decrypt(stored.refresh_token),
            )
        except WrongKey:
            raise CrmUnreachable(
                f"The stored tokens of {self._connection!r} cannot be read with this "
                "LEADROTA_ENCRYPTION_KEY. Add the key they were stored with, after a comma, or "
                f"connect anew with `leadrota connect {self._connection}`.",
                code="wrong_encryption_key",
            ) from None

    def _needed_cipher(self) -> Cipher:
        if self._cipher is None:
            raise CrmUnreachable(
                "LEADROTA_ENCRYPTION_KEY is missing; OAuth tokens are stored encrypted only.",
                code="no_encryption_key",
            )
        return self._cipher


def _hash(refresh_token: str) -> str:
    # A CRM makes these of far more random bits than anybody could try.
    return hashlib.sha256(refresh_token.encode()).hexdigest()
