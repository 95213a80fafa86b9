"""What is not taken: the right refusal, and nothing of it stored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from adapters.hubspot.signatures import sign_v2
from adapters.sandbox.hubspot_events import signed_headers
from adapters.sandbox.salesforce_sender import SalesforceSender
from adapters.sandbox.salesforce_soap import HEADERS as SOAP_HEADERS
from connector.store.database import Database, connect
from tests.acceptance.stage import KEY, PUBLIC_URL, Stage

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def stage(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for all: nothing is ever stored in it."""
    path = tmp_path_factory.mktemp("refusals") / "test.db"
    shutil.copy(migrated_sqlite, path)
    database = connect(f"sqlite:///{path}")
    with Stage(database) as set_up:
        yield set_up
    database.close()


@pytest.fixture
def fresh(sqlite: Database) -> Iterator[Stage]:
    """One for a test that stores something."""
    with Stage(sqlite) as set_up:
        yield set_up


def post(stage: Stage, path: str, body: Any, headers: dict[str, str]) -> requests.Response:
    return requests.post(f"{stage.url}{path}", data=body, headers=headers, timeout=30)


def to_hubspot(
    stage: Stage, sent: bytes, changes: dict[str, str | None] | None = None, **signed: Any
) -> requests.Response:
    """Post a body as HubSpot would sign it; ``changes`` replace headers, None takes one away.

    ``signed`` replaces what goes into the signature.
    """
    given: dict[str, Any] = {
        "secret": stage.hubspot.client_secret,
        "url": f"{PUBLIC_URL}/webhooks/hubspot",
        "body": sent,
        "at": stage.clock.now,
    }
    headers = signed_headers(**given | signed) | (changes or {})
    kept = {name: value for name, value in headers.items() if value is not None}
    return post(stage, "/webhooks/hubspot", sent, kept)


def to_salesforce(
    stage: Stage, body: Any, key: str | None = KEY, **headers: str
) -> requests.Response:
    query = f"?key={quote(key, safe='')}" if key is not None else ""
    return post(stage, f"/webhooks/salesforce{query}", body, SOAP_HEADERS | headers)


def events(stage: Stage, count: int = 1) -> bytes:
    told = [
        stage.hubspot_sender.event("creation", "contacts", one) for one in stage.contacts(count)
    ]
    return json.dumps(told).encode()


def message(stage: Stage, org_id: str | None = None) -> bytes:
    sender = SalesforceSender(stage.salesforce, stage.url)
    sender.org_id = org_id or sender.org_id
    sender.enqueue(stage.leads(1))
    return sender.write(sender.waiting())


def refused(stage: Stage, answer: requests.Response, status: int, code: str) -> None:
    """A problem for HubSpot, a fault for Salesforce, and an inbox in which nothing is."""
    assert answer.status_code == status, answer.text
    if "/webhooks/salesforce" in answer.url:
        assert answer.headers["Content-Type"].startswith("text/xml")
        assert "Fault" in answer.text
        assert code in answer.text
        assert "Ack" not in answer.text
    else:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == code
    assert stage.inbox() == {}


def test_a_good_delivery_passes_all_these_checks(fresh: Stage) -> None:
    assert (answer := to_hubspot(fresh, events(fresh))).status_code == 204
    assert answer.content == b""
    assert to_salesforce(fresh, message(fresh)).status_code == 200
    assert fresh.inbox() == {("ready", None): 2}


def test_a_workflow_may_send_the_same_record_again(fresh: Stage) -> None:
    """Seen twice within a minute it is one event; without a time of its own, a new one later."""
    (record_id,) = fresh.contacts(1)
    sent = json.dumps({"hs_object_id": record_id, "pool": "SDR"}).encode()
    url = f"{PUBLIC_URL}/webhooks/hubspot"
    signature = sign_v2(fresh.hubspot.client_secret.encode(), method="POST", url=url, body=sent)
    headers = {
        "Content-Type": "application/json",
        "X-HubSpot-Signature": signature.decode(),
        "X-HubSpot-Signature-Version": "v2",
    }
    for minutes, stored in ((0, 1), (0, 1), (1, 2)):
        fresh.clock.now += timedelta(minutes=minutes)
        answer = post(fresh, "/webhooks/hubspot", sent, headers)
        assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
        assert fresh.inbox() == {("ready", None): stored}


@pytest.mark.parametrize(
    "changes",
    [
        {"X-HubSpot-Signature-v3": None},  # the old signature alone
        {"X-HubSpot-Signature-v3": None, "X-HubSpot-Signature": None},
        {"X-HubSpot-Signature-v3": "bm90IGl0"},
        {"X-HubSpot-Request-Timestamp": None},
        {"X-HubSpot-Request-Timestamp": "1"},
    ],
    ids=["v1_only", "unsigned", "wrong", "no_time", "other_time"],
)
def test_a_hubspot_delivery_without_a_good_signature_is_refused(
    stage: Stage, changes: dict[str, str | None]
) -> None:
    answer = to_hubspot(stage, events(stage), changes)
    assert answer.status_code == 401
    refused(stage, answer, 401, answer.json()["code"])


def test_a_signature_over_another_secret_address_or_body_is_refused(stage: Stage) -> None:
    body = events(stage)
    for wrong in (
        {"secret": "another-secret"},
        {"url": f"{PUBLIC_URL}/webhooks/hubspot?x=1"},
        {"url": f"{stage.url}/webhooks/hubspot"},  # the address it listens at is not the public one
        {"body": body + b" "},
    ):
        assert to_hubspot(stage, body, **wrong).status_code == 401
    assert stage.inbox() == {}


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_signature_of_another_time_is_refused(stage: Stage, seconds: int) -> None:
    then = stage.clock.now + timedelta(seconds=seconds)
    assert to_hubspot(stage, events(stage), at=then).status_code == 401
    assert stage.inbox() == {}


@pytest.mark.parametrize("body", [b"", b"{", b'"objectId"', b"[1]", b"[NaN]", b'["\xff"]', b"null"])
def test_a_signed_hubspot_body_that_is_no_list_of_events_is_refused(
    stage: Stage, body: bytes
) -> None:
    refused(stage, to_hubspot(stage, body), 400, "bad_body")


def test_a_hubspot_body_of_another_type_is_refused(stage: Stage) -> None:
    answer = to_hubspot(stage, events(stage), {"Content-Type": "text/plain"})
    refused(stage, answer, 415, "unsupported_media_type")


def test_a_body_of_a_mebibyte_is_taken_and_one_byte_more_is_not(fresh: Stage) -> None:
    body = events(fresh)
    refused(fresh, to_hubspot(fresh, body + b" " * (MIB + 1 - len(body))), 413, "too_large")
    assert to_hubspot(fresh, body + b" " * (MIB - len(body))).status_code == 204


def test_a_chunked_body_over_a_mebibyte_is_refused_too(stage: Stage) -> None:
    answer = to_salesforce(stage, (b"x" * 65536 for _ in range(17)))
    refused(stage, answer, 413, "too_large")


@pytest.mark.parametrize("key", [None, "", "wrong", KEY + "x", KEY.upper()])
def test_an_outbound_message_without_the_key_is_refused(stage: Stage, key: str | None) -> None:
    refused(stage, to_salesforce(stage, message(stage), key=key), 401, "bad_key")


def test_an_outbound_message_of_another_org_is_refused(stage: Stage) -> None:
    answer = to_salesforce(stage, message(stage, org_id="00D5g000000XyZ2EAK"))
    refused(stage, answer, 403, "foreign_org")


def test_a_doctype_is_refused_whatever_it_declares(stage: Stage) -> None:
    head, rest = message(stage).split(b"\n", 1)
    for declared in (
        b"<!DOCTYPE x>",
        b'<!DOCTYPE x [<!ENTITY a "b">]>',
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd">',
    ):
        refused(stage, to_salesforce(stage, head + declared + rest), 400, "bad_body")


@pytest.mark.parametrize("body", [b"", b"<", b"<a/>", b"{}", b"\xff\xfe"])
def test_an_outbound_message_that_is_no_soap_is_refused(stage: Stage, body: bytes) -> None:
    refused(stage, to_salesforce(stage, body), 400, "bad_body")


def test_an_outbound_message_cut_off_is_refused_whole(stage: Stage) -> None:
    body = message(stage)
    refused(stage, to_salesforce(stage, body[: len(body) // 2]), 400, "bad_body")


def test_an_outbound_message_of_another_type_is_refused(stage: Stage) -> None:
    answer = to_salesforce(stage, message(stage), **{"Content-Type": "application/json"})
    refused(stage, answer, 415, "unsupported_media_type")


def test_a_soap_client_is_told_why_in_a_fault(stage: Stage) -> None:
    from zeep.exceptions import Fault

    from tests.acceptance.soap import soap_client

    leads = stage.leads(2)
    with soap_client(stage) as client:
        with pytest.raises(Fault, match="bad_key"):
            client.notify(leads, key="wrong")
        with pytest.raises(Fault, match="foreign_org"):
            client.notify(leads, org_id="00D5g000000XyZ2EAK")
    assert stage.inbox() == {}


def test_a_connection_that_is_not_set_up_and_a_look_at_the_address_are_told_apart(
    stage: Stage,
) -> None:
    assert post(stage, "/webhooks/nobody", b"{}", {}).status_code == 404
    with requests.get(f"{stage.url}/webhooks/hubspot", timeout=30) as answer:
        assert answer.status_code == 405
        assert "POST" in answer.headers["Allow"]
