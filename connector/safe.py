"""Tokens as they lie in the database: encrypted, and marked with what they were come by."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from connector.encryption import Cipher, WrongKey
from connector.errors import CrmUnreachable
from connector.log_ins import LogIns
from connector.ports import Credentials, Grant
from connector.store.tokens import Stored


class Safe:
    """Seals the tokens of one connection and opens them again."""

    def __init__(
        self, connection: str, credentials: Credentials, *, encryption_key: str | None
    ) -> None:
        """``encryption_key`` as it stands in the settings; without one the connection's own."""
        self._connection = connection
        self._credentials = credentials
        own_key = digest(credentials.secret) if credentials.secret else None
        key = encryption_key or own_key
        self._cipher = Cipher(key) if key else None
        self._given_hash = digest(credentials.given) if credentials.given else None

    def made_with(self, refresh_token: str | None) -> str:
        """Hash of what a log-in is made with, given the stored refresh token."""
        used = refresh_token or self._credentials.given or ""
        return digest(f"{used}\n{self._credentials.app}")

    def sealed(self, grant: Grant, now: datetime, log_ins: LogIns) -> Stored:
        """What to store of a grant. Raises ``CrmUnreachable`` without a key."""
        cipher = self._needed_cipher()
        return Stored(
            access_token=cipher.encrypt(grant.access_token),
            expires_at=None if grant.seconds is None else now + timedelta(seconds=grant.seconds),
            refresh_token=grant.refresh_token and cipher.encrypt(grant.refresh_token),
            given_hash=self._given_hash,
            log_ins=log_ins,
        )

    def opened(self, stored: Stored) -> tuple[str | None, str | None]:
        """Access and refresh token; none where the settings give others now.

        Raises ``CrmUnreachable`` without the key, where only a person could bring new tokens.
        """
        cipher = self._needed_cipher()
        if self._given_hash and self._given_hash != stored.given_hash:
            return None, None
        try:
            return (
                stored.access_token and cipher.decrypt(stored.access_token),
                stored.refresh_token and cipher.decrypt(stored.refresh_token),
            )
        except WrongKey:
            if not self._credentials.by_consent:
                return None, None  # a log-in brings a new one
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


def digest(secret: str) -> str:
    """A hash by which a secret is known again.

    CRMs make theirs of far more random bits than anybody could try.
    """
    return hashlib.sha256(secret.encode()).hexdigest()
