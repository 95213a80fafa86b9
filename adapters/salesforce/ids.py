"""Salesforce record ids in the one form we keep: 18 characters with a checked suffix.

An id is 15 case-sensitive base-62 characters; the last three of the 18-character form say which of
the 15 are capitals. Two ids that differ only by case are two records, so an id is never lower-cased
or compared without case. Checking the alphabet also makes an id safe inside a URL or a query.
"""

from __future__ import annotations

import re

USER = "005"
ORGANIZATION = "00D"

# The first three characters say what an id stands for.
PREFIXES = {
    "Lead": "00Q",
    "Contact": "003",
    "Account": "001",
    "Opportunity": "006",
    "Case": "500",
    "Task": "00T",
    "Event": "00U",
}
OBJECT_TYPES = {prefix: object_type for object_type, prefix in PREFIXES.items()}

_SHAPE = re.compile(r"[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?", re.ASCII)
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"


def suffix(id15: str) -> str:
    """Return the three characters that follow these 15: one for each group of five."""
    groups = (id15[start : start + 5] for start in (0, 5, 10))
    return "".join(
        _ALPHABET[sum(1 << bit for bit, char in enumerate(group) if "A" <= char <= "Z")]
        for group in groups
    )


def full_id(raw: str, *, prefix: str | None = None) -> str | None:
    """Return the 18-character form, or None if this cannot be an id (with this prefix).

    An id that lost its case on the way (all lower or all upper) is repaired from its suffix. One in
    mixed case with a suffix that does not fit is refused: which half is wrong cannot be known.
    """
    if not _SHAPE.fullmatch(raw):
        return None
    key, check = raw[:15], raw[15:].upper()
    if check and suffix(key) != check:
        repaired = _restore_case(key, check) if raw in (raw.lower(), raw.upper()) else None
        if repaired is None:
            return None
        key = repaired
    if prefix is not None and not key.startswith(prefix):
        return None
    return key + suffix(key)


def record_id(object_type: str, raw: str) -> str | None:
    """Return the 18-character id of a record of this type, or None if it cannot be one."""
    id18 = full_id(raw)
    if id18 is None or not _fits(object_type, id18[:3]):
        return None
    return id18


def user_id(raw: str) -> str | None:
    """Return the 18-character id of a user, or None. A queue (``00G``) is no user."""
    return full_id(raw, prefix=USER)


def _fits(object_type: str, prefix: str) -> bool:
    if object_type in PREFIXES:
        return PREFIXES[object_type] == prefix
    if object_type.endswith("__c"):
        return prefix.startswith("a")  # custom objects share the range a00 to azZ
    return prefix not in OBJECT_TYPES


def _restore_case(key: str, check: str) -> str | None:
    """Set capitals where the suffix says so; None when the suffix asks for a capital digit."""
    if not set(check) <= set(_ALPHABET):
        return None
    restored = ""
    for place, char in enumerate(key):
        capital = _ALPHABET.index(check[place // 5]) >> place % 5 & 1
        if capital and not char.isalpha():
            return None
        restored += char.upper() if capital else char.lower()
    return restored
