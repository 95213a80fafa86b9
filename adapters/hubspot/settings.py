"""What one HubSpot connection needs to know. Filled by ``config``; secrets stay out of ``repr``."""

from __future__ import annotations

from dataclasses import dataclass, field

from connector.ports import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSpotSettings:
    """One connected HubSpot portal."""

    name: str  # the connection's name: the path of its webhook and the prefix of its lead ids
    access_token: str | None = field(default=None, repr=False)  # None: the app uses OAuth
    client_secret: str = field(repr=False)  # of the app; signs its webhooks
    client_id: str | None = None  # of an app that uses OAuth
    refresh_token: str | None = field(default=None, repr=False)  # to begin with; None: `connect`
    webhook_key: str | None = field(default=None, repr=False)  # for workflows that cannot sign
    availability: bool = True  # who is away and when they work is read from the portal's users
    public_url: str  # https origin that HubSpot calls; signatures are computed from it
    portal_id: str | None = None  # None: read once from account info
    objects: tuple[str, ...] = ("contacts", "leads")  # object types that are routed
    api_version: str = "v3"  # or a date version such as "2026-03"
    base_url: str = "https://api.hubapi.com"

    @property
    def kind(self) -> str:
        """The adapter that serves this connection."""
        return "hubspot"

    @property
    def credentials(self) -> Credentials:
        """What an app with OAuth logs in with. Its tokens began with an admin's consent."""
        return Credentials(given=self.refresh_token, app=f"{self.client_id}\n{self.client_secret}")
