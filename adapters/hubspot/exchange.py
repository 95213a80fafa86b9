"""A request and its answer: at the portal's pace, with a token, tried twice where that is safe."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

from adapters.hubspot import errors
from adapters.hubspot.pace import Bucket, Pace
from adapters.hubspot.settings import HubSpotSettings
from adapters.hubspot.transport import Clock, Refusal, Transport
from connector.errors import CrmAgain, CrmError, CrmUnreachable
from connector.ports import Grant, Shared

Json = dict[str, Any]
Renew = Callable[[str | None], Grant]
Check = Callable[[Json], bool]

CALL_SECONDS = 20.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 9.0  # so that a second try fits into one call of 20 seconds
WRITE_SECONDS = 15.0
LEAST_READ_SECONDS = 1.0  # with less time left no request is begun
LEAST_WRITE_SECONDS = 5.0
MOST_LOG_INS = 2


class Errand:
    """One call of the port: how long it may still take, and how often it may still log in."""

    def __init__(self, clock: Clock, seconds: float = CALL_SECONDS) -> None:
        self._clock = clock
        self._deadline = clock() + seconds
        self._log_ins = MOST_LOG_INS

    def left(self) -> float:
        """Seconds until it must be over."""
        return self._deadline - self._clock()

    def log_in(self, renew: Renew, refresh_token: str | None) -> Grant:
        """Ask for new tokens, unless that was done too often already."""
        if not self._log_ins:
            raise CrmUnreachable("HubSpot refuses the tokens that it has just handed out.")
        self._log_ins -= 1
        return renew(refresh_token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. ``of_records``: of one object type, else of what all calls need."""

    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: Json | None = None
    bucket: Bucket = Bucket.CALLS
    of_records: bool = True
    is_for_zone: bool = False  # asks for the account's time zone


class Exchange:
    """One portal's requests. Safe to share by threads. Raises only ``CrmError``.

    ``renew`` asks for OAuth tokens, ``zone`` for the account's time zone.
    """

    def __init__(
        self,
        settings: HubSpotSettings,
        shared: Shared,
        *,
        clock: Clock,
        renew: Renew,
        zone: Callable[[], str | None],
    ) -> None:
        self._given_token = settings.access_token
        self._shared = shared
        self._renew = renew
        self._zone = zone
        self._zone_is_known = False  # or was asked for in vain
        self._pace = Pace(shared)
        self._transport = Transport(settings.base_url, clock=clock, note=self._pace.note)

    def read(self, request: Request, errand: Errand, check: Check) -> Json:
        """Send a request that changes nothing; once more when the failure may pass.

        So does an answer that does not pass ``check``.
        """
        retrying = Retrying(
            stop=stop_after_attempt(2),
            wait=wait_random(0.05, 0.2),
            retry=retry_if_exception_type(CrmAgain),
            reraise=True,
        )
        return retrying(
            lambda: parsed(
                self._sent(request, errand, longest=READ_SECONDS, least=LEAST_READ_SECONDS), check
            )
        )

    def write(self, request: Request, errand: Errand) -> bytes:
        """Send a request once; the body of the answer."""
        return self._sent(request, errand, longest=WRITE_SECONDS, least=LEAST_WRITE_SECONDS)

    def close(self) -> None:
        """Close the pool's connections."""
        self._transport.close()

    def _sent(self, request: Request, errand: Errand, *, longest: float, least: float) -> bytes:
        def once(rejected: str | None) -> bytes:
            self._pace.admit(request.bucket)  # first: a connection that pauses needs no log-in
            token = self._token(errand, rejected)
            left = errand.left()
            if left < least:
                raise CrmAgain("There was no time left to ask HubSpot.")
            connect = min(CONNECT_SECONDS, left / 3)
            answer = self._with(token, request, (connect, min(longest, left - connect)))
            if not self._given_token:
                self._shared.worked(token)
            self._prepare(request)
            return answer

        try:
            try:
                return once(None)
            except _TokenRefused as refusal:
                if self._given_token:
                    raise
                rejected = refusal.token
            return once(rejected)
        except Refusal as refusal:
            raise self._refused(request, refusal) from None

    def _prepare(self, request: Request) -> None:
        """Ask when the day ends while HubSpot still answers; over its limit it would not."""
        if self._pace.day_is_nearly_used and not self._zone_is_known and not request.is_for_zone:
            self._zone_is_known = True
            self._zone()

    def _token(self, errand: Errand, rejected: str | None) -> str:
        if self._given_token:
            return self._given_token
        return self._shared.access_token(
            lambda refresh_token: errand.log_in(self._renew, refresh_token),
            rejected=rejected,
            seconds=errand.left(),
        )

    def _with(self, token: str, request: Request, seconds: tuple[float, float]) -> bytes:
        # A proxy may put the token into its answer, and answers are logged and shown.
        hide = (token.encode(), b"[token]")
        try:
            answer = self._transport.send(
                request.method,
                request.path,
                token=token,
                seconds=seconds,
                query=request.query,
                body=request.body,
            )
        except Refusal as refusal:
            body = refusal.body.replace(*hide)
            if refusal.status == 401:
                raise _TokenRefused(token, refusal.headers, body) from None
            raise Refusal(refusal.status, refusal.headers, body) from None
        return answer.replace(*hide)

    def _refused(self, request: Request, refusal: Refusal) -> CrmError:
        asks = errors.lasts_until_midnight(refusal.headers, refusal.body)
        return errors.refused(
            refusal.status,
            refusal.headers,
            refusal.body,
            of_records=request.of_records,
            time_zone=self._zone() if asks and not request.is_for_zone else None,
        )


class _TokenRefused(Refusal):
    """A 401, with the token that it speaks of."""

    def __init__(self, token: str, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(401, headers, body)
        self.token = token


def parsed(body: bytes, check: Check) -> Json:
    """The answer as JSON; ``CrmAgain`` when it is none or does not pass ``check``."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not check(answer):
        raise CrmAgain("HubSpot answered 200 with a body that makes no sense.", code="bad_answer")
    return answer
