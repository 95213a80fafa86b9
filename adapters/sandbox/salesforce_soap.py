"""Outbound messages as Salesforce writes them, and its strict reading of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from adapters.sandbox.salesforce_rules import RULES

OUTBOUND = "http://soap.sforce.com/2005/09/outbound"
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
SOBJECT = "urn:sobject.enterprise.soap.sforce.com"
HEADERS = {"Content-Type": "text/xml; charset=UTF-8", "SOAPAction": '""'}
ALL_RULES: Set[str] = frozenset(RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One notification: ``values`` is None when the record is gone."""

    id: str
    object_type: str
    record_id: str
    values: Mapping[str, object] | None


def write_message(
    notices: Iterable[Notice],
    *,
    org_id: str,
    action_id: str,
    instance_url: str,
    session_id: str | None = None,
    rules: Set[str] = ALL_RULES,
) -> bytes:
    """One SOAP message. Fields come in alphabetical order after the id; nulls are left out."""
    session = '<SessionId xsi:nil="true"/>' if "om_nil_session" in rules else ""
    if session_id:
        session = f"<SessionId>{escape(session_id)}</SessionId>"
    soap = f"{escape(instance_url)}/services/Soap"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<soapenv:Envelope xmlns:soapenv="{ENVELOPE}" '
        'xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        " <soapenv:Body>\n"
        f'  <notifications xmlns="{OUTBOUND}">\n'
        f"   <OrganizationId>{org_id}</OrganizationId>\n"
        f"   <ActionId>{action_id}</ActionId>\n"
        f"   {session}\n"
        f"   <EnterpriseUrl>{soap}/c/68.0/{org_id[:15]}</EnterpriseUrl>\n"
        f"   <PartnerUrl>{soap}/u/68.0/{org_id[:15]}</PartnerUrl>\n"
        f"{''.join(_notification(notice, rules) for notice in notices)}"
        "  </notifications>\n"
        " </soapenv:Body>\n"
        "</soapenv:Envelope>\n"
    ).encode()


def _notification(notice: Notice, rules: Set[str]) -> str:
    opening = f'<sObject xsi:type="sf:{notice.object_type}" xmlns:sf="{SOBJECT}"'
    return (
        "   <Notification>\n"
        f"    <Id>{notice.id}</Id>\n"
        f"    {opening}{_fields(notice, rules)}\n"
        "   </Notification>\n"
    )


def _fields(notice: Notice, rules: Set[str]) -> str:
    if notice.values is None:
        return "/>"
    lines = [f"     <sf:Id>{notice.record_id}</sf:Id>"]
    fields = notice.values.items()
    for name, value in sorted(fields, reverse="om_sorted" not in rules):
        if value is not None and name != "Id":
            lines.append(f"     <sf:{name}>{escape(_text(value))}</sf:{name}>")
        elif value is None and "om_nulls" not in rules:
            lines.append(f'     <sf:{name} xsi:nil="true"/>')
    return ">\n" + "\n".join(lines) + "\n    </sObject>"


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            utc = value.astimezone(UTC)
            return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
        case _:
            return str(value)


def why_refused(status: int, body: bytes, rules: Set[str] = ALL_RULES) -> str | None:
    """Why an answer does not acknowledge a message, None when it does.

    Only the documented form counts: status 200, XML from the first byte on, the element
    ``notificationsResponse`` of the outbound namespace, ``Ack`` exactly ``true``.
    """
    if status != 200:
        return f"status {status}"
    if "om_ack" not in rules:
        return None
    if not body.startswith(b"<"):
        return "content is not allowed in prolog"
    try:
        envelope = fromstring(body)
    except (ParseError, DefusedXmlException) as error:
        return f"no XML: {error}"
    if envelope.tag != f"{{{ENVELOPE}}}Envelope":
        return f"{envelope.tag} where a SOAP envelope must be"
    path = f"{{{ENVELOPE}}}Body/{{{OUTBOUND}}}notificationsResponse/{{{OUTBOUND}}}Ack"
    found = envelope.findall(path)
    if len(found) != 1:
        return "no Ack of notificationsResponse in the outbound namespace"
    return None if (found[0].text or "").strip() == "true" else "nack"
