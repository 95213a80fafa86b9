"""Faults by script: which call fails, how, how often, and after how many good ones.

``sandbox.faults.add("/objects/contacts/.*", "PATCH", status=503, times=2)`` breaks the next two
such calls. By hand the same goes as JSON to ``POST /_sandbox/faults``.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote_plus

Drop = Literal["before", "after"]


@dataclass(kw_only=True)
class Fault:
    """One scripted fault; ``fired`` counts the calls that it has broken."""

    path: str  # regular expression, searched in the path without the query
    method: str | None = None  # None: any
    query: str = ""  # regular expression, searched in the decoded query
    times: int | None = 1  # None: until it is removed
    after: int = 0  # so many matching calls pass unharmed first
    delay: float = 0.0  # seconds before the answer, alone or beside another kind
    status: int | None = None  # answer with this status instead of the true one
    body: Any = None  # str or bytes as they are, anything else as JSON; None: empty
    headers: Mapping[str, str] = field(default_factory=dict)
    effect: bool = False  # with status: the call takes effect all the same
    drop: Drop | None = None  # close the connection without an answer; "after": it took effect
    truncate: bool = False  # only the first half of the answer's body
    seen: int = 0
    fired: int = 0

    def __post_init__(self) -> None:
        if self.drop not in (None, "before", "after"):
            raise ValueError(f"drop is {self.drop!r}; say 'before' or 'after', or leave it out")
        if not (self.status or self.drop or self.truncate or self.delay):
            raise ValueError("this fault does nothing; give status, drop, truncate or delay")
        re.compile(self.path)
        re.compile(self.query)

    def is_for(self, method: str, path: str, query: str) -> bool:
        """Whether a call is one that it breaks."""
        if self.method not in (None, method) or not re.search(self.path, path):
            return False
        return not self.query or bool(re.search(self.query, unquote_plus(query)))

    @property
    def takes_effect(self) -> bool:
        """Whether the call reaches its handler."""
        return self.drop != "before" and (self.status is None or self.effect)

    def content(self) -> bytes:
        """The bytes of the scripted answer."""
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return text.encode()

    def all_headers(self) -> dict[str, str]:
        """The headers of the scripted answer; the content type follows the body if not given."""
        is_text = isinstance(self.body, str | bytes)
        html = is_text and self.content().lstrip().startswith(b"<")
        kind = "text/html; charset=utf-8" if html else "application/json;charset=utf-8"
        return {"Content-Type": kind, **self.headers}

    def describe(self) -> dict[str, Any]:
        """The fault as JSON, for people working by hand."""
        shown = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if isinstance(self.body, bytes):
            shown["body"] = self.body.decode("utf-8", "replace")
        return {**shown, "headers": dict(self.headers)}


class Faults:
    """The faults of one sandbox, asked at every call; safe to change from any thread."""

    def __init__(self, presets: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.presets = dict(presets or {})
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(
        self,
        path: str = "",
        method: str | None = None,
        *,
        preset: str | None = None,
        **settings: Any,
    ) -> Fault:
        """Script one fault; of several that match a call the first added fires.

        ``settings`` are the fields of ``Fault``; ``preset`` names a ready-made answer of this CRM
        (``faults.presets``), whose fields ``settings`` may replace. An unknown preset or field
        raises ``ValueError``.
        """
        ready: Mapping[str, Any] = {}
        if preset is not None:
            if preset not in self.presets:
                known = ", ".join(sorted(self.presets))
                raise ValueError(f"no preset {preset!r}; there are: {known}")
            ready = self.presets[preset]
        try:
            fault = Fault(path=path, method=method, **{**ready, **settings})
        except (TypeError, re.error) as error:
            raise ValueError(f"not a fault: {error}") from error
        with self._lock:
            self._faults.append(fault)
        return fault

    def take(self, method: str, path: str, query: str) -> Fault | None:
        """Return the fault that breaks this call, counted as fired, or None.

        ``query`` is what stands behind the ``?``, as it came.
        """
        with self._lock:
            for fault in self._faults:
                if not fault.is_for(method, path, query):
                    continue
                if fault.times is not None and fault.fired >= fault.times:
                    continue
                fault.seen += 1
                if fault.seen <= fault.after:
                    continue
                fault.fired += 1
                return fault
        return None

    def all(self) -> list[Fault]:
        """Every fault added since the last ``clear``, spent ones included."""
        with self._lock:
            return list(self._faults)

    def clear(self) -> None:
        """Forget every fault."""
        with self._lock:
            self._faults.clear()
