"""How often a connection may log in when nothing comes of it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from connector.errors import CrmError, CrmUnreachable

MOST = 5  # one after the other
PAUSE = timedelta(hours=24)
NO_CONNECTION = "no_connection"  # code of a call that never reached the CRM


class LogIns:
    """Counts log-ins in vain: those that gave no token, or one in place of a refused one.

    Where a CRM refuses the token it has just given, another would fare no better: the next log-in
    is made when that token has ended. After five in vain there is none for a day, unless the
    refresh token changes.
    """

    def __init__(self, connection: str) -> None:
        self._connection = connection
        self.refused: str | None = None  # the access token that the CRM refused last
        self._tried: str | None = None  # the refresh token
        self._failure: CrmError | None = None  # how the last log-in ended
        self._count = 0
        self._before = 0  # the last log-in was counted
        self._last: datetime | None = None

    def begin(
        self, access_token: str | None, refresh_token: str | None, now: datetime, *, is_alive: bool
    ) -> CrmError | None:
        """Count a log-in that replaces this access token; the error where it is one too many.

        ``is_alive``: the access token has not ended yet.
        """
        was_refused = access_token is not None and access_token == self.refused
        if refresh_token != self._tried:
            self._count, self._failure = 0, None
        self._tried = refresh_token
        is_in_vain = bool(self._failure or was_refused)
        if not is_in_vain:
            self._count = 0
        if self._count and was_refused and is_alive:
            return self._pointless()
        # A last log-in in the future is from before the clock was set back.
        recent = self._last is not None and timedelta() <= now - self._last < PAUSE
        if self._count >= MOST and recent:
            return self._failure or self._pointless()
        self._before = self._count
        self._count += is_in_vain
        self._last = now
        return None

    def succeeded(self, refresh_token: str) -> None:
        """The log-in gave tokens; whether they are worth anything shows later."""
        self._tried, self._failure = refresh_token, None

    def failed(self, error: CrmError) -> None:
        """The log-in gave none. Only a refusal counts: what may pass by itself is tried again."""
        if isinstance(error, CrmUnreachable) and error.code != NO_CONNECTION:
            self._failure = error
            self._count = max(self._count, 1)
        else:
            self._count = self._before

    def _pointless(self) -> CrmUnreachable:
        return CrmUnreachable(
            f"The CRM refuses the tokens that it gives to {self._connection!r}. Check that the app "
            "is still installed there and has its permissions, or connect anew with "
            f"`leadrota connect {self._connection}`.",
            code="token_refused",
        )
