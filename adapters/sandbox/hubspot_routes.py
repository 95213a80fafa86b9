"""Which paths the sandbox HubSpot serves, each under its numbered and its dated form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.sandbox import hubspot_account, hubspot_records
from adapters.sandbox.wire import Handler

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox


def add_routes(sandbox: HubSpotSandbox) -> None:
    """Serve records, owners and account details."""
    calls: list[tuple[str, str, str, Handler]] = [
        ("GET", "objects", "/<object_type>/<record_id>", hubspot_records.read_one),
        ("PATCH", "objects", "/<object_type>/<record_id>", hubspot_records.update_one),
        ("POST", "objects", "/<object_type>/batch/read", hubspot_records.read_batch),
        ("POST", "objects", "/<object_type>/batch/update", hubspot_records.update_batch),
        ("GET", "owners", "", hubspot_account.list_owners),
        ("GET", "owners", "/<owner_id>", hubspot_account.read_owner),
    ]
    for method, area, rest, handler in calls:
        bound = partial(handler, sandbox)
        sandbox.route(method, f"/crm/v3/{area}{rest}", bound)
        sandbox.route(method, f"/crm/{area}/<version>{rest}", bound)
    details = partial(hubspot_account.read_account, sandbox)
    sandbox.route("GET", "/account-info/<version>/details", details)
