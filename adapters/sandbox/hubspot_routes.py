"""Which paths the sandbox HubSpot serves, each under its numbered and its dated form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.sandbox import (
    hubspot_account,
    hubspot_associations,
    hubspot_callbacks,
    hubspot_lists,
    hubspot_oauth,
    hubspot_records,
    hubspot_search,
)
from adapters.sandbox.wire import Handler

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

DATE_VERSIONS = frozenset({"2025-09", "2026-03", "2026-09", "2027-03-beta"})


def add_routes(sandbox: HubSpotSandbox) -> None:
    """Serve records, searches, associations, owners, account details, tokens and callbacks."""
    one = "/<object_type>/<record_id>"
    batch = "/<object_type>/batch"
    links = "/<from_type>/<to_type>/batch/read"
    links_of_one = "/<from_type>/<record_id>/associations/<to_type>"
    calls: list[tuple[str, str, str, str, Handler]] = [
        ("GET", "v3", "objects", "/<object_type>", hubspot_lists.list_records),
        ("GET", "v3", "objects", one, hubspot_records.read_one),
        ("PATCH", "v3", "objects", one, hubspot_records.update_one),
        ("POST", "v3", "objects", f"{batch}/read", hubspot_records.read_batch),
        ("POST", "v3", "objects", f"{batch}/update", hubspot_records.update_batch),
        ("POST", "v3", "objects", "/<object_type>/search", hubspot_search.search),
        ("GET", "v3", "owners", "", hubspot_account.list_owners),
        ("GET", "v3", "owners", "/<owner_id>", hubspot_account.read_owner),
        ("POST", "v4", "associations", links, hubspot_associations.read_batch),
        ("GET", "v4", "objects", links_of_one, hubspot_associations.read_one),
    ]
    for method, numbered, area, rest, handler in calls:
        bound = partial(handler, sandbox)
        sandbox.route(method, f"/crm/{numbered}/{area}{rest}", bound)
        sandbox.route(method, f"/crm/{area}/<version>{rest}", bound)
    details = partial(hubspot_account.read_account, sandbox)
    sandbox.route("GET", "/account-info/<version>/details", details)
    complete = partial(hubspot_callbacks.complete, sandbox)
    one = "<callback_id>/complete"
    sandbox.route("POST", f"/automation/v4/actions/callbacks/{one}", complete)
    sandbox.route("POST", f"/automation/actions/callbacks/<version>/{one}", complete)
    tokens = partial(hubspot_oauth.hand_out, sandbox)
    sandbox.route("POST", "/oauth/v1/token", tokens)
    sandbox.route("POST", "/oauth/<version>/token", tokens)
