"""What the core asks of a CRM adapter, and nothing more.

An adapter is a package named under the entry point group ``leadrota.adapters`` with two functions:

    receiver(settings) -> Receiver    for the web process; opens no connection
    crm(settings) -> Crm              for the worker; opens connections on the first call

``settings`` is the adapter's own frozen settings object, made by ``config``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from connector.errors import WebhookRefused
from connector.model import LeadEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A webhook request as it came in; nothing is parsed.

    ``target`` is the raw path and query as on the request line, percent-encoding untouched.
    ``headers`` have lower-case names.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the sender gets back."""

    status: int
    body: bytes = b""
    content_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmRecord:
    """A record as the CRM shows it now."""

    id: str  # the id asked for
    owner_id: str | None  # None when empty
    owner_stays: bool  # the owner is a real, active person of the CRM
    email: str | None = None
    company: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    survivor_id: str | None = None  # the id of the record that took this one over by a merge


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerWrite:
    """Set this record's owner."""

    record_id: str
    owner_id: str


class Result(StrEnum):
    """How one owner write went."""

    DONE = "done"
    AGAIN = "again"  # try later; counts
    NEVER = "never"  # will not work; dead letter
    REFUSED_OWNER = "refused_owner"  # this record does not take this user: next user
    INACTIVE_OWNER = "inactive_owner"  # the CRM calls the user inactive: next user, here and on


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one owner write went, in the CRM's own words where it failed."""

    record_id: str
    result: Result
    code: str | None = None  # machine word, the CRM's own where it has one
    message: str | None = None  # the CRM's text
    is_listed: bool = False  # the CRM's list of users says so; the record has no part in it


class Receiver(Protocol):
    """The inbound half. Pure: no network, no clock. Safe to share by threads."""

    def verify(self, delivery: Delivery, now: datetime) -> None:
        """Return when the sender is who it claims to be, else raise ``WebhookRefused``.

        Works on raw bytes, before anything is parsed. Comparisons take constant time.
        """

    def parse(self, delivery: Delivery) -> list[LeadEvent]:
        """Read a verified delivery. Events that mean nothing to us carry ``ignored``.

        Raises ``WebhookRefused``: 400 for a broken body, 415 for a wrong content type, 403 for a
        foreign account. One bad event among good ones is returned as ignored, never raised.
        """

    def accepted(self) -> Answer:
        """The answer that tells the sender never to send this again."""

    def object_type(self, raw: str) -> str:
        """The name we keep for an object type (HubSpot: ``0-1``, ``contact`` are ``contacts``)."""

    def record_id(self, object_type: str, raw: str) -> str | None:
        """The id in the form we keep (Salesforce: 18 characters), None if it cannot be one."""

    def owner_id(self, raw: str) -> str | None:
        """The same for the id of an owner."""

    def refused(self, refusal: WebhookRefused) -> Answer | None:
        """The answer for a refusal in the sender's own format; None for problem+json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one CRM can do."""

    read_batch: int  # most records in one read call
    write_batch: int  # most records in one write call


class Crm(Protocol):
    """The outbound half. Safe to share by threads. Blocking; a call ends within 20 seconds,
    quick tries included. Raises only ``CrmError``; vendor exceptions never leave the adapter.
    """

    capabilities: Capabilities

    def read_records(self, object_type: str, ids: Sequence[str]) -> Mapping[str, CrmRecord]:
        """Read up to ``read_batch`` records, strongly consistent, in one record call.

        An id that is not in the answer does not exist (any more). Idempotent; retried quickly.
        """

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """Set the owners of up to ``write_batch`` records in one call, in the order given.

        One outcome for each write. Never retried inside: after ``CrmAgain`` the outcome is unknown
        and must be read. Writes the owner field only. Never sends an owner that the CRM lists as
        inactive: that write comes out as ``INACTIVE_OWNER``, ``is_listed``, without a call.
        """

    def account_id(self) -> str | None:
        """The account this connection belongs to, read once; None when events need no check."""

    def close(self) -> None:
        """Close connections. Calling it twice is fine."""
