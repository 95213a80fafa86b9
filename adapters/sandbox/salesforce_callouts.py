"""Calls out of the sandbox org as its flows and Apex make them: JSON, once, and never again.

A change of a record makes one call about it, after the transaction, with the values of that
moment. Nobody tries again: what the listener misses stays untold.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import requests

from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_records import Change

_TIMEOUT = 10  # seconds, Apex's own default
_FIELDS = ("OwnerId", "CreatedDate", "LastModifiedDate")


class SalesforceCallouts:
    """The automation of one sandbox org that calls one listener, up inside ``with``.

    ``objects`` are the types whose changes make a call, ``events`` the kinds of changes.
    ``echoes`` says whether writes over the API make calls, too. ``org_id`` may be set to the short
    form, which formulas of flows use.
    """

    def __init__(
        self,
        sandbox: SalesforceSandbox,
        target_url: str,
        *,
        key: str | None = None,
        objects: Sequence[str] = ("Lead",),
        events: Sequence[str] = ("created", "updated", "deleted", "undeleted"),
        fields: Sequence[str] = _FIELDS,
    ) -> None:
        self.sandbox = sandbox
        self.url = target_url
        self.headers = {"X-Leadrota-Key": key} if key else {}
        self.objects = tuple(objects)
        self.events = tuple(events)
        self.fields = tuple(fields)
        self.echoes = True
        self.org_id = sandbox.org_id
        self.failures: list[int] = []  # statuses of calls in vain, 0 when no answer came
        self.sent = 0  # calls that were answered with 2xx
        self._made: list[Future[int]] = []

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="callouts")
        self.sandbox.on_change(self.notice_change)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sandbox.records.listeners.remove(self.notice_change)
        self._pool.shutdown()

    def notice_change(self, change: Change) -> None:
        """Make a call about a record in the background, if the automation covers the change."""
        is_covered = change.object_type in self.objects and change.kind in self.events
        if is_covered and (self.echoes or not change.over_api):
            self._made.append(self._pool.submit(self.send, [change.record_id], change.kind))

    def flush(self) -> None:
        """Wait until each change so far was told or lost."""
        for call in list(self._made):
            call.result()

    def send(self, record_ids: Sequence[str], event: str = "created") -> int:
        """Call now about records of one object; the answer's status, 0 when none came."""
        object_type = self.sandbox.records.find(record_ids[0]).type
        body = {
            "orgId": self.org_id,
            "object": object_type,
            "event": event,
            "records": [self._values(record_id) for record_id in record_ids],
        }
        try:
            answer = requests.post(self.url, json=body, headers=self.headers, timeout=_TIMEOUT)
            status = answer.status_code
        except requests.RequestException:
            status = 0
        if 200 <= status < 300:
            self.sent += 1
        else:
            self.failures.append(status)
        return status

    def _values(self, record_id: str) -> dict[str, object]:
        records = self.sandbox.records
        with records.lock:
            row = records.find(record_id)
            has = [name for name in self.fields if name in records.fields[row.type]]
            return {"Id": row.id} | {name: records.read(row, name) for name in has}
