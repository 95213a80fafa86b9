"""HubSpot: app webhooks in, owner writes out.

The parts are imported when they are asked for, so that the web process never loads the client.
"""

from __future__ import annotations

from adapters.hubspot.settings import HubSpotSettings
from connector.ports import Crm, Receiver, Shared


def receiver(settings: HubSpotSettings) -> Receiver:
    """The inbound half of one portal. Raises ``BadSettings`` without a client secret."""
    from adapters.hubspot.webhooks import HubSpotReceiver

    return HubSpotReceiver(settings)


def crm(settings: HubSpotSettings, shared: Shared) -> Crm:
    """The outbound half of one portal; opens connections on the first call."""
    from adapters.hubspot.oauth import renewal
    from adapters.hubspot.portal import HubSpotCrm

    return HubSpotCrm(settings, shared, renew=renewal(settings))
