"""Receivers of a made-up CRM: the body starts with a word that opens the door."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from connector.errors import WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Choice, Delivery, Question, Received, Verdict

WORD = b"sesame:"


def told(verdict: Verdict | None) -> Answer:
    """What a workflow of the made-up CRM reads."""
    body = json.dumps(asdict(verdict) if verdict else None).encode()
    return Answer(status=200, body=body, content_type="application/json")


class Knock:
    """Bodies such as ``sesame:1,2`` tell of new records; the last delivery is kept to look at.

    ``sesame:?call-7=1`` asks who gets record 1, ``sesame:?call-7=1@Sales@4242`` names the pool and
    the CRM's account too.
    """

    delivery: Delivery | None = None
    ack = Answer(status=204)

    def verify(self, delivery: Delivery, now: datetime) -> None:
        Knock.delivery = delivery
        if not delivery.body.startswith(WORD):
            raise WebhookRefused("The word is wrong.", code="bad_signature", status=401)

    def parse(self, delivery: Delivery) -> Received | Question:
        text = delivery.body.removeprefix(WORD).decode().strip()
        if not text:
            raise WebhookRefused("There is nothing in it.", code="bad_body", status=400)
        if text.startswith("?"):
            callback_id, _, asked = text[1:].partition("=")
            record_id, pool, account = (*asked.split("@"), "", "")[:3]
            event = self._event(record_id, f"asked:{callback_id}", pool or None)
            event = replace(event, account=account or None)
            return Question(event=event, callback_id=callback_id, answer=told)
        events = [self._event(one, f"created:{one}", None) for one in text.split(",")]
        return Received(events=events, answer=self.ack)

    def _event(self, record_id: str, key: str, pool: str | None) -> LeadEvent:
        return LeadEvent(
            key=key,
            kind=EventKind.CREATED,
            object_type="contacts",
            record_id=record_id,
            pool=pool,
            ignored="object_not_routed" if record_id.startswith("x") else None,
        )

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> Answer | None:
        names = "\n".join(f"{one.id} {one.name}: {one.note}" for one in pools)
        return Answer(status=200, body=names.encode(), content_type="text/plain")

    def object_type(self, raw: str) -> str:
        return raw.lower()

    def record_id(self, object_type: str, raw: str) -> str | None:
        return raw.lstrip("0") if raw.isdigit() else None

    def owner_id(self, raw: str) -> str | None:
        return raw.upper() if raw.isalnum() else None

    def refused(self, refusal: WebhookRefused, delivery: Delivery) -> Answer | None:
        return None


class KnockSoap(Knock):
    """The same, answering in XML, and asking for no pools."""

    ack = Answer(status=200, body=b"<Ack/>", content_type="text/xml")

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> None:
        return None

    def refused(self, refusal: WebhookRefused, delivery: Delivery) -> Answer | None:
        body = f"<Fault>{refusal.code}</Fault>".encode()
        return Answer(status=refusal.status, body=body, content_type="text/xml")
