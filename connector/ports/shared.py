"""What all processes share of one connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How many calls the CRM still takes, as it told with its last answer."""

    name: str  # "ten_secondly", "daily"
    most: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Tokens as a CRM's token endpoint hands them out."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)  # the old one, where the CRM gave no new one
    seconds: float | None  # for which the access token is good; None: until a call is refused


class Shared(Protocol):
    """What all processes share of one connection: its pace, its pauses and its OAuth tokens.

    Safe to share by threads. Raises ``CrmPaced`` while the database cannot be asked.
    """

    def admit(self, bucket: str, *, burst: float, per_second: float) -> None:
        """Take a token of the bucket; wait for it up to a second, else raise ``CrmPaced``.

        So no second sees more than ``burst + per_second`` calls, whatever the number of processes.
        Raises ``CrmPaced`` as well while the connection is paused.
        """

    def note_limits(self, limits: Sequence[Limit]) -> None:
        """Remember what is left of the CRM's limits; never fails, may lag by a few seconds."""

    def access_token(
        self,
        renew: Callable[[str | None], Grant],
        *,
        rejected: str | None = None,
        worked: bool = False,
    ) -> str:
        """The access token; renewed by one process alone, some minutes before it ends.

        ``renew`` asks the CRM, given the stored refresh token or None when there is none yet.
        ``rejected``: the CRM refused this one, so a newer is needed; ``worked``: after it had let
        calls through, so that the log-in for it was not in vain. Raises what ``renew`` raises, and
        ``CrmAgain`` when another process takes too long to fetch it.
        """
