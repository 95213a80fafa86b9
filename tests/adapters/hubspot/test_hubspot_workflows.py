"""What a workflow's webhook asks for, in each of its shapes, and what can be wrong with it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.hubspot import receiver
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import WebhookRefused
from connector.model import EventKind
from connector.ports import Answer, Delivery, Question, Received

CONTACT = {
    "vid": 88000000123,
    "canonical-vid": 88000000123,
    "portal-id": 4242,
    "is-contact": True,
    "properties": {
        "email": {"value": "lead@example.test", "versions": []},
        "hubspot_owner_id": {"value": ""},
    },
}
OTHER = {
    "portalId": 4242,
    "objectTypeId": "0-136",
    "objectId": 512000000007,
    "properties": {"hs_lead_name": "Example", "hubspot_owner_id": None},
}
FLAT = {"hs_object_id": "88000000123", "email": "lead@example.test", "pool": "emea-sdr"}
PATH = "/webhooks/hubspot"
V2 = {"x-hubspot-signature": "checked before", "x-hubspot-signature-version": "v2"}
V3 = {"x-hubspot-signature-v3": "checked before", "x-hubspot-request-timestamp": "1790000001000"}
KEY = {"x-leadrota-key": "checked before"}
NOON = datetime(2026, 11, 30, 12, 0, 20, tzinfo=UTC)


def hubspot(**changes):
    values = {
        "name": "hubspot",
        "access_token": "token",
        "client_secret": "secret",
        "public_url": "https://connector.example.test",
    }
    return receiver(HubSpotSettings(**(values | changes)))


def sent(body, *, proof=V2, target=PATH, at=NOON):
    return Delivery(
        method="POST",
        target=target,
        headers={"content-type": "application/json; charset=utf-8", **proof},
        body=body if isinstance(body, bytes) else json.dumps(body).encode(),
        received_at=at,
    )


def read(body, *, settings=None, **changes):
    (event,) = hubspot(**(settings or {})).parse(sent(body, **changes)).events
    return event


@pytest.mark.parametrize("proof", [V2, V3, KEY], ids=["v2", "v3", "key"])
@pytest.mark.parametrize(
    ("body", "object_type", "record_id", "pool"),
    [
        pytest.param(CONTACT, "contacts", "88000000123", None, id="whole contact"),
        pytest.param(OTHER, "leads", "512000000007", None, id="whole object"),
        pytest.param(FLAT, "contacts", "88000000123", "emea-sdr", id="flat"),
    ],
)
def test_a_workflow_asks_for_one_record_to_be_routed(body, object_type, record_id, pool, proof):
    event = read(body, proof=proof, settings={"portal_id": "4242"})

    assert event.kind is EventKind.CREATED
    assert (event.object_type, event.record_id) == (object_type, record_id)
    assert (event.account, event.pool, event.ignored) == ("4242", pool, None)
    assert event.payload == body


def test_a_workflow_is_told_that_its_record_is_accepted():
    received = hubspot().parse(sent(FLAT))

    assert isinstance(received, Received)
    assert received.answer.status == 202
    assert received.answer.content_type == "application/json"
    assert json.loads(received.answer.body) == {"status": "accepted"}


@pytest.mark.parametrize(
    ("body", "record_id"),
    [
        ({"objectId": 1, "hs_object_id": 2, "vid": 3, "canonical-vid": 4}, "1"),
        ({"hs_object_id": "2", "vid": 3, "canonical-vid": 4}, "2"),
        ({"vid": 3, "canonical-vid": 4}, "3"),
        ({"canonical-vid": "4", "properties": {"hs_object_id": 5}}, "4"),
        ({"properties": {"hs_object_id": "5"}}, "5"),
        ({"properties": {"hs_object_id": {"value": "6", "versions": []}}}, "6"),
        ({"objectId": "", "vid": "3"}, "3"),
        ({"objectId": None, "vid": 3}, "3"),
        ({"objectId": "{{ id }}", "vid": 3}, "3"),
        ({"objectId": "874716779721"}, "874716779721"),
        ({"objectId": 2**63 - 1}, "9223372036854775807"),
    ],
    ids=str,
)
def test_the_id_is_found_in_the_first_place_that_has_one(body, record_id):
    event = read(body)

    assert (event.record_id, event.ignored) == (record_id, None)


@pytest.mark.parametrize(
    "body",
    [{}, {"email": "lead@example.test"}, {"objectId": ""}, {"objectId": None, "vid": ""},
     {"contact_id": "88000000123"}, {"properties": {"hs_object_id": {"value": ""}}},
     {"properties": {"hs_object_id": None}}, {"properties": [1]}, {"properties": "hs_object_id"}],
    ids=str,
)  # fmt: skip
def test_a_body_without_an_id_is_accepted_and_ignored(body):
    event = read(body)

    assert (event.record_id, event.ignored) == ("", "no_record_id")
    assert hubspot().parse(sent(body)).answer.status == 202


@pytest.mark.parametrize(
    "record_id", ["x", "0", 0, "007", -5, 1.5, 88000000123.0, True, [1], {"a": 1}, " 5", "1" * 21],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("name", ["objectId", "hs_object_id", "vid"])
def test_an_id_that_cannot_be_one_is_accepted_and_ignored(name, record_id):
    event = read({name: record_id})

    assert (event.record_id, event.ignored) == ("", "bad_record_id")


@pytest.mark.parametrize(
    ("given", "object_type"),
    [("0-1", "contacts"), ("CONTACT", "contacts"), (" 0-136 ", "leads"), ("2-31337", "2-31337"),
     ("p4242_pets", "p4242_pets"), (None, "contacts"), ("", "contacts")],
)  # fmt: skip
def test_the_object_type_is_given_by_id_or_name_and_else_a_contact(given, object_type):
    routed = {"objects": ("contacts", "leads", "2-31337", "p4242_pets")}
    event = read({"objectId": 1, "objectTypeId": given}, settings=routed)

    assert (event.object_type, event.ignored) == (object_type, None)


@pytest.mark.parametrize(
    "given", ["0-3", "2-31338", 1, 0, False, ["0-1"], {"a": 1}, "  "], ids=repr
)
def test_a_type_that_is_not_routed_is_accepted_and_ignored(given):
    assert read({"objectId": 1, "objectTypeId": given}).ignored == "object_not_routed"


@pytest.mark.parametrize("name", ["portalId", "portal-id", "portal_id"])
@pytest.mark.parametrize(
    ("portal", "ignored"),
    [(4242, None), ("4242", None), ("", None), (None, None), (4243, "other_portal"),
     ("x", "other_portal"), ([4242], "other_portal")],
    ids=repr,
)  # fmt: skip
def test_a_record_of_another_portal_is_accepted_and_ignored(name, portal, ignored):
    event = read({"objectId": 1, name: portal}, settings={"portal_id": "4242"})

    assert event.ignored == ignored


def test_a_portal_is_told_on_where_ours_is_not_known_yet():
    assert read({"objectId": 1, "portalId": 4243}).account == "4243"
    assert read({"objectId": 1}).account is None


@pytest.mark.parametrize(
    ("body", "query", "pool"),
    [
        ({"pool": "emea-sdr"}, "", "emea-sdr"),
        ({}, "?pool=emea%3Asdr&x=%28a%29", "emea:sdr"),
        ({}, "?x=1&pool=SDR%20Team+A", "SDR Team A"),
        ({}, "?pool=Z%C3%BCrich", "Zürich"),
        ({"pool": "body"}, "?pool=query", "body"),
        ({"pool": "  "}, "?pool=query", "query"),
        ({"pool": None}, "?pool=query", "query"),
        ({"pool": ["body"]}, "?pool=query", '["body"]'),
        ({"pool": " body "}, "", "body"),
        ({}, "?pool=", None),
        ({}, "?pool=%20", None),
        ({}, "?pool", None),
        ({}, "?pools=x", None),
        ({}, "?pool=first&pool=second", "first"),
        ({}, "?pool=a%00b%FF", "a\ufffdb\ufffd"),
        ({"pool": 7}, "", "7"),
    ],
    ids=str,
)
def test_a_pool_is_asked_for_in_the_body_or_the_address(body, query, pool):
    assert read({"objectId": 1} | body, target=PATH + query).pool == pool


# -- the key


def key(body=FLAT, **changes):
    return read(body, **changes).key


def test_a_delivery_seen_twice_has_one_key():
    assert key() == key()
    assert key(proof=V3) == key(proof=V3)
    assert key(at=None) == key(at=None)
    assert key(at=NOON) == key(at=NOON + timedelta(seconds=39))


@pytest.mark.parametrize(
    "changes",
    [{"body": FLAT | {"pool": "x"}}, {"body": json.dumps(FLAT).encode() + b" "},
     {"target": PATH + "?pool=x"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("proof", [V2, V3, KEY], ids=["v2", "v3", "key"])
def test_another_body_or_address_has_another_key(changes, proof):
    assert key(proof=proof, **changes) != key(proof=proof)


@pytest.mark.parametrize("proof", [V2, KEY], ids=["v2", "key"])
def test_a_record_that_goes_through_the_workflow_again_is_a_new_event(proof):
    assert key(proof=proof, at=NOON + timedelta(minutes=1)) != key(proof=proof)


def test_the_time_of_a_v3_signature_tells_two_runs_apart():
    later = V3 | {"x-hubspot-request-timestamp": "1790000001001"}

    assert key(proof=later) != key(proof=V3)
    assert key(proof=V3, at=NOON + timedelta(minutes=1)) == key(proof=V3)


# -- any body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NAMES = [
    "subscriptionType", "eventType", "objectId", "objectTypeId", "portalId", "portal-id", "vid",
    "hs_object_id", "properties", "pool", "callbackId", "origin", "object", "inputFields",
    "mergedObjectIds", "newObjectId", "fromObjectId", "toObjectTypeId", "associationType",
    "propertyName", "propertyValue", "occurredAt",
]  # fmt: skip
VALUES = (
    JSON
    | st.sampled_from(["contact.merge", "object.associationChange", "0-1", "CONTACT_TO_COMPANY"])
    | st.dictionaries(st.sampled_from([*NAMES, "portalId", "objectType"]), JSON, max_size=4)
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES) | st.text(), VALUES, max_size=8)
TARGETS = st.text(st.characters(exclude_categories=["Cs"])).map(lambda query: f"{PATH}?{query}")


def outcome(ask, delivery):
    """What comes of a delivery; the status of the answer when it is refused."""
    try:
        return ask(delivery)
    except WebhookRefused as refusal:
        return refusal.status


@given(
    body=OBJECTS | st.lists(OBJECTS | JSON, max_size=3) | JSON,
    proof=st.sampled_from([V2, V3, KEY]),
    target=TARGETS,
)
def test_any_json_is_read_or_refused(body, proof, target):
    read = outcome(hubspot(portal_id="4242").parse, sent(body, proof=proof, target=target))

    match read:
        case Question():
            told = [read.event]
        case Received():
            told = read.events
        case status:
            assert status in (400, 401)
            told = []
    for event in told:
        assert event.key.isalnum()
        assert event.ignored or event.record_id.isdecimal()
        assert "\0" not in f"{event.object_type}{event.pool}"
        assert json.dumps(event.payload, allow_nan=False)


@given(body=st.binary(), proof=st.sampled_from([V2, V3, KEY]))
def test_any_bytes_are_read_or_refused(body, proof):
    ours = hubspot()

    for ask in (ours.parse, lambda delivery: ours.choices(delivery, [])):
        read = outcome(ask, sent(body, proof=proof))
        assert isinstance(read, Answer | Received | Question) or read in (400, 401)
