"""What the core asks of a CRM adapter, and nothing more.

An adapter is a package named under the entry point group ``leadrota.adapters`` with two functions:

    receiver(settings) -> Receiver      for the web process; opens no connection
    crm(settings, shared) -> Crm        opens connections on the first call

``settings`` is the adapter's own frozen settings object, made by ``config``; ``shared`` is what all
processes share of the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from connector.errors import WebhookRefused
from connector.model import Availability, LeadEvent, LeadKind, Related, Slot


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
    received_at: datetime | None = None  # tells deliveries without a time of their own apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the sender gets back."""

    status: int
    body: bytes = b""
    content_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What a delivery comes to: its events, and the answer once they are stored."""

    events: Sequence[LeadEvent]
    answer: Answer  # tells the sender never to send this again


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a workflow is told: who has the lead. Texts are empty where nothing is known."""

    owner_id: str
    owner_email: str
    user_name: str
    pool: str  # the pool's name
    reason: str  # a reason of ours, such as ``rotation``


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A workflow that asks who gets one lead, and waits for the answer.

    ``callback_id`` is the same whenever the same question is asked again. ``answer`` puts a verdict
    into the sender's own format; None: it shall wait, and the verdict comes by a callback.
    """

    event: LeadEvent
    callback_id: str
    answer: Callable[[Verdict | None], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One pool that a workflow may ask for."""

    id: str
    name: str
    note: str  # a phrase about it: "3 members, strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmRecord:
    """A record as the CRM shows it now."""

    id: str  # the id asked for
    owner_id: str | None  # None when empty
    owner_stays: bool  # the owner is a real, active person of the CRM
    email: str | None = None
    company: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    kind: LeadKind = LeadKind.LEAD
    slot: Slot | None = None  # when a meeting takes place
    survivor_id: str | None = None  # the id of the record that took this one over by a merge
    merged_ids: tuple[str, ...] = ()  # of the records that it took over itself, as far as told


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmUser:
    """Somebody in the CRM's directory who can own records."""

    owner_id: str
    name: str
    email: str | None = None
    active: bool = True  # a real, active person
    availability: Availability | None = None  # None: the CRM does not tell, or is not asked


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
    seconds: float  # for which the access token is good


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
        self, renew: Callable[[str | None], Grant], *, rejected: str | None = None
    ) -> str:
        """The access token; renewed by one process alone, some minutes before it ends.

        ``renew`` asks the CRM, given the stored refresh token or None when there is none yet.
        ``rejected``: the CRM refused this one, so a newer is needed. Raises what ``renew`` raises,
        and ``CrmAgain`` when another process takes too long to fetch it.
        """


class Receiver(Protocol):
    """The inbound half. Pure: no network, no clock. Safe to share by threads."""

    def verify(self, delivery: Delivery, now: datetime) -> None:
        """Return when the sender is who it claims to be, else raise ``WebhookRefused``.

        Works on raw bytes, before anything is parsed. Comparisons take constant time.
        """

    def parse(self, delivery: Delivery) -> Received | Question:
        """Read a verified delivery. Events that mean nothing to us carry ``ignored``.

        Raises ``WebhookRefused``: 400 for a broken body, 415 for a wrong content type, 403 for a
        foreign account, 401 for a proof that this kind of body does not take. One bad event among
        good ones is returned as ignored, never raised.
        """

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> Answer | None:
        """The pools as the CRM's workflow editor wants them for a drop-down; None: it asks not."""

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
    related: bool = False  # can tell whom the person or company of a record belongs to
    people: bool = False  # can tell of its users: who is active, and when they can take leads


class Crm(Protocol):
    """The outbound half. Safe to share by threads. Blocking; a call ends within 20 seconds,
    quick tries included. Raises only ``CrmError``; vendor exceptions never leave the adapter.
    """

    capabilities: Capabilities
    availability_problem: str | None  # why ``people`` told less of it than it might; None: nothing

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        """Read up to ``read_batch`` records, strongly consistent, in one record call.

        An id that is not in the answer does not exist (any more). ``fields``: attributes that are
        wanted besides the adapter's own; what the CRM does not have is left out. Idempotent;
        retried quickly.
        """

    def related(self, object_type: str, ids: Collection[str]) -> Mapping[str, Sequence[Related]]:
        """The records of the same person and company that the CRM links these records to.

        Up to ``read_batch`` records, one call for each step. At most one each of a person and a
        company for a record, the person first; nothing for a record that is linked to none.
        Idempotent; retried quickly.
        """

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        """Those of these owners whom the CRM knows, inactive ones too, by owner id; None: all.

        May be some seconds old. Never an empty directory for a failed call.
        """

    def person(self, owner_id: str) -> CrmUser | None:
        """The active user with this owner id, as the CRM listed them a minute ago at most.

        Availability is not told; None when there is nobody, or the CRM does not tell of people.
        """

    def tell(self, callback_id: str, verdict: Verdict) -> None:
        """Let a workflow that waits go on. Raises ``CrmNever`` when it waits no longer."""

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """Set the owners of up to ``write_batch`` records in one call, in the order given.

        One outcome for each write. Never retried inside: after ``CrmAgain`` the outcome is unknown
        and must be read. Writes the owner field only. Never sends an owner that the CRM lists as
        inactive: that write comes out as ``INACTIVE_OWNER``, ``is_listed``, without a call.
        """

    def unowned(
        self, object_type: str, since: datetime, *, after: str | None = None
    ) -> Sequence[str]:
        """Ids of records created since then that may lack an owner, in the order of their ids.

        A page of those beyond the id ``after``, None: from the first; empty when there are no more.
        What was created or changed a moment ago may be missing, and some may have an owner:
        ``read_records`` tells. Idempotent; retried quickly.
        """

    def account_id(self) -> str | None:
        """The account this connection belongs to, read once; None when events need no check."""

    def close(self) -> None:
        """Close connections. Calling it twice is fine."""
