"""Sends the webhooks of a sandbox HubSpot and is as unpleasant about it as the real one.

At least once and in no order: whatever is not answered 2xx within five seconds comes back up to
ten times, each event after a delay of its own and therefore in other company, signed afresh.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import urllib3

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_changes import Change, ChangeKind, Source
from adapters.sandbox.hubspot_events import event, signed_headers
from adapters.sandbox.hubspot_outbox import PARALLEL, Outbox
from adapters.sandbox.hubspot_signatures import PROXIES, signed_url

BATCH = 100
RETRIES = 10
TIMEOUT = 5.0
FIRST_DELAY = 84.0  # seconds; doubling ten times spreads the retries over 24 hours


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One request that was sent; ``status`` is None when no answer came in time."""

    events: list[dict[str, Any]]
    status: int | None


class HubSpotSender(Outbox[dict[str, Any]]):
    """Watches a sandbox and tells ``target_url`` what happens in it, from a background thread.

    ``public_url`` is the address, or only the origin, that HubSpot believes it calls when
    something stands in between; requests are signed for it. Retries are due ``delay_factor``
    times sooner than HubSpot's.

    Switches: ``generic`` (contacts too in the ``object.*`` form), ``properties`` (whose changes
    are told), ``echo`` (changes made through the API are told too), ``duplicates`` (each event
    twice, with the same or with a new ``eventId``), ``shuffle`` (order within a batch),
    ``batch_size`` (1-100), ``proxy`` (one of ``hubspot_signatures.PROXIES``: it adds headers).
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
        super().__init__()
        self.sandbox = sandbox
        self.target_url = target_url
        self.signed_url = signed_url(target_url, public_url)
        self.client_secret = client_secret or sandbox.client_secret
        self.clock = clock or (lambda: sandbox.clock())
        self.delay_factor = delay_factor
        self.generic = False
        self.properties = {"hubspot_owner_id"}
        self.echo = True
        self.duplicates: Literal["same_id", "new_id"] | None = None
        self.shuffle = False
        self.proxy: str | None = None
        self.batch_size = BATCH
        self.deliveries: list[Delivery] = []
        self.lost: list[dict[str, Any]] = []  # given up after the last retry
        self._random = random.Random(sandbox.seed)  # noqa: S311
        self._event_ids = itertools.count(501)
        self._pool = urllib3.PoolManager(maxsize=PARALLEL, block=True)
        sandbox.on_change(self._notice)

    def stop(self) -> None:
        """Stop sending; what was not delivered is dropped."""
        super().stop()
        self._pool.clear()

    def arrange(self, batch: list[dict[str, Any]]) -> None:
        """In any order, when told so."""
        if self.shuffle:
            self._random.shuffle(batch)

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
        with self.changed:
            for one in events:
                self.put(one)
                if self.duplicates == "same_id":
                    self.put(dict(one))
                elif self.duplicates == "new_id":
                    self.put({**one, "eventId": next(self._event_ids)})

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
                headers=headers | (PROXIES[self.proxy] if self.proxy else {}),
                timeout=urllib3.Timeout(total=TIMEOUT),
                retries=False,
            )
            status = response.status
        except urllib3.exceptions.HTTPError:
            status = None
        with self.changed:
            self.deliveries.append(Delivery(events=events, status=status))
        return status

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Send one batch; each event of a refused one has a delay of its own."""
        status = self.send(batch)
        if status is None or not 200 <= status < 300:
            with self.changed:
                for one in batch:
                    self._try_later(one)

    def _try_later(self, one: dict[str, Any]) -> None:
        attempt = one["attemptNumber"] + 1
        if attempt > RETRIES:
            self.lost.append(one)
            return
        delay = FIRST_DELAY * 2 ** (attempt - 1) * self._random.uniform(0.5, 1.5)
        self.put({**one, "attemptNumber": attempt}, delay=delay * self.delay_factor)

    def _notice(self, change: Change) -> None:
        if not self.running:
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
