"""A threaded HTTP server on loopback that records every call and misbehaves by script.

Both sandboxes stand on it. ``control`` steers it over HTTP, ``faults`` breaks calls.
"""

from __future__ import annotations

import json
import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, make_server
from werkzeug.wrappers import Request, Response

from adapters.sandbox.control import control_rules
from adapters.sandbox.faults import Fault, Faults
from adapters.sandbox.wire import Call, Dropped, Handler, KeptAlive, json_response

__all__ = ["Call", "Handler", "Sandbox", "json_response", "real_clock"]


def real_clock() -> datetime:
    """The present moment: a sandbox stands for a remote system, which has a clock of its own."""
    return datetime.now(UTC)  # noqa: TID251


class Sandbox:
    """A CRM on loopback: a subclass brings routes; recording, faults and switches are here.

    ``with Sandbox() as sandbox:`` serves at ``sandbox.url`` until the block ends; ``start`` and
    ``stop`` do the same by hand. ``without`` names the rules that are not kept, so that a test
    can show what each rule is worth. Handlers run in parallel and guard their state by ``lock``.
    """

    RULES: ClassVar[frozenset[str]] = frozenset()
    SWITCHES: ClassVar[frozenset[str]] = frozenset(
        {"latency", "extra_fields", "is_chunked", "is_compressed"}
    )

    def __init__(
        self,
        *,
        port: int = 0,
        clock: Callable[[], datetime] = real_clock,
        without: Iterable[str] = (),
        presets: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        unknown = set(without) - self.RULES
        if unknown:
            raise ValueError(f"no rule {sorted(unknown)}; there are: {sorted(self.RULES)}")
        self.rules = set(self.RULES) - set(without)
        self.clock = clock
        self.faults = Faults(presets)
        self.latency = 0.0  # seconds that every answer takes
        self.extra_fields = False  # every JSON object in every answer gets an unknown field
        self.is_chunked = False  # answers do not tell their length
        self.is_compressed = False  # answers are gzipped for callers who can read that
        self.lock = threading.RLock()
        self.open_sockets: set[socket.socket] = set()
        self._calls: list[Call] = []
        self._wanted_port = port
        self._stopping = threading.Event()
        self._server: BaseWSGIServer | None = None
        self._map = Map(control_rules(self), strict_slashes=False, merge_slashes=False)

    # -- serving

    def route(self, method: str, path: str, handler: Handler) -> None:
        """Serve ``path`` (werkzeug's notation) by ``handler(request, **parts) -> Response``."""
        self._map.add(Rule(path, methods=[method], endpoint=handler))

    def start(self) -> Self:
        """Begin to serve; ``OSError`` when the port is taken."""
        # Bound here and not by werkzeug, which ends the process when the port is taken.
        with socket.create_server(("127.0.0.1", self._wanted_port)) as listener:
            self._wanted_port = listener.getsockname()[1]
            self._server = make_server(
                "127.0.0.1",
                self._wanted_port,
                self,  # type: ignore[arg-type]
                threaded=True,
                request_handler=KeptAlive,
                fd=listener.fileno(),
            )
        self._stopping.clear()
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.05,), name="sandbox", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving and close every connection; ``start`` serves at the same port again."""
        if self._server is None:
            return
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server = None
        for connection in list(self.open_sockets):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The origin, without a slash at the end."""
        return f"http://127.0.0.1:{self._wanted_port}"

    # -- recording

    @property
    def calls(self) -> list[Call]:
        """Every call so far, in order of arrival."""
        with self.lock:
            return list(self._calls)

    def calls_to(self, path: str, method: str | None = None) -> list[Call]:
        """The calls whose path contains ``path``."""
        return [c for c in self.calls if path in c.path and method in (None, c.method)]

    @property
    def connections(self) -> int:
        """How many TCP connections the recorded calls came over."""
        return len({call.connection for call in self.calls})

    def forget_calls(self) -> None:
        """Empty the record of calls."""
        with self.lock:
            self._calls.clear()

    # -- answering

    def answer(self, request: Request) -> Response:
        """Answer one request; raises ``Dropped`` when the connection is to be closed."""
        body = request.get_data()
        if request.path.startswith("/_sandbox/"):
            return self._dispatch(request)
        call = Call(
            method=request.method,
            path=request.path,
            query=request.query_string.decode("latin-1"),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
            connection=int(request.environ["REMOTE_PORT"]),
            at=self.clock(),
            fault=self.faults.take(request.method, request.path),
        )
        with self.lock:
            self._calls.append(call)
        response = self._answer_with_fault(request, call.fault)
        call.status = response.status_code
        return response

    def _answer_with_fault(self, request: Request, fault: Fault | None) -> Response:
        if delay := self.latency + (fault.delay if fault else 0):
            self._stopping.wait(delay)
        if fault is None:
            return self._with_extra_fields(self._dispatch(request))
        response = Response()
        if fault.takes_effect:
            response = self._with_extra_fields(self._dispatch(request))
        if fault.drop:
            raise Dropped
        if fault.status:
            response = Response(fault.content(), fault.status, fault.all_headers())
        if fault.truncate:
            content = response.get_data()
            response.set_data(content[: len(content) // 2])
        return response

    def _dispatch(self, request: Request) -> Response:
        try:
            handler, parts = self._map.bind_to_environ(request.environ).match()
            return self.serve(request, handler, parts)
        except HTTPException as error:
            return self.refuse(request, error)
        except Exception:  # a bug of the sandbox must be seen by whoever called it
            trace = traceback.format_exc()
            return json_response({"sandbox": "is broken", "trace": trace}, 500)

    def serve(self, request: Request, handler: Handler, parts: Mapping[str, Any]) -> Response:
        """Call the handler; a subclass checks tokens and limits here."""
        return handler(request, **parts)

    def refuse(self, request: Request, error: HTTPException) -> Response:  # noqa: ARG002
        """The answer to an unknown path or method; a subclass puts it in the CRM's words."""
        return json_response({"message": error.description}, error.code or 500)

    def _with_extra_fields(self, response: Response) -> Response:
        if self.extra_fields and response.mimetype == "application/json" and response.data:
            response.set_data(json.dumps(_decorate(json.loads(response.data))))
        return response


def _decorate(value: Any) -> Any:
    if isinstance(value, list):
        return [_decorate(item) for item in value]
    if isinstance(value, dict):
        return {**{k: _decorate(v) for k, v in value.items()}, "sandboxExtra": "unexpected"}
    return value
