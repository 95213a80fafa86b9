"""Receivers of a made-up CRM: the body starts with a word that opens the door."""

from __future__ import annotations

from datetime import datetime

from connector.errors import WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Delivery

WORD = b"sesame:"


class Knock:
    """Bodies such as ``sesame:1,2`` tell of new records; the last delivery is kept to look at."""

    delivery: Delivery | None = None

    def verify(self, delivery: Delivery, now: datetime) -> None:
        Knock.delivery = delivery
        if not delivery.body.startswith(WORD):
            raise WebhookRefused("The word is wrong.", code="bad_signature", status=401)

    def parse(self, delivery: Delivery) -> list[LeadEvent]:
        text = delivery.body.removeprefix(WORD).decode().strip()
        if not text:
            raise WebhookRefused("There is nothing in it.", code="bad_body", status=400)
        return [
            LeadEvent(
                key=f"created:{record_id}",
                kind=EventKind.CREATED,
                object_type="contacts",
                record_id=record_id,
                ignored="object_not_routed" if record_id.startswith("x") else None,
            )
            for record_id in text.split(",")
        ]

    def accepted(self) -> Answer:
        return Answer(status=204)

    def object_type(self, raw: str) -> str:
        return raw.lower()

    def record_id(self, object_type: str, raw: str) -> str | None:
        return raw.lstrip("0") if raw.isdigit() else None

    def owner_id(self, raw: str) -> str | None:
        return raw.upper() if raw.isalnum() else None

    def refused(self, refusal: WebhookRefused) -> Answer | None:
        return None


class KnockSoap(Knock):
    """The same, answering in XML."""

    def accepted(self) -> Answer:
        return Answer(status=200, body=b"<Ack/>", content_type="text/xml")

    def refused(self, refusal: WebhookRefused) -> Answer | None:
        body = f"<Fault>{refusal.code}</Fault>".encode()
        return Answer(status=refusal.status, body=body, content_type="text/xml")
