"""The webhooks of the sandbox HubSpot: shapes, signatures, repeats, order, echo.

The receiver is a bare sandbox, so its faults decide how a delivery fares.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hubspot_caller import START, Clock, serving
from werkzeug.wrappers import Response

from adapters.sandbox.hubspot_events import signed_headers
from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.hubspot_signatures import PROXIES
from adapters.sandbox.server import Sandbox

OWNER = "hubspot_owner_id"
SECRET = "test-client-secret-0001"
PATH = "/webhooks/hubspot"
BASE = "https://connector.example.test/webhooks/hubspot"
BODY_A = (
    b'[{"eventId":501,"subscriptionId":77,"portalId":4242,"appId":9001,'
    b'"occurredAt":1790000000000,"subscriptionType":"contact.creation","attemptNumber":0,'
    b'"objectId":88000000123,"changeFlag":"CREATED","changeSource":"FORM"}]'
)


@contextmanager
def sending(**settings):
    """A portal, its sender, a receiver that says 204, and an API caller."""
    with serving(client_secret=SECRET) as (portal, call, _), Sandbox() as receiver:
        receiver.route("POST", PATH, lambda request: Response(status=204))
        with HubSpotSender(portal, receiver.url + PATH, **settings) as sender:
            yield portal, sender, receiver, call


def received(receiver):
    return [event for call in receiver.calls for event in call.json]


# -- signatures


def test_signatures_match_the_published_ones():
    at = datetime.fromtimestamp(1_790_000_001, tz=UTC)
    headers = signed_headers(secret=SECRET, url=BASE, body=BODY_A, at=at)
    v1 = "89ea3bd8c494adabd245504e47039cf6bd8e227ed4ba1ee0edd83ba05e9048c4"
    assert headers["X-HubSpot-Signature"] == v1
    assert headers["X-HubSpot-Signature-Version"] == "v1"
    assert headers["X-HubSpot-Signature-v3"] == "nWVeKFjCXt+jSf0J+jLZbhTpIEe47ZK1/b8hP2SNEBY="
    assert headers["X-HubSpot-Request-Timestamp"] == "1790000001000"


def test_only_the_listed_percent_signs_are_decoded_before_signing():
    at = datetime.fromtimestamp(1_790_000_001, tz=UTC)
    body = b'{"objectId":88000000123,"email":"lead@example.test","firstname":"Ada"}'
    url = BASE + "?pool=emea%3Asdr&x=%28a%29&y=a%20b"
    headers = signed_headers(secret=SECRET, url=url, body=body, at=at)
    assert headers["X-HubSpot-Signature-v3"] == "I9XReGH6A8XEKauAQCQBzlA5Cn9yFSKYKwbseqN+NlI="


@pytest.mark.parametrize("public_url", ["https://leads.example.test", BASE, None])
def test_requests_are_signed_for_the_address_that_hubspot_knows(public_url):
    with sending(public_url=public_url) as (_, sender, receiver, _call):
        assert sender.send([sender.event("creation", "contacts", "88000000123")]) == 204
        (call,) = receiver.calls
    known = {"https://leads.example.test": "https://leads.example.test" + PATH, BASE: BASE}
    url = known.get(public_url, sender.target_url)
    stamp = call.headers["x-hubspot-request-timestamp"]
    signed = b"POST" + url.encode() + call.body + stamp.encode()
    v3 = base64.b64encode(hmac.digest(SECRET.encode(), signed, "sha256")).decode()
    assert call.headers["x-hubspot-signature-v3"] == v3
    v1 = hashlib.sha256(SECRET.encode() + call.body).hexdigest()
    assert call.headers["x-hubspot-signature"] == v1


def test_each_try_is_signed_afresh():
    steps = count()
    with sending(clock=lambda: START + timedelta(hours=next(steps))) as (portal, sender, rec, _):
        rec.faults.add(status=500, times=2)
        portal.create("contacts", {})
        sender.flush()
        stamps = [call.headers["x-hubspot-request-timestamp"] for call in rec.calls]
        signatures = {call.headers["x-hubspot-signature-v3"] for call in rec.calls}
    assert len(set(stamps)) == len(signatures) == 3


# -- shapes


def test_a_new_contact_is_told_in_the_classic_form():
    with sending() as (portal, sender, receiver, _):
        lead = portal.create("contacts", {"email": "ada@example.test"}, source="IMPORT")
        sender.flush()
        assert received(receiver) == [
            {
                "eventId": 501,
                "subscriptionId": 70,
                "portalId": 4242,
                "appId": 9001,
                "occurredAt": int(START.timestamp() * 1000),
                "subscriptionType": "contact.creation",
                "attemptNumber": 0,
                "objectId": int(lead),
                "changeSource": "IMPORT",
                "changeFlag": "CREATED",
            }
        ]


def test_a_lead_has_the_generic_form_only():
    with sending() as (portal, sender, receiver, _):
        portal.create("leads", {"hs_lead_name": "Ada Example"})
        sender.flush()
        (event,) = received(receiver)
    told = (event["subscriptionType"], event["objectTypeId"], event["changeFlag"])
    assert told == ("object.creation", "0-136", "NEW")


def test_contacts_can_be_told_in_the_generic_form_too():
    with sending() as (portal, sender, receiver, _):
        sender.generic = True
        lead = portal.create("contacts", {})
        portal.set_owner("contacts", lead, "5501")
        sender.flush()
        kinds = {event["subscriptionType"]: event for event in received(receiver)}
    assert set(kinds) == {"object.creation", "object.propertyChange"}
    change = kinds["object.propertyChange"]
    assert (change["objectTypeId"], change["isSensitive"]) == ("0-1", False)


def test_an_owner_set_by_a_person_is_told_with_his_user_id():
    with sending() as (portal, sender, receiver, _):
        lead = portal.create("contacts", {})
        portal.set_owner("contacts", lead, "5501", user_id=12)
        portal.edit("contacts", lead, {"firstname": "Ada"})
        sender.flush()
        changes = [e for e in received(receiver) if "propertyName" in e]
    told = [(e["propertyName"], e["propertyValue"], e["changeSource"]) for e in changes]
    assert told == [(OWNER, "5501", "CRM_UI")]
    assert changes[0]["sourceId"] == "userId:12"


def test_a_merge_is_told_with_the_deletion_of_those_who_are_gone():
    with sending() as (portal, sender, receiver, _):
        first, second = portal.create("contacts", {}), portal.create("contacts", {})
        survivor = portal.merge(first, [second], new_id=True)
        sender.flush()
        events = received(receiver)
    gone = {e["objectId"] for e in events if e["subscriptionType"] == "contact.deletion"}
    assert gone == {int(first), int(second)}
    (merge,) = [e for e in events if e["subscriptionType"] == "contact.merge"]
    assert merge["objectId"] == merge["newObjectId"] == int(survivor)
    assert (merge["primaryObjectId"], merge["mergedObjectIds"]) == (int(first), [int(second)])
    assert not [e for e in events if e["subscriptionType"] == "contact.propertyChange"]


def test_a_deletion_for_privacy_is_told_twice_and_never_in_the_generic_form():
    with sending() as (portal, sender, receiver, call):
        sender.generic = True
        lead = portal.create("contacts", {})
        portal.forget("contacts", lead)
        sender.flush()
        kinds = {event["subscriptionType"] for event in received(receiver)}
        assert kinds == {"object.creation", "contact.privacyDeletion", "object.deletion"}
        assert call.record(lead, archived="true").status_code == 404


def test_a_deleted_record_may_come_back():
    with sending() as (portal, sender, receiver, _):
        lead = portal.create("contacts", {})
        portal.delete("contacts", lead)
        portal.restore("contacts", lead)
        sender.flush()
        kinds = {event["subscriptionType"] for event in received(receiver)}
        assert kinds == {"contact.creation", "contact.deletion", "contact.restore"}


def links_told(receiver):
    return [e for e in received(receiver) if e["subscriptionType"].endswith("associationChange")]


def test_an_association_is_told_once_per_side_and_a_primary_one_twice():
    with sending() as (portal, sender, receiver, _):
        lead, firm = portal.create("contacts", {}), portal.create("companies", {})
        portal.link("contacts", lead, "companies", firm, primary=True)
        sender.flush()
        events = links_told(receiver)
        assert not [event for event in events if "objectId" in event]
        told = Counter(
            (e["subscriptionType"], e["associationType"], e["isPrimaryAssociation"]) for e in events
        )
        contact, company = "contact.associationChange", "company.associationChange"
        assert told == {
            (contact, "CONTACT_TO_COMPANY", False): 1,
            (contact, "CONTACT_TO_COMPANY", True): 1,
            (company, "COMPANY_TO_CONTACT", False): 1,
            (company, "COMPANY_TO_CONTACT", True): 1,
        }
        ends = {(e["fromObjectId"], e["toObjectId"], e["associationRemoved"]) for e in events}
        assert ends == {(int(lead), int(firm), False), (int(firm), int(lead), False)}
        receiver.forget_calls()
        portal.unlink("contacts", lead, "companies", firm)
        sender.flush()
        assert [event["associationRemoved"] for event in links_told(receiver)] == [True] * 4


def test_an_association_of_a_lead_names_type_ids():
    with sending() as (portal, sender, receiver, _):
        lead, person = portal.create("leads", {}), portal.create("contacts", {})
        portal.link("leads", lead, "contacts", person, primary=True)
        sender.flush()
        events = [e for e in links_told(receiver) if e.get("objectTypeId") == "0-136"]
        assert {e["associationTypeId"] for e in events} == {578, 608}
        for event in events:
            assert event["subscriptionType"] == "object.associationChange"
            assert event["associationCategory"] == "HUBSPOT_DEFINED"
            assert (event["fromObjectTypeId"], event["toObjectTypeId"]) == ("0-136", "0-1")


# -- delivery


def test_our_own_write_comes_back_as_an_echo():
    with sending() as (portal, sender, receiver, call):
        owner = portal.add_owner("ann@example.test")
        lead = portal.create("contacts", {})
        call.patch(lead, {OWNER: owner})
        sender.flush()
        (echo,) = [e for e in received(receiver) if "propertyName" in e]
        told = (echo["propertyValue"], echo["changeSource"], echo["sourceId"])
        assert told == (owner, "INTEGRATION", "9001")
        sender.echo = False
        call.patch(lead, {OWNER: ""})
        sender.flush()
        assert len([e for e in received(receiver) if "propertyName" in e]) == 1


def test_gathered_events_leave_in_batches_of_a_hundred():
    with sending() as (portal, sender, receiver, _):
        with sender.held():
            leads = [portal.create("contacts", {}, source="IMPORT") for _ in range(250)]
        sender.flush()
        sizes = sorted(len(call.json) for call in receiver.calls)
        assert sizes == [50, 100, 100]
        assert {str(event["objectId"]) for event in received(receiver)} == set(leads)


def test_an_import_of_a_thousand_comes_in_ten_requests():
    with sending() as (portal, sender, receiver, _):
        with sender.held():
            ids = portal.import_records("contacts", [{}] * 1000)
        sender.flush()
        events = received(receiver)
        assert [len(call.json) for call in receiver.calls] == [100] * 10
        assert {event["changeSource"] for event in events} == {"IMPORT"}
        assert {str(event["objectId"]) for event in events} == set(ids)


@pytest.mark.parametrize("proxy", sorted(PROXIES))
def test_a_proxy_in_front_adds_headers(proxy):
    with sending(public_url="https://leads.example.test") as (_, sender, receiver, _call):
        sender.proxy = proxy
        assert sender.send([sender.event("creation", "contacts", "88000000123")]) == 204
        (call,) = receiver.calls
    for name, value in PROXIES[proxy].items():
        assert call.headers[name.lower()] == value


@pytest.mark.parametrize("fault", [{"status": 400}, {"status": 503}, {"drop": "after"}])
def test_whatever_is_not_taken_comes_back(fault):
    with sending() as (portal, sender, receiver, _):
        receiver.faults.add(**fault)
        portal.create("contacts", {})
        sender.flush()
        assert [event["attemptNumber"] for event in received(receiver)] == [0, 1]
        assert len({event["eventId"] for event in received(receiver)}) == 1
        assert [one.status for one in sender.deliveries] == [fault.get("status"), 204]


def test_a_redirect_is_not_followed():
    with sending() as (portal, sender, receiver, _):
        receiver.faults.add(status=308, headers={"Location": receiver.url + PATH})
        portal.create("contacts", {})
        sender.flush()
        assert [one.status for one in sender.deliveries] == [308, 204]


def test_a_refused_batch_comes_back_in_other_company():
    with sending(delay_factor=0.001) as (portal, sender, receiver, _):
        receiver.faults.add(status=500)
        with sender.held():
            for _ in range(20):
                portal.create("contacts", {})
        sender.flush()
        first, *others = receiver.calls
        assert len(first.json) == 20
        assert len(others) > 1
        assert sum(len(call.json) for call in others) == 20


def test_a_receiver_that_is_down_gets_its_events_later():
    with sending() as (portal, sender, receiver, _):
        receiver.stop()
        portal.create("contacts", {})
        with pytest.raises(TimeoutError):
            sender.flush(timeout=0.05)
        receiver.start()
        sender.flush()
        assert received(receiver)[0]["attemptNumber"] >= 1
        assert sender.lost == []


def test_after_ten_retries_an_event_is_lost():
    with sending(delay_factor=0) as (portal, sender, receiver, _):
        receiver.faults.add(status=500, times=None)
        portal.create("contacts", {})
        sender.flush()
        assert [event["attemptNumber"] for event in received(receiver)] == list(range(11))
        assert len(sender.lost) == 1


@pytest.mark.parametrize(("duplicates", "ids"), [("same_id", 1), ("new_id", 2)])
def test_events_can_come_twice(duplicates, ids):
    with sending() as (portal, sender, receiver, _):
        sender.duplicates = duplicates
        lead = portal.create("contacts", {})
        sender.flush()
        events = received(receiver)
        assert [event["objectId"] for event in events] == [int(lead)] * 2
        assert len({event["eventId"] for event in events}) == ids


def test_events_can_come_in_another_order():
    with sending() as (portal, sender, receiver, _):
        sender.shuffle = True
        with sender.held():
            leads = [int(portal.create("contacts", {})) for _ in range(20)]
        sender.flush()
        told = [event["objectId"] for event in received(receiver)]
        assert Counter(told) == Counter(leads)
        assert told != leads


def test_ten_requests_run_at_a_time_and_no_more():
    with sending() as (portal, sender, receiver, _):
        meeting = threading.Barrier(10, timeout=5)
        running: list[int] = []
        most: list[int] = []

        def meet(request):
            running.append(1)
            most.append(len(running))
            meeting.wait()
            running.pop()
            return Response(status=204)

        receiver.route("POST", "/met", meet)
        sender.target_url = receiver.url + "/met"
        sender.batch_size = 1
        with sender.held():
            for _ in range(40):
                portal.create("contacts", {})
        sender.flush()
        assert [call.status for call in receiver.calls] == [204] * 40
        assert max(most) == 10


def test_one_request_can_be_sent_by_hand():
    clock = Clock()
    with sending(clock=clock) as (_, sender, receiver, _call):
        clock.move(hours=1)
        event = sender.event("propertyChange", "contacts", "88000000123", name=OWNER, value="")
        receiver.faults.add(status=401)
        assert [sender.send([event]), sender.send([event])] == [401, 204]
        assert [call.json for call in receiver.calls] == [[json.loads(json.dumps(event))]] * 2
        assert event["occurredAt"] == int(clock.now.timestamp() * 1000)
