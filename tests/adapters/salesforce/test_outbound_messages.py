from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from adapters.salesforce import receiver
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Delivery, Receiver

NOW = datetime(2026, 11, 30, 9, 20, tzinfo=UTC)
ORG = "00D5g000000XyZ1EAK"
LEAD = "00Q5e00000XyZzZEAV"
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"

EXAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
                  xmlns:xsd="http://www.w3.org/2001/XMLSchema"
                  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>00D5g000000XyZ1EAK</OrganizationId>
   <ActionId>04k5g0000004C92AAE</ActionId>
   <SessionId xsi:nil="true"/>
   <EnterpriseUrl>https://acme.my.salesforce.com/services/Soap/c/68.0/00D5g000000XyZ1</EnterpriseUrl>
   <PartnerUrl>https://acme.my.salesforce.com/services/Soap/u/68.0/00D5g000000XyZ1</PartnerUrl>
   <Notification>
    <Id>04l5g00000Aa0b1AAB</Id>
    <sObject xsi:type="sf:Lead" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>00Q5e00000XyZzZEAV</sf:Id>
     <sf:Company>Müller &amp; Søn A/S</sf:Company>
     <sf:Country>Denmark</sf:Country>
     <sf:CreatedDate>2026-11-30T09:15:07.000Z</sf:CreatedDate>
     <sf:LastModifiedDate>2026-11-30T09:15:07.000Z</sf:LastModifiedDate>
     <sf:LastName>Example</sf:LastName>
     <sf:OwnerId>00G8Z000001qRsTUAU</sf:OwnerId>
    </sObject>
   </Notification>
   <Notification>
    <Id>04l5g00000Aa0b2AAB</Id>
    <sObject xsi:type="sf:Lead" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>00QRR00000AbCdE2AV</sf:Id>
     <sf:CreatedDate>2026-11-30T09:15:07.000Z</sf:CreatedDate>
     <sf:LastModifiedDate>2026-11-30T09:15:07.000Z</sf:LastModifiedDate>
     <sf:LastName>NoCompanyField</sf:LastName>
     <sf:OwnerId>0055g000009AbCdAAK</sf:OwnerId>
    </sObject>
   </Notification>
  </notifications>
 </soapenv:Body>
</soapenv:Envelope>
"""


def notification(
    fields: str | None = None, *, id_: str | None = "04l5g00000Aa0b1", type_: str = "sf:Lead"
) -> str:
    told = f"<Id>{id_}</Id>" if id_ is not None else ""
    named = f' xsi:type="{type_}"' if type_ else ""
    sobject = "" if fields is None else f"<sObject{named}>{fields}</sObject>"
    return f"<Notification>{told}{sobject}</Notification>"


def message(*notifications: str, org: str = ORG, session: str = "") -> bytes:
    return (
        f'<s:Envelope xmlns:s="{SOAP}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xmlns:sf="urn:sobject.enterprise.soap.sforce.com"><s:Body>'
        '<notifications xmlns="http://soap.sforce.com/2005/09/outbound">'
        f"<OrganizationId>{org}</OrganizationId><SessionId>{session}</SessionId>"
        f"{''.join(notifications)}</notifications></s:Body></s:Envelope>"
    ).encode()


def delivery(
    body: bytes = b"",
    *,
    target: str = "/webhooks/salesforce",
    content_type: str = "text/xml; charset=UTF-8",
) -> Delivery:
    return Delivery(method="POST", target=target, headers={"content-type": content_type}, body=body)


@pytest.fixture
def taker(make_settings: Callable[..., SalesforceSettings]) -> Receiver:
    return receiver(make_settings())


def one(taker: Receiver, text: str) -> LeadEvent:
    (event,) = taker.parse(delivery(message(text))).events
    return event


# -- who may send


@pytest.mark.parametrize("query", ["?key=a%2Bb%2F%C3%A9", "?x=1&key=a+b/%c3%a9", "?%6bey=a+b/é"])
def test_the_right_key_is_taken_however_it_is_encoded(
    make_settings: Callable[..., SalesforceSettings], query: str
) -> None:
    taker = receiver(make_settings(webhook_key="a+b/é"))
    taker.verify(delivery(target="/webhooks/salesforce" + query), NOW)


@pytest.mark.parametrize("query", ["", "?key=", "?key=other", "?key", "?key=k&key=k", "?Key=k"])
def test_a_missing_wrong_or_doubled_key_is_refused(
    make_settings: Callable[..., SalesforceSettings], query: str
) -> None:
    taker = receiver(make_settings(webhook_key="k"))
    with pytest.raises(WebhookRefused) as refused:
        taker.verify(delivery(target="/webhooks/salesforce" + query), NOW)
    assert refused.value.status == 401


@pytest.mark.parametrize("key", [None, ""])
def test_an_org_that_is_not_on_loopback_does_not_start_without_a_key(
    make_settings: Callable[..., SalesforceSettings], key: str | None
) -> None:
    settings = make_settings(login_url="https://acme.my.salesforce.com", webhook_key=key)
    with pytest.raises(BadSettings, match="SALESFORCE_WEBHOOK_KEY"):
        receiver(settings)


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.2", "http://[::1]:9"])
def test_an_org_on_loopback_needs_no_key(
    make_settings: Callable[..., SalesforceSettings], url: str
) -> None:
    receiver(make_settings(login_url=url)).verify(delivery(), NOW)


@pytest.mark.parametrize("org", ["", "acme", "0055g000009AbCdAAK"])
def test_an_org_id_that_is_none_stops_the_start(
    make_settings: Callable[..., SalesforceSettings], org: str
) -> None:
    with pytest.raises(BadSettings, match="SALESFORCE_ORG_ID"):
        receiver(make_settings(org_id=org))


@pytest.mark.parametrize("org", ["00D5g000000XyZ1", "00D5g000000XyZ1EAK", "00d5g000000xyz1eak"])
def test_our_org_is_known_in_every_form_of_its_id(taker: Receiver, org: str) -> None:
    assert taker.parse(delivery(message(notification("<sf:Id>x</sf:Id>"), org=org)))


@pytest.mark.parametrize("org", ["00D5g000000XyZ2EAK", "00D5g000000xyz1", "", "javascript:x"])
def test_a_message_of_a_foreign_org_is_refused_with_both_ids(taker: Receiver, org: str) -> None:
    with pytest.raises(WebhookRefused) as refused:
        taker.parse(delivery(message(notification("<sf:Id>x</sf:Id>"), org=org)))
    assert (refused.value.status, refused.value.code) == (403, "foreign_org")
    assert ORG in refused.value.message
    assert "javascript" not in refused.value.message


# -- what is taken in


def test_the_documented_example_gives_two_new_leads(taker: Receiver) -> None:
    first, second = taker.parse(delivery(EXAMPLE.encode())).events
    assert first == LeadEvent(
        key="04l5g00000Aa0b1AAB",
        kind=EventKind.CREATED,
        object_type="Lead",
        record_id=LEAD,
        occurred_at=datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC),
        owner_id="00G8Z000001qRsTUAU",
        payload={
            "Id": LEAD,
            "Company": "Müller & Søn A/S",
            "Country": "Denmark",
            "CreatedDate": "2026-11-30T09:15:07.000Z",
            "LastModifiedDate": "2026-11-30T09:15:07.000Z",
            "LastName": "Example",
            "OwnerId": "00G8Z000001qRsTUAU",
        },
    )
    assert (second.record_id, second.owner_id) == ("00QRR00000AbCdE2AV", "0055g000009AbCdAAK")
    assert "Company" not in second.payload


@pytest.mark.parametrize("count", [1, 100, 150])
def test_each_notification_is_an_event_of_its_own(taker: Receiver, count: int) -> None:
    body = message(
        *(notification(f"<sf:Id>00Q{n:012}</sf:Id>", id_=f"04l{n:012}") for n in range(count))
    )
    events = taker.parse(delivery(body)).events
    assert len({event.key for event in events}) == len({e.record_id for e in events}) == count


@pytest.mark.parametrize(
    ("dates", "kind"),
    [
        (("2026-11-30T09:15:07.000Z", "2026-11-30T09:15:07Z"), EventKind.CREATED),
        (("2026-11-30T09:15:07.000Z", "2026-11-30T09:15:08.000Z"), EventKind.CHANGED),
        (("2026-11-30T09:15:07.000Z", "2026-11-30T10:15:07+01:00"), EventKind.CREATED),
        ((None, "2026-11-30T09:15:07.000Z"), EventKind.CREATED),
        (("2026-11-30T09:15:07.000Z", None), EventKind.CREATED),
        ((None, None), EventKind.CREATED),
        (("soon", "later"), EventKind.CREATED),
    ],
)
def test_a_record_counts_as_new_unless_its_dates_say_that_it_was_changed(
    taker: Receiver, dates: tuple[str | None, str | None], kind: EventKind
) -> None:
    names = ("CreatedDate", "LastModifiedDate")
    told = "".join(f"<sf:{n}>{d}</sf:{n}>" for n, d in zip(names, dates, strict=True) if d)
    assert one(taker, notification(f"<sf:Id>{LEAD}</sf:Id>{told}")).kind is kind


def test_null_fields_are_simply_absent(taker: Receiver) -> None:
    event = one(taker, notification(f'<sf:Id>{LEAD}</sf:Id><sf:Email xsi:nil="true"/>'))
    assert event.ignored is None
    assert event.payload == {"Id": LEAD}
    assert (event.owner_id, event.occurred_at) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        notification(),
        notification(""),
        notification(" \n "),
        notification("", type_=""),
        notification('<sf:Id xsi:nil="true"/><sf:Email xsi:nil="1"/>'),
    ],
)
def test_a_notification_without_data_means_that_the_record_is_gone(
    taker: Receiver, text: str
) -> None:
    assert one(taker, text).ignored == "record_deleted"


@pytest.mark.parametrize(
    ("record_id", "object_type"),
    [
        ("00Q000000000001", "Lead"),
        ("003000000000001", "Contact"),
        ("001000000000001", "Account"),
        ("006000000000001", "Opportunity"),
        ("500000000000001", "Case"),
        ("00T000000000001", "Task"),
        ("00U000000000001", "Event"),
    ],
)
def test_the_object_type_comes_from_the_id_where_it_is_not_named(
    make_settings: Callable[..., SalesforceSettings], record_id: str, object_type: str
) -> None:
    taker = receiver(make_settings(objects=(object_type,)))
    event = one(taker, notification(f"<sf:Id>{record_id}</sf:Id>", type_=""))
    assert (event.object_type, event.ignored) == (object_type, None)


@pytest.mark.parametrize("type_", ["sf:Thing__c", "ns7:thing__C", "Thing__c"])
def test_a_custom_object_is_known_by_its_name_whatever_the_prefix(
    make_settings: Callable[..., SalesforceSettings], type_: str
) -> None:
    taker = receiver(make_settings(objects=("Thing__c",)))
    event = one(taker, notification("<sf:Id>a0D30000001n7Pi</sf:Id>", type_=type_))
    assert (event.object_type, event.record_id) == ("Thing__c", "a0D30000001n7PiEAI")
    assert event.ignored is None


def test_a_record_of_which_nothing_tells_the_object_type_is_ignored(taker: Receiver) -> None:
    event = one(taker, notification("<sf:Id>a0D30000001n7Pi</sf:Id>", type_=""))
    assert (event.object_type, event.ignored) == ("unknown", "object_not_routed")


def test_fields_of_the_partner_namespace_are_read_as_well(taker: Receiver) -> None:
    partner = 'xmlns:p="urn:sobject.partner.soap.sforce.com"'
    event = one(taker, notification(f"<p:Id {partner}>{LEAD}</p:Id>", type_="p:sObject"))
    assert (event.object_type, event.record_id, event.ignored) == ("Lead", LEAD, None)


def test_two_leads_whose_ids_differ_only_in_case_are_two(taker: Receiver) -> None:
    first, second = taker.parse(
        delivery(
            message(
                notification("<sf:Id>00QRR00000AbCdE</sf:Id>", id_="04l000000000001"),
                notification("<sf:Id>00QRR00000aBcDe</sf:Id>", id_="04l000000000002"),
            )
        )
    ).events
    assert (first.record_id, second.record_id) == ("00QRR00000AbCdE2AV", "00QRR00000aBcDe2AK")


def test_a_converted_lead_is_told_as_any_other(taker: Receiver) -> None:
    event = one(taker, notification(f"<sf:Id>{LEAD}</sf:Id><sf:IsConverted>true</sf:IsConverted>"))
    assert (event.kind, event.ignored) == (EventKind.CREATED, None)


def test_an_object_type_that_is_not_routed_is_ignored(taker: Receiver) -> None:
    event = one(taker, notification("<sf:Id>003000000000001</sf:Id>", type_="sf:Contact"))
    assert (event.object_type, event.ignored) == ("Contact", "object_not_routed")


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "https://evil.example/x",
        "//evil.example",
        "../User/0055g000009AbCd",
        "00Q5e00000XyZzZEAX",
        "003000000000001",
        "x" * 5000,
    ],
)
def test_a_record_id_that_cannot_be_one_is_ignored_among_good_ones(
    taker: Receiver, bad: str
) -> None:
    good = notification(f"<sf:Id>{LEAD}</sf:Id>", id_="04l000000000002")
    first, second = taker.parse(
        delivery(message(notification(f"<sf:Id>{bad}</sf:Id>"), good))
    ).events
    assert first.ignored == "bad_record_id"
    assert len(first.record_id) <= 200
    assert (second.record_id, second.ignored) == (LEAD, None)


def test_fifteen_and_eighteen_characters_are_one_record(taker: Receiver) -> None:
    short = one(taker, notification("<sf:Id>00Q5e00000XyZzZ</sf:Id>"))
    assert short.record_id == LEAD


def test_the_same_notification_has_the_same_key_in_any_form(taker: Receiver) -> None:
    fields = f"<sf:Id>{LEAD}</sf:Id>"
    short, wide = (
        one(taker, notification(fields, id_=n)) for n in ("04l5g00000Aa0b1", "04l5g00000Aa0b1AAB")
    )
    assert short.key == wide.key


@pytest.mark.parametrize("id_", [None, "", "<![CDATA[<script>]]>"])
def test_without_a_usable_notification_id_the_key_is_made_of_the_content(
    taker: Receiver, id_: str | None
) -> None:
    first = one(taker, notification(f"<sf:Id>{LEAD}</sf:Id><sf:City>A</sf:City>", id_=id_))
    again = one(taker, notification(f"<sf:City>A</sf:City><sf:Id>{LEAD}</sf:Id>", id_=id_))
    other = one(taker, notification(f"<sf:Id>{LEAD}</sf:Id><sf:City>B</sf:City>", id_=id_))
    assert first.key == again.key != other.key
    assert first.key.startswith("sha256:")


def test_elements_of_another_namespace_are_no_fields(taker: Receiver) -> None:
    event = one(
        taker,
        notification(f'<sf:Id>{LEAD}</sf:Id><x:Company xmlns:x="urn:x">Evil</x:Company>'),
    )
    assert event.payload == {"Id": LEAD}


def test_the_session_id_goes_nowhere(taker: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "00D5g000000XyZ1!AQ0AQ.token"
    body = message(notification(f"<sf:Id>{LEAD}</sf:Id>"), session=secret)
    assert secret not in repr(taker.parse(delivery(body)))
    foreign = message(notification(), session=secret, org="00D5g000000XyZ2")
    with pytest.raises(WebhookRefused) as refused:
        taker.parse(delivery(foreign))
    assert secret not in str(refused.value)
    assert secret not in caplog.text


# -- what is refused


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", "multipart/form-data"])
def test_another_content_type_is_refused(taker: Receiver, kind: str) -> None:
    with pytest.raises(WebhookRefused) as refused:
        taker.parse(delivery(EXAMPLE.encode(), content_type=kind))
    assert refused.value.status == 415


@pytest.mark.parametrize("kind", ["text/xml", "TEXT/XML;charset=utf-8", "application/xml ; a=b"])
def test_xml_is_taken_with_any_parameters(taker: Receiver, kind: str) -> None:
    assert len(taker.parse(delivery(EXAMPLE.encode(), content_type=kind)).events) == 2


BOMB = (
    '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {n} "{f"&{m};" * 10}">' for m, n in zip("abcdef", "bcdefg", strict=True))
    + "]><b>&g;</b>"
)
XXE = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"\xff\xfe\x00",
        EXAMPLE.encode()[:-30],
        EXAMPLE.encode("utf-8").replace(b"UTF-8", b"x-unknown", 1),
        EXAMPLE.replace("soap/envelope/", "soap-envelope").encode(),
        EXAMPLE.replace("2005/09/outbound", "2005/09/inbound").encode(),
        f'<s:Envelope xmlns:s="{SOAP}"><s:Body/></s:Envelope>'.encode(),
        message(),
        BOMB.encode(),
        XXE.encode(),
        b"<!DOCTYPE x>" + message(notification("")),
        b"<a>" * 200_000,
        b"<a>" * 100_000 + b"</a>" * 100_000,
    ],
    ids=range(14),
)
def test_a_broken_body_is_refused(taker: Receiver, body: bytes) -> None:
    with pytest.raises(WebhookRefused) as refused:
        taker.parse(delivery(body))
    assert (refused.value.status, refused.value.code) == (400, "bad_body")


# -- what is answered


def test_the_ack_is_the_documented_envelope_from_its_first_byte(taker: Receiver) -> None:
    answer = taker.parse(delivery(EXAMPLE.encode())).answer
    assert (answer.status, answer.content_type) == (200, "text/xml; charset=utf-8")
    assert answer.body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    root = ElementTree.fromstring(answer.body)
    ack = root.find(
        f"{{{SOAP}}}Body/{{http://soap.sforce.com/2005/09/outbound}}notificationsResponse"
        "/{http://soap.sforce.com/2005/09/outbound}Ack"
    )
    assert ack is not None
    assert ack.text == "true"


@pytest.mark.parametrize(
    ("status", "side"),
    [(400, "Client"), (401, "Client"), (403, "Client"), (405, "Client"), (413, "Client"),
     (415, "Client"), (503, "Server")],
)  # fmt: skip
def test_a_refusal_is_a_soap_fault_that_is_never_an_ack(
    taker: Receiver, status: int, side: str
) -> None:
    refusal = WebhookRefused("<Ack>true</Ack>", code="some_word", status=status)
    answer = taker.refused(refusal, delivery())
    assert answer is not None
    assert (answer.status, answer.content_type) == (status, "text/xml; charset=utf-8")
    assert b"Ack" not in answer.body
    fault = ElementTree.fromstring(answer.body).find(f"{{{SOAP}}}Body/{{{SOAP}}}Fault")
    assert fault is not None
    assert (fault.findtext("faultcode"), fault.findtext("faultstring")) == (
        f"soapenv:{side}",
        "some_word",
    )


def test_ids_from_elsewhere_are_brought_into_our_form(taker: Receiver) -> None:
    assert taker.record_id("Lead", "00Q5e00000XyZzZ") == LEAD
    assert taker.record_id("Lead", "003000000000001") is None
    assert taker.owner_id("0055g000009AbCd") == "0055g000009AbCdAAK"
    assert taker.owner_id("5501") is None


@pytest.mark.parametrize("dates", ["", "<sf:CreatedDate>2026-11-30T09:15:07Z</sf:CreatedDate>"])
def test_the_owner_of_a_message_is_told_beside_any_kind(taker: Receiver, dates: str) -> None:
    owner = "<sf:OwnerId>0055g000009AbCd</sf:OwnerId>"
    event = one(taker, notification(f"<sf:Id>{LEAD}</sf:Id>{dates}{owner}"))
    assert (event.kind, event.owner_id) == (EventKind.CREATED, "0055g000009AbCdAAK")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Lead", "Lead"),
        ("lead", "Lead"),
        ("LEAD", "Lead"),
        (" oPPortunity ", "Opportunity"),
        ("deal__C", "Deal__c"),
        ("Other__c", "Other__c"),
        ("", ""),
    ],
)
def test_an_object_type_is_known_in_any_case(
    make_settings: Callable[..., SalesforceSettings], raw: str, name: str
) -> None:
    taker = receiver(make_settings(objects=("lead", "CONTACT", "Deal__c")))
    assert taker.object_type(raw) == name


@pytest.mark.parametrize(
    ("setting", "told", "kept"),
    [("lead", "sf:Lead", "Lead"), ("Lead", "sf:lead", "Lead"), ("LEAD", "", "Lead")],
)
def test_an_object_type_is_routed_however_its_case_is_set_or_told(
    make_settings: Callable[..., SalesforceSettings], setting: str, told: str, kept: str
) -> None:
    taker = receiver(make_settings(objects=(setting,)))
    event = one(taker, notification(f"<sf:Id>{LEAD}</sf:Id>", type_=told))
    assert (event.object_type, event.record_id, event.ignored) == (kept, LEAD, None)
