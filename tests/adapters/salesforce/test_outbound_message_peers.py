"""Two senders that know nothing of our parser: zeep, and the sandbox org with its strict Ack."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
import zeep
from werkzeug import Request, Response
from werkzeug.serving import make_server

from adapters.salesforce import receiver
from adapters.salesforce.org import SalesforceCrm
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_ids import widen
from adapters.sandbox.salesforce_sender import SalesforceSender
from connector.errors import WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Delivery, OwnerWrite

KEY = "k+y/&=ü"
QUERY = "?key=k%2By%2F%26%3D%C3%BC"
NOW = datetime(2026, 11, 30, 9, 20, tzinfo=UTC)


class Listener:
    """A web server that hands each request to our receiver and keeps what it makes of it."""

    def __init__(self, settings: SalesforceSettings) -> None:
        self.receiver = receiver(settings)
        self.events: list[LeadEvent] = []
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)  # type: ignore[arg-type]
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks/salesforce"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @Request.application
    def _serve(self, request: Request) -> Response:
        delivery = Delivery(
            method=request.method,
            target=request.environ["REQUEST_URI"],
            headers={name.lower(): value for name, value in request.headers.items()},
            body=request.get_data(),
        )
        try:
            self.receiver.verify(delivery, NOW)
            received = self.receiver.parse(delivery)
            self.events += received.events
            answer = received.answer
        except WebhookRefused as refusal:
            refused = self.receiver.refused(refusal, delivery)
            assert refused is not None
            answer = refused
        return Response(answer.body, answer.status, content_type=answer.content_type)


@pytest.fixture
def listener(make_settings: Callable[..., SalesforceSettings]) -> Iterator[Listener]:
    with closing(Listener(make_settings(webhook_key=KEY))) as opened:
        yield opened


@pytest.fixture
def sender(org: SalesforceSandbox, listener: Listener) -> SalesforceSender:
    return SalesforceSender(org, listener.url, key=KEY)


# -- zeep


class SoapClient:
    """zeep with a WSDL of ours."""

    def __init__(self, wsdl: str, url: str, session: requests.Session) -> None:
        transport = zeep.Transport(session=session)
        self._client = zeep.Client(str(Path(__file__).with_name(wsdl)), transport=transport)
        self._url = url

    def record(self, object_type: str, **fields: object) -> Any:
        """A record of a type that the WSDL names, sent with its ``xsi:type``."""
        kind = self._client.get_type(f"{{urn:sobject.enterprise.soap.sforce.com}}{object_type}")
        return kind(**fields)

    def notify(
        self, *records: Any, query: str = QUERY, org_id: str = "00D5g000000XyZ1EAK", first: int = 0
    ) -> Any:
        """Send one outbound message; returns what the client takes the answer for."""
        binding = "{http://soap.sforce.com/2005/09/outbound}NotificationBinding"
        return self._client.create_service(binding, self._url + query).notifications(
            OrganizationId=org_id,
            ActionId="04k5g0000004C92AAE",
            SessionId=zeep.xsd.Nil,
            EnterpriseUrl="https://acme.my.salesforce.com/services/Soap/c/68.0/00D5g000000XyZ1",
            PartnerUrl="https://acme.my.salesforce.com/services/Soap/u/68.0/00D5g000000XyZ1",
            Notification=[
                {"Id": f"04l{number:012}AAA", "sObject": record or {}}
                for number, record in enumerate(records, first)
            ],
        )


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as opened:
        yield opened


@pytest.fixture
def notify(listener: Listener, session: requests.Session) -> Callable[..., Any]:
    """Send one outbound message about leads; returns what zeep takes the answer for."""
    return SoapClient("lead.wsdl", listener.url, session).notify


def test_a_soap_client_made_from_the_wsdl_is_understood_and_takes_our_ack(
    listener: Listener, notify: Callable[..., Any]
) -> None:
    moment = datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)
    lead = {
        "Id": "00Q5e00000XyZzZEAV",
        "Company": "Müller & Søn <A/S>",
        "CreatedDate": moment,
        "LastModifiedDate": moment,
        "OwnerId": "00G8Z000001qRsTUAU",
    }
    assert notify(lead) is True
    (event,) = listener.events
    assert (event.object_type, event.record_id, event.ignored) == ("Lead", lead["Id"], None)
    assert (event.kind, event.occurred_at) == (EventKind.CREATED, moment)
    assert event.owner_id == lead["OwnerId"]
    assert event.payload["Company"] == lead["Company"]


def test_a_soap_client_may_send_a_hundred_at_once(
    listener: Listener, notify: Callable[..., Any]
) -> None:
    assert notify(*({"Id": f"00Q{n:012}EAA"} for n in range(100))) is True
    assert len({event.record_id for event in listener.events}) == 100


def test_a_soap_client_may_tell_of_a_record_that_is_gone(
    listener: Listener, notify: Callable[..., Any]
) -> None:
    assert notify(None) is True
    assert [event.ignored for event in listener.events] == ["record_deleted"]


def test_a_soap_client_understands_our_refusal(
    listener: Listener, notify: Callable[..., Any]
) -> None:
    with pytest.raises(zeep.exceptions.Fault, match="bad_key"):
        notify({"Id": "00Q5e00000XyZzZEAV"}, query="?key=wrong")
    assert listener.events == []


def test_a_soap_client_of_another_org_is_told_so_in_a_fault(
    listener: Listener, notify: Callable[..., Any]
) -> None:
    with pytest.raises(zeep.exceptions.Fault, match="foreign_org"):
        notify({"Id": "00Q5e00000XyZzZEAV"}, org_id="00D5g000000XyZ2EAK")
    assert listener.events == []


@pytest.mark.parametrize(
    ("object_type", "prefix"), [("Opportunity", "006000000"), ("Thing__c", "a0D300000")]
)
def test_a_soap_client_may_name_any_object_by_its_type(
    make_settings: Callable[..., SalesforceSettings],
    session: requests.Session,
    object_type: str,
    prefix: str,
) -> None:
    settings = make_settings(objects=("Opportunity", "Thing__c"))
    with closing(Listener(settings)) as listener:
        client = SoapClient("any_object.wsdl", listener.url, session)
        ids = [f"{prefix}{number:06}" for number in range(100)]
        records = [
            client.record(object_type, Id=widen(one), Name="Øst", OwnerId="0055g000009AbCdAAK")
            for one in ids
        ]
        assert client.notify(*records) is True
        assert client.notify(client.record(object_type, Id=widen(ids[0])), first=100) is True
    assert [event.record_id[:15] for event in listener.events] == [*ids, ids[0]]
    told = {(event.object_type, event.ignored) for event in listener.events}
    assert told == {(object_type, None)}
    assert {event.owner_id for event in listener.events} == {"0055g000009AbCdAAK", None}
    assert len({event.key for event in listener.events}) == 101


# -- the sandbox org


def test_an_orgs_message_is_taken_in_and_acknowledged(
    org: SalesforceSandbox, sender: SalesforceSender, listener: Listener
) -> None:
    queue = org.add_queue("New leads")
    lead = org.create("Lead", {"LastName": "Exämple", "OwnerId": queue})
    assert sender.send([lead]) == (200, True)
    (event,) = listener.events
    assert (event.record_id, event.owner_id, event.kind) == (lead, queue, EventKind.CREATED)
    assert event.payload["LastName"] == "Exämple"


def test_a_message_that_comes_twice_has_the_same_keys(
    org: SalesforceSandbox, sender: SalesforceSender, listener: Listener
) -> None:
    sender.is_repeated = True
    sender.enqueue([org.create("Lead", {"LastName": str(n)}) for n in range(100)])
    assert sender.deliver() == 100
    assert len(listener.events) == 200
    assert len({event.key for event in listener.events}) == 100


def test_a_record_deleted_before_sending_is_acknowledged_and_ignored(
    org: SalesforceSandbox, sender: SalesforceSender, listener: Listener
) -> None:
    lead = org.create("Lead", {})
    org.delete(lead)
    assert sender.send([lead]) == (200, True)
    assert [event.ignored for event in listener.events] == ["record_deleted"]


def test_another_org_is_not_acknowledged(
    org: SalesforceSandbox, sender: SalesforceSender, listener: Listener
) -> None:
    sender.org_id = "00D5g000000XyZ2EAK"
    assert sender.send([org.create("Lead", {})]) == (403, False)
    assert listener.events == []


def test_a_message_without_the_key_is_not_acknowledged(
    org: SalesforceSandbox, listener: Listener
) -> None:
    sender = SalesforceSender(org, listener.url)
    assert sender.send([org.create("Lead", {})]) == (401, False)


def test_a_lead_goes_from_the_message_to_its_owner(
    org: SalesforceSandbox, sender: SalesforceSender, listener: Listener, crm: SalesforceCrm
) -> None:
    ann = org.add_user("Ann", "ann@example.com")
    leads = [
        org.create("Lead", {"Company": str(n), "OwnerId": org.add_queue(f"Queue {n}")})
        for n in range(3)
    ]
    sender.send(leads)
    ids = [event.record_id for event in listener.events]
    read = crm.read_records("Lead", ids)
    assert [(record.company, record.owner_stays) for record in read.values()] == [
        (str(n), False) for n in range(3)
    ]
    crm.write_owners("Lead", [OwnerWrite(record_id=i, owner_id=ann) for i in ids])
    again = crm.read_records("Lead", ids)
    assert {(record.owner_id, record.owner_stays) for record in again.values()} == {(ann, True)}
