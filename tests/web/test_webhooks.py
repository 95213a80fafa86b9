"""Deliveries: checked, stored, answered; refused in the sender's own format."""

import io

import pytest
from structlog.testing import capture_logs

from connector.store import lanes
from connector.store.database import connect
from connector.web.app import build
from connector.web.context import WebContext
from connector.web.webhooks import target
from tests.builders import NOON
from tests.flow.crm import MemoryCrm
from tests.web.knock import Knock, KnockSoap


def stored(world) -> list[str]:
    """The record ids that wait in the inbox, as the worker would claim them."""
    with world.database.write() as session:
        lanes.ensure(session, ["knock"])
        claim = lanes.claim(
            session,
            holder="test",
            now=NOON,
            lease_seconds=30,
            limits={"knock": (100, 100)},
        )
    return [item.event.record_id for item in claim.inbox] if claim else []


def test_a_good_delivery_is_stored_and_answered_as_the_crm_wants(client, world) -> None:
    answer = client.post("/webhooks/knock", data=b"sesame:1,2")
    assert (answer.status_code, answer.data) == (204, b"")
    assert "Content-Type" not in answer.headers
    assert stored(world) == ["1", "2"]
    assert world.woken == 1


def test_a_delivery_needs_no_token_and_soap_gets_its_ack(client) -> None:
    answer = client.post("/webhooks/soap", data=b"sesame:1")
    assert (answer.status_code, answer.data) == (200, b"<Ack/>")
    assert answer.headers["Content-Type"] == "text/xml"


def test_the_same_delivery_again_is_answered_the_same_and_stored_once(client, world) -> None:
    for _ in range(2):
        assert client.post("/webhooks/knock", data=b"sesame:1").status_code == 204
    assert stored(world) == ["1"]


def test_an_event_that_says_nothing_new_is_not_worked_on(client, world) -> None:
    assert client.post("/webhooks/knock", data=b"sesame:x1").status_code == 204
    assert stored(world) == []


def test_the_log_says_why_events_of_a_delivery_mean_nothing(client) -> None:
    with capture_logs() as logged:
        client.post("/webhooks/knock", data=b"sesame:x1,x2,3")
        client.post("/webhooks/knock", data=b"sesame:4")
    stored = [one["ignored"] for one in logged if one["event"] == "webhook_stored"]
    assert stored == ["object_not_routed: 2", None]


def test_a_wrong_signature_stores_nothing(client, world) -> None:
    refused = client.post("/webhooks/knock", data=b"wrong:1")
    assert refused.status_code == 401
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json["code"] == "bad_signature"
    assert (stored(world), world.woken) == ([], 0)


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"wrong", {}, 401, b"bad_signature"),
        (b"sesame:", {}, 400, b"bad_body"),
        (b"x" * (1024 * 1024 + 1), {}, 413, b"too_large"),
        (b"sesame:1", {"Content-Encoding": "gzip"}, 415, b"unsupported_media_type"),
    ],
)
def test_soap_is_refused_with_a_fault(client, body, headers, status, code) -> None:
    refused = client.post("/webhooks/soap", data=body, headers=headers)
    assert (refused.status_code, refused.content_type) == (status, "text/xml")
    assert refused.data == b"<Fault>" + code + b"</Fault>"


def test_a_body_of_exactly_one_mebibyte_is_read(client) -> None:
    body = b"sesame:" + b"1" + b" " * (1024 * 1024 - 8)
    assert client.post("/webhooks/knock", data=body).status_code == 204


def test_a_chunked_body_has_the_same_limit(client) -> None:
    refused = client.post(
        "/webhooks/knock",
        input_stream=io.BytesIO(b"sesame:" + b"1" * (1024 * 1024)),
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )
    assert (refused.status_code, refused.json["code"]) == (413, "too_large")


def test_an_unknown_connection_is_not_found(client) -> None:
    missing = client.post("/webhooks/nobody", data=b"sesame:1")
    assert (missing.status_code, missing.json["code"]) == (404, "connection_not_found")


def test_a_webhook_address_only_takes_post(client) -> None:
    refused = client.get("/webhooks/knock")
    assert (refused.status_code, refused.json["code"]) == (405, "method_not_allowed")
    assert "POST" in refused.headers["Allow"]


def test_the_target_is_as_on_the_request_line(client) -> None:
    client.post("/webhooks/%6bnock?a=%7E&b=%2f+c", data=b"sesame:1")
    assert Knock.delivery is not None
    assert Knock.delivery.target == "/webhooks/%6bnock?a=%7E&b=%2f+c"
    assert Knock.delivery.headers["content-length"] == "8"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"RAW_URI": "/webhooks/a%2Fb?x=%20"}, "/webhooks/a%2Fb?x=%20"),
        ({"RAW_URI": "", "REQUEST_URI": "/webhooks/a?x"}, "/webhooks/a?x"),
        ({"RAW_URI": "https://crm.example/webhooks/a?x=1"}, "/webhooks/a?x=1"),
        ({"RAW_URI": "http://crm.example"}, "/"),
        (
            {
                "RAW_URI": "",
                "REQUEST_URI": "",
                "PATH_INFO": "/a b/\xc3\xbc",
                "QUERY_STRING": "q=%2f",
            },
            "/a%20b/%C3%BC?q=%2f",
        ),
    ],
)
def test_the_target_is_found_whatever_the_server(world, environ, expected) -> None:
    with world.app.test_request_context("/", environ_overrides=environ):
        assert target() == expected


@pytest.fixture
def lost(tmp_path):
    """An app whose database cannot be opened."""
    database = connect(f"sqlite:///{tmp_path}/missing/folder/leadrota.db")
    app = build(
        WebContext(
            database=database,
            clock=lambda: NOON,
            receivers={"knock": Knock(), "soap": KnockSoap()},
            api_token="t" * 40,
            default_pool=None,
            wake=lambda: None,
            crm=lambda name: MemoryCrm(),
        )
    )
    yield app.test_client()
    database.close()


def test_without_a_database_the_crm_is_asked_to_send_again(lost) -> None:
    refused = lost.post("/webhooks/knock", data=b"sesame:1")
    assert (refused.status_code, refused.json["code"]) == (503, "store_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert "unable to open" not in refused.json["detail"]
    fault = lost.post("/webhooks/soap", data=b"sesame:1")
    assert (fault.status_code, fault.data) == (503, b"<Fault>store_unavailable</Fault>")


def test_before_the_migration_the_crm_is_asked_to_send_again(tmp_path) -> None:
    database = connect(f"sqlite:///{tmp_path}/leadrota.db")
    app = build(
        WebContext(
            database=database,
            clock=lambda: NOON,
            receivers={"knock": Knock(), "soap": KnockSoap()},
            api_token="t" * 40,
            default_pool=None,
            wake=lambda: None,
            crm=lambda name: MemoryCrm(),
        )
    )
    refused = app.test_client().post("/webhooks/knock", data=b"sesame:1")
    assert (refused.status_code, refused.json["code"]) == (503, "store_behind")
    fault = app.test_client().post("/webhooks/soap", data=b"sesame:1")
    assert (fault.status_code, fault.data) == (503, b"<Fault>store_behind</Fault>")
    database.close()


def test_no_log_holds_a_query_string_or_a_body(client) -> None:
    with capture_logs() as logs:
        client.post("/webhooks/knock?key=secret", data=b"sesame:4711")
        client.post("/webhooks/knock?key=secret", data=b"wrong:4711")
        client.post("/webhooks/knock?key=secret", data=b"sesame:")
    assert [line["event"] for line in logs] == [
        "webhook_stored",
        "webhook_refused",
        "webhook_refused",
    ]
    assert logs[0] | {"connection": "knock", "events": 1, "new": 1} == logs[0]
    assert "secret" not in str(logs)
    assert "4711" not in str(logs)
