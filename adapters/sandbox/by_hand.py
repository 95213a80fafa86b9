"""Both sandbox CRMs for people who try things by hand, webhooks included."""

from __future__ import annotations

import signal
from collections.abc import Callable

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_sender import SalesforceSender

WEBHOOK_KEY = "sandbox-webhook-key"
# Retries come a hundred times sooner than those of the real CRMs.
SOONER = 0.01
ENDS = (signal.SIGINT, signal.SIGTERM)


def serve(*, port: int, target: str, tell: Callable[[str], None]) -> None:
    """Serve HubSpot at ``port`` and Salesforce at the next one until Ctrl-C.

    Every change of a record is told to ``target``, the origin of a running Lead Rota. ``tell``
    gets the lines that a person needs. Raises ``OSError`` when a port is taken.
    """
    target = target.rstrip("/")
    # Blocked before any thread starts, and waited for below: no moment is a bad one for Ctrl-C.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with (
        HubSpotSandbox(port=port) as hubspot,
        SalesforceSandbox(port=port + 1) as salesforce,
        HubSpotSender(hubspot, f"{target}/webhooks/hubspot", delay_factor=SOONER),
        SalesforceSender(
            salesforce, f"{target}/webhooks/salesforce", key=WEBHOOK_KEY, retry_scale=SOONER
        ),
    ):
        salesforce.default_owner = salesforce.add_queue("New leads")
        owners = [
            hubspot.add_owner(f"rep{number}@sales.example", "Rep", str(number))
            for number in (1, 2, 3)
        ]
        users = [
            salesforce.add_user(f"Rep {number}", f"rep{number}@sales.example")
            for number in (1, 2, 3)
        ]
        for line in _environment(hubspot, salesforce, target):
            tell(f"export {line}")
        tell("")
        tell(f"# HubSpot at {hubspot.url} has the owners {', '.join(owners)}. A new contact:")
        tell(_post(hubspot.url, '{"object_type": "contacts", "properties": {"country": "DE"}}'))
        tell(f"# Salesforce at {salesforce.url} has the users {', '.join(users)}. A new lead:")
        tell(_post(salesforce.url, '{"object_type": "Lead", "fields": {"Country": "DE"}}'))
        tell(f"# Both tell {target} of every change. Ctrl-C ends them.")
        signal.sigwait(ENDS)


def _environment(
    hubspot: HubSpotSandbox, salesforce: SalesforceSandbox, target: str
) -> tuple[str, ...]:
    return (
        f"LEADROTA_PUBLIC_URL={target}",
        f"HUBSPOT_BASE_URL={hubspot.url}",
        f"HUBSPOT_ACCESS_TOKEN={hubspot.access_token}",
        f"HUBSPOT_CLIENT_SECRET={hubspot.client_secret}",
        f"HUBSPOT_PORTAL_ID={hubspot.portal_id}",
        f"SALESFORCE_LOGIN_URL={salesforce.url}",
        f"SALESFORCE_CLIENT_ID={salesforce.tokens.client_id}",
        f"SALESFORCE_CLIENT_SECRET={salesforce.tokens.client_secret}",
        f"SALESFORCE_WEBHOOK_KEY={WEBHOOK_KEY}",
        f"SALESFORCE_ORG_ID={salesforce.org_id}",
    )


def _post(url: str, body: str) -> str:
    return f"curl {url}/_sandbox/records -H 'Content-Type: application/json' -d '{body}'"
