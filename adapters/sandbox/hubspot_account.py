"""How the sandbox HubSpot answers the calls about owners and about the account itself."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_portal import Owner
from adapters.sandbox.hubspot_requests import page_size
from adapters.sandbox.hubspot_schema import stamp
from adapters.sandbox.wire import json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

PAGE = 100
LARGEST_PAGE = 500


def list_owners(sandbox: HubSpotSandbox, request: Request, **_: str) -> Response:
    """``GET /crm/v3/owners``: the active or the archived ones, page by page."""
    sandbox.need_scope("owners", "read")
    limit = page_size(request, usual=PAGE, most=LARGEST_PAGE)
    if "owner_pages" not in sandbox.rules:
        limit = 1_000_000
    archived = request.args.get("archived") == "true"
    email = request.args.get("email")
    after = _decode(request.args.get("after"))
    with sandbox.lock:
        owners = [
            owner
            for owner in sorted(sandbox.portal.owners.values(), key=lambda one: int(one.id))
            if (owner.archived == archived or "owner_lists" not in sandbox.rules)
            and int(owner.id) > after
            and (email is None or _has_email(sandbox, owner, email))
        ]
    body: dict[str, Any] = {"results": [_shape(sandbox, owner) for owner in owners[:limit]]}
    if len(owners) > limit:
        token = base64.b64encode(owners[limit - 1].id.encode()).decode().rstrip("=")
        link = f"{sandbox.url}{request.path}?after={token}"
        body["paging"] = {"next": {"after": token, "link": link}}
    return json_response(body)


def _has_email(sandbox: HubSpotSandbox, owner: Owner, email: str) -> bool:
    held, asked = owner.email.lower(), email.lower()
    return held == asked or ("owner_email" not in sandbox.rules and held.startswith(asked))


def read_owner(sandbox: HubSpotSandbox, request: Request, *, owner_id: str, **_: str) -> Response:
    """``GET /crm/v3/owners/{id}``, by owner id or by user id."""
    sandbox.need_scope("owners", "read")
    by_user = request.args.get("idProperty") == "userId"
    archived = request.args.get("archived") == "true"
    with sandbox.lock:
        for owner in sandbox.portal.owners.values():
            key = str(owner.user_id) if by_user else owner.id
            if key == owner_id and owner.archived == archived:
                return json_response(_shape(sandbox, owner))
    raise answers.not_found(owner_id)


def read_account(sandbox: HubSpotSandbox, _: Request, **__: str) -> Response:
    """``GET /account-info/v3/details``."""
    offset = sandbox.clock().astimezone(ZoneInfo(sandbox.time_zone)).utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    return json_response(
        {
            "portalId": int(sandbox.portal_id),
            "accountType": "STANDARD",
            "timeZone": sandbox.time_zone,
            "companyCurrency": "USD",
            "additionalCurrencies": [],
            "utcOffset": f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}",
            "utcOffsetMilliseconds": minutes * 60_000,
            "uiDomain": "app.hubspot.com",
            "dataHostingLocation": "na1",
        }
    )


def _shape(sandbox: HubSpotSandbox, owner: Owner) -> dict[str, Any]:
    hidden = owner.archived and "archived_user_id" in sandbox.rules
    return {
        "id": owner.id,
        "email": owner.email,
        "type": owner.type,
        "firstName": owner.first_name,
        "lastName": owner.last_name,
        "userId": None if hidden else owner.user_id,
        "userIdIncludingInactive": owner.user_id,
        "createdAt": stamp(owner.created_at),
        "updatedAt": stamp(owner.created_at),
        "archived": owner.archived,
    }


def _decode(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(base64.b64decode(token + "=" * (-len(token) % 4), validate=True))
    except (binascii.Error, ValueError):
        raise answers.invalid(f"invalid paging token: {token}") from None
