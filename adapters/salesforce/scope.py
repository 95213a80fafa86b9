"""Which org and which object types one connection is for."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.salesforce import ids
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, WebhookRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a delivery must be of to concern us."""

    org_id: str  # 18 characters
    names: Mapping[str, str]  # API names by their lower-case form
    object_types: frozenset[str]  # those that are routed

    def object_type(self, raw: str) -> str:
        """The API name, which Salesforce takes in any case; an unknown one stays as it is."""
        return self.names.get(raw.strip().lower(), raw)

    def check_org(self, given: str) -> None:
        """Return when that is our org's id in any form, else raise ``WebhookRefused`` (403)."""
        org_id = ids.full_id(given, prefix=ids.ORGANIZATION)
        if org_id is None or not hmac.compare_digest(org_id[:15], self.org_id[:15]):
            raise WebhookRefused(
                f"The delivery is from org {org_id or 'without a usable id'}, this connection is "
                f"for org {self.org_id}. Check SALESFORCE_ORG_ID.",
                code="foreign_org",
                status=403,
            )


def of(settings: SalesforceSettings) -> Scope:
    """The scope of the connection with these settings. Raises ``BadSettings``."""
    org_id = ids.full_id(settings.org_id, prefix=ids.ORGANIZATION)
    if org_id is None:
        raise BadSettings(
            f"Connection {settings.name}: SALESFORCE_ORG_ID must be the org's 15- or "
            "18-character id that starts with 00D (Setup, Company Information)."
        )
    standard = {name.lower(): name for name in ids.OBJECT_TYPES.values()}
    names = {name.strip().lower(): name.strip() for name in settings.objects} | standard
    return Scope(
        org_id=org_id,
        names=names,
        object_types=frozenset(names[name.strip().lower()] for name in settings.objects),
    )
