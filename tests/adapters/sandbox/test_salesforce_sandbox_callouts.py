"""The sandbox org's callouts, heard by a plain HTTP listener."""

from __future__ import annotations

import json

import pytest
from salesforce_caller import START, serving
from werkzeug import Response

from adapters.sandbox.salesforce_callouts import SalesforceCallouts
from adapters.sandbox.server import Sandbox


class Listener(Sandbox):
    """Hears what is told, and answers as it is asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.status = 202
        self.route("POST", "/hook", lambda _: Response("{}", self.status))

    @property
    def bodies(self) -> list[dict]:
        return [json.loads(call.body) for call in self.calls]


@pytest.fixture
def listener():
    with Listener() as heard:
        yield heard


@pytest.fixture
def at(listener):
    with (
        serving() as (org, call, clock),
        SalesforceCallouts(org, f"{listener.url}/hook", key="secret") as callouts,
    ):
        yield org, call, clock, callouts


def test_a_new_lead_is_told_as_json_with_the_key(at, listener):
    org, _, _, callouts = at
    lead = org.create("Lead", {"LastName": "Example"})
    callouts.flush()
    (told,) = listener.calls
    assert told.headers["x-leadrota-key"] == "secret"
    assert told.headers["content-type"] == "application/json"
    assert listener.bodies == [
        {
            "orgId": "00D5g000000XyZ1EAK",
            "object": "Lead",
            "event": "created",
            "records": [
                {
                    "Id": lead,
                    "OwnerId": org.integration_user,
                    "CreatedDate": "2026-11-30T09:15:07.000+0000",
                    "LastModifiedDate": "2026-11-30T09:15:07.000+0000",
                }
            ],
        }
    ]


def test_each_kind_of_change_has_its_word(at, listener):
    org, _, _, callouts = at
    lead = org.create("Lead", {"LastName": "Example"})
    org.change(lead, {"Country": "DE"})
    org.delete(lead)
    org.undelete(lead)
    org.create("Contact", {"LastName": "Nobody asked for"})
    callouts.flush()
    told = [body["event"] for body in listener.bodies]
    assert told == ["created", "updated", "deleted", "undeleted"]


def test_an_automation_may_be_for_some_changes_only(at, listener):
    org, _, _, callouts = at
    callouts.events = ("created",)
    lead = org.create("Lead", {"LastName": "Example"})
    org.change(lead, {"Country": "DE"})
    callouts.flush()
    assert [body["event"] for body in listener.bodies] == ["created"]


def test_a_call_in_vain_is_never_made_again(at, listener):
    org, _, _, callouts = at
    listener.status = 503
    org.create("Lead", {"LastName": "Example"})
    callouts.flush()
    listener.stop()
    org.create("Lead", {"LastName": "Example"})
    callouts.flush()
    assert callouts.failures == [503, 0]
    assert len(listener.calls) == 1


def test_our_own_write_is_told_unless_the_flow_leaves_it_out(at, listener):
    org, call, _, callouts = at
    lead = org.create("Lead", {"LastName": "Example"})
    call.patch(lead, {"Country": "DE"})
    callouts.echoes = False
    call.patch(lead, {"Country": "AT"})
    callouts.flush()
    assert [body["event"] for body in listener.bodies] == ["created", "updated"]


def test_apex_can_tell_of_many_at_once(at, listener):
    org, _, _, callouts = at
    callouts.objects = ()
    leads = [org.create("Lead", {"LastName": str(number)}, at=START) for number in range(3)]
    callouts.org_id = org.org_id[:15]
    assert callouts.send(leads, "updated") == 202
    (body,) = listener.bodies
    assert [each["Id"] for each in body["records"]] == leads
    assert body["orgId"] == "00D5g000000XyZ1"
    assert callouts.sent == 1
