"""What one Salesforce connection needs to know. Filled by ``config``; no secret in ``repr``."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from connector.ports import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class SalesforceSettings:
    """One connected Salesforce org. Ids are kept in their 18-character form."""

    name: str  # the connection's name: the path of its webhook and the prefix of its lead ids
    login_url: str  # the org's My Domain address
    client_id: str
    client_secret: str | None = field(default=None, repr=False)  # client-credentials flow
    private_key: str | None = field(default=None, repr=False)  # JWT bearer flow, with username
    username: str | None = None
    org_id: str  # outbound messages of another org are refused
    webhook_key: str | None = field(default=None, repr=False)  # of all that comes in
    objects: tuple[str, ...] = ("Lead",)  # object types that are routed
    api_version: str = "v64.0"
    unassigned_owners: frozenset[str] = frozenset()  # users whose records count as unowned
    guarded_objects: tuple[str, ...] = ()  # written one by one, since other automation writes them
    availability: bool = True  # follow out-of-office times and time zones of the CRM's users
    omni_channel: bool = False  # who is not online there is away
    poll_every: timedelta | None = None  # ask what changed, for orgs without outbound messages

    @property
    def kind(self) -> str:
        """The adapter that serves this connection."""
        return "salesforce"

    @property
    def credentials(self) -> Credentials:
        """All that a log-in needs. Every process has the secret, so it serves as a key as well."""
        secret = self.client_secret or self.private_key or ""
        parts = (self.login_url, self.client_id, self.username or "", secret)
        return Credentials(given="\n".join(parts), secret=secret, by_consent=False)
