"""Steering a sandbox by hand over HTTP; these paths are neither recorded nor broken by faults.

- ``GET /_sandbox/calls``: every call with its headers, status, connection, body, fault; ``DELETE``
  forgets them.
- ``GET /_sandbox/faults``: the scripted faults, how often each fired, and the preset names;
  ``POST`` scripts one (the fields of ``faults.Fault``, or ``{"preset": ...}``); ``DELETE``
  forgets them.
- ``GET /_sandbox/switches``: latency, extra fields, the rules kept and the CRM's own switches;
  ``PATCH`` changes some of the switches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from werkzeug.routing import Rule
from werkzeug.wrappers import Request, Response

from adapters.sandbox.wire import Call, Handler, json_response

if TYPE_CHECKING:
    from adapters.sandbox.server import Sandbox


def control_rules(sandbox: Sandbox) -> list[Rule]:
    """The routes under ``/_sandbox`` for one sandbox."""

    def forget_calls(_: Request) -> Response:
        sandbox.forget_calls()
        return Response(status=204)

    def show_faults(_: Request) -> Response:
        shown = [fault.describe() for fault in sandbox.faults.all()]
        return json_response({"faults": shown, "presets": sorted(sandbox.faults.presets)})

    def add_fault(request: Request) -> Response:
        try:
            fault = sandbox.faults.add(**request.get_json())
        except (TypeError, ValueError) as error:
            return json_response({"message": str(error)}, 400)
        return json_response(fault.describe(), 201)

    def clear_faults(_: Request) -> Response:
        sandbox.faults.clear()
        return Response(status=204)

    def show_switches(_: Request) -> Response:
        shown = {name: getattr(sandbox, name) for name in sorted(sandbox.SWITCHES)}
        return json_response({**shown, "rules": sorted(sandbox.rules)})

    def set_switches(request: Request) -> Response:
        wanted = request.get_json()
        if unknown := set(wanted) - sandbox.SWITCHES:
            known = ", ".join(sorted(sandbox.SWITCHES))
            return json_response({"message": f"no switch {sorted(unknown)}; {known}"}, 400)
        try:
            for name, value in wanted.items():
                setattr(sandbox, name, value)
        except ValueError as error:
            return json_response({"message": str(error)}, 400)
        return show_switches(request)

    handlers: dict[tuple[str, str], Handler] = {
        ("GET", "calls"): lambda _: json_response([_show(call) for call in sandbox.calls]),
        ("DELETE", "calls"): forget_calls,
        ("GET", "faults"): show_faults,
        ("POST", "faults"): add_fault,
        ("DELETE", "faults"): clear_faults,
        ("GET", "switches"): show_switches,
        ("PATCH", "switches"): set_switches,
    }
    return [
        Rule(f"/_sandbox/{name}", methods=[method], endpoint=handler)
        for (method, name), handler in handlers.items()
    ]


def explained(handler: Callable[..., Response]) -> Handler:
    """Answer 400 with the reason when a person's input cannot be used."""

    def answer(request: Request, **parts: Any) -> Response:
        try:
            return handler(request, **parts)
        except (LookupError, TypeError, ValueError) as error:
            return json_response({"message": str(error)}, 400)

    return answer


def _show(call: Call) -> dict[str, Any]:
    return {
        "at": call.at.isoformat(),
        "method": call.method,
        "path": call.path,
        "query": call.query,
        "headers": call.headers,
        "status": call.status,
        "connection": call.connection,
        "body": call.body.decode("utf-8", "replace"),
        "fault": call.fault.describe() if call.fault else None,
    }
