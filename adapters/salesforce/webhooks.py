"""Salesforce outbound messages: SOAP in, events out, and the one answer that stops the resending.

An outbound message has no signature, no event type and no order. It may come twice, holds 1 to 100
notifications, leaves out every empty field, and shows only the newest values. The session id that
it may carry is a live bearer token: it is never read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import unquote_to_bytes
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from adapters.salesforce import ids
from adapters.salesforce.addresses import is_loopback
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Choice, Delivery, Received

_SOAP = "{http://schemas.xmlsoap.org/soap/envelope/}"
_OUTBOUND = "{http://soap.sforce.com/2005/09/outbound}"
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_FIELD_NAMESPACES = (
    "{urn:sobject.enterprise.soap.sforce.com}",
    "{urn:sobject.partner.soap.sforce.com}",
)
_SOAP_TYPE = "text/xml; charset=utf-8"

# Salesforce takes nothing but this for a delivery: a status of 200 alone counts as a failure.
ACK = b"""<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">
 <soapenv:Body>
  <notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>
 </soapenv:Body>
</soapenv:Envelope>
"""
_FAULT = """<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">
 <soapenv:Body>
  <soapenv:Fault><faultcode>soapenv:{side}</faultcode><faultstring>{word}</faultstring></soapenv:Fault>
 </soapenv:Body>
</soapenv:Envelope>
"""


class SalesforceReceiver:
    """The inbound half of one connected org."""

    def __init__(self, settings: SalesforceSettings) -> None:
        """Raise ``BadSettings`` when a message of this org could not be told from a forged one."""
        if not settings.webhook_key and not is_loopback(settings.login_url):
            raise BadSettings(
                f"Connection {settings.name}: outbound messages carry no signature and an org id "
                "is no secret. Set SALESFORCE_WEBHOOK_KEY and add ?key=… to the endpoint address "
                "in Salesforce."
            )
        org_id = ids.full_id(settings.org_id, prefix=ids.ORGANIZATION)
        if org_id is None:
            raise BadSettings(
                f"Connection {settings.name}: SALESFORCE_ORG_ID must be the org's 15- or "
                "18-character id that starts with 00D (Setup, Company Information)."
            )
        self._org_id = org_id
        self._key = settings.webhook_key.encode() if settings.webhook_key else None
        # Salesforce takes API names in any case, so settings and senders may differ in it.
        standard = {name.lower(): name for name in ids.OBJECT_TYPES.values()}
        self._names = {name.strip().lower(): name.strip() for name in settings.objects} | standard
        self._objects = frozenset(self.object_type(name) for name in settings.objects)

    def verify(self, delivery: Delivery, now: datetime) -> None:  # noqa: ARG002 - no time stamp
        """Check ``?key=`` of the address; there is nothing else to go by before parsing."""
        if self._key is None:
            return
        given = _query_values(delivery.target, b"key")
        if len(given) != 1 or not hmac.compare_digest(given[0], self._key):
            raise WebhookRefused(
                "The address of the outbound message lacks ?key=… or has the wrong key.",
                code="bad_key",
                status=401,
            )

    def parse(self, delivery: Delivery) -> Received:
        """Read the notifications of one outbound message, in its order; answered by the Ack."""
        media_type = delivery.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in ("text/xml", "application/xml"):
            raise WebhookRefused(
                "An outbound message must be text/xml.", code="unsupported_media_type", status=415
            )
        notifications = _notifications(delivery.body)
        self._check_org(_text(notifications.find(f"{_OUTBOUND}OrganizationId")))
        found = notifications.findall(f"{_OUTBOUND}Notification")
        if not found:
            raise _broken("It holds no Notification.")
        return Received(
            events=[self._event(notification) for notification in found],
            answer=Answer(status=200, body=ACK, content_type=_SOAP_TYPE),
        )

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> None:
        """None: Salesforce asks for no pools."""

    def object_type(self, raw: str) -> str:
        """The API name, which Salesforce takes in any case; an unknown one stays as it is."""
        return self._names.get(raw.strip().lower(), raw)

    def record_id(self, object_type: str, raw: str) -> str | None:
        """The 18-character id, None if the object type cannot have it."""
        return ids.record_id(object_type, raw)

    def owner_id(self, raw: str) -> str | None:
        """The 18-character id of a user; a queue is nobody's owner id."""
        return ids.user_id(raw)

    def refused(self, refusal: WebhookRefused) -> Answer:
        """A SOAP fault. It names the code only, so that nothing of a message is echoed."""
        side = "Server" if refusal.status >= 500 else "Client"
        body = _FAULT.format(side=side, word=escape(refusal.code))
        return Answer(status=refusal.status, body=body.encode(), content_type=_SOAP_TYPE)

    def _check_org(self, given: str) -> None:
        org_id = ids.full_id(given, prefix=ids.ORGANIZATION)
        if org_id is None or not hmac.compare_digest(org_id[:15], self._org_id[:15]):
            raise WebhookRefused(
                f"The message is from org {org_id or 'without a usable id'}, this connection is "
                f"for org {self._org_id}. Check SALESFORCE_ORG_ID.",
                code="foreign_org",
                status=403,
            )

    def _event(self, notification: Element) -> LeadEvent:
        sobject = notification.find(f"{_OUTBOUND}sObject")
        fields = _fields(sobject)
        raw_id = fields.get("Id", "")
        object_type = self.object_type(_object_type(sobject, raw_id))
        record_id = ids.record_id(object_type, raw_id)
        created, modified = (_time(fields.get(n)) for n in ("CreatedDate", "LastModifiedDate"))
        # Without both dates nobody can tell. Then it counts as new, and the record's state decides.
        was_changed = created is not None and modified is not None and created != modified

        ignored = None
        if sobject is None or len(sobject) == 0:
            # Salesforce sends a notification without data when the record was deleted meanwhile.
            ignored = "record_deleted"
        elif object_type and object_type not in self._objects:
            ignored = "object_not_routed"
        elif record_id is None:
            ignored = "bad_record_id"

        return LeadEvent(
            key=_key(_text(notification.find(f"{_OUTBOUND}Id")), object_type, fields),
            kind=EventKind.CHANGED if was_changed else EventKind.CREATED,
            object_type=object_type or "unknown",
            record_id=record_id or raw_id[:200],
            occurred_at=modified,
            owner_id=ids.full_id(fields.get("OwnerId", "")),
            ignored=ignored,
            payload=fields,
        )


def _query_values(target: str, name: bytes) -> list[bytes]:
    pairs = (part.partition("=") for part in target.partition("?")[2].split("&"))
    return [unquote_to_bytes(value) for key, _, value in pairs if unquote_to_bytes(key) == name]


def _notifications(body: bytes) -> Element:
    try:
        # Outbound messages need no DTD; without one there are no entities to expand or fetch.
        envelope = fromstring(body, forbid_dtd=True)
    except DefusedXmlException:
        raise _broken("It has a DOCTYPE, which is never taken.") from None
    except (ParseError, ValueError, LookupError):
        raise _broken("It is not well-formed XML.") from None
    if envelope.tag != f"{_SOAP}Envelope":
        raise _broken("It is not a SOAP 1.1 envelope.")
    notifications: Element | None = envelope.find(f"{_SOAP}Body/{_OUTBOUND}notifications")
    if notifications is None:
        raise _broken("Its body holds no notifications of an outbound message.")
    return notifications


def _broken(why: str) -> WebhookRefused:
    return WebhookRefused(
        f"The outbound message cannot be read. {why}", code="bad_body", status=400
    )


def _text(element: Element | None) -> str:
    return (element.text or "").strip() if element is not None else ""


def _fields(sobject: Element | None) -> dict[str, str]:
    """The simple fields of a record by name; nil and nested ones are left out."""
    fields: dict[str, str] = {}
    for element in sobject if sobject is not None else ():
        namespace, brace, name = element.tag.rpartition("}")
        if namespace + brace not in _FIELD_NAMESPACES or len(element):
            continue
        if element.get(f"{_XSI}nil") not in ("true", "1"):
            fields.setdefault(name, _text(element))
    return fields


def _object_type(sobject: Element | None, raw_id: str) -> str:
    """``xsi:type`` names it (``sf:Lead``); senders that leave it out still give the id's prefix."""
    named = sobject.get(f"{_XSI}type", "") if sobject is not None else ""
    local = named.rpartition(":")[2].strip()
    if local and local != "sObject":
        return local[:80]
    id18 = ids.full_id(raw_id)
    return ids.OBJECT_TYPES.get(id18[:3], "") if id18 else ""


def _key(notification_id: str, object_type: str, fields: Mapping[str, str]) -> str:
    id18 = ids.full_id(notification_id)
    if id18:
        return id18
    content = json.dumps([object_type, sorted(fields.items())])
    return "sha256:" + hashlib.sha256(content.encode()).hexdigest()


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
