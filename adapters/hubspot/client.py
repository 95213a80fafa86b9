"""The calls to HubSpot: their paths in each API version, and what they send."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from adapters.hubspot.exchange import Errand, Exchange, Json, Renew, Request, parsed
from adapters.hubspot.pace import Bucket
from adapters.hubspot.settings import HubSpotSettings
from adapters.hubspot.transport import Clock
from connector.errors import BadSettings, CrmError, CrmNever
from connector.ports import OwnerWrite, Shared

ZONE_SECONDS = 4.0
# Where the numbered versions differ from "/crm/objects" + "/2026-03".
_NUMBERED = {
    "/crm/objects": "/crm/v3/objects",
    "/crm/owners": "/crm/v3/owners/",
    "/crm/associations": "/crm/v4/associations",
    "/account-info": "/account-info/v3",
    "/automation/actions/callbacks": "/automation/v4/actions/callbacks",
}


class HubSpotClient:
    """One portal's calls over one kept pool. Safe to share by threads.

    Reads are tried twice when the failure may pass, writes once. Raises only ``CrmError``.
    ``renew`` asks for new OAuth tokens; the pace and the tokens are ``shared`` by all processes.
    """

    def __init__(
        self, settings: HubSpotSettings, shared: Shared, *, clock: Clock, renew: Renew
    ) -> None:
        _check(settings)
        self._version = settings.api_version
        self._clock = clock
        self._exchange = Exchange(settings, shared, clock=clock, renew=renew, zone=self._time_zone)
        self._account: Json | None = None

    def read_batch(
        self, object_type: str, ids: Sequence[str], *, properties: Sequence[str], errand: Errand
    ) -> Json:
        """Read up to 100 records; the answer has a list ``results``."""
        body = {
            "inputs": [{"id": record_id} for record_id in ids],
            "properties": list(properties),
            "propertiesWithHistory": [],
        }
        path = self._path("/crm/objects", object_type, "batch", "read")
        return self._listing(Request(method="POST", path=path, body=body), errand)

    def update_owners(
        self, object_type: str, writes: Sequence[OwnerWrite], *, errand: Errand
    ) -> Json:
        """Write up to 100 owners, once; the answer has a list ``results``."""
        inputs = [
            {"id": write.record_id, "properties": {"hubspot_owner_id": write.owner_id}}
            for write in writes
        ]
        path = self._path("/crm/objects", object_type, "batch", "update")
        request = Request(method="POST", path=path, body={"inputs": inputs})
        return parsed(self._exchange.write(request, errand), _is_listing)

    def owners_page(self, after: str | None, errand: Errand, *, archived: bool = False) -> Json:
        """A page of the active or of the archived owners; both lists have ``results``."""
        more = {"archived": "true"} if archived else {}
        path = self._path("/crm/owners")
        query = _page(after) | more
        return self._listing(
            Request(method="GET", path=path, query=query, of_records=False), errand
        )

    def users_page(self, after: str | None, errand: Errand, *, properties: Sequence[str]) -> Json:
        """A page of the users, who are records; the answer has a list ``results``."""
        path = self._path("/crm/objects", "users")
        query = _page(after) | {"properties": ",".join(properties)}
        return self._listing(Request(method="GET", path=path, query=query), errand)

    def links(self, of: str, to: str, ids: Sequence[str], *, errand: Errand) -> Json:
        """The associations of up to 1,000 records of the type ``of`` with those of the type ``to``.

        The answer has a list ``results``.
        """
        path = self._path("/crm/associations", of, to, "batch", "read")
        body = {"inputs": [{"id": record_id} for record_id in ids]}
        request = Request(method="POST", path=path, body=body, bucket=Bucket.ASSOCIATIONS)
        return self._listing(request, errand)

    def search(self, object_type: str, body: Json, *, errand: Errand) -> Json:
        """Search records; what was written a moment ago may be missing from ``results``."""
        path = self._path("/crm/objects", object_type, "search")
        request = Request(method="POST", path=path, body=body, bucket=Bucket.SEARCH)
        return self._listing(request, errand)

    def complete(self, callback_id: str, fields: Mapping[str, str], *, errand: Errand) -> None:
        """Let a workflow that waits go on, once. Date versions require its fields twice."""
        body: Json = {"outputFields": dict(fields)}
        if self._version != "v3":
            body["typedOutputs"] = dict(fields)
        path = self._path("/automation/actions/callbacks", callback_id, "complete")
        self._exchange.write(Request(method="POST", path=path, body=body), errand)

    def account(self, errand: Errand) -> Json:
        """The account's details, read once: ``portalId`` and ``timeZone``."""
        if self._account is None:
            path = self._path("/account-info", "details")
            request = Request(method="GET", path=path, of_records=False, is_for_zone=True)
            self._account = self._exchange.read(request, errand, lambda told: "portalId" in told)
        return self._account

    def close(self) -> None:
        """Close the pool's connections."""
        self._exchange.close()

    def _path(self, area: str, *parts: str) -> str:
        start = _NUMBERED[area] if self._version == "v3" else f"{area}/{self._version}"
        return "/".join([start, *map(_quoted, parts)])

    def _listing(self, request: Request, errand: Errand) -> Json:
        return self._exchange.read(request, errand, _is_listing)

    def _time_zone(self) -> str | None:
        try:
            zone = self.account(Errand(self._clock, ZONE_SECONDS)).get("timeZone")
        except CrmError:
            return None
        return zone if isinstance(zone, str) else None


def _page(after: str | None) -> dict[str, str]:
    return {"limit": "100"} if after is None else {"after": after, "limit": "100"}


def _is_listing(answer: Json) -> bool:
    return isinstance(answer.get("results"), list)


def _quoted(part: str) -> str:
    if part in ("", ".", ".."):
        raise CrmNever(f"{part!r} names nothing in HubSpot.", code="bad_id")
    return quote(part, safe="", errors="replace")


def _check(settings: HubSpotSettings) -> None:
    # The HTTP layer would quote a token with a line break in it in its error.
    token = settings.access_token
    if not re.fullmatch("[!-~]+", token or "") and (token is not None or not settings.client_id):
        raise BadSettings(
            f"The connection {settings.name!r} needs a HubSpot access token: printable characters"
            " without spaces or line breaks."
        )
    if not re.fullmatch("v3|20[0-9]{2}-[0-9]{2}(-beta)?", settings.api_version):
        raise BadSettings(
            f"The HubSpot API version of {settings.name!r} must be v3 or a date such as 2026-03,"
            f" not {settings.api_version!r}."
        )
    if not settings.base_url.startswith(("https://", "http://")):
        raise BadSettings(f"The HubSpot API address of {settings.name!r} must be an http(s) URL.")
