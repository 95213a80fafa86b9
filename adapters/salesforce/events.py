"""What outbound messages and callouts alike make of a record's fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from adapters.salesforce import ids
from adapters.salesforce.scope import Scope
from connector.model import EventKind, LeadEvent

_MOST_CHARACTERS = 200  # of what should be an id and is none
_LONGEST_NAME = 80  # of an object type


def read(
    fields: Mapping[str, Any],
    scope: Scope,
    *,
    key: str,
    object_type: str,
    kind: EventKind | None = None,
    pool: str | None = None,
) -> LeadEvent:
    """The event about the record with these fields, whose names may be in any case.

    Without an object type the prefix of the id tells it. Without a kind the record was changed if
    its dates differ; without both dates nobody can tell, and then it counts as new: what follows is
    decided by how the record stands when it is read.
    """
    told = by_name(fields)
    raw_id = text(told.get("id"))
    name = scope.object_type(object_type or _type_of(raw_id))[:_LONGEST_NAME]
    record_id = ids.record_id(name, raw_id)
    created, modified = (moment(told.get(one)) for one in ("createddate", "lastmodifieddate"))
    was_changed = created is not None and modified is not None and created != modified
    kind = kind or (EventKind.CHANGED if was_changed else EventKind.CREATED)
    # Whoever owned a deleted record last is no news, not even when we made them the owner.
    owner_id = None if kind is EventKind.DELETED else ids.full_id(text(told.get("ownerid")))
    return LeadEvent(
        key=key,
        kind=kind,
        object_type=name or "unknown",
        record_id=record_id or raw_id[:_MOST_CHARACTERS],
        occurred_at=modified,
        owner_id=owner_id,
        pool=pool,
        ignored=_meaningless(name, record_id, scope),
        payload=fields,
    )


def fingerprint(*parts: Any) -> str:
    """A key made of what an event says, for one that has no id of its own."""
    content = json.dumps(parts, sort_keys=True)
    return "sha256:" + hashlib.sha256(content.encode()).hexdigest()


def by_name(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by their names in lower case: Salesforce does not tell case apart in them."""
    return {name.lower(): value for name, value in fields.items()}


def text(value: Any) -> str:
    """The text without outer blanks; "" for anything else."""
    return value.strip() if isinstance(value, str) else ""


def moment(value: Any) -> datetime | None:
    """The time as SOAP (``Z``) or REST (``+0000``) writes it, UTC where it does not say."""
    try:
        time = datetime.fromisoformat(text(value))
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _type_of(raw_id: str) -> str:
    id18 = ids.full_id(raw_id)
    return ids.OBJECT_TYPES.get(id18[:3], "") if id18 else ""


def _meaningless(object_type: str, record_id: str | None, scope: Scope) -> str | None:
    """Why a record of this type and id says nothing to us, if it does not."""
    if object_type not in scope.object_types and (object_type or record_id):
        return "object_not_routed"
    return None if record_id else "bad_record_id"
