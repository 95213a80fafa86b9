"""One request to HubSpot on the wire, and the only module that knows ``hubspot-api-client``.

What the library does on its own and we do not want: no time-outs, three hidden retries, redirects
that carry the token along, a new pool for each ``client.crm…`` access, an exception class per
package, typed calls that end in the paths of v3 and v4, answers turned into models that are empty
for an HTML page and lack ``errors`` where a date version answers 200. So requests go through its
generic call, over one pool that is kept, and the raw answer comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from hubspot.crm.objects.api_client import ApiClient
from hubspot.crm.objects.configuration import Configuration
from hubspot.crm.objects.exceptions import ApiException
from urllib3 import exceptions

from connector.errors import CrmAgain, CrmUnreachable

Clock = Callable[[], float]
Headers = Mapping[str, str]
Seconds = tuple[float, float]  # to connect, and then from byte to byte

_CHUNK = 65_536
_NO_CONNECTION = (
    exceptions.NewConnectionError,
    exceptions.ConnectTimeoutError,
    exceptions.ProxyError,
    exceptions.SSLError,
    exceptions.LocationValueError,
)


class Refusal(Exception):
    """An answer that is no success, as it came."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


class Transport:
    """One portal's connections, kept in one pool. Safe to share by threads.

    ``note`` is handed the headers of each answer, refusals included.
    """

    def __init__(self, address: str, *, clock: Clock, note: Callable[[Headers], None]) -> None:
        configuration = Configuration(host=address.rstrip("/"))
        configuration.retries = False  # no hidden second try, no redirect followed
        self._clock = clock
        self._library: Any = _Library(configuration)  # type: ignore[no-untyped-call]
        self._library.user_agent = "leadrota"
        self._pool: Any = self._library.rest_client.pool_manager
        pool: Any = _Pool(self._pool, clock=clock, note=note)
        self._library.rest_client.pool_manager = pool

    def send(
        self,
        method: str,
        path: str,
        *,
        token: str,
        seconds: Seconds,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Send one request, once; return the body of a success, read within ``seconds``.

        Raises ``Refusal``; ``CrmUnreachable`` without a connection; ``CrmAgain`` when the answer
        does not come, or not whole.
        """
        deadline = self._clock() + sum(seconds)
        try:
            answer = self._library.call_api(
                path,
                method,
                query_params=dict(query or {}),
                header_params={"Accept": "application/json"},
                body=body,
                auth_settings=["oauth2"],
                _request_auth={"in": "header", "key": "Authorization", "value": f"Bearer {token}"},
                _request_timeout=seconds,
                _preload_content=False,
            )
            return _content(answer, deadline=deadline, clock=self._clock)
        except exceptions.HTTPError as error:
            kind = type(error).__name__
            if isinstance(error, _NO_CONNECTION):
                raise CrmUnreachable(
                    f"No connection to HubSpot ({kind}).", code="no_connection"
                ) from None
            raise CrmAgain(f"HubSpot's answer did not arrive ({kind}).", code="no_answer") from None

    def close(self) -> None:
        """Close the pool's connections."""
        self._pool.clear()


class _Library(ApiClient):
    """The library's generic call with one exception class, ours."""

    def request(self, *args: Any, **options: Any) -> Any:
        """Send one request; the caller would take the body of a refusal for UTF-8."""
        try:
            return super().request(*args, **options)  # type: ignore[no-untyped-call]
        except ApiException as error:
            if not error.status:  # the library's form of a TLS failure
                raise CrmUnreachable(f"No safe connection to HubSpot: {error.reason}") from None
            raise Refusal(error.status, error.headers or {}, error.body or b"") from None


class _Pool:
    """The library's pool; what is no success it would read at once, for as long as it trickles."""

    def __init__(self, pool: Any, *, clock: Clock, note: Callable[[Headers], None]) -> None:
        self._pool = pool
        self._clock = clock
        self._note = note

    def request(self, method: str, url: str, *, timeout: Any, **options: Any) -> Any:
        """Send one request; the body of a refusal comes along, read within the time-outs."""
        deadline = self._clock() + timeout.connect_timeout + timeout.read_timeout
        response = self._pool.request(method, url, timeout=timeout, **options)
        self._note(response.headers)
        if 200 <= response.status <= 299:
            return response
        return SimpleNamespace(
            status=response.status,
            reason=response.reason,
            data=_content(response, deadline=deadline, clock=self._clock),
            getheaders=lambda: response.headers,
        )


def _content(response: Any, *, deadline: float, clock: Clock) -> bytes:
    # Piece by piece: a read time-out counts from byte to byte and would let an answer trickle.
    pieces = []
    while piece := response.read1(_CHUNK):
        pieces.append(piece)
        if clock() > deadline:
            response.close()
            raise CrmAgain("HubSpot's answer came too slowly.")
    return b"".join(pieces)
