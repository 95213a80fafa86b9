"""Whatever comes in: it is refused in words, or read as events that the rest can rely on."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.salesforce import ids, receiver
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce_soap import Notice, write_message
from connector.errors import WebhookRefused
from connector.model import LeadEvent
from connector.ports import Delivery

ORG = "00D5g000000XyZ1EAK"
LEAD = "00Q5e00000XyZzZEAV"
OBJECTS = ("Lead", "Contact", "Thing__c")
TAKER = receiver(
    SalesforceSettings(
        name="salesforce",
        login_url="http://127.0.0.1:1",
        client_id="client",
        client_secret="secret",
        org_id=ORG,
        objects=OBJECTS,
    )
)

ODD_IDS = st.sampled_from([LEAD, LEAD[:15], "003000000000001", "a0D30000001n7Pi", "", "//x", "\0"])
WORDS = st.sampled_from(["Lead", "contact", "Thing__c", "created", "deleted", "x" * 300, "\ud800"])
MOMENTS = st.sampled_from(["2026-11-30T09:15:07.000+0000", "0001-01-01T00:00:00+23:59", "W", "7"])
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = ODD_IDS | WORDS | MOMENTS | NUMBERS | st.none() | st.booleans() | st.text()
DATES = ["CreatedDate", "LastModifiedDate", "SystemModstamp"]
NAMES = st.sampled_from(["Id", "id", "OwnerId", *DATES, "attributes", "type", "\0", "\ud800"])
ANYTHING = st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner))
RECORDS = ODD_IDS | st.dictionaries(NAMES, VALUES | ANYTHING) | ANYTHING


def read(body: bytes, content_type: str) -> list[LeadEvent]:
    """The events of a delivery; none when it is refused."""
    delivery = Delivery(
        method="POST",
        target="/webhooks/salesforce",
        headers={"content-type": content_type},
        body=body,
        received_at=datetime(2026, 11, 30, 9, 20, tzinfo=UTC),
    )
    try:
        return list(TAKER.parse(delivery).events)
    except WebhookRefused:
        return []


def check(event: LeadEvent) -> None:
    assert 18 <= len(event.key) <= 80
    assert event.object_type
    if event.ignored is None:
        assert event.object_type in OBJECTS
        assert ids.record_id(event.object_type, event.record_id) == event.record_id
    assert event.owner_id is None or ids.full_id(event.owner_id) == event.owner_id
    kept = [event.key, event.object_type, event.record_id, event.pool or "", *texts(event.payload)]
    assert all("\0" not in one for one in kept)
    assert all(one.encode() is not None for one in kept)  # no half of a surrogate pair
    json.dumps(dict(event.payload), allow_nan=False)


def texts(payload: Any) -> list[str]:
    return [*payload, *(value for value in payload.values() if isinstance(value, str))]


def outbound_message(record_id: str = LEAD, object_type: str = "Lead", **values: str) -> bytes:
    notice = Notice(
        id="04l5g00000Aa0b1AAB", object_type=object_type, record_id=record_id, values=values
    )
    return write_message(
        [notice, notice], org_id=ORG, action_id="04k5g0000004C92AAE", instance_url="http://x"
    )


WHOLE = outbound_message(OwnerId="0055g000009AbCdAAK", LastModifiedDate="2026-11-30T09:15:07.000Z")


@given(start=st.integers(0, len(WHOLE)), length=st.integers(0, 60), put=st.binary(max_size=8))
def test_a_damaged_outbound_message_is_refused_or_read(start: int, length: int, put: bytes) -> None:
    for event in read(WHOLE[:start] + put + WHOLE[start + length :], "text/xml"):
        check(event)


LETTERS = st.characters(categories=("L", "N", "P", "S", "Zs"))  # what XML can hold


@given(
    record_id=st.text(LETTERS) | st.sampled_from([LEAD, LEAD[:15], LEAD.lower()]),
    object_type=st.sampled_from(["Lead", "lead", "Contact", "Thing__c", "x", "sObject", ""]),
    owner=st.text(LETTERS) | st.just("0055g000009AbCd"),
    modified=st.text(LETTERS) | MOMENTS,
)
def test_any_values_in_an_outbound_message_are_read(
    record_id: str, object_type: str, owner: str, modified: str
) -> None:
    record_id = record_id.translate(str.maketrans("<&>", "___"))
    body = outbound_message(record_id, object_type, OwnerId=owner, LastModifiedDate=modified)
    told = read(body, "text/xml")
    assert len(told) == 2
    for event in told:
        check(event)


@given(body=st.binary())
def test_bytes_of_no_meaning_are_refused(body: bytes) -> None:
    for content_type in ("text/xml", "application/json", "text/plain"):
        assert read(body, content_type) == []


@given(
    records=st.lists(RECORDS),
    object_type=WORDS | ANYTHING,
    event=WORDS | ANYTHING,
    pool=WORDS | ANYTHING,
)
@example(records=[{"Id": LEAD, "Amount": 10**400}], object_type="Lead", event="x", pool="y")
def test_any_json_in_a_callout_is_read(
    records: list[Any], object_type: Any, event: Any, pool: Any
) -> None:
    body = {
        "orgId": ORG,
        "object": object_type,
        "event": event,
        "pool": pool,
        "records": records,
    }
    told = read(json.dumps(body).encode(), "application/json")
    assert len(told) == len(records)
    for one in told:
        check(one)


@given(body=ANYTHING | st.dictionaries(st.sampled_from(["orgId", "records"]), ANYTHING))
def test_any_other_json_is_refused_or_says_nothing(body: Any) -> None:
    for event in read(json.dumps(body, allow_nan=True).encode(), "application/json"):
        check(event)
