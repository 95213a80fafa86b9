"""Outbound messages: SOAP in, events out, and the one answer that stops the resending.

An outbound message has no event type and no order. It may come twice, holds 1 to 100 notifications,
leaves out every empty field, and shows only the newest values. The session id that it may carry is
a live bearer token: it is never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from adapters.salesforce import events, ids
from adapters.salesforce.scope import Scope
from connector.errors import WebhookRefused
from connector.model import LeadEvent
from connector.ports import Answer, Received

_SOAP = "{http://schemas.xmlsoap.org/soap/envelope/}"
_OUTBOUND = "{http://soap.sforce.com/2005/09/outbound}"
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_FIELD_NAMESPACES = (
    "{urn:sobject.enterprise.soap.sforce.com}",
    "{urn:sobject.partner.soap.sforce.com}",
)
_CONTENT_TYPE = "text/xml; charset=utf-8"

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


def read(body: bytes, scope: Scope) -> Received:
    """The notifications of one message, in its order; answered by the Ack.

    Raises ``WebhookRefused``: 400 for what is no outbound message, 403 for one of another org.
    """
    notifications = _notifications(body)
    scope.check_org(_text(notifications.find(f"{_OUTBOUND}OrganizationId")))
    found = notifications.findall(f"{_OUTBOUND}Notification")
    if not found:
        raise _broken("It holds no Notification.")
    return Received(
        events=[_event(notification, scope) for notification in found],
        answer=Answer(status=200, body=ACK, content_type=_CONTENT_TYPE),
    )


def fault(refusal: WebhookRefused) -> Answer:
    """A SOAP fault. It names the code only, so that nothing of a message is echoed."""
    side = "Server" if refusal.status >= 500 else "Client"
    body = _FAULT.format(side=side, word=escape(refusal.code))
    return Answer(status=refusal.status, body=body.encode(), content_type=_CONTENT_TYPE)


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


def _event(notification: Element, scope: Scope) -> LeadEvent:
    sobject = notification.find(f"{_OUTBOUND}sObject")
    fields = _fields(sobject)
    object_type = _object_type(sobject)
    key = _key(_text(notification.find(f"{_OUTBOUND}Id")), object_type, fields)
    event = events.read(fields, scope, key=key, object_type=object_type)
    # Salesforce sends a notification without data when the record was deleted meanwhile.
    return replace(event, ignored="record_deleted") if _is_empty(sobject) else event


def _is_empty(sobject: Element | None) -> bool:
    return sobject is None or all(_is_nil(element) for element in sobject)


def _is_nil(element: Element) -> bool:
    return element.get(f"{_XSI}nil") in ("true", "1")


def _fields(sobject: Element | None) -> dict[str, str]:
    """The simple fields of a record by name; nil and nested ones are left out."""
    fields: dict[str, str] = {}
    for element in sobject if sobject is not None else ():
        namespace, brace, name = element.tag.rpartition("}")
        if namespace + brace not in _FIELD_NAMESPACES or len(element):
            continue
        if not _is_nil(element):
            fields.setdefault(name, _text(element))
    return fields


def _object_type(sobject: Element | None) -> str:
    """What ``xsi:type`` names (``sf:Lead``); "" where a sender leaves it out."""
    named = sobject.get(f"{_XSI}type", "") if sobject is not None else ""
    local = named.rpartition(":")[2].strip()
    return "" if local == "sObject" else local


def _key(notification_id: str, object_type: str, fields: Mapping[str, str]) -> str:
    """The notification's own id, the same with every repeat of it."""
    return ids.full_id(notification_id) or events.fingerprint(object_type, fields)


def _text(element: Element | None) -> str:
    return events.text(element.text) if element is not None else ""
