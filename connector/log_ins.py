"""How often a connection may log in when nothing comes of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from connector.errors import CrmError, CrmUnreachable

MOST = 5  # one after the other
PAUSE = timedelta(hours=24)
NO_CONNECTION = "no_connection"  # code of a call that never reached the CRM
# Before the log-in that follows so many in vain: a CRM that refuses two fresh tokens would refuse a
# third. Short of the two hours for which most sessions live unused, so that for some six hours the
# last token is good once the CRM lets us in again.
_SOON, _LATER = timedelta(minutes=30), timedelta(minutes=105)
_GAPS = (timedelta(), timedelta(), _SOON, _LATER, _LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a log-in gave no token, as it is told again without asking."""

    message: str
    code: str
    crm_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIns:
    """The log-ins of one connection since a call last got through, by all processes together."""

    count: int = 0
    last_at: datetime | None = None
    made_with: str | None = None  # hash of what the last one was made with
    refused: str | None = None  # hash of the access token that the CRM refused last
    failure: Failure | None = None  # of the last one, when only a person can help

    @property
    def may_be_in_vain(self) -> bool:
        """Whether a call that gets through makes a difference."""
        return self.failure is None and bool(self.count or self.refused)

    def with_other(self, made_with: str) -> LogIns:
        """The same, or a new beginning when log-ins are made with something else now."""
        return self if made_with == self.made_with else LogIns(made_with=made_with)

    def after_use_of(self, token: str | None) -> LogIns:
        """The same, or a new beginning when this access token (its hash) was never refused."""
        served = token is not None and token != self.refused and self.failure is None
        return LogIns(made_with=self.made_with) if served else self

    def next_at(self, now: datetime) -> datetime | None:
        """Before when no other log-in may be made; None: one may be made now."""
        # A last log-in in the future is from before the clock was set back.
        if self.last_at is None or self.last_at > now:
            return None
        gap = timedelta() if self.failure else _GAPS[min(self.count, MOST - 1)]
        due_at = self.last_at + (PAUSE if self.count >= MOST else gap)
        return due_at if now < due_at else None

    def begun(self, now: datetime) -> LogIns:
        """One is made now. It counts until a call gets through."""
        return replace(self, count=self.count + 1, last_at=now)

    def succeeded(self, made_with: str) -> LogIns:
        """The one that was begun gave tokens; whether they are worth anything shows later."""
        return replace(self, made_with=made_with, failure=None)

    def failed(self, error: CrmError, *, before: LogIns, is_final: bool) -> LogIns:
        """The one that was begun gave none. ``before``: as it was before that.

        It counts only where the refusal ``is_final``: until a person does something here. What may
        pass by itself, or be put right at the CRM at any time, is tried again.
        """
        reached = isinstance(error, CrmUnreachable) and error.code != NO_CONNECTION
        if not (reached and is_final):
            return before
        failure = Failure(message=error.message, code=error.code, crm_message=error.crm_message)
        return replace(self, failure=failure)


def too_many(connection: str, log_ins: LogIns, next_at: datetime, *, by_consent: bool) -> CrmError:
    """The error in place of a log-in that would be one too many."""
    if log_ins.failure:
        told = log_ins.failure
        return CrmUnreachable(told.message, code=told.code, crm_message=told.crm_message)
    help_ = (
        "that the app is still installed there and has its permissions, or connect anew with "
        f"`leadrota connect {connection}`"
        if by_consent
        else "the session settings and permissions of the integration user"
    )
    return CrmUnreachable(
        f"The CRM refuses the tokens that it gives to {connection!r}. The last one is still tried; "
        f"the next log-in is made after {next_at:%Y-%m-%d %H:%M} UTC, or when the settings "
        f"change, or at once by `leadrota doctor`. Check {help_}.",
        code="token_refused",
    )
