"""Workflows of the sandbox HubSpot: body shapes, signatures, retries, actions and callbacks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from contextlib import contextmanager

import pytest
from hubspot_caller import START, serving

from adapters.sandbox.hubspot_signatures import PROXIES, sign_v2
from adapters.sandbox.hubspot_workflows import HubSpotWorkflows
from adapters.sandbox.server import Sandbox, json_response

SECRET = "test-client-secret-0001"
PATH = "/webhooks/hubspot"


@contextmanager
def working(answer=None, **settings):
    """A portal, its workflows, a receiver that answers as told, and an API caller."""
    with serving(client_secret=SECRET) as (portal, call, clock), Sandbox() as receiver:
        told = {"status": "accepted"} if answer is None else {"outputFields": answer}
        receiver.route("POST", PATH, lambda request: json_response(told))
        with HubSpotWorkflows(portal, receiver.url + PATH, **settings) as workflows:
            yield portal, workflows, receiver, call, clock


# -- shapes


def test_a_contact_is_sent_with_its_old_style_properties():
    with working() as (portal, workflows, receiver, *_):
        lead = portal.create("contacts", {"email": "ada@example.test", "hubspot_owner_id": None})
        assert workflows.send(workflows.body("contacts", lead)).status == 200
        (sent,) = [call.json for call in receiver.calls]
        ids = (sent["vid"], sent["canonical-vid"], sent["portal-id"], sent["is-contact"])
        assert ids == (int(lead), int(lead), 4242, True)
        assert sent["properties"]["email"] == {"value": "ada@example.test", "versions": []}
        assert sent["properties"]["hubspot_owner_id"]["value"] == ""


def test_other_objects_are_sent_with_their_type_and_plain_properties():
    with working() as (portal, workflows, receiver, *_):
        lead = portal.create("leads", {"hs_lead_name": "Ada", "hubspot_owner_id": None})
        workflows.send(workflows.body("leads", lead))
        (sent,) = [call.json for call in receiver.calls]
        told = (sent["portalId"], sent["objectTypeId"], sent["objectId"])
        assert told == (4242, "0-136", int(lead))
        assert sent["properties"]["hs_lead_name"] == "Ada"
        assert sent["properties"]["hubspot_owner_id"] is None


def test_an_admin_chooses_flat_keys_and_adds_his_own():
    with working() as (portal, workflows, receiver, *_):
        lead = portal.create("contacts", {"email": "ada@example.test"})
        workflows.send(workflows.body("contacts", lead, shape="flat") | {"pool": "emea-sdr"})
        (sent,) = [call.json for call in receiver.calls]
        assert sent == {"contact_id": lead, "email": "ada@example.test", "pool": "emea-sdr"}


# -- signatures


def test_v2_matches_the_published_signatures():
    secret, url = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy", "https://www.example.com/webhook_uri"
    body = b'{"example_field":"example_value"}'
    post = sign_v2(secret=secret, method="POST", url=url, body=body)
    assert post == {
        "X-HubSpot-Signature": "9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900",
        "X-HubSpot-Signature-Version": "v2",
    }
    get = sign_v2(secret=secret, method="GET", url=url, body=b"")["X-HubSpot-Signature"]
    assert get == "eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e"


def test_workflows_sign_by_v2_and_with_v3_when_told_so():
    with working(public_url="https://leads.example.test") as (_, workflows, receiver, *_rest):
        workflows.send({"contact_id": "1"})
        workflows.signatures = "v2_and_v3"
        workflows.send({"contact_id": "1"})
        old, both = receiver.calls
    url = ("POST" + "https://leads.example.test" + PATH).encode()
    v2 = hashlib.sha256(SECRET.encode() + url + old.body).hexdigest()
    assert old.headers["x-hubspot-signature"] == both.headers["x-hubspot-signature"] == v2
    assert old.headers["x-hubspot-signature-version"] == "v2"
    assert "x-hubspot-signature-v3" not in old.headers
    stamp = both.headers["x-hubspot-request-timestamp"]
    assert stamp == str(int(START.timestamp() * 1000))
    signed = hmac.digest(SECRET.encode(), url + both.body + stamp.encode(), "sha256")
    assert both.headers["x-hubspot-signature-v3"] == base64.b64encode(signed).decode()


def test_a_workflow_without_an_app_sends_a_key_and_no_signature():
    with working(key="shared-key") as (_, workflows, receiver, *_rest):
        workflows.send({"contact_id": "1"})
        (sent,) = receiver.calls
    assert sent.headers["x-leadrota-key"] == "shared-key"
    assert not [name for name in sent.headers if name.startswith("x-hubspot")]


@pytest.mark.parametrize("proxy", sorted(PROXIES))
def test_a_proxy_in_front_changes_headers_and_no_signature(proxy):
    with working(public_url="https://leads.example.test") as (_, workflows, receiver, *_rest):
        workflows.send({"contact_id": "1"})
        workflows.proxy = proxy
        workflows.send({"contact_id": "1"})
        plain, proxied = receiver.calls
    for name, value in PROXIES[proxy].items():
        assert proxied.headers[name.lower()] == value
    assert plain.headers["x-hubspot-signature"] == proxied.headers["x-hubspot-signature"]


# -- retries


def test_a_refusal_is_final():
    with working() as (_, workflows, receiver, *_rest):
        receiver.faults.add(status=401, times=None)
        workflows.enroll({"contact_id": "1"})
        workflows.flush()
        assert [one.status for one in workflows.tries] == [401]
        assert [task.body for task in workflows.lost] == [{"contact_id": "1"}]


@pytest.mark.parametrize("fault", [{"status": 503}, {"drop": "after"}, {"status": 429}])
def test_what_fails_or_must_wait_comes_again(fault):
    with working() as (_, workflows, receiver, *_rest):
        receiver.faults.add(**fault, times=2)
        workflows.enroll({"contact_id": "1"})
        workflows.flush()
        assert [one.status for one in workflows.tries] == [fault.get("status")] * 2 + [200]
        assert workflows.lost == []


def test_retry_after_counts_milliseconds():
    with working(delay_factor=1) as (_, workflows, receiver, *_rest):
        receiver.faults.add(status=429, headers={"Retry-After": "20"})
        workflows.enroll({"contact_id": "1"})
        workflows.flush(timeout=10)  # 20 seconds would be too long, as would the usual minute
        assert [one.status for one in workflows.tries] == [429, 200]


def test_after_three_days_a_request_is_lost():
    with working(delay_factor=0) as (_, workflows, receiver, *_rest):
        receiver.faults.add(status=500, times=None)
        workflows.enroll({"contact_id": "1"})
        workflows.flush()
        # One minute, doubled nine times to eight hours, which fit into three days seven times.
        assert len(workflows.tries) == 17
        assert len(workflows.lost) == 1


# -- actions


def test_an_action_tells_its_callback_its_record_and_its_fields():
    answer = {"assignedOwnerId": "5501", "hs_execution_state": "SUCCESS"}
    with working(answer) as (portal, workflows, receiver, *_):
        lead = portal.create("contacts", {"email": "ada@example.test", "firstname": "Ada"})
        made = workflows.send(workflows.action("contacts", lead, {"pool": "emea"}, "email"))
        assert made.fields == answer
        (sent,) = [call.json for call in receiver.calls]
        assert sent == {
            "callbackId": "ap-4242-700001-3-0",
            "origin": {"portalId": 4242, "actionDefinitionId": 31, "actionDefinitionVersion": 2},
            "context": {"source": "WORKFLOWS", "workflowId": 8800},
            "object": {
                "objectId": int(lead),
                "objectType": "CONTACT",
                "properties": {"email": "ada@example.test"},
            },
            "inputFields": {"pool": "emea"},
        }
        assert portal.callbacks.waiting() == []
        other = workflows.action("contacts", lead, {})
        assert other["callbackId"] != sent["callbackId"]


def test_an_action_that_blocks_waits_for_its_callback():
    answer = {"hs_execution_state": "BLOCK", "hs_expiration_duration": "P2D"}
    with working(answer) as (portal, workflows, _, call, clock):
        lead = portal.create("contacts", {})
        action = workflows.action("contacts", lead, {})
        workflows.enroll(action)
        workflows.flush()
        assert portal.callbacks.waiting() == [action["callbackId"]]
        assert call.complete(action["callbackId"], {"assignedOwnerId": "5501"}).status_code == 204
        assert portal.completed == {action["callbackId"]: {"assignedOwnerId": "5501"}}
        late = workflows.action("contacts", lead, {})
        workflows.send(late)
        clock.move(days=2)
        assert call.complete(late["callbackId"], {}).status_code == 404


def test_an_action_that_is_tried_again_keeps_its_callback():
    with working({"hs_execution_state": "SUCCESS"}) as (portal, workflows, receiver, *_):
        receiver.faults.add(status=500)
        workflows.enroll(workflows.action("contacts", portal.create("contacts", {}), {}))
        workflows.flush()
        first, second = (call.json["callbackId"] for call in receiver.calls)
        assert first == second


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"outputFields": 1}', b""])
def test_an_answer_that_is_none_has_no_fields(body):
    with working() as (_, workflows, receiver, *_rest):
        receiver.faults.add(status=200, body=body)
        assert workflows.send({"callbackId": "ap-1"}).fields == {}


def test_the_editor_asks_for_options_signed_by_v2():
    with working() as (_, workflows, receiver, *_rest):
        made = workflows.ask_options(query="emea", after="50")
        assert made.answer == {"status": "accepted"}
        (sent,) = receiver.calls
        told = json.loads(sent.body)
        assert told["fetchOptions"] == {"q": "emea", "after": "50"}
        assert (told["inputFieldName"], told["origin"]["portalId"]) == ("pool", 4242)
        assert sent.headers["x-hubspot-signature-version"] == "v2"
