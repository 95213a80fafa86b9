"""The pools that HubSpot's workflow editor offers in a drop-down."""

import json

import pytest

from adapters.hubspot import receiver
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import WebhookRefused
from connector.ports import Choice, Delivery

V2 = {"x-hubspot-signature": "checked before", "x-hubspot-signature-version": "v2"}
V3 = {"x-hubspot-signature-v3": "checked before", "x-hubspot-request-timestamp": "1790000001000"}
KEY = {"x-leadrota-key": "checked before"}
POOLS = [
    Choice(id="p1", name="SDR Team A", note="3 members, strict"),
    Choice(id="p2", name="Zürich Straße", note="1 member, weighted"),
    Choice(id="p3", name="sdr team b", note="no members, strict"),
]
MANY = [Choice(id=f"p{n}", name=f"Pool {n}", note="") for n in range(250)]


def request(**changes):
    body = {
        "origin": {"portalId": 4242, "actionDefinitionId": 31, "actionDefinitionVersion": 2},
        "objectTypeId": "0-1",
        "inputFieldName": "pool",
        "inputFields": {},
        "fetchOptions": {"q": "", "after": None},
    }
    return body | changes


def ask(body, pools=POOLS, *, proof=V2, portal_id="4242"):
    settings = HubSpotSettings(
        name="hubspot",
        access_token="token",
        client_secret="secret",
        public_url="https://connector.example.test",
        portal_id=portal_id,
        webhook_key="checked before",
    )
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **proof}
    delivery = Delivery(method="POST", target="/webhooks/hubspot", headers=headers, body=raw)
    answer = receiver(settings).choices(delivery, pools)
    assert (answer.status, answer.content_type) == (200, "application/json")
    return json.loads(answer.body)


def values(answer):
    return [option["value"] for option in answer["options"]]


@pytest.mark.parametrize("proof", [V2, V3], ids=["v2", "v3"])
def test_each_pool_is_an_option(proof):
    answer = ask(request(), proof=proof)

    assert answer["searchable"] is True
    assert values(answer) == ["p1", "p2", "p3"]
    assert answer["options"][0] == {
        "label": "SDR Team A",
        "value": "p1",
        "description": "3 members, strict",
    }


@pytest.mark.parametrize(
    ("typed", "found"),
    [("sdr", ["p1", "p3"]), ("TEAM B", ["p3"]), (" zürich ", ["p2"]), ("STRASSE", ["p2"]),
     ("p1", []), ("", ["p1", "p2", "p3"]), (None, ["p1", "p2", "p3"]), (5, ["p1", "p2", "p3"])],
)  # fmt: skip
def test_options_are_searched_by_name_in_any_case(typed, found):
    assert values(ask(request(fetchOptions={"q": typed}))) == found


def test_options_come_in_pages_of_a_hundred_and_none_is_lost():
    seen, after, pages = [], None, 0
    while pages == 0 or after is not None:
        answer = ask(request(fetchOptions={"q": "pool", "after": after}), MANY)
        assert len(answer["options"]) <= 100
        seen += values(answer)
        after, pages = answer.get("after"), pages + 1

    assert seen == [pool.id for pool in MANY]
    assert pages == 3


@pytest.mark.parametrize(("count", "more"), [(0, False), (100, False), (101, True)])
def test_a_page_is_only_promised_when_there_is_one(count, more):
    assert ("after" in ask(request(), MANY[:count])) is more


def test_a_page_after_the_end_is_empty():
    assert values(ask(request(fetchOptions={"after": "300"}), MANY)) == []


@pytest.mark.parametrize("after", ["x", "-1", -1, 1.5, [100], {"a": 1}, "1" * 21], ids=repr)
def test_a_page_that_was_never_promised_is_refused(after):
    with pytest.raises(WebhookRefused) as caught:
        ask(request(fetchOptions={"after": after}))

    assert (caught.value.status, caught.value.code) == (400, "bad_body")


@pytest.mark.parametrize("options", [None, [], "x", {}], ids=repr)
def test_a_request_may_leave_out_what_is_typed(options):
    assert values(ask(request(fetchOptions=options))) == ["p1", "p2", "p3"]


@pytest.mark.parametrize(
    "origin", [{"portalId": 4243}, {"portalId": "x"}, {}, None, [4242]], ids=repr
)
def test_another_portal_sees_no_pools(origin):
    assert ask(request(origin=origin)) == {"options": [], "searchable": True}


def test_any_portal_sees_the_pools_while_ours_is_not_known():
    assert values(ask(request(origin={"portalId": 4243}), portal_id=None)) == ["p1", "p2", "p3"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"a"', b'{"a":NaN}', b"[" * 200_000])
def test_a_broken_request_is_refused(body):
    with pytest.raises(WebhookRefused) as caught:
        ask(body)

    assert (caught.value.status, caught.value.code) == (400, "bad_body")


def test_pools_are_not_told_for_the_key():
    with pytest.raises(WebhookRefused) as caught:
        ask(request(), proof=KEY)

    assert (caught.value.status, caught.value.code) == (401, "missing_signature")
