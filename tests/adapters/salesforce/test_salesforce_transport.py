from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
import responses

from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmError, CrmUnreachable
from connector.ports import OwnerWrite

Connect = Callable[..., SalesforceCrm]
LEAD = "00Q000000000001"


@contextmanager
def server(speak: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A server on loopback that says to each caller what ``speak`` does."""
    over = threading.Event()
    threads = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)

        def serve_one(caller: socket.socket) -> None:
            with caller, suppress(OSError):
                caller.recv(65536)
                speak(caller, over)

        def serve() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    caller, _ = listener.accept()
                    caller.setblocking(True)
                    threads.append(threading.Thread(target=serve_one, args=(caller,)))
                    threads[-1].start()

        threads.append(threading.Thread(target=serve))
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            for thread in threads:
                thread.join()


def silence(caller: socket.socket, over: threading.Event) -> None:
    over.wait()


def drip(caller: socket.socket, over: threading.Event) -> None:
    caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{")
    while not over.wait(0.02):
        caller.sendall(b" ")


def endless(caller: socket.socket, over: threading.Event) -> None:
    caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n{")
    while not over.wait(0.02):
        caller.sendall(b" ")


@pytest.mark.parametrize("speak", [silence, drip, endless])
def test_a_call_ends_in_time_whatever_the_server_does(
    connect: Connect, speak: Callable[[socket.socket, threading.Event], None]
) -> None:
    with server(speak) as url:
        crm = connect(url, call_seconds=0.6)
        with pytest.raises(CrmAgain) as again:
            crm.read_records("Lead", [LEAD])
        assert again.value.code == "timeout"


def test_a_query_that_hangs_ends_in_time(org: SalesforceSandbox, connect: Connect) -> None:
    org.faults.add("/query", delay=30)
    with pytest.raises(CrmAgain) as again:
        connect(org.url, call_seconds=0.8).read_records("Lead", [LEAD])
    assert again.value.code == "timeout"
    assert len(org.calls_to("/query")) == 1


def test_an_update_that_hangs_leaves_the_outcome_open(
    org: SalesforceSandbox, connect: Connect
) -> None:
    ann, lead = org.add_user("Ann", "a@example.com"), org.create("Lead", {})
    org.faults.add("/composite", delay=30)
    with pytest.raises(CrmAgain) as again:
        connect(org.url, call_seconds=0.8).write_owners(
            "Lead", [OwnerWrite(record_id=lead, owner_id=ann)]
        )
    assert again.value.code == "timeout"


def test_a_refused_connection_is_unreachable(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(CrmUnreachable) as unreachable:
        connect(f"http://127.0.0.1:{port}").read_records("Lead", [LEAD])
    assert unreachable.value.code == "no_connection"


@pytest.mark.parametrize("kind", ["lost_before", "lost_after"])
def test_a_dropped_connection_leaves_the_outcome_open(
    org: SalesforceSandbox, crm: SalesforceCrm, kind: str
) -> None:
    ann, lead = org.add_user("Ann", "a@example.com"), org.create("Lead", {})
    org.faults.add("/composite", preset=kind)
    with pytest.raises(CrmAgain) as again:
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert again.value.code == "connection_lost"
    assert (org.owner_of(lead) == ann) is (kind == "lost_after")


def test_a_truncated_answer_leaves_the_outcome_open(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    ann, lead = org.add_user("Ann", "a@example.com"), org.create("Lead", {})
    org.faults.add("/composite", truncate=True)
    with pytest.raises(CrmAgain):
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])


@responses.activate
def test_a_redirect_is_not_followed(connect: Connect) -> None:
    host = "https://acme.my.salesforce.com"
    responses.post(
        f"{host}/services/oauth2/token", json={"access_token": "t", "instance_url": host}
    )
    responses.get(
        f"{host}/services/data/v64.0/query/",
        status=302,
        headers={"Location": "https://evil.example/"},
    )
    with pytest.raises(CrmUnreachable):
        connect(host).read_records("Lead", [LEAD])
    assert len(responses.calls) == 2


def test_cookies_are_not_kept(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    page = {"records": [], "done": False, "nextRecordsUrl": "/services/data/v64.0/query/01g-1"}
    org.faults.add("/query/$", status=200, body=page, headers={"Set-Cookie": "a=b; Path=/"})
    org.faults.add("/query/01g-1", status=200, body={"records": [{"Id": LEAD}], "done": True})
    crm.read_records("Lead", [LEAD])
    assert len(org.calls_to("/query")) == 2
    assert not any("cookie" in call.headers for call in org.calls)


@pytest.mark.parametrize("status", [500, 502, 504])
def test_no_failure_holds_the_page_of_a_proxy(
    org: SalesforceSandbox, crm: SalesforceCrm, status: int
) -> None:
    org.faults.add("/query", status=status, body="<html>proxy</html>", times=None)
    with pytest.raises(CrmError) as error:
        crm.read_records("Lead", [LEAD])
    assert "proxy" not in str(error.value) + str(error.value.crm_message)
