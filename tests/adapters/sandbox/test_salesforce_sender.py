"""The outbound-message sender: each rule with a check that fails without it, and its switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from salesforce_caller import Caller, Clock, serving
from werkzeug import Request, Response

from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_rules import RULES
from adapters.sandbox.salesforce_sender import SalesforceSender
from adapters.sandbox.server import Sandbox

ACK = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">'
    '<soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound">'
    "<Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>"
)
OUTBOUND = "{http://soap.sforce.com/2005/09/outbound}"
FIELD = "{urn:sobject.enterprise.soap.sforce.com}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"


class Scene(NamedTuple):
    org: SalesforceSandbox
    call: Caller
    clock: Clock
    listener: Sandbox
    sender: SalesforceSender

    def notices(self) -> list[ElementTree.Element]:
        """Every notification that arrived, in order."""
        arrived = (ElementTree.fromstring(call.body) for call in self.listener.calls)
        return [each for body in arrived for each in body.iter(f"{OUTBOUND}Notification")]

    def record_ids(self) -> list[str | None]:
        return [notice.findtext(f".//{FIELD}Id") for notice in self.notices()]

    def answer_with(self, body: str, status: int = 200) -> None:
        self.listener.faults.add("", status=status, body=body, times=None)


@contextmanager
def scene(**settings: object) -> Iterator[Scene]:
    def acknowledge(_: Request) -> Response:
        return Response(ACK, content_type="text/xml; charset=utf-8")

    with serving(**settings) as (org, call, clock), Sandbox() as listener:
        listener.route("POST", "/webhooks/salesforce", acknowledge)
        sender = SalesforceSender(org, f"{listener.url}/webhooks/salesforce", key="a key&more")
        yield Scene(org, call, clock, listener, sender)


def lead(org: SalesforceSandbox, **fields: object) -> str:
    return org.create("Lead", {"LastName": "Example", **fields})


def fields_of(notice: ElementTree.Element) -> dict[str, str | None]:
    (record,) = notice.findall(f"{OUTBOUND}sObject")
    return {child.tag.removeprefix(FIELD): child.text for child in record}


ROWS: list[tuple[str, str, Callable[[Scene], None]]] = []


def keeps(rule: str, source: str) -> Callable:
    def note(check: Callable[[Scene], None]) -> Callable[[Scene], None]:
        ROWS.append((rule, source, check))
        return check

    return note


@keeps("om_headers", "§1a I1 R2")
def messages_are_soap_1_1(at):
    at.sender.send([lead(at.org)])
    (call,) = at.listener.calls
    assert call.headers.get("content-type") == "text/xml; charset=UTF-8"
    assert call.headers.get("soapaction") == '""'


@keeps("om_nil_session", "§1a R1")
def a_session_that_is_not_sent_is_nil(at):
    at.sender.send([lead(at.org)])
    body = ElementTree.fromstring(at.listener.calls[0].body)
    session = body.find(f".//{OUTBOUND}SessionId")
    assert session is not None
    assert session.get(f"{XSI}nil") == "true"


@keeps("om_nulls", "§1a R1 R2, T16")
def null_fields_are_left_out(at):
    at.sender.send([lead(at.org, Company=None)])
    assert b"Company" not in at.listener.calls[0].body


@keeps("om_sorted", "§1a R1")
def fields_come_sorted_after_the_id(at):
    at.sender.send(
        [lead(at.org, Company="Müller & Søn <A/S>", Country="Denmark", Email="a@b.example")]
    )
    names = list(fields_of(at.notices()[0]))
    assert names[0] == "Id"
    assert names[1:] == sorted(names[1:])


@keeps("om_newest", "§1a D1 D3")
def the_newest_values_go_out(at):
    new = lead(at.org, Company="Old")
    at.sender.enqueue([new])
    at.org.change(new, {"Company": "New"})
    at.sender.deliver()
    assert fields_of(at.notices()[0])["Company"] == "New"


@keeps("om_deleted", "§1a D3, T18")
def a_deleted_record_goes_out_empty(at):
    gone = lead(at.org)
    at.sender.enqueue([gone])
    at.org.delete(gone)
    at.sender.deliver()
    assert fields_of(at.notices()[0]) == {}


@keeps("om_limit", "§1a D1 D2, T13")
def a_message_holds_a_hundred(at):
    leads = [lead(at.org) for _ in range(101)]
    assert at.sender.send(leads[:100]) == (200, True)
    assert at.record_ids() == leads[:100]
    try:
        at.sender.send(leads)
    except ValueError:
        return
    raise AssertionError("101 notifications went out in one message")


@keeps("om_ack", "§1a D5 R2, T14")
def only_the_documented_answer_counts(at):
    wrong = [
        "",
        "ok",
        '{"status": "accepted"}',
        "<html>error</html>",
        "\n" + ACK,
        "\n" + ACK.partition("\n")[2],
        ACK.replace("true", "false"),
        ACK.replace("true", "1"),
        ACK.replace(' xmlns="http://soap.sforce.com/2005/09/outbound"', ""),
        ACK.replace("notificationsResponse", "notifications"),
        ACK[:-5],
    ]
    for body in wrong:
        at.listener.faults.clear()
        at.answer_with(body)
        assert at.sender.send([lead(at.org)]) == (200, False), body


@keeps("om_retry", "§1a D3 W12")
def gaps_double_until_the_answer_is_right(at):
    at.answer_with(ACK, status=201)
    at.sender.enqueue([lead(at.org)])
    gaps = []
    for _ in range(10):
        at.sender.deliver()
        assert at.sender.waiting()
        gaps.append((at.sender.waiting()[0].due_at - at.clock()).total_seconds())
        at.clock.move(seconds=gaps[-1])
    assert gaps == [30, 60, 120, 240, 480, 960, 1920, 3840, 7200, 7200]
    at.listener.faults.clear()
    assert at.sender.deliver() == 1
    assert len({notice.findtext(f"{OUTBOUND}Id") for notice in at.notices()}) == 1


@keeps("om_drop", "§1a D1 D3")
def a_message_is_given_up_after_a_day(at):
    at.answer_with("down", status=503)
    at.sender.enqueue([lead(at.org)])
    at.sender.deliver()
    at.clock.move(hours=24)
    at.sender.deliver()
    assert at.sender.waiting()
    at.clock.move(seconds=1)
    at.sender.deliver()
    assert at.sender.waiting() == []
    assert len(at.sender.dropped) == 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_sender_keeps_its_rule(row):
    with scene() as at:
        row[2](at)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_check_fails_without_its_rule(row):
    with scene(without={row[0]}) as at, pytest.raises(AssertionError):
        row[2](at)


def test_every_rule_of_the_sender_has_a_row():
    assert sorted(row[0] for row in ROWS) == sorted(r for r in RULES if r.startswith("om_"))


def test_a_message_looks_as_captured_ones_do():
    with scene() as at:
        user = at.org.add_user("Ann", "ann@example.com")
        new = lead(at.org, OwnerId=user)
        at.sender.send([new])
        body = at.listener.calls[0].body
        assert body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
        assert b"<OrganizationId>00D5g000000XyZ1EAK</OrganizationId>" in body
        assert f"<PartnerUrl>{at.org.url}/services/Soap/u/68.0/00D5g000000XyZ1<".encode() in body
        (notice,) = at.notices()
        assert notice.findtext(f"{OUTBOUND}Id", "").startswith("04l")
        assert notice.find(f"{OUTBOUND}sObject").get(f"{XSI}type") == "sf:Lead"
        assert fields_of(notice) == {
            "Id": new,
            "CreatedDate": "2026-11-30T09:15:07.000Z",
            "LastModifiedDate": "2026-11-30T09:15:07.000Z",
            "LastName": "Example",
            "OwnerId": user,
        }


def test_the_key_travels_in_the_query():
    with scene() as at:
        at.sender.send([lead(at.org)])
        assert at.listener.calls[0].query == "key=a%20key%26more"


def test_a_message_about_two_objects_is_refused():
    with scene() as at, pytest.raises(ValueError, match="one object"):
        at.sender.send([lead(at.org), at.org.create("Account", {"Name": "Acme"})])


def test_an_unknown_record_cannot_be_sent():
    with scene() as at, pytest.raises(KeyError):
        at.sender.send(["00QRR00000AbCdE2AV"])


def test_no_answer_is_status_0():
    with scene() as at:
        at.listener.faults.add("", drop="before")
        assert at.sender.send([lead(at.org)]) == (0, False)


def test_a_new_lead_goes_out_by_itself():
    with scene() as at, at.sender:
        new = lead(at.org)
        assert at.sender.flush(5)
        assert at.record_ids() == [new]


def test_a_write_over_the_api_echoes():
    with scene() as at, at.sender:
        new = lead(at.org)
        user = at.org.add_user("Ann", "ann@example.com")
        at.call.patch(new, {"OwnerId": user})
        at.call.patch_all([{"attributes": {"type": "Lead"}, "id": new, "OwnerId": user}])
        assert at.sender.flush(5)
        owners = [fields_of(notice)["OwnerId"] for notice in at.notices()]
        assert len(owners) == 3
        assert owners[-1] == user


def test_a_user_without_the_permission_echoes_nothing():
    with scene() as at, at.sender:
        at.sender.echoes = False
        new = lead(at.org)
        user = at.org.add_user("Ann", "ann@example.com")
        at.call.patch(new, {"OwnerId": user})
        at.org.change(new, {"Country": "DE"})
        assert at.sender.flush(5)
        assert len(at.notices()) == 2


def test_a_repeated_message_has_the_same_notification_id():
    with scene() as at:
        at.sender.is_repeated = True
        at.sender.enqueue([lead(at.org)])
        at.sender.deliver()
        first, second = (notice.findtext(f"{OUTBOUND}Id") for notice in at.notices())
        assert first == second


def test_messages_can_come_newest_first():
    with scene() as at:
        at.sender.is_out_of_order = True
        leads = [lead(at.org) for _ in range(3)]
        at.sender.enqueue(leads)
        at.sender.deliver()
        assert at.record_ids() == leads[::-1]


def test_a_busy_queue_is_cut_into_messages_of_a_hundred():
    with scene() as at:
        leads = [lead(at.org) for _ in range(250)]
        at.sender.enqueue(leads)
        assert at.sender.deliver() == 250
        assert at.record_ids() == leads
        assert len(at.listener.calls) == 3


def test_gaps_can_be_scaled_down():
    with scene() as at:
        at.sender.retry_scale = 0.001
        at.answer_with("down", status=503)
        at.sender.enqueue([lead(at.org)])
        at.sender.deliver()
        (waiting,) = at.sender.waiting()
        assert (waiting.due_at - at.clock()).total_seconds() == 0.03


def test_a_custom_object_with_its_own_fields_goes_out():
    with scene() as at:
        at.org.add_object("Site__c", ["Region__c"])
        at.sender.objects = ("Lead", "Site__c")
        at.sender.fields = ("Region__c", "OwnerId")
        site = at.org.create("Site__c", {"Name": "S1", "Region__c": "North"})
        assert at.sender.send([site]) == (200, True)
        (notice,) = at.notices()
        assert fields_of(notice)["Region__c"] == "North"
        record = notice.find(f"{OUTBOUND}sObject")
        assert record is not None
        assert record.get(f"{XSI}type") == "sf:Site__c"


def test_each_object_has_a_definition_of_its_own():
    with scene() as at:
        at.sender.objects = ("Lead", "Contact")
        at.sender.send([lead(at.org)])
        at.sender.send([at.org.create("Contact", {"LastName": "Example"})])
        bodies = [ElementTree.fromstring(call.body) for call in at.listener.calls]
        actions = {body.findtext(f".//{OUTBOUND}ActionId") for body in bodies}
        assert len(actions) == 2
        assert all(action.startswith("04k") for action in actions)


def test_no_message_tells_of_a_deletion():
    with scene() as at:
        gone = lead(at.org)
        at.org.on_change(at.sender.notice_change)
        at.org.delete(gone)
        at.org.undelete(gone)
        assert at.sender.waiting() == []
        at.org.change(gone, {"Country": "DE"})
        assert len(at.sender.waiting()) == 1


def test_another_org_and_a_session_id_can_be_sent():
    with scene() as at:
        at.sender.org_id = "00D000000000001EAA"
        at.sender.session_id = "a session"
        at.sender.send([lead(at.org)])
        body = ElementTree.fromstring(at.listener.calls[0].body)
        assert body.findtext(f".//{OUTBOUND}OrganizationId") == "00D000000000001EAA"
        assert body.findtext(f".//{OUTBOUND}SessionId") == "a session"
