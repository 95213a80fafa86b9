"""What happens in a sandbox HubSpot, and by whom, as webhook events would tell it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ChangeKind = Literal[
    "creation",
    "propertyChange",
    "deletion",
    "restore",
    "merge",
    "privacyDeletion",
    "associationChange",
]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Who changed something, in the words of property history and of webhook events."""

    kind: str  # INTEGRATION, CRM_UI, FORM, IMPORT, ...
    id: str | None = None
    user_id: int | None = None

    @classmethod
    def person(cls, user_id: int) -> Source:
        """A person at the screen."""
        return cls(kind="CRM_UI", id=f"userId:{user_id}", user_id=user_id)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that happened to a record, as a webhook event would tell it."""

    kind: ChangeKind
    object_type: str
    record_id: str
    at: datetime
    source: Source
    name: str | None = None
    value: str | None = None
    primary_id: str | None = None
    merged_ids: tuple[str, ...] = ()
    new_id: str | None = None
    to_type: str | None = None  # associationChange: the record at the other end
    to_id: str | None = None
    association_id: int | None = None
    association_category: str | None = None
    is_primary: bool = False
    is_removed: bool = False
