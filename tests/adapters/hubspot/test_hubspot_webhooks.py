"""What the events of HubSpot's app webhooks mean, and which bodies are refused."""

import json
from datetime import UTC, datetime

import pytest

from adapters.hubspot import receiver
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import WebhookRefused
from connector.model import EventKind
from connector.ports import Delivery


def hubspot(**changes):
    values = {
        "name": "hubspot",
        "access_token": "token",
        "client_secret": "secret",
        "public_url": "https://connector.example.test",
    }
    return receiver(HubSpotSettings(**(values | changes)))


def event(subscription="contact.creation", **changes):
    values = {
        "eventId": 501,
        "subscriptionId": 77,
        "portalId": 4242,
        "appId": 9001,
        "occurredAt": 1790000000000,
        "subscriptionType": subscription,
        "attemptNumber": 0,
        "objectId": 88000000123,
        "changeSource": "FORM",
    }
    return values | changes


V3 = {"x-hubspot-signature-v3": "checked before", "x-hubspot-request-timestamp": "1790000001000"}
V2 = {"x-hubspot-signature": "checked before", "x-hubspot-signature-version": "v2"}


def sent(body, content_type="application/json", proof=V3):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": content_type, **proof}
    return Delivery(method="POST", target="/webhooks/hubspot", headers=headers, body=raw)


def parse(*events, **changes):
    return hubspot(**changes).parse(sent(list(events))).events


def parse_one(*args, settings=None, **changes):
    (read,) = parse(event(*args, **changes), **(settings or {}))
    return read


def test_a_creation_says_which_record_is_new():
    read = parse_one()

    assert read.kind is EventKind.CREATED
    assert (read.object_type, read.record_id) == ("contacts", "88000000123")
    assert read.occurred_at == datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
    assert read.account == "4242"
    assert read.ignored is None
    assert read.payload == event()


@pytest.mark.parametrize(
    ("type_id", "name"),
    [("0-1", "contacts"), ("0-2", "companies"), ("0-3", "deals"), ("0-5", "tickets"),
     ("0-136", "leads"), ("0-27", "tasks"), ("0-47", "meetings"), ("2-31337", "2-31337")],
)  # fmt: skip
def test_a_generic_event_names_its_object_type_by_id(type_id, name):
    read = parse_one("object.creation", objectTypeId=type_id, settings={"objects": (name,)})

    assert (read.kind, read.object_type, read.ignored) == (EventKind.CREATED, name, None)


@pytest.mark.parametrize(
    ("prefix", "name"),
    [("contact", "contacts"), ("company", "companies"), ("deal", "deals"), ("ticket", "tickets")],
)
def test_a_classic_event_names_its_object_type_by_word(prefix, name):
    assert parse_one(f"{prefix}.creation").object_type == name


@pytest.mark.parametrize(
    "prefix", ["contact", "company", "deal", "ticket", "product", "line_item", "object"]
)
@pytest.mark.parametrize(
    ("action", "kind"),
    [("creation", EventKind.CREATED), ("restore", EventKind.CHANGED),
     ("propertyChange", EventKind.CHANGED), ("merge", EventKind.MERGED),
     ("deletion", EventKind.DELETED), ("associationChange", EventKind.LINKED)],
)  # fmt: skip
def test_each_subscription_is_understood(prefix, action, kind):
    names = ("contact", "company", "deal", "ticket", "product", "line_item", "2-31337")
    read = parse_one(
        f"{prefix}.{action}",
        settings={"objects": names},
        objectTypeId="2-31337",
        propertyName="email",
        fromObjectId=5,
        toObjectTypeId="0-1",
    )

    assert (read.kind, read.ignored) == (kind, None)


def test_portals_may_be_mixed_in_one_delivery():
    read = parse(event(), event(portalId=4243), event(objectId=2), portal_id="4242")

    assert [one.ignored for one in read] == [None, "other_portal", None]


def test_objects_may_be_set_by_type_id():
    assert parse_one("deal.creation", settings={"objects": ("0-3",)}).ignored is None


def test_an_object_type_that_is_not_routed_is_ignored():
    assert parse_one("deal.creation").ignored == "object_not_routed"


@pytest.mark.parametrize("action", ["restore", "propertyChange"])
def test_a_restored_or_changed_record_is_looked_at(action):
    read = parse_one(f"contact.{action}", propertyName="email", propertyValue="a@example.test")

    assert (read.kind, read.owner_id, read.ignored) == (EventKind.CHANGED, None, None)


@pytest.mark.parametrize(
    ("value", "owner_id"),
    [("5501", "5501"), (5501, "5501"), ("", ""), (None, ""), ("x", None)],
    ids=repr,
)
def test_a_changed_owner_is_named(value, owner_id):
    read = parse_one("contact.propertyChange", propertyName="hubspot_owner_id", propertyValue=value)

    assert (read.kind, read.owner_id) == (EventKind.OWNER_CHANGED, owner_id)


def test_an_owner_change_that_hides_the_value_is_no_cleared_owner():
    assert parse_one("contact.propertyChange", propertyName="hubspot_owner_id").owner_id is None


def test_a_property_change_without_a_property_is_ignored():
    assert parse_one("contact.propertyChange").ignored == "no_property_name"


@pytest.mark.parametrize(
    ("ids", "record_id", "merged_ids"),
    [
        ({"newObjectId": 3, "primaryObjectId": 2, "objectId": 3}, "3", ("7", "2")),
        ({"newObjectId": 3, "primaryObjectId": 2, "objectId": 1}, "3", ("7", "2", "1")),
        ({"primaryObjectId": 2, "objectId": 1}, "2", ("7", "1")),
        ({"newObjectId": None, "objectId": 1}, "1", ("7",)),
        ({"primaryObjectId": 2, "objectId": 2, "mergedObjectIds": [9, "7", 2, 9]}, "2", ("9", "7")),
        ({"primaryObjectId": 2, "objectId": None, "mergedObjectIds": [1.5, "x", True]}, "2", ()),
        ({"primaryObjectId": 2, "objectId": 2, "mergedObjectIds": 7}, "2", ()),
        (
            {"newObjectId": "874716779721", "mergedObjectIds": None},
            "874716779721",
            ("88000000123",),
        ),
    ],
)
@pytest.mark.parametrize("kind", ["contact.merge", "object.merge"])
def test_a_merge_speaks_of_the_survivor_and_names_the_dead(kind, ids, record_id, merged_ids):
    read = parse_one(kind, objectTypeId="0-1", **({"mergedObjectIds": [7]} | ids))

    assert (read.kind, read.ignored) == (EventKind.MERGED, None)
    assert (read.record_id, read.merged_ids) == (record_id, merged_ids)


def test_a_merge_without_a_survivor_is_ignored():
    read = parse_one("contact.merge", objectId=None, mergedObjectIds=[7])

    assert (read.record_id, read.merged_ids, read.ignored) == ("", (), "bad_record_id")


@pytest.mark.parametrize(
    "subscription", ["contact.deletion", "object.deletion", "contact.privacyDeletion"]
)
def test_a_deletion_says_which_record_is_gone(subscription):
    read = parse_one(subscription, objectTypeId="0-1", changeFlag="DELETED")

    assert (read.kind, read.record_id, read.ignored) == (EventKind.DELETED, "88000000123", None)


def link(subscription="contact.associationChange", settings=None, **changes):
    values = {"fromObjectId": 11, "toObjectId": 22, "associationRemoved": False}
    return parse_one(subscription, settings=settings, objectId=None, **(values | changes))


ALL = {"objects": ("contacts", "companies", "deals", "leads", "2-31337")}


@pytest.mark.parametrize(
    ("association", "object_type"),
    [("CONTACT_TO_COMPANY", "contacts"), ("COMPANY_TO_CONTACT", "companies"),
     ("DEAL_TO_CONTACT", "deals"), ("DEAL_TO_COMPANY", "deals")],
)  # fmt: skip
@pytest.mark.parametrize("removed", [True, False])
def test_a_classic_link_speaks_of_the_side_it_goes_out_from(association, object_type, removed):
    prefix = association.partition("_")[0].lower()
    read = link(f"{prefix}.associationChange", ALL, associationType=association,
                associationRemoved=removed)  # fmt: skip

    assert (read.kind, read.ignored) == (EventKind.LINKED, None)
    assert (read.object_type, read.record_id) == (object_type, "11")


@pytest.mark.parametrize(
    ("type_id", "object_type"), [("0-136", "leads"), ("0-1", "contacts"), ("2-31337", "2-31337")]
)
@pytest.mark.parametrize("other", ["0-1", "0-2"])
def test_a_generic_link_speaks_of_the_side_it_goes_out_from(type_id, object_type, other):
    read = link("object.associationChange", ALL, fromObjectTypeId=type_id, toObjectTypeId=other)

    assert (read.kind, read.ignored) == (EventKind.LINKED, None)
    assert (read.object_type, read.record_id) == (object_type, "11")


@pytest.mark.parametrize(
    "sides",
    [
        {"associationType": "CONTACT_TO_DEAL"},
        {"associationType": "CONTACT_TO_TICKET"},
        {"associationType": "DEAL_TO_LINE_ITEM"},
        {"associationType": "nonsense"},
        {"associationType": ["CONTACT_TO_COMPANY"]},
        {"fromObjectTypeId": "0-1", "toObjectTypeId": "0-3"},
        {"fromObjectTypeId": "0-1", "toObjectTypeId": 2},
        {},
    ],
)
def test_a_link_to_neither_person_nor_company_says_nothing_new(sides):
    read = link(settings=ALL, **sides)

    assert (read.kind, read.ignored) == (EventKind.LINKED, "nothing_new")


def test_a_link_from_a_type_that_is_not_routed_is_ignored():
    assert link("deal.associationChange", associationType="DEAL_TO_COMPANY").ignored == (
        "object_not_routed"
    )


@pytest.mark.parametrize(
    "sides",
    [
        {"associationType": "COMPANY_TO_CONTACT"},
        {"fromObjectTypeId": "0-2", "toObjectTypeId": "0-1"},
    ],
)
def test_told_only_of_the_companys_side_a_link_speaks_of_the_routed_record(sides):
    read = link("company.associationChange", **sides)

    assert (read.kind, read.ignored) == (EventKind.LINKED, None)
    assert (read.object_type, read.record_id) == ("contacts", "22")


def test_what_else_a_routed_record_is_linked_from_says_nothing_new():
    assert link("deal.associationChange", associationType="DEAL_TO_CONTACT").ignored == (
        "nothing_new"
    )


def test_a_link_is_of_the_record_it_goes_out_from_whatever_else_is_named():
    read = parse_one(
        "contact.associationChange",
        associationType="CONTACT_TO_COMPANY",
        fromObjectId=11,
        toObjectId=22,
        objectId=33,
    )

    assert read.record_id == "11"


@pytest.mark.parametrize("action", ["creation", "deletion", "restore", "associationChange"])
def test_only_a_merge_names_dead_records(action):
    read = parse_one(f"contact.{action}", mergedObjectIds=[7], primaryObjectId=8)

    assert (read.record_id, read.merged_ids) == ("88000000123", ())


def test_a_link_without_ids_is_ignored():
    read = link(associationType="CONTACT_TO_COMPANY", fromObjectId=None)

    assert read.ignored == "bad_record_id"


@pytest.mark.parametrize(
    ("subscription", "reason"),
    [
        ("object.deletion", "not_a_record_event"),  # without its objectTypeId
        ("object.associationChange", "not_a_record_event"),  # without any type
        ("product.nonsense", "not_a_record_event"),
        ("lead.creation", "not_a_record_event"),  # leads have the generic form only
        ("conversation.creation", "not_a_record_event"),
        ("conversation.newMessage", "not_a_record_event"),
        ("object.creation", "not_a_record_event"),  # without its objectTypeId
        ("event.completed", "not_a_record_event"),
        ("nonsense", "not_a_record_event"),
        (None, "not_a_record_event"),
        (["contact.creation"], "not_a_record_event"),
    ],
)
def test_what_concerns_no_owner_is_ignored_with_a_reason(subscription, reason):
    read = parse_one(subscription)

    assert (read.kind, read.ignored) == (EventKind.OTHER, reason)


def test_the_event_type_is_read_where_there_is_no_subscription_type():
    raw = event(eventType="contact.creation")
    del raw["subscriptionType"]

    assert parse(raw)[0].kind is EventKind.CREATED


@pytest.mark.parametrize("portal", [4243, None, "x"])
def test_another_portal_is_ignored(portal):
    assert parse_one(portalId=portal, settings={"portal_id": "4242"}).ignored == "other_portal"


def test_the_own_portal_is_taken():
    assert parse_one(settings={"portal_id": "4242"}).ignored is None


@pytest.mark.parametrize(
    "record_id",
    [None, "", "12a", "0", "007", -5, 1.5, True, [1], {"a": 1}, "1" * 21, " 5", "٣", "5\n"],
    ids=repr,
)
def test_one_broken_id_does_not_lose_the_good_events(record_id):
    first, broken, last = parse(event(), event(objectId=record_id), event(objectId=2))

    assert (broken.ignored, broken.record_id) == ("bad_record_id", "")
    assert (first.ignored, last.ignored) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [{"occurredAt": 10**30}, {"occurredAt": "soon"}, {"occurredAt": True}, {"occurredAt": None}],
)
def test_a_broken_time_is_no_time(changes):
    read = parse_one(**changes)

    assert (read.occurred_at, read.ignored) == (None, None)


def test_an_id_of_64_bits_is_kept():
    assert parse_one(objectId=874716779721).record_id == "874716779721"


def test_an_empty_object_is_ignored():
    assert parse({})[0].ignored == "not_a_record_event"


def test_a_repeat_has_the_same_key():
    assert parse_one(attemptNumber=3).key == parse_one().key


@pytest.mark.parametrize(
    "changes",
    [{"portalId": 1}, {"subscriptionType": "contact.restore"}, {"objectId": 2}, {"eventId": 2},
     {"occurredAt": 1790000000001}, {"objectTypeId": "0-1"}, {"propertyName": "email"},
     {"newObjectId": 3}, {"primaryObjectId": 3}, {"mergedObjectIds": [3]}, {"fromObjectId": 3},
     {"toObjectId": 3}, {"fromObjectTypeId": "0-1"}, {"toObjectTypeId": "0-1"},
     {"associationType": "CONTACT_TO_COMPANY"}, {"associationTypeId": 1},
     {"associationCategory": "HUBSPOT_DEFINED"}, {"associationRemoved": True},
     {"isPrimaryAssociation": True}],
)  # fmt: skip
def test_another_event_has_another_key(changes):
    assert parse_one(**changes).key != parse_one().key


def test_two_merges_without_an_object_id_have_two_keys():
    first, second = parse(
        event("object.merge", objectTypeId="0-1", objectId=None, newObjectId=3),
        event("object.merge", objectTypeId="0-1", objectId=None, newObjectId=4),
    )

    assert first.key != second.key


@pytest.mark.parametrize("count", [0, 1, 100, 150])
def test_a_batch_may_have_any_length(count):
    assert len(parse(*(event(objectId=n + 1) for n in range(count)))) == count


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"5", b'"a"', b"[1]", b"[[]]", b"[null]", b"[{]", b'[{"a":NaN}]',
     b'[{"a":-Infinity}]', b'[{"a":1e999}]', b"\xff\xfe[\x00]\x00", b"\xef\xbb\xbf[]",
     b'[{"a":"\xff"}]',
     b"[" * 200_000, b'[{"a":' * 100_000, b'[{"a":' + b"9" * 5000 + b"}]"],
    ids=lambda body: ascii(body[:16]),
)  # fmt: skip
def test_a_broken_body_is_refused(body):
    with pytest.raises(WebhookRefused) as caught:
        hubspot().parse(sent(body))

    assert caught.value.status == 400


@pytest.mark.parametrize("proof", [V2, {"x-leadrota-key": "right"}], ids=["v2", "key"])
@pytest.mark.parametrize("body", [[event()], [], [{"objectId": 1}], [1]], ids=str)
def test_an_array_is_taken_by_v3_alone(proof, body):
    with pytest.raises(WebhookRefused) as caught:
        hubspot(webhook_key="right").parse(sent(body, proof=proof))

    assert (caught.value.status, caught.value.code) == (401, "missing_signature")


@pytest.mark.parametrize(
    "content_type", ["", "text/xml", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_another_content_type_is_refused(content_type):
    with pytest.raises(WebhookRefused) as caught:
        hubspot().parse(sent([event()], content_type))

    assert caught.value.status == 415


def test_a_content_type_may_carry_a_charset():
    assert len(hubspot().parse(sent([event()], "Application/JSON; charset=utf-8")).events) == 1


def test_characters_that_no_database_stores_are_replaced():
    read = parse_one(propertyValue="a\0b\ud800")

    assert read.payload["propertyValue"] == "a\ufffdb?"


def test_hubspot_gets_an_empty_204():
    answer = hubspot().parse(sent([event()])).answer

    assert (answer.status, answer.body) == (204, b"")


def test_a_refusal_has_no_form_of_its_own():
    refusal = WebhookRefused("no", code="bad_body", status=400)

    assert hubspot().refused(refusal, sent([event()])) is None


@pytest.mark.parametrize(
    ("raw", "kept"),
    [("88000000123", "88000000123"), ("0", None), ("01", None), ("12 ", None), ("https://x", None)],
)
def test_an_id_is_digits(raw, kept):
    assert hubspot().record_id("contacts", raw) == kept
    assert hubspot().owner_id(raw) == kept
