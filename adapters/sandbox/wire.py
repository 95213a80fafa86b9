"""What goes over the wire of a sandbox: one recorded call, one answer, kept-alive connections."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler
from werkzeug.wrappers import Request, Response

from adapters.sandbox.faults import Fault

if TYPE_CHECKING:
    from adapters.sandbox.server import Sandbox

Handler = Callable[..., Response]


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON body."""
    content = json.dumps(body, ensure_ascii=False).encode()
    return Response(content, status, headers, content_type="application/json;charset=utf-8")


@dataclass(kw_only=True)
class Call:
    """One request as it arrived; ``status`` stays None when the connection was dropped."""

    method: str
    path: str
    query: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    connection: int  # the caller's port: equal for calls over one kept-alive connection
    at: datetime
    status: int | None = None
    fault: Fault | None = field(default=None, repr=False)

    @property
    def json(self) -> Any:
        """The body parsed as JSON."""
        return json.loads(self.body)


class Dropped(ConnectionError):
    """The script wants this connection closed without an answer."""


class KeptAlive(WSGIRequestHandler):
    """Answers over kept-alive connections, which werkzeug's own handler closes each time."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Note the connection, so that ``stop`` can close it."""
        super().setup()
        self.server.app.open_sockets.add(self.connection)  # type: ignore[attr-defined]

    def finish(self) -> None:
        """Forget the connection; it may be closed already."""
        self.server.app.open_sockets.discard(self.connection)  # type: ignore[attr-defined]
        with suppress(OSError):
            super().finish()

    def run_wsgi(self) -> None:
        """Let the sandbox answer, or close the connection when it says so."""
        if self.headers.get("Expect", "").lower().strip() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        sandbox: Sandbox = self.server.app  # type: ignore[assignment]
        environ = self.make_environ()
        # As it stands on the request line: http.server itself folds "//" at the start into "/".
        environ["REQUEST_URI"] = self.requestline.split(" ")[1]
        try:
            response = sandbox.answer(Request(environ))
        except Dropped:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        body = b"" if response.status_code in (204, 304) else response.get_data()
        has_body = response.status_code not in (204, 304)
        zips = sandbox.is_compressed and "gzip" in self.headers.get("Accept-Encoding", "")
        self.send_response(response.status_code)
        for name, value in response.headers:
            if name.lower() != "content-length":
                self.send_header(name, value)
        if has_body and zips:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        chunked = has_body and sandbox.is_chunked
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif response.status_code != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(_chunks(body) if chunked else body)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The ``Date`` of an answer, by the sandbox's own clock."""
        sandbox: Sandbox = self.server.app  # type: ignore[assignment]
        return super().date_time_string(timestamp or sandbox.clock().timestamp())

    def log(self, *args: Any) -> None:
        """Say nothing: the calls are in ``Sandbox.calls``."""


def _chunks(body: bytes) -> bytes:
    """A body in pieces of a thousand bytes, each with its length before it."""
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
