"""Both sandbox CRMs for people who try things by hand, webhooks included."""

from __future__ import annotations

import signal
from collections.abc import Callable

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_sender import SalesforceSender
from adapters.sandbox.server import Sandbox

WEBHOOK_KEY = "sandbox-webhook-key"
# Retries come a hundred times sooner than those of the real CRMs.
SOONER = 0.01
_LINK = (
    '{"from_type": "contacts", "from_id": "ID", "to_type": "companies", "to_id": "ID", '
    '"primary": true}'
)
_OUT_OF_OFFICE = '{"out_of_office": ["2026-12-24T00:00Z", "2027-01-02T00:00Z"]}'
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
        tell("# The three reps of both CRMs, as bodies for PUT /round-robin/users/rep1 and so on:")
        for number, (owner, user) in enumerate(zip(owners, users, strict=True), 1):
            ids = f'{{"hubspot": "{owner}", "salesforce": "{user}"}}'
            tell(f'{{"name": "Rep {number}", "owners": {ids}}}')
        tell("# A new contact and a new lead; each answers with its id:")
        tell(_call(hubspot, "POST", "records", '{"properties": {"country": "DE"}}'))
        tell(_call(salesforce, "POST", "records", '{"fields": {"Country": "DE"}}'))
        tell('# Somebody gives one to a rep by hand (HubSpot: "" clears the owner), deletes one:')
        given = f'{{"hubspot_owner_id": "{owners[2]}"}}'
        tell(_call(hubspot, "PATCH", "records/contacts/ID", given))
        tell(_call(salesforce, "PATCH", "records/ID", f'{{"OwnerId": "{users[2]}"}}'))
        tell(_call(hubspot, "DELETE", "records/contacts/ID", "{}"))
        tell(_call(salesforce, "DELETE", "records/ID", "{}"))
        tell("# What a HubSpot workflow sends of a contact; ?pool=Name behind it names the pool:")
        tell(
            f"curl {target}/webhooks/hubspot -H 'X-Leadrota-Key: {WEBHOOK_KEY}' "
            "-H 'Content-Type: application/json' -d '{\"hs_object_id\": \"ID\"}'"
        )
        tell("# What a Salesforce flow or Apex sends of a lead by an HTTP callout:")
        tell(
            f"curl {target}/webhooks/salesforce -H 'X-Leadrota-Key: {WEBHOOK_KEY}' "
            f"-H 'Content-Type: application/json' -d '{_callout(salesforce.org_id)}'"
        )
        tell("# Salesforce only: a lead is converted, a rep is out of office, leads of all kinds:")
        tell(_call(salesforce, "POST", "records/ID/convert", "{}"))
        tell(_call(salesforce, "PATCH", f"users/{users[0]}", _OUT_OF_OFFICE))
        tell(_call(salesforce, "POST", "presets/everything", "{}"))
        tell("# HubSpot only: a company with an owner, a contact that belongs to it, a rep away:")
        company = f'{{"object_type": "companies", "properties": {given}}}'
        tell(_call(hubspot, "POST", "records", company))
        tell(_call(hubspot, "POST", "links", _LINK))
        tell(_call(hubspot, "PATCH", f"owners/{owners[0]}", '{"status": "away"}'))
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
        f"HUBSPOT_WEBHOOK_KEY={WEBHOOK_KEY}",
        f"SALESFORCE_LOGIN_URL={salesforce.url}",
        f"SALESFORCE_CLIENT_ID={salesforce.tokens.client_id}",
        f"SALESFORCE_CLIENT_SECRET={salesforce.tokens.client_secret}",
        f"SALESFORCE_WEBHOOK_KEY={WEBHOOK_KEY}",
        f"SALESFORCE_ORG_ID={salesforce.org_id}",
    )


def _callout(org_id: str) -> str:
    records = '[{"Id": "ID"}]'
    return f'{{"orgId": "{org_id}", "object": "Lead", "event": "created", "records": {records}}}'


def _call(sandbox: Sandbox, method: str, path: str, body: str) -> str:
    address = f"{sandbox.url}/_sandbox/{path}"
    return f"curl -X {method} {address} -H 'Content-Type: application/json' -d '{body}'"
