"""Salesforce record ids: how they are made, widened to 18 characters, and refused.

An id is 15 case-sensitive characters, the first three naming the object type. The 18-character
form adds a suffix that says which of the 15 are capitals.
"""

from __future__ import annotations

import string

PREFIXES = {
    "Lead": "00Q",
    "Contact": "003",
    "Account": "001",
    "Opportunity": "006",
    "Case": "500",
    "Task": "00T",
    "Event": "00U",
    "User": "005",
    "Group": "00G",
    # The prefixes below are made up: nothing that calls the sandbox may depend on them.
    "GroupMember": "0M0",
    "OutOfOffice": "0O0",
    "UserServicePresence": "0P0",
    "UserLogin": "0L0",
}
_TYPES = {prefix: object_type for object_type, prefix in PREFIXES.items()}

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SUFFIX = string.ascii_uppercase + "012345"
_POD = "5g00000"


class MalformedId(ValueError):
    """The text cannot be a record id: wrong length, a foreign character or a wrong suffix."""


def suffix(short: str) -> str:
    """The three characters that widen a 15-character id to 18."""
    groups = (short[0:5], short[5:10], short[10:15])
    return "".join(
        _SUFFIX[sum(1 << i for i, char in enumerate(group) if char in string.ascii_uppercase)]
        for group in groups
    )


def widen(raw: object, *, check_suffix: bool = True) -> str:
    """The 18-character form of an id in either form; raises ``MalformedId``."""
    if not isinstance(raw, str) or len(raw) not in (15, 18) or not set(raw) <= set(_BASE62):
        raise MalformedId(raw)
    wide = raw[:15] + suffix(raw[:15])
    if check_suffix and len(raw) == 18 and raw != wide:
        raise MalformedId(raw)
    return wide


def make_id(prefix: str, number: int) -> str:
    """The 18-character id number ``number`` of one object type."""
    digits = ""
    for _ in range(15 - len(prefix) - len(_POD)):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return widen(prefix + _POD + digits)


def type_of(record_id: str) -> str | None:
    """The standard object that an id's prefix names; custom ones are known to their org only."""
    return _TYPES.get(record_id[:3])
