"""How a request leaves for Salesforce, whatever the library above would do.

simple-salesforce has no time-outs, loses headers when it logs in again, does so without end on a
lasting 401, and builds addresses that can leave the org with the token. So it runs in its *direct*
mode, where it never logs in, on a session of ours that decides all of this.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from adapters.salesforce import errors, limits
from adapters.salesforce.auth import LogIn, Reply, Token
from connector.errors import CrmAgain, CrmError, CrmNever, CrmUnreachable
from connector.ports import Limit

CONNECT_SECONDS = 5.0
CALL_SECONDS = 20.0  # one call of ours in all: log-in, quick tries and every page


def pool() -> HTTPAdapter:
    """Return the connections of one org, safe to share by threads. Nothing is retried in it."""
    return HTTPAdapter(pool_maxsize=32)


def post_form(
    connections: HTTPAdapter, url: str, form: Mapping[str, str], *, seconds: float
) -> Reply:
    """Post a form with nothing beside it. Raises ``CrmError`` when no answer comes."""
    session = requests.Session()
    _share(session, connections)
    response = _exchange(
        session, "POST", url, seconds=seconds, data=form, auth=lambda request: request
    )
    try:
        document = response.json()
    except ValueError:
        document = None
    return Reply(response.status_code, response.headers, response.content, document)


class OrgSession(requests.Session):
    """The session of one call: one deadline, one address, at most two log-ins.

    The sessions of one connection share its sockets; no session is shared by threads.
    """

    def __init__(
        self,
        connections: HTTPAdapter,
        log_in: LogIn,
        *,
        clock: Callable[[], datetime],
        note_limits: Callable[[Sequence[Limit]], None],
        seconds: float = CALL_SECONDS,
    ) -> None:
        super().__init__()
        _share(self, connections)
        self._connections = connections
        self._ends = time.monotonic() + seconds
        self._log_in = log_in
        self._clock = clock
        self._note_limits = note_limits
        self._renewed = False
        self.token: Token = log_in.token(seconds=self.left())
        self.library_origin = ""  # what the library puts before every path

    def left(self) -> float:
        """Seconds until the call must have ended."""
        return self._ends - time.monotonic()

    def beside(self) -> OrgSession:
        """Return a session for another thread of the same call: same deadline, same token."""
        return OrgSession(
            self._connections,
            self._log_in,
            clock=self._clock,
            note_limits=self._note_limits,
            seconds=self.left(),
        )

    def request(  # type: ignore[override]
        self, method: str, url: str, *, record_id: str | None = None, **kwargs: Any
    ) -> requests.Response:
        """Send what the library asks for to the org, and raise our errors for every refusal.

        A session that has expired is renewed once, and the request repeated with all its headers.
        ``record_id``: the address is that of this record, which a refusal may be about.
        """
        prefix = f"{self.library_origin}/"
        if not url.startswith(prefix):
            raise CrmNever(
                "A call to an address outside the org was stopped; no token was sent.",
                code="foreign_address",
            )
        path = url.removeprefix(self.library_origin)
        response = self._send(method, path, **kwargs)
        if self._is_renewable(response):
            self.token = self._log_in.token(stale=self.token, seconds=self.left())
            self._renewed = True
            response = self._send(method, path, **kwargs)
        if response.status_code < 300:
            self._log_in.worked(self.token)
            return response
        if response.status_code == 401:
            self._log_in.refused(self.token)
        read = partial(errors.refused, record_id) if record_id else errors.call_error
        raise read(
            response.status_code,
            response.headers,
            response.content,
            now=self._clock(),
            hide=(self.token.access_token,),
        )

    def _is_renewable(self, response: requests.Response) -> bool:
        """Whether to try with a new token: once in a call.

        A refusal that speaks of no expired session is not likely to end with it. So that takes a
        second call, after the pause that followed the first; and one that says it lasts, never.
        """
        status, body = response.status_code, response.content
        if self._renewed or status not in (400, 401):
            return False
        if status == 401 and self._log_in.was_refused(self.token):
            return not errors.session_lasts(body)
        return errors.session_expired(status, body)

    def _send(self, method: str, path: str, **kwargs: Any) -> requests.Response:
        token = self.token

        # As ``auth``, so that a netrc file cannot put other credentials in its place.
        def bear(request: requests.PreparedRequest) -> requests.PreparedRequest:
            request.headers["Authorization"] = f"Bearer {token.access_token}"
            return request

        # The library insists on https; the log-in said what the address really is.
        url = token.instance_url + path
        response = _exchange(self, method, url, seconds=self.left(), auth=bear, **kwargs)
        self._note_limits(limits.told(response.headers))
        return response


def _share(session: requests.Session, connections: HTTPAdapter) -> None:
    session.mount("https://", connections)
    session.mount("http://", connections)
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))


def _exchange(
    session: requests.Session, method: str, url: str, *, seconds: float, **kwargs: Any
) -> requests.Response:
    """Send one request and read its whole answer, within so many seconds."""
    if seconds <= 0:
        raise CrmAgain("The time for one call to Salesforce is used up.", code="timeout")
    ends = time.monotonic() + seconds
    connect = min(CONNECT_SECONDS, seconds / 2)
    try:
        response = requests.Session.request(
            session,
            method,
            url,
            timeout=(connect, seconds - connect),
            allow_redirects=False,  # a token never follows a redirect
            stream=True,
            **kwargs,
        )
        _read(response, ends - time.monotonic())
    except requests.RequestException as error:
        if time.monotonic() < ends:
            raise _network_error(error) from None
    if time.monotonic() >= ends:
        raise CrmAgain("Salesforce was too slow to finish its answer.", code="timeout")
    return response


def _read(response: requests.Response, seconds: float) -> None:
    """Read the body. A read time-out bounds each gap only, so a timer ends the reading in all."""

    def hang_up() -> None:
        with suppress(ValueError, OSError):  # the body has ended by itself meanwhile
            response.raw.shutdown()

    timer = threading.Timer(max(seconds, 0.0), hang_up)
    timer.daemon = True
    timer.start()
    try:
        _ = response.content
    finally:
        timer.cancel()


def _network_error(error: requests.RequestException) -> CrmError:
    """Only the name of the cause is told: texts of the HTTP library can hold header values."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    name = type(reason or error).__name__
    unreachable = (
        requests.ConnectTimeout,
        requests.exceptions.SSLError,
        requests.exceptions.ProxyError,
    )
    if isinstance(error, unreachable) or isinstance(
        reason, NewConnectionError | ConnectTimeoutError
    ):
        return CrmUnreachable(
            f"Salesforce cannot be reached ({name}). Check SALESFORCE_LOGIN_URL and the network.",
            code="no_connection",
        )
    if isinstance(error, requests.Timeout):
        return CrmAgain(f"Salesforce did not answer in time ({name}).", code="timeout")
    return CrmAgain(f"The connection to Salesforce broke ({name}).", code="connection_lost")
