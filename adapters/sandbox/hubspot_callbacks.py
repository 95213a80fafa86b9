"""Workflows of the sandbox HubSpot that wait for a custom action, and the calls that end it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_requests import read_body

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox

_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


class Callbacks:
    """The custom actions that answered BLOCK. Not locked by itself."""

    def __init__(self, clock: Callable[[], datetime], rules: set[str]) -> None:
        self._clock = clock
        self._rules = rules
        self._ends_at: dict[str, datetime] = {}
        self.completed: dict[str, dict[str, Any]] = {}  # output fields by callback id

    def open(self, callback_id: str, duration: str | None = None) -> None:
        """A workflow waits from now on, for an ISO 8601 duration or a week."""
        self._ends_at[callback_id] = self._clock() + _length(duration or "P1W")

    def waiting(self) -> list[str]:
        """The ids that nobody completed and that have not run out."""
        return [one for one in self._ends_at if self.is_open(one)]

    def is_open(self, callback_id: str) -> bool:
        """Whether a call may complete it."""
        if callback_id not in self._ends_at:
            return "callback_known" not in self._rules
        if callback_id in self.completed and "callback_once" in self._rules:
            return False
        return self._clock() < self._ends_at[callback_id] or "callback_ends" not in self._rules

    def complete(self, callback_id: str, fields: Mapping[str, Any]) -> None:
        """The workflow goes on."""
        self.completed[callback_id] = dict(fields)


def complete(
    sandbox: HubSpotSandbox, request: Request, *, callback_id: str, version: str = "v4"
) -> Response:
    """``POST /automation/v4/actions/callbacks/{id}/complete`` and its dated form."""
    sandbox.need_scope("automation", "write")
    is_typed = version != "v4" and "typed_outputs" in sandbox.rules
    body = read_body(
        sandbox, request, ["outputFields", "typedOutputs"] if is_typed else ["outputFields"]
    )
    with sandbox.lock:
        if not sandbox.callbacks.is_open(callback_id):
            raise answers.not_found(callback_id)
        sandbox.callbacks.complete(callback_id, body.get("outputFields", {}))
    return Response(status=204)


def _length(duration: str) -> timedelta:
    found = _DURATION.fullmatch(duration)
    if found is None or duration in ("P", "PT"):
        raise ValueError(f"no ISO 8601 duration: {duration}")
    names = ("weeks", "days", "hours", "minutes", "seconds")
    parts = {name: int(part or 0) for name, part in zip(names, found.groups(), strict=True)}
    return timedelta(**parts)
