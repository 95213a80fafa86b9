"""Which portal and which object types one connection is for."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.hubspot import objects
from adapters.hubspot.settings import HubSpotSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a record must be of to concern us."""

    portal_id: str | None  # None: not known here, told from the event's account later
    object_types: frozenset[str]

    def refusal(self, *, account: str | None, object_type: str) -> str | None:
        """The machine word for why a record of that portal and type does not concern us."""
        if self.is_foreign(account):
            return "other_portal"
        return None if object_type in self.object_types else "object_not_routed"

    def is_foreign(self, account: str | None) -> bool:
        """Tell whether the portal is known to be another one; one that is not told is."""
        return self.portal_id is not None and account != self.portal_id


def of(settings: HubSpotSettings) -> Scope:
    """The scope of the connection with these settings."""
    return Scope(
        portal_id=settings.portal_id,
        object_types=frozenset(objects.canonical(name) for name in settings.objects),
    )
