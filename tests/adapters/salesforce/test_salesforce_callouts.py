"""Flows and Apex tell of records by JSON: who may, what is taken in, what is answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.salesforce import receiver
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Delivery, Receiver

NOW = datetime(2026, 11, 30, 9, 20, tzinfo=UTC)
KEY = "a-key-of-ours"
ORG = "00D5g000000XyZ1EAK"
LEAD = "00Q5e00000XyZzZEAV"
QUEUE = "00G8Z000001qRsTUAU"
STAMP = "2026-11-30T09:15:07.000+0000"

Taker = Callable[..., Receiver]


@pytest.fixture
def taker(make_settings: Callable[..., SalesforceSettings]) -> Taker:
    return lambda **given: receiver(make_settings(**given))


def delivery(
    body: Any = b"",
    *,
    target: str = "/webhooks/salesforce",
    at: datetime = NOW,
    **headers: str,
) -> Delivery:
    return Delivery(
        method="POST",
        target=target,
        headers={"content-type": "application/json"}
        | {name.replace("_", "-"): value for name, value in headers.items()},
        body=body if isinstance(body, bytes) else json.dumps(body).encode(),
        received_at=at,
    )


def callout(*records: Any, **more: Any) -> dict[str, Any]:
    return {"orgId": ORG, "object": "Lead", "event": "created", "records": list(records)} | more


def events(taker: Receiver, body: Any, at: datetime = NOW) -> list[LeadEvent]:
    received = taker.parse(delivery(body, at=at))
    return list(received.events)


def one(taker: Receiver, body: Any, at: datetime = NOW) -> LeadEvent:
    (event,) = events(taker, body, at)
    return event


def refusal(work: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(WebhookRefused) as refused:
        work()
    return refused.value.status, refused.value.code


# -- who may send


def test_the_key_is_taken_from_the_header(taker: Taker) -> None:
    taker(webhook_key=KEY).verify(delivery(callout(), x_leadrota_key=KEY), NOW)


@pytest.mark.parametrize("given", ["", KEY[:-1], KEY + "x", KEY.upper(), "ü", f"{KEY}, {KEY}"])
def test_a_wrong_key_is_refused(taker: Taker, given: str) -> None:
    sent = delivery(callout(), x_leadrota_key=given)
    assert refusal(lambda: taker(webhook_key=KEY).verify(sent, NOW)) == (401, "bad_key")


def test_the_key_in_the_address_proves_no_callout(taker: Taker) -> None:
    sent = delivery(callout(), target=f"/webhooks/salesforce?key={KEY}")
    assert refusal(lambda: taker(webhook_key=KEY).verify(sent, NOW)) == (401, "bad_key")


def test_the_key_in_a_header_proves_no_outbound_message(taker: Taker) -> None:
    sent = delivery(b"<a/>", content_type="text/xml", x_leadrota_key=KEY)
    assert refusal(lambda: taker(webhook_key=KEY).verify(sent, NOW)) == (401, "bad_key")


def test_an_org_on_loopback_without_a_key_takes_callouts_as_they_come(taker: Taker) -> None:
    taker().verify(delivery(callout()), NOW)
    taker().verify(delivery(callout(), x_leadrota_key="any"), NOW)


@pytest.mark.parametrize("org", [ORG, ORG[:15], ORG.lower(), f" {ORG} "])
def test_our_org_is_known_in_every_form_of_its_id(taker: Taker, org: str) -> None:
    assert one(taker(), callout(LEAD, orgId=org)).ignored is None


@pytest.mark.parametrize("org", ["00D5g000000XyZ2EAK", ORG[:15].lower(), "", "x", None, 7, [ORG]])
def test_a_callout_of_another_org_is_refused(taker: Taker, org: object) -> None:
    assert refusal(lambda: events(taker(), callout(LEAD, orgId=org))) == (403, "foreign_org")


def test_a_callout_that_names_no_org_is_refused(taker: Taker) -> None:
    body = callout(LEAD)
    del body["orgId"]
    assert refusal(lambda: events(taker(), body)) == (403, "foreign_org")


# -- what is taken in


def test_the_documented_example_gives_a_new_lead(taker: Taker) -> None:
    record = {"Id": LEAD, "OwnerId": QUEUE, "LastModifiedDate": STAMP}
    event = one(taker(), callout(record))
    assert event == LeadEvent(
        key=event.key,
        kind=EventKind.CREATED,
        object_type="Lead",
        record_id=LEAD,
        occurred_at=datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC),
        owner_id=QUEUE,
        payload=record,
    )


def test_two_hundred_records_are_two_hundred_events_in_their_order(taker: Taker) -> None:
    ids = [f"00Q{n:012}" for n in range(200)]
    told = events(taker(), callout(*({"Id": one} for one in ids)))
    assert [event.record_id[:15] for event in told] == ids
    assert len({event.key for event in told}) == 200


def test_a_callout_without_records_is_accepted_and_says_nothing(taker: Taker) -> None:
    received = taker().parse(delivery(callout()))
    assert (received.events, received.answer.status) == ([], 202)


@pytest.mark.parametrize("record", [LEAD, LEAD[:15], {"id": LEAD}, {"ID": LEAD[:15]}])
def test_a_record_is_an_id_or_an_object_with_one_in_any_form(taker: Taker, record: object) -> None:
    event = one(taker(), callout(record))
    assert (event.record_id, event.ignored) == (LEAD, None)


def test_names_are_taken_in_any_case(taker: Taker) -> None:
    record = {"id": LEAD, "ownerid": QUEUE, "LASTMODIFIEDDATE": STAMP}
    body = {"ORGID": ORG, "Object": "lead", "EVENT": "UPDATED", "Records": [record], "Pool": "EMEA"}
    event = one(taker(), body)
    assert (event.object_type, event.kind, event.owner_id) == ("Lead", EventKind.CHANGED, QUEUE)
    assert (event.pool, event.occurred_at) == ("EMEA", datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("created create Inserted INSERT after_insert BEFORE_INSERT", EventKind.CREATED),
        ("updated update Changed change AFTER_UPDATE", EventKind.CHANGED),
        ("undeleted undelete restored restore AFTER_UNDELETE", EventKind.CHANGED),
        ("deleted delete DELETE after_delete", EventKind.DELETED),
    ],
)
def test_what_happened_is_known_in_all_usual_words(
    taker: Taker, words: str, kind: EventKind
) -> None:
    told = {word: one(taker(), callout(LEAD, event=word)).kind for word in words.split()}
    assert told == dict.fromkeys(words.split(), kind)


@pytest.mark.parametrize("word", [None, "", "upserted", 7, ["created"], {}])
@pytest.mark.parametrize(
    ("modified", "kind"),
    [
        ("2026-11-30T09:15:07.000Z", EventKind.CREATED),
        ("2026-11-30T09:15:08.000+0000", EventKind.CHANGED),
        (None, EventKind.CREATED),
        ("soon", EventKind.CREATED),
        (7, EventKind.CREATED),
    ],
)
def test_without_a_word_that_is_known_the_dates_tell(
    taker: Taker, word: object, modified: object, kind: EventKind
) -> None:
    record = {"Id": LEAD, "CreatedDate": STAMP, "LastModifiedDate": modified}
    assert one(taker(), callout(record, event=word)).kind is kind


@pytest.mark.parametrize("dropped", ["object", "event"])
def test_object_and_event_may_be_left_out(taker: Taker, dropped: str) -> None:
    body = callout(LEAD)
    del body[dropped]
    event = one(taker(), body)
    assert (event.object_type, event.kind, event.ignored) == ("Lead", EventKind.CREATED, None)


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
def test_each_standard_object_is_routed_named_or_told_by_the_id(
    taker: Taker, record_id: str, object_type: str
) -> None:
    for named in (object_type, object_type.lower(), "", None):
        event = one(taker(objects=(object_type,)), callout(record_id, object=named))
        assert (event.object_type, event.ignored) == (object_type, None)


@pytest.mark.parametrize("named", ["Thing__c", "thing__C"])
def test_a_custom_object_is_routed_by_its_name_in_any_case(taker: Taker, named: str) -> None:
    event = one(taker(objects=("Thing__c",)), callout("a0D30000001n7Pi", object=named))
    assert (event.object_type, event.record_id) == ("Thing__c", "a0D30000001n7PiEAI")
    assert event.ignored is None


def test_the_object_type_that_apex_writes_into_a_record_counts_too(taker: Taker) -> None:
    written = {"attributes": {"type": "Thing__c", "url": "/x"}, "Id": "a0D30000001n7Pi"}
    event = one(taker(objects=("Thing__c",)), callout(written, object=None))
    assert (event.object_type, event.ignored) == ("Thing__c", None)
    assert event.payload == {"Id": "a0D30000001n7Pi"}


@pytest.mark.parametrize(
    ("named", "record_id"),
    [("Contact", "003000000000001"), ("Other__c", "a0D30000001n7Pi"), (None, "a0D30000001n7Pi")],
)
def test_an_object_type_that_is_not_routed_or_not_known_is_ignored(
    taker: Taker, named: object, record_id: str
) -> None:
    assert one(taker(), callout(record_id, object=named)).ignored == "object_not_routed"


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        [],
        {},
        "",
        {"Id": None},
        {"Id": 7},
        {"Id": {"Id": LEAD}},
        "https://evil.example/x",
        {"Id": "../User/0055g000009AbCd"},
        "00Q5e00000XyZzZEAX",
        "003000000000001",
        "x" * 5000,
        "\0\ud800",
    ],
)
def test_a_record_without_a_good_id_is_ignored_among_good_ones(taker: Taker, bad: object) -> None:
    first, second = events(taker(), callout(bad, LEAD))
    assert first.ignored == "bad_record_id"
    assert len(first.record_id) <= 200
    assert (second.record_id, second.ignored) == (LEAD, None)


def test_a_bad_id_is_told_as_such_where_no_object_type_is_named(taker: Taker) -> None:
    assert one(taker(), callout("//evil.example", object=None)).ignored == "bad_record_id"


def test_a_long_object_type_is_cut_and_ignored(taker: Taker) -> None:
    event = one(taker(), callout(LEAD, object="x" * 5000))
    assert (event.object_type, event.ignored) == ("x" * 80, "object_not_routed")


def test_two_leads_whose_ids_differ_only_in_case_are_two(taker: Taker) -> None:
    told = events(taker(), callout("00QRR00000AbCdE2AV", "00QRR00000aBcDe2AK"))
    assert [event.record_id for event in told] == ["00QRR00000AbCdE2AV", "00QRR00000aBcDe2AK"]
    assert len({event.key for event in told}) == 2


@pytest.mark.parametrize("owner", [None, "", 7, "nobody", {"Id": QUEUE}])
def test_an_owner_that_is_not_told_legibly_is_not_told(taker: Taker, owner: object) -> None:
    event = one(taker(), callout({"Id": LEAD, "OwnerId": owner}))
    assert (event.owner_id, event.ignored) == (None, None)


def test_the_owner_is_told_in_eighteen_characters(taker: Taker) -> None:
    event = one(taker(), callout({"Id": LEAD, "OwnerId": "0055g000009AbCd"}, event="updated"))
    assert event.owner_id == "0055g000009AbCdAAK"


def test_the_last_owner_of_a_deleted_record_is_no_news(taker: Taker) -> None:
    event = one(taker(), callout({"Id": LEAD, "OwnerId": QUEUE}, event="deleted"))
    assert (event.kind, event.owner_id) == (EventKind.DELETED, None)


@pytest.mark.parametrize(
    ("given", "pool"), [("EMEA", "EMEA"), (" EMEA ", "EMEA"), ("", None), (None, None), (7, "7")]
)
def test_a_callout_may_ask_for_a_pool(taker: Taker, given: object, pool: str | None) -> None:
    assert one(taker(), callout(LEAD, pool=given)).pool == pool


def test_only_simple_fields_of_the_record_are_kept(taker: Taker) -> None:
    record = {
        "Id": LEAD,
        "Company": "Müller & Søn",
        "NumberOfEmployees": 7,
        "AnnualRevenue": 1.5,
        "IsConverted": False,
        "Email": None,
        "Owner": {"Name": "Ann"},
        "Tags": ["a"],
        "Na\0me": "a\0b\ud800",
    }
    assert one(taker(), callout(record, sessionId="00D!secret")).payload == {
        "Id": LEAD,
        "Company": "Müller & Søn",
        "NumberOfEmployees": 7,
        "AnnualRevenue": 1.5,
        "IsConverted": False,
        "Na\ufffdme": "a\ufffdb?",
    }


# -- the same again


@pytest.mark.parametrize("stamp", ["LastModifiedDate", "SystemModstamp", "systemmodstamp"])
def test_the_same_change_told_again_has_the_same_key(taker: Taker, stamp: str) -> None:
    later = NOW + timedelta(hours=2)
    first = one(taker(), callout({"Id": LEAD, stamp: STAMP, "OwnerId": QUEUE}))
    again = one(taker(), callout({"id": LEAD[:15], stamp: STAMP, "OwnerId": QUEUE[:15]}), at=later)
    assert first.key == again.key


@pytest.mark.parametrize(
    "other",
    [
        callout({"Id": LEAD, "LastModifiedDate": "2026-11-30T09:15:08.000+0000"}),
        callout({"Id": LEAD, "LastModifiedDate": STAMP, "OwnerId": QUEUE}),
        callout({"Id": LEAD, "LastModifiedDate": STAMP}, event="updated"),
        callout({"Id": LEAD, "LastModifiedDate": STAMP}, pool="EMEA"),
        callout({"Id": "00Q5e00000XyZzY", "LastModifiedDate": STAMP}),
    ],
    ids=["stamp", "owner", "event", "pool", "record"],
)
def test_other_news_has_another_key(taker: Taker, other: dict[str, Any]) -> None:
    first = one(taker(), callout({"Id": LEAD, "LastModifiedDate": STAMP}))
    assert first.key != one(taker(), other).key


@pytest.mark.parametrize("record", [LEAD, {"Id": LEAD, "LastModifiedDate": "soon"}])
def test_without_a_stamp_a_later_callout_is_a_new_event(taker: Taker, record: object) -> None:
    first, again = (one(taker(), callout(record), at=at) for at in (NOW, NOW))
    later = one(taker(), callout(record), at=NOW + timedelta(seconds=1))
    assert first.key == again.key != later.key


# -- what is refused, and what is answered


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"Lead"',
        b"\xff\xfe",
        b'{"orgId": NaN}',
        b'{"orgId": 1e999}',
        b"[" * 500_000,
        b'{"a":' * 100_000,
        b"9" * 5000,
        callout(records=None),
        callout(records={"Id": LEAD}),
        callout(records=LEAD),
    ],
    ids=range(14),
)
def test_a_broken_body_is_refused(taker: Taker, body: object) -> None:
    assert refusal(lambda: events(taker(), body)) == (400, "bad_body")


def test_a_body_without_records_says_what_to_send(taker: Taker) -> None:
    with pytest.raises(WebhookRefused, match='"records" must be a list'):
        events(taker(), {"orgId": ORG})


@pytest.mark.parametrize("kind", ["application/json", "APPLICATION/JSON; charset=utf-8"])
def test_a_callout_is_answered_by_the_one_small_object(taker: Taker, kind: str) -> None:
    answer = taker().parse(delivery(callout(LEAD), content_type=kind)).answer
    assert (answer.status, answer.content_type) == (202, "application/json")
    assert json.loads(answer.body) == {"status": "accepted"}


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded"])
def test_a_callout_of_another_content_type_is_refused_after_its_key(
    taker: Taker, kind: str
) -> None:
    sent = delivery(callout(LEAD), content_type=kind, x_leadrota_key=KEY)
    taker(webhook_key=KEY).verify(sent, NOW)
    assert refusal(lambda: taker().parse(sent)) == (415, "unsupported_media_type")
    assert taker().refused(WebhookRefused("no", code="x", status=415), sent) is None


@pytest.mark.parametrize("status", [400, 401, 403, 413, 503])
def test_a_refused_callout_gets_no_soap(taker: Taker, status: int) -> None:
    refused = WebhookRefused("no", code="some_word", status=status)
    assert taker().refused(refused, delivery(callout())) is None
    assert taker().refused(refused, delivery(b"")) is None


def test_an_outbound_message_that_claims_to_be_json_is_refused_in_soap(taker: Taker) -> None:
    sent = delivery(b"\n<?xml version='1.0'?><a/>", target=f"/webhooks/salesforce?key={KEY}")
    taker(webhook_key=KEY).verify(sent, NOW)
    assert refusal(lambda: taker().parse(sent)) == (415, "unsupported_media_type")
    assert taker().refused(WebhookRefused("no", code="x", status=415), sent) is not None
