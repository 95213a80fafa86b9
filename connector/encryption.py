"""Keeps secrets unreadable for whoever reads the database alone."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_PURPOSE = b"leadrota: tokens of CRMs"


class WrongKey(Exception):
    """None of the keys can decrypt this."""


class Cipher:
    """Encrypts with the first of some keys and decrypts with any, so that a key can be replaced.

    ``keys`` is the setting as it was given: keys with commas between them, outer blanks ignored.
    """

    def __init__(self, keys: str) -> None:
        words = [word for part in keys.split(",") if (word := part.strip())]
        self._fernet = MultiFernet([Fernet(_derived(word)) for word in words])

    def encrypt(self, text: str) -> str:
        """The text as only a holder of the first key can read it."""
        return self._fernet.encrypt(text.encode()).decode()

    def decrypt(self, text: str) -> str:
        """The text that was encrypted. Raises ``WrongKey``."""
        try:
            return self._fernet.decrypt(text.encode()).decode()
        except InvalidToken:
            raise WrongKey from None


def _derived(key: str) -> bytes:
    # A key of any length and form becomes one of 256 bits for this purpose alone.
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE)
    return base64.urlsafe_b64encode(derive.derive(key.encode()))
