"""Sends the sandbox org's outbound messages as Salesforce does: late, again, out of order.

A change of a record queues a notification. A background thread sends what is due; the values are
those of the moment of sending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self
from urllib.parse import quote

import requests

from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_ids import make_id
from adapters.sandbox.salesforce_records import Change
from adapters.sandbox.salesforce_soap import HEADERS, Notice, why_refused, write_message

_MOST_NOTICES = 100
_TIMEOUT = 60
_KEPT_FOR = timedelta(hours=24)
_FIRST_GAP = timedelta(seconds=30)
_LONGEST_GAP = timedelta(hours=2)
_FIELDS = (
    "Company",
    "Country",
    "CreatedDate",
    "Email",
    "FirstName",
    "LastModifiedDate",
    "LastName",
    "OwnerId",
    "State",
    "Website",
)


@dataclass(slots=True)
class Pending:
    """A notification that no listener has acknowledged yet."""

    id: str
    record_id: str
    queued_at: datetime
    due_at: datetime
    tries: int = 0
    early_values: Mapping[str, object] | None = None  # only without the rule "om_newest"


class SalesforceSender:
    """The outbound-message queue of one sandbox org, for one listener.

    ``objects`` are the types whose changes send a message. Switches, all changeable at any time:
    ``is_repeated`` sends each acknowledged message once more, ``is_out_of_order`` sends the newest
    first and one at a time, ``echoes`` says whether the integration user may send outbound
    messages (so that writes over the API come back as messages), ``retry_scale`` multiplies the
    gaps between tries, ``session_id`` is sent along when set.
    """

    def __init__(
        self,
        sandbox: SalesforceSandbox,
        target_url: str,
        *,
        key: str | None = None,
        clock: Callable[[], datetime] | None = None,
        objects: Sequence[str] = ("Lead",),
        fields: Sequence[str] = _FIELDS,
        retry_scale: float = 1.0,
    ) -> None:
        self.sandbox = sandbox
        self.url = f"{target_url}?key={quote(key, safe='')}" if key else target_url
        self.clock = clock or sandbox.clock
        self.rules = sandbox.rules
        self.objects = tuple(objects)
        self.fields = tuple(fields)
        self.retry_scale = retry_scale
        self.is_repeated = False
        self.is_out_of_order = False
        self.echoes = True
        self.org_id = sandbox.org_id
        self.session_id: str | None = None
        self.failures: list[str] = []  # why tries failed, oldest first
        self.dropped: list[Pending] = []  # given up after 24 hours
        self.sent = 0  # messages acknowledged
        self._queue: list[Pending] = []
        self._numbered = 0
        self._in_flight = 0
        self._wake = threading.Condition()
        self._is_closing = False
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Queue every change from now on and send in the background."""
        self.sandbox.on_change(self.notice_change)
        self._thread = threading.Thread(target=self._run, name="outbound-messages", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop sending; what is queued stays unsent. Calling it twice is fine."""
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        if self._thread:
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def notice_change(self, change: Change) -> None:
        """Queue a notification of a created or changed record, if a definition covers it."""
        is_covered = change.object_type in self.objects and change.kind in ("created", "updated")
        if is_covered and (self.echoes or not change.over_api):
            self.enqueue([change.record_id])

    def enqueue(self, record_ids: Sequence[str]) -> None:
        """Queue a notification for each record; raises ``KeyError`` for an unknown one."""
        pending = self._number(record_ids)
        with self._wake:
            self._queue += pending
            self._wake.notify_all()

    def send(self, record_ids: Sequence[str]) -> tuple[int, bool]:
        """Send one message about 1 to 100 records now; the answer's status, and if it is an Ack.

        Status 0 means that no answer came. Nothing is queued, nothing is tried again.
        """
        return self._post(self.write(self._number(record_ids)))

    def write(self, batch: Sequence[Pending]) -> bytes:
        """The message for 1 to 100 queued notifications of one object type."""
        if not 1 <= len(batch) <= _MOST_NOTICES and "om_limit" in self.rules:
            raise ValueError(f"a message holds 1 to {_MOST_NOTICES} notifications: {len(batch)}")
        kinds = {self._type(each) for each in batch}
        if len(kinds) > 1:
            raise ValueError("one definition covers one object: send each type by itself")
        return write_message(
            [self._notice(each) for each in batch],
            org_id=self.org_id,
            action_id=make_id("04k", self._definition(*kinds)),
            instance_url=self.sandbox.url,
            session_id=self.session_id,
            rules=self.rules,
        )

    def waiting(self) -> list[Pending]:
        """What is queued, oldest first."""
        with self._wake:
            return list(self._queue)

    def flush(self, timeout: float) -> bool:
        """Wait until nothing is queued or on its way; False if that took too long."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._queue and not self._in_flight, timeout)

    def deliver(self) -> int:
        """Send what is due at the clock's time; the number of notifications acknowledged."""
        acknowledged = 0
        for batch in self._take_due():
            _, acked = self._post(self.write(batch))
            if acked and self.is_repeated:
                self._post(self.write(batch))
            self._settle(batch, acked=acked)
            acknowledged += len(batch) if acked else 0
        return acknowledged

    def _run(self) -> None:
        while not self._is_closing:
            self.deliver()
            with self._wake:
                if not self._is_closing and not self._due():
                    # The clock may be moved by a test at any time, so look again soon.
                    self._wake.wait(0.02)

    def _due(self) -> list[Pending]:
        now = self.clock()
        return [each for each in self._queue if each.due_at <= now]

    def _take_due(self) -> list[list[Pending]]:
        with self._wake:
            self._drop_old()
            due = self._due()
            self._queue = [each for each in self._queue if each not in due]
            self._in_flight += len(due)
            self._wake.notify_all()
        if self.is_out_of_order:
            return [[each] for each in reversed(due)]
        batches = []
        for object_type in {self._type(each): None for each in due}:
            same = [each for each in due if self._type(each) == object_type]
            batches += [same[i : i + _MOST_NOTICES] for i in range(0, len(same), _MOST_NOTICES)]
        return batches

    def _drop_old(self) -> None:
        oldest = self.clock() - _KEPT_FOR
        if "om_drop" not in self.rules:
            return
        self.dropped += [each for each in self._queue if each.queued_at < oldest]
        self._queue = [each for each in self._queue if each.queued_at >= oldest]

    def _settle(self, batch: list[Pending], *, acked: bool) -> None:
        now = self.clock()
        with self._wake:
            self._in_flight -= len(batch)
            if not acked:
                for each in batch:
                    gap = min(_FIRST_GAP * 2**each.tries, _LONGEST_GAP)
                    each.tries += 1
                    each.due_at = now + gap * self.retry_scale
                self._queue += batch if "om_retry" in self.rules else []
            self._wake.notify_all()

    def _post(self, body: bytes) -> tuple[int, bool]:
        headers = HEADERS if "om_headers" in self.rules else {}
        try:
            answer = requests.post(
                self.url, data=body, headers=headers, timeout=_TIMEOUT, allow_redirects=False
            )
        except requests.RequestException as error:
            self.failures.append(type(error).__name__)
            return 0, False
        reason = why_refused(answer.status_code, answer.content, self.rules)
        if reason:
            self.failures.append(reason)
        else:
            self.sent += 1
        return answer.status_code, reason is None

    def _notice(self, pending: Pending) -> Notice:
        values = pending.early_values or self._values(pending.record_id)
        kind = self._type(pending)
        return Notice(id=pending.id, object_type=kind, record_id=pending.record_id, values=values)

    def _type(self, pending: Pending) -> str:
        return self.sandbox.records.find(pending.record_id).type

    def _definition(self, object_type: str) -> int:
        """The number of the definition that covers an object: one for each."""
        return self.objects.index(object_type) + 1 if object_type in self.objects else 0

    def _values(self, record_id: str) -> dict[str, object] | None:
        even_deleted = "om_deleted" not in self.rules
        return self.sandbox.read_fields(record_id, self.fields, even_deleted=even_deleted)

    def _number(self, record_ids: Sequence[str]) -> list[Pending]:
        now = self.clock()
        pending = []
        for raw in record_ids:
            record_id = str(self.sandbox.get(raw)["Id"])
            early = None if "om_newest" in self.rules else self._values(record_id)
            with self._wake:
                self._numbered += 1
                new_id = make_id("04l", self._numbered)
            pending.append(Pending(new_id, record_id, now, now, early_values=early))
        return pending
