"""What a custom workflow action asks, and what it is answered."""

import json

import pytest

from adapters.hubspot import receiver
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import WebhookRefused
from connector.model import EventKind
from connector.ports import Delivery, Question, Received, Verdict

V2 = {"x-hubspot-signature": "checked before", "x-hubspot-signature-version": "v2"}
V3 = {"x-hubspot-signature-v3": "checked before", "x-hubspot-request-timestamp": "1790000001000"}
KEY = {"x-leadrota-key": "checked before"}
ACTION = {
    "callbackId": "ap-4242-700001-3-0",
    "origin": {"portalId": 4242, "actionDefinitionId": 31, "actionDefinitionVersion": 2},
    "context": {"source": "WORKFLOWS", "workflowId": 8800},
    "object": {
        "objectId": 88000000123,
        "objectType": "CONTACT",
        "properties": {"email": "lead@example.test"},
    },
    "inputFields": {"pool": "emea-sdr"},
}
VERDICT = Verdict(
    owner_id="5501",
    owner_email="rep@example.test",
    user_name="Bob",
    pool="EMEA",
    reason="rotation",
)


def hubspot(**changes):
    values = {
        "name": "hubspot",
        "access_token": "token",
        "client_secret": "secret",
        "public_url": "https://connector.example.test",
        "portal_id": "4242",
    }
    return receiver(HubSpotSettings(**(values | changes)))


def asked(*, proof=V2, settings=None, **changes):
    body = json.dumps(ACTION | changes).encode()
    headers = {"content-type": "application/json", **proof}
    delivery = Delivery(method="POST", target="/webhooks/hubspot", headers=headers, body=body)
    return hubspot(**(settings or {})).parse(delivery)


def enrolled(**changes):
    return asked(object={"objectId": 88000000123} | changes, settings={"objects": ROUTED}).event


ROUTED = ("contacts", "leads", "line_items", "2-31337", "p4242_pets")


@pytest.mark.parametrize("proof", [V2, V3], ids=["v2", "v3"])
def test_an_action_asks_who_gets_its_record(proof):
    question = asked(proof=proof)

    assert isinstance(question, Question)
    assert question.callback_id == "ap-4242-700001-3-0"
    assert question.event.kind is EventKind.CREATED
    assert (question.event.object_type, question.event.record_id) == ("contacts", "88000000123")
    assert (question.event.account, question.event.pool) == ("4242", "emea-sdr")
    assert question.event.ignored is None
    assert question.event.payload == ACTION


def test_an_action_is_not_taken_by_the_key():
    with pytest.raises(WebhookRefused) as caught:
        asked(proof=KEY, settings={"webhook_key": "checked before"})

    assert (caught.value.status, caught.value.code) == (401, "missing_signature")


@pytest.mark.parametrize(
    ("given", "object_type"),
    [
        ({"objectType": "CONTACT"}, "contacts"),
        ({"objectType": "LINE_ITEM"}, "line_items"),
        ({"objectType": "0-136"}, "leads"),
        ({"objectTypeId": "0-136", "objectType": "CONTACT"}, "leads"),
        ({"objectTypeId": "2-31337"}, "2-31337"),
        ({"objectType": "p4242_pets"}, "p4242_pets"),
        ({}, "contacts"),
    ],
    ids=str,
)
def test_the_object_type_is_given_by_name_or_id(given, object_type):
    event = enrolled(**given)

    assert (event.object_type, event.ignored) == (object_type, None)


@pytest.mark.parametrize(
    ("changes", "ignored"),
    [
        ({"origin": {"portalId": 4243}}, "other_portal"),
        ({"origin": {}}, "other_portal"),
        ({"object": {"objectId": 1, "objectType": "DEAL"}}, "object_not_routed"),
        ({"object": {"objectId": 1, "objectType": 5}}, "object_not_routed"),
        ({"object": {"objectId": "x", "objectType": "CONTACT"}}, "bad_record_id"),
        ({"object": {"objectId": 1.5, "objectType": "CONTACT"}}, "bad_record_id"),
        ({"object": {"objectType": "CONTACT"}}, "no_record_id"),
        ({"object": None}, "no_record_id"),
        ({"object": [1]}, "no_record_id"),
    ],
    ids=str,
)
def test_an_action_that_cannot_be_answered_says_why(changes, ignored):
    question = asked(**changes)

    assert isinstance(question, Question)
    assert question.event.ignored == ignored


@pytest.mark.parametrize(
    ("fields", "pool"),
    [
        ({"pool": " EMEA "}, "EMEA"),
        ({"pool": ""}, None),
        ({"pool": "  "}, None),
        ({"pool": None}, None),
        ({"pool": 7}, "7"),
        ({"pool": {"value": "EMEA"}}, '{"value": "EMEA"}'),
        ({}, None),
        (None, None),
        (["pool"], None),
    ],
    ids=str,
)
def test_an_action_may_name_a_pool(fields, pool):
    assert asked(inputFields=fields).event.pool == pool


@pytest.mark.parametrize("callback_id", ["", " ", None, 7, ["a"], "x" * 201], ids=repr)
def test_an_action_that_nothing_can_be_told_later_is_refused(callback_id):
    with pytest.raises(WebhookRefused) as caught:
        asked(callbackId=callback_id)

    assert (caught.value.status, caught.value.code) == (400, "bad_body")


@pytest.mark.parametrize("changes", [{"origin": None}, {"origin": "x"}, {"origin": [1]}], ids=str)
def test_a_flat_body_with_a_callback_id_of_its_own_is_no_action(changes):
    assert isinstance(asked(objectId=1, **changes), Received)


def test_the_same_question_has_the_same_key_whatever_else_it_says():
    again = asked(proof=V3, context=None, inputFields={"pool": "other"})

    assert again.event.key == asked().event.key
    assert asked(callbackId="ap-4242-700001-3-1").event.key != asked().event.key


def answered(verdict):
    answer = asked().answer(verdict)
    assert (answer.status, answer.content_type) == (200, "application/json")
    return json.loads(answer.body)


def test_a_verdict_goes_back_as_output_fields():
    assert answered(VERDICT) == {
        "outputFields": {
            "assignedOwnerId": "5501",
            "assignedOwnerEmail": "rep@example.test",
            "assignedUserName": "Bob",
            "pool": "EMEA",
            "reason": "rotation",
            "hs_execution_state": "SUCCESS",
        }
    }


def test_without_a_verdict_the_workflow_waits_for_a_week():
    assert answered(None) == {
        "outputFields": {"hs_execution_state": "BLOCK", "hs_expiration_duration": "P7D"}
    }


def test_a_verdict_without_an_owner_lets_the_workflow_go_on_as_failed():
    nobody = Verdict(owner_id="", owner_email="", user_name="", pool="", reason="other_portal")
    fields = answered(nobody)["outputFields"]

    assert fields["hs_execution_state"] == "FAIL_CONTINUE"
    assert (fields["assignedOwnerId"], fields["reason"]) == ("", "other_portal")
