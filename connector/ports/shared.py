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

    access_token: str = field(repr=False)  # any text, with what the adapter needs beside it
    # The old one, where the CRM gave no new one; None, where it gives none at all.
    refresh_token: str | None = field(default=None, repr=False)
    seconds: float | None  # for which the access token is good; None: until a call is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What the settings of a connection give it to log in with."""

    # In place of stored tokens while there are none: a refresh token, or all that a log-in needs.
    # Another one than last time wins once.
    given: str | None = field(default=None, repr=False)
    app: str = field(default="", repr=False)  # what identifies the app beside that
    # What all processes know and nobody else: encrypts the stored tokens where no key is set.
    secret: str | None = field(default=None, repr=False)
    # Tokens began with a person's consent: what is lost or refused only a person can bring back.
    by_consent: bool = True


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
        seconds: float = 10.0,
    ) -> str:
        """The access token; renewed by one process alone, some minutes before it ends.

        ``renew`` asks the CRM, given the stored refresh token or None when there is none yet.
        ``rejected``: the CRM refused this one, so a newer is needed. Raises what ``renew`` raises;
        ``CrmUnreachable`` where another log-in would be one too many; ``CrmAgain`` when another
        process takes longer than ``seconds`` to fetch one, ten at most.
        """

    def worked(self, access_token: str) -> None:
        """A call got through with this token: what was in vain before it counts no more.

        Never fails, and writes only where there is something to forget.
        """

    def refused(self, access_token: str) -> None:
        """The CRM refused this token and no newer one is asked for. Never fails.

        It is still handed out, until a look by a person or another process brings a newer one.
        """
