"""Stored secrets are read by holders of a key alone."""

from __future__ import annotations

import pytest

from connector.encryption import Cipher, WrongKey

OLD, NEW = "o" * 32, "a new key of more than 32 characters"


def test_what_is_encrypted_comes_back_and_cannot_be_read_before():
    sealed = Cipher(OLD).encrypt("refresh-ä")

    assert "refresh" not in sealed
    assert Cipher(OLD).decrypt(sealed) == "refresh-ä"


def test_the_same_text_looks_different_each_time():
    cipher = Cipher(OLD)

    assert cipher.encrypt("refresh") != cipher.encrypt("refresh")


def test_another_key_reads_nothing():
    sealed = Cipher(OLD).encrypt("refresh")

    with pytest.raises(WrongKey):
        Cipher(NEW).decrypt(sealed)


@pytest.mark.parametrize("text", ["", "refresh", "gAAAA", "ä"])
def test_what_was_never_encrypted_is_told_too(text):
    with pytest.raises(WrongKey):
        Cipher(OLD).decrypt(text)


def test_the_first_key_encrypts_and_all_decrypt():
    both = Cipher(f"{NEW} , {OLD}")
    from_before = Cipher(OLD).encrypt("old")

    assert both.decrypt(from_before) == "old"
    assert Cipher(NEW).decrypt(both.encrypt("new")) == "new"
    with pytest.raises(WrongKey):
        Cipher(OLD).decrypt(both.encrypt("new"))
