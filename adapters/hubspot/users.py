"""The users of a portal, who are records there: when the owners among them can take leads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.hubspot import availability
from adapters.hubspot.owners import Owner
from connector.model import Availability
from connector.ports import CrmUser

# Three ids of one person: what the owner property holds, the user's own, and that of the user's
# record, which means nothing elsewhere and is never looked at.
_OWNER_ID = "hubspot_owner_id"
_USER_ID = "hs_internal_user_id"
PROPERTIES = (
    availability.STATUS,
    availability.OUT_OF_OFFICE,
    availability.HOURS,
    availability.ZONE,
    _OWNER_ID,
    _USER_ID,
)


@dataclass(slots=True)
class Availabilities:
    """What the users' records say, by owner id and, where they name none, by user id."""

    by_owner: dict[str, Availability] = field(default_factory=dict)
    by_user: dict[str, Availability] = field(default_factory=dict)
    unreadable: int = 0  # entries of hours, absences and time zones that make no sense

    def of(self, owner: Owner) -> Availability | None:
        """When this owner can take leads; None when no user's record speaks of them."""
        return self.by_owner.get(owner.id) or self.by_user.get(owner.user_id or "")


def availabilities(records: Iterable[Mapping[str, Any]]) -> Availabilities:
    """Read users' records; of two for one person the first counts."""
    read = Availabilities()
    for record in records:
        values = record.get("properties")
        if not isinstance(values, Mapping):
            continue
        said, unreadable = availability.read(values)
        read.unreadable += unreadable
        if owner_id := _id(values.get(_OWNER_ID)):
            read.by_owner.setdefault(owner_id, said)
        elif user_id := _id(values.get(_USER_ID)):
            read.by_user.setdefault(user_id, said)
    return read


def person(owner: Owner, availability: Availability | None) -> CrmUser:
    """The owner as the core knows people."""
    return CrmUser(
        owner_id=owner.id,
        name=owner.name,
        email=owner.email,
        active=owner.is_active,
        availability=availability,
    )


def _id(value: Any) -> str | None:
    return None if value is None else str(value).strip() or None
