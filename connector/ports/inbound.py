"""The inbound half of an adapter: what a CRM sends, and what it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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

    def refused(self, refusal: WebhookRefused, delivery: Delivery) -> Answer | None:
        """The answer for a refusal in the sender's own format; None for problem+json.

        The delivery has an empty body where that was refused unread.
        """
