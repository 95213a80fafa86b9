"""A seal over what a history row says of its lead, so that a change by hand shows.

The audit makes every decision again, but no rule says which e-mail a lead had. The seal is no
protection against somebody who means harm: whoever can write rows can write seals.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from connector.store.columns import clean
from connector.store.images import moment

# What never changes once the row is there, but for an amendment, which seals anew.
SEALED = (
    "lead_id",
    "kind",
    "user_id",
    "owner_id",
    "member_id",
    "sticky_user_id",
    "connection",
    "object_type",
    "record_id",
    "email",
    "company",
    "email_key",
    "company_key",
    "domain_key",
    "starts_at",
    "ends_at",
    "attributes",
)


def seal(row: Mapping[Any, Any]) -> str:
    """Sum up what a row of ``assignments``, written or to be written, says of its lead."""
    text = json.dumps([_plain(row[column]) for column in SEALED], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def is_broken(row: Mapping[Any, Any]) -> bool:
    """Tell whether the row says something else than when it was sealed. Old rows have no seal."""
    kept = row["trace"].get("seal")
    return kept is not None and kept != seal(row)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment(value)
    return clean(value) if isinstance(value, str) else value
