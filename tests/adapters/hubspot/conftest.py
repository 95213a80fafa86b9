"""A server on loopback that gives the answers it is told to, and a client that asks it."""

import json
import select
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from adapters.hubspot.portal import HubSpotCrm
from adapters.hubspot.settings import HubSpotSettings
from connector.ports import Grant
from tests.alone import Alone

TOKEN = "pat-secret-0001"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict
    body: dict | None


@dataclass
class Answers:
    """``say`` queues answers; a test that is asked more often than it told sees a 599."""

    url: str = ""
    requests: list = field(default_factory=list)
    connections: int = 0
    waited_for: bool = False  # somebody would have waited for ever
    over: threading.Event = field(default_factory=threading.Event)
    _queue: deque = field(default_factory=deque)
    _owners: list | None = None
    _replies: list = field(default_factory=list)

    def say(self, status=200, body=None, **headers):
        """Queue an answer; ``body`` is JSON, or bytes as they are.

        Status 0 drops the line, status -1 keeps the caller waiting, a status such as -200 or -400
        sends the body one byte at a time.
        """
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        kept = {name.replace("_", "-"): value for name, value in headers.items()}
        self._queue.append((status, raw, kept))

    def employ(self, *owner_ids):
        """Answer the list of owners with these, whenever it is asked for."""
        self._owners = [{"id": owner_id, "type": "PERSON"} for owner_id in owner_ids]

    def answer(self, part, reply):
        """Answer every path that holds ``part`` with ``reply(request)``: a status and its JSON."""
        self._replies.append((part, reply))

    def next(self, request):
        """What to answer now."""
        self.requests.append(request)
        if "/owners" in request.path and self._owners is not None:
            return 200, json.dumps({"results": self._owners}).encode(), {}
        for part, reply in self._replies:
            if part in request.path:
                status, body = reply(request)
                return status, json.dumps(body).encode(), {}
        return self._queue.popleft() if self._queue else (599, b"not told", {})

    def paths(self, part=""):
        """The paths asked for, in order."""
        return [request.path for request in self.requests if part in request.path]


def hung_up(connection):
    """Whether the caller gives up within some seconds of silence."""
    ready, _, _ = select.select([connection], [], [], 8)
    return bool(ready)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.server.answers.connections += 1

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, raw, more = self.server.answers.next(
            Request(self.command, self.path, headers, body)
        )
        if status == -1:
            self.server.answers.waited_for = not hung_up(self.connection)
        if status in (0, -1):
            self.close_connection = True
            return
        self.send_response(abs(status))
        for name, value in {"Content-Length": str(len(raw)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if status < 0:
            self.trickle(raw)
        else:
            self.wfile.write(raw)

    def trickle(self, raw):
        with suppress(OSError):
            for byte in raw:
                self.wfile.write(bytes([byte]))
                if self.server.answers.over.wait(0.1):
                    return

    do_GET = do_POST = do_PATCH = answer  # noqa: N815

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return "Mon, 30 Nov 2026 09:00:00 GMT"


def _serve():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.block_on_close = False
    server.answers = Answers(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.answers
    server.answers.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def answers():
    yield from _serve()


@pytest.fixture
def elsewhere():
    """A second server: nothing may ever arrive there."""
    yield from _serve()


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shared():
    return Alone()


class Renewal:
    """Hands out token after token and notes what it was asked with."""

    def __init__(self):
        self.asked = []
        self.error = None

    def __call__(self, refresh_token):
        self.asked.append(refresh_token)
        if self.error:
            raise self.error
        number = len(self.asked)
        return Grant(
            access_token=f"secret-access-{number}",
            refresh_token=f"secret-refresh-{number}",
            seconds=1800,
        )


@pytest.fixture
def renew():
    return Renewal()


@pytest.fixture
def connect(clock, shared, renew):
    """``connect(url, **settings)`` gives a Crm that is closed at the end."""
    made = []

    def make(url, **changes):
        values = {
            "name": "hubspot",
            "access_token": TOKEN,
            "client_secret": "secret",
            "public_url": "https://connector.example.test",
            "base_url": url,
        }
        settings = HubSpotSettings(**(values | changes))
        made.append(HubSpotCrm(settings, shared, renew=renew, clock=clock))
        return made[-1]

    yield make
    for crm in made:
        crm.close()


@pytest.fixture
def crm(answers, connect):
    return connect(answers.url)
