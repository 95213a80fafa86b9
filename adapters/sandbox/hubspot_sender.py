"""Sends the webhooks of a sandbox HubSpot and is as unpleasant about it as the real one.

At least once and in no order: whatever is not answered 2xx within five seconds comes back up to
ten times, each event after a delay of its own and therefore in other company, signed afresh.
"""

from __future__ import annotations

import heapq
import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import urllib3

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_changes import Change, ChangeKind, Source
from adapters.sandbox.hubspot_events import event, signed_headers

BATCH = 100
PARALLEL = 10
RETRIES = 10
TIMEOUT = 5.0
FIRST_DELAY = 84.0  # seconds; doubling ten times spreads the retries over 24 hours


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One request that was sent; ``status`` is None when no answer came in time."""

    events: list[dict[str, Any]]
    status: int | None


class HubSpotSender:
    """Watches a sandbox and tells ``target_url`` what happens in it, from a background thread.

    Used as a context manager, or with ``start`` and ``stop``. ``public_url`` is the address, or
    only the origin, that HubSpot believes it calls when something stands in between; requests are
    signed for it. Retries are due ``delay_factor`` times sooner than HubSpot's.

    Switches: ``generic`` (contacts too in the ``object.*`` form), ``properties`` (whose changes
    are told), ``echo`` (changes made through the API are told too), ``duplicates`` (each event
    twice, with the same or with a new ``eventId``), ``shuffle`` (order within a batch),
    ``batch_size`` (1-100).
    """

    def __init__(
        self,
        sandbox: HubSpotSandbox,
        target_url: str,
        *,
        public_url: str | None = None,
        client_secret: str | None = None,
        clock: Callable[[], datetime] | None = None,
        delay_factor: float = 0.0001,
    ) -> None:
        self.sandbox = sandbox
        self.target_url = target_url
        self.signed_url = _signed_url(target_url, public_url)
        self.client_secret = client_secret or sandbox.client_secret
        self.clock = clock or (lambda: sandbox.clock())
        self.delay_factor = delay_factor
        self.generic = False
        self.properties = {"hubspot_owner_id"}
        self.echo = True
        self.duplicates: Literal["same_id", "new_id"] | None = None
        self.shuffle = False
        self.batch_size = BATCH
        self.deliveries: list[Delivery] = []
        self.lost: list[dict[str, Any]] = []  # given up after the last retry
        self._random = random.Random(sandbox.seed)  # noqa: S311
        self._event_ids = itertools.count(501)
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, dict[str, Any]]] = []
        self._in_flight = 0
        self._held = False
        self._running = False
        self._pool = urllib3.PoolManager(maxsize=PARALLEL, block=True)
        sandbox.on_change(self._notice)

    def start(self) -> Self:
        """Begin to watch the sandbox and to send."""
        self._running = True
        self._threads = ThreadPoolExecutor(PARALLEL, thread_name_prefix="hubspot-sender")
        self._loop = threading.Thread(target=self._run, name="hubspot-sender", daemon=True)
        self._loop.start()
        return self

    def stop(self) -> None:
        """Stop sending; what was not delivered is dropped."""
        with self._changed:
            self._running = False
            self._due.clear()
            self._changed.notify_all()
        self._loop.join()
        self._threads.shutdown()
        self._pool.clear()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def event(
        self,
        kind: ChangeKind,
        object_type: str,
        record_id: str,
        *,
        source: str = "CRM_UI",
        **fields: Any,
    ) -> dict[str, Any]:
        """Build one event by hand; ``fields`` are those of ``Change``, such as name and value."""
        change = Change(
            kind=kind,
            object_type=object_type,
            record_id=record_id,
            at=self.clock(),
            source=Source(kind=source),
            **fields,
        )
        return self._event(change)

    def enqueue(self, *events: dict[str, Any]) -> None:
        """Have events delivered by the background thread, with retries."""
        with self._changed:
            for one in events:
                self._put(one, delay=0)
                if self.duplicates == "same_id":
                    self._put(dict(one), delay=0)
                elif self.duplicates == "new_id":
                    self._put({**one, "eventId": next(self._event_ids)}, delay=0)
            self._changed.notify_all()

    def send(self, events: list[dict[str, Any]]) -> int | None:
        """Send one request now and once; return the status, or None if no answer came in time."""
        body = json.dumps(events, ensure_ascii=False, separators=(",", ":")).encode()
        headers = signed_headers(
            secret=self.client_secret, url=self.signed_url, body=body, at=self.clock()
        )
        status: int | None
        try:
            response = self._pool.request(
                "POST",
                self.target_url,
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(total=TIMEOUT),
                retries=False,
            )
            status = response.status
        except urllib3.exceptions.HTTPError:
            status = None
        with self._changed:
            self.deliveries.append(Delivery(events=events, status=status))
        return status

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let events gather inside the block, so that they leave in full batches after it."""
        with self._changed:
            self._held = True
        try:
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything is delivered or lost; ``TimeoutError`` if it takes too long."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._due and not self._in_flight, timeout):
                waiting = len(self._due)
                raise TimeoutError(f"{waiting} events wait, {self._in_flight} requests run")

    # -- the background thread

    def _notice(self, change: Change) -> None:
        if not self._running:
            return
        if change.kind == "propertyChange":
            ours = change.source.kind == "INTEGRATION"
            if change.name not in self.properties or (ours and not self.echo):
                return
        self.enqueue(self._event(change))

    def _event(self, change: Change) -> dict[str, Any]:
        return event(
            change,
            generic=self.generic,
            event_id=next(self._event_ids),
            portal_id=self.sandbox.portal_id,
            app_id=self.sandbox.app_id,
        )

    def _put(self, one: dict[str, Any], *, delay: float) -> None:
        heapq.heappush(self._due, (time.monotonic() + delay, next(self._order), one))

    def _run(self) -> None:
        while True:
            with self._changed:
                batch = self._next_batch()
                while not batch and self._running:
                    self._changed.wait(self._seconds_to_next())
                    batch = self._next_batch()
                if not self._running:
                    return
                self._in_flight += 1
            self._threads.submit(self._deliver, batch)

    def _next_batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        if self._held or self._in_flight >= PARALLEL:
            return batch
        while self._due and self._due[0][0] <= time.monotonic() and len(batch) < self.batch_size:
            batch.append(heapq.heappop(self._due)[2])
        if self.shuffle:
            self._random.shuffle(batch)
        return batch

    def _seconds_to_next(self) -> float | None:
        if not self._due or self._held or self._in_flight >= PARALLEL:
            return None
        return max(0.0, self._due[0][0] - time.monotonic())

    def _deliver(self, batch: list[dict[str, Any]]) -> None:
        status = self.send(batch)
        with self._changed:
            if status is None or not 200 <= status < 300:
                for one in batch:
                    self._try_later(one)
            self._in_flight -= 1
            self._changed.notify_all()

    def _try_later(self, one: dict[str, Any]) -> None:
        attempt = one["attemptNumber"] + 1
        if attempt > RETRIES:
            self.lost.append(one)
            return
        delay = FIRST_DELAY * 2 ** (attempt - 1) * self._random.uniform(0.5, 1.5)
        self._put({**one, "attemptNumber": attempt}, delay=delay * self.delay_factor)


def _signed_url(target_url: str, public_url: str | None) -> str:
    if public_url is None:
        return target_url
    if urlsplit(public_url).path.strip("/"):
        return public_url
    parts = urlsplit(target_url)
    query = f"?{parts.query}" if parts.query else ""
    return public_url.rstrip("/") + parts.path + query
