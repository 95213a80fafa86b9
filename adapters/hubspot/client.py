"""The calls to HubSpot, and the only module that knows ``hubspot-api-client``.

What the library does on its own and we do not want: no time-outs, three hidden retries, redirects
that carry the token along, a new pool for each ``client.crm…`` access, an exception class per
package, answers turned into models that are empty for an HTML page and lack ``errors`` where a
date version answers 200. So its typed calls run on one transport of ours, which they hand their
requests to, and give back the raw answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hubspot.crm.objects.api.batch_api import BatchApi
from hubspot.crm.objects.api_client import ApiClient
from hubspot.crm.objects.configuration import Configuration
from hubspot.crm.objects.exceptions import ApiException
from hubspot.crm.owners.api.owners_api import OwnersApi
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random
from urllib3 import exceptions

from adapters.hubspot import errors
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import BadSettings, CrmAgain, CrmError, CrmUnreachable
from connector.ports import OwnerWrite

Clock = Callable[[], float]
Json = dict[str, Any]

CONNECT_SECONDS = 5.0
READ_SECONDS = 9.0  # so that a second try fits into one call of 20 seconds
WRITE_SECONDS = 15.0
LEAST_READ_SECONDS = 1.0  # with less time left no request is begun
LEAST_WRITE_SECONDS = 5.0
ZONE_SECONDS = 4.0
_CHUNK = 65_536
_DETAILS = "/account-info/v3/details"
_NO_CONNECTION = (
    exceptions.NewConnectionError,
    exceptions.ConnectTimeoutError,
    exceptions.ProxyError,
    exceptions.SSLError,
    exceptions.LocationValueError,
)


class HubSpotClient:
    """One portal's calls over one kept pool. Safe to share by threads.

    ``deadline`` is a time of ``clock`` by which a call ends. Reads are tried twice when the failure
    may pass, writes once. Raises only ``CrmError``.
    """

    def __init__(self, settings: HubSpotSettings, *, clock: Clock) -> None:
        _check(settings)
        self._clock = clock
        self._http: Any = _Transport(settings, zone=self._time_zone)
        self._batch = BatchApi(self._http)
        self._owners = OwnersApi(self._http)
        self._account: Json | None = None

    def read_batch(
        self, object_type: str, ids: Sequence[str], *, properties: Sequence[str], deadline: float
    ) -> Json:
        """``POST /crm/v3/objects/{type}/batch/read``; the answer has a list ``results``."""
        body = {
            "inputs": [{"id": record_id} for record_id in ids],
            "properties": list(properties),
            "propertiesWithHistory": [],
        }

        def read(**options: Any) -> Json:
            return self._listing(self._batch.read(object_type, body, **options), deadline)

        return self._tried_twice(read, deadline)

    def update_owners(
        self, object_type: str, writes: Sequence[OwnerWrite], *, deadline: float
    ) -> Json:
        """``POST /crm/v3/objects/{type}/batch/update``; the answer has a list ``results``."""
        body = {
            "inputs": [
                {"id": write.record_id, "properties": {"hubspot_owner_id": write.owner_id}}
                for write in writes
            ]
        }
        options = self._options(deadline, longest=WRITE_SECONDS, least=LEAST_WRITE_SECONDS)
        with _translated():
            return self._listing(self._batch.update(object_type, body, **options), deadline)

    def owners_page(self, after: str | None, deadline: float) -> Json:
        """``GET /crm/v3/owners``: active owners only; the answer has a list ``results``."""

        def read(**options: Any) -> Json:
            page = self._owners.get_page(limit=100, after=after, **options)
            return self._listing(page, deadline)

        return self._tried_twice(read, deadline)

    def account(self, deadline: float) -> Json:
        """``GET /account-info/v3/details``, read once: ``portalId`` and ``timeZone``."""

        def read(**options: Any) -> Json:
            answer = self._http.call_api(_DETAILS, "GET", auth_settings=["oauth2"], **options)
            details = self._json(answer, deadline)
            if "portalId" not in details:
                raise _unreadable()
            return details

        if self._account is None:
            self._account = self._tried_twice(read, deadline)
        return self._account

    def close(self) -> None:
        """Close the pool's connections."""
        self._http.rest_client.pool_manager.clear()

    def _tried_twice(self, read: Callable[..., Json], deadline: float) -> Json:
        def once() -> Json:
            with _translated():
                return read(
                    **self._options(deadline, longest=READ_SECONDS, least=LEAST_READ_SECONDS)
                )

        retrying = Retrying(
            stop=stop_after_attempt(2),
            wait=wait_random(0.05, 0.2),
            retry=retry_if_exception_type(CrmAgain),
            reraise=True,
        )
        return retrying(once)

    def _options(self, deadline: float, *, longest: float, least: float) -> dict[str, Any]:
        left = deadline - self._clock()
        if left < least:
            raise CrmAgain("There was no time left to ask HubSpot.")
        connect = min(CONNECT_SECONDS, left / 3)
        return {
            "_request_timeout": (connect, min(longest, left - connect)),
            "_preload_content": False,
        }

    def _listing(self, response: Any, deadline: float) -> Json:
        answer = self._json(response, deadline)
        if not isinstance(answer.get("results"), list):
            raise _unreadable()
        return answer

    def _json(self, response: Any, deadline: float) -> Json:
        try:
            answer = json.loads(self._http.redacted(self._content(response, deadline)))
        except (ValueError, RecursionError):
            raise _unreadable() from None
        if not isinstance(answer, dict):
            raise _unreadable()
        return answer

    def _content(self, response: Any, deadline: float) -> bytes:
        # Piece by piece: a read time-out counts from byte to byte and would let an answer trickle.
        pieces = []
        while piece := response.read1(_CHUNK):
            pieces.append(piece)
            if self._clock() > deadline:
                response.close()
                raise CrmAgain("HubSpot's answer came too slowly.")
        return b"".join(pieces)

    def _time_zone(self) -> str | None:
        try:
            zone = self.account(self._clock() + ZONE_SECONDS).get("timeZone")
        except CrmError:
            return None
        return zone if isinstance(zone, str) else None


class _Transport(ApiClient):
    """The library's HTTP layer with the API version in the path and our errors only."""

    def __init__(self, settings: HubSpotSettings, *, zone: Callable[[], str | None]) -> None:
        configuration = Configuration(host=settings.base_url.rstrip("/"))
        configuration.access_token = settings.access_token
        configuration.retries = False  # no hidden second try, no redirect followed
        super().__init__(configuration)  # type: ignore[no-untyped-call]
        self.user_agent = "leadrota"
        self._version = settings.api_version
        self._token = settings.access_token.encode()
        self._zone = zone

    def request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
        """Send one request; the library's own classes end in the paths of v3."""
        try:
            return super().request(method, self._versioned(url), *args, **options)  # type: ignore[no-untyped-call]
        except ApiException as error:
            raise self._refused(url, error) from None

    def redacted(self, body: bytes) -> bytes:
        """The body without the token, should a proxy have put it in."""
        return body.replace(self._token, b"[token]")

    def _versioned(self, url: str) -> str:
        if self._version == "v3":
            return url
        host = str(self.configuration.host)
        path = url.removeprefix(host)
        path = re.sub("^/crm/v3/(objects|owners)/", rf"/crm/\1/{self._version}/", path)
        path = re.sub("^/account-info/v3/", f"/account-info/{self._version}/", path)
        return host + path.rstrip("/")

    def _refused(self, url: str, error: ApiException) -> CrmError:
        if not error.status:  # the library's form of a TLS failure
            return CrmUnreachable(f"No safe connection to HubSpot: {error.reason}")
        body, headers = self.redacted(error.body or b""), error.headers or {}
        ask = errors.lasts_until_midnight(headers, body) and "/account-info/" not in url
        zone = self._zone() if ask else None
        return errors.refused(error.status, headers, body, time_zone=zone)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except exceptions.HTTPError as error:
        kind = type(error).__name__
        if isinstance(error, _NO_CONNECTION):
            raise CrmUnreachable(
                f"No connection to HubSpot ({kind}).", code="no_connection"
            ) from None
        raise CrmAgain(f"HubSpot's answer did not arrive ({kind}).", code="no_answer") from None


def _unreadable() -> CrmAgain:
    return CrmAgain("HubSpot answered 200 with a body that makes no sense.", code="bad_answer")


def _check(settings: HubSpotSettings) -> None:
    # The HTTP layer would quote a token with a line break in it in its error.
    if not re.fullmatch("[!-~]+", settings.access_token):
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
