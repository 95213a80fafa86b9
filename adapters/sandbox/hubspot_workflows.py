"""Workflows of a sandbox HubSpot: they send webhooks, run custom actions and ask for options.

Unlike app events, a 4xx ends the matter, except 429, whose ``Retry-After`` counts milliseconds.
A 5xx, and no answer at all, come again for three days.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import urllib3

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_bodies import Shape, action_body, options_body, webhook_body
from adapters.sandbox.hubspot_outbox import PARALLEL, Outbox
from adapters.sandbox.hubspot_signatures import PROXIES, sign_v2, sign_v3, signed_url

FIRST_GAP, LONGEST_GAP = 60.0, 8 * 3600.0  # seconds
KEPT_FOR = 72 * 3600.0


@dataclass(frozen=True, kw_only=True)
class Task:
    """One request that a workflow has to make, and how long it has been at it."""

    body: dict[str, Any]
    gap: float = FIRST_GAP
    waited: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Try:
    """One request that was made; ``status`` is None when no answer came in time."""

    body: dict[str, Any]
    status: int | None
    answer: Any = None  # parsed JSON, None where there was none
    retry_after: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The output fields of a custom action's answer."""
        given = self.answer.get("outputFields") if isinstance(self.answer, dict) else None
        return given if isinstance(given, dict) else {}


class HubSpotWorkflows(Outbox[Task]):
    """The workflows of one portal that call ``target_url``.

    ``public_url`` as for ``HubSpotSender``; waits between tries are ``delay_factor`` times as long
    as HubSpot's, but not those that a 429 asks for.

    Switches: ``signatures`` (``v2``, as HubSpot tells; ``v2_and_v3``; ``none``), ``key`` (a header
    ``X-Leadrota-Key``, for workflows without an app), ``proxy`` (one of
    ``hubspot_signatures.PROXIES``).
    """

    def __init__(
        self,
        sandbox: HubSpotSandbox,
        target_url: str,
        *,
        public_url: str | None = None,
        key: str | None = None,
        delay_factor: float = 0.0001,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        super().__init__()
        self.sandbox = sandbox
        self.target_url = target_url
        self.signed_url = signed_url(target_url, public_url)
        self.signatures: Literal["v2", "v2_and_v3", "none"] = "none" if key else "v2"
        self.key = key
        self.proxy: str | None = None
        self.delay_factor = delay_factor
        self.clock = clock or (lambda: sandbox.clock())
        self.timeout = urllib3.Timeout(connect=3, read=30)
        self.tries: list[Try] = []
        self.lost: list[Task] = []  # refused for good, or given up after three days
        self._numbers = itertools.count()
        self._pool = urllib3.PoolManager(maxsize=PARALLEL, block=True)

    def stop(self) -> None:
        """Stop sending; what was not delivered is dropped."""
        super().stop()
        self._pool.clear()

    def body(
        self, object_type: str, record_id: str, *, shape: Shape | None = None
    ) -> dict[str, Any]:
        """What a webhook says of a record; contacts have the ``contact`` shape unless told so."""
        return webhook_body(
            shape or ("contact" if object_type == "contacts" else "object"),
            portal_id=self.sandbox.portal_id,
            object_type=object_type,
            record_id=record_id,
            properties=self.sandbox.get(object_type, record_id) or {},
        )

    def action(
        self, object_type: str, record_id: str, inputs: Mapping[str, Any], *properties: str
    ) -> dict[str, Any]:
        """What a custom action asks for a record; its callback id is of this execution alone."""
        held = self.sandbox.get(object_type, record_id) or {}
        return action_body(
            portal_id=self.sandbox.portal_id,
            callback_id=f"ap-{self.sandbox.portal_id}-{700001 + next(self._numbers)}-3-0",
            object_type=object_type,
            record_id=record_id,
            properties={name: held.get(name) for name in properties},
            inputs=inputs,
        )

    def enroll(self, *bodies: dict[str, Any]) -> None:
        """Have requests made by the background thread, with retries; actions keep their id."""
        for body in bodies:
            self.put(Task(body=body))

    def ask_options(
        self, *, field: str = "pool", query: str | None = None, after: str | None = None
    ) -> Try:
        """Ask for the choices of an input field, as the workflow editor does."""
        body = options_body(portal_id=self.sandbox.portal_id, field=field, query=query, after=after)
        return self.send(body)

    def send(self, body: dict[str, Any]) -> Try:
        """Make one request now and once; an action that answers BLOCK waits for its callback."""
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            response = self._pool.request(
                "POST",
                self.target_url,
                body=content,
                headers=self._headers(content),
                timeout=self.timeout,
                retries=False,
            )
        except urllib3.exceptions.HTTPError:
            made = Try(body=body, status=None)
        else:
            answer = None
            with suppress(ValueError):
                answer = json.loads(response.data)
            made = Try(
                body=body,
                status=response.status,
                answer=answer,
                retry_after=response.headers.get("Retry-After"),
            )
        self._keep_callback(made)
        with self.changed:
            self.tries.append(made)
        return made

    def deliver(self, batch: list[Task]) -> None:
        """Make one request; it comes again unless it was taken or refused for good."""
        for task in batch:
            made = self.send(task.body)
            if made.status is not None and 200 <= made.status < 300:
                continue
            if made.status is not None and made.status != 429 and made.status < 500:
                with self.changed:
                    self.lost.append(task)
                continue
            self._try_later(task, made)

    def _try_later(self, task: Task, made: Try) -> None:
        waited = task.waited + task.gap
        if waited > KEPT_FOR:
            with self.changed:
                self.lost.append(task)
            return
        delay = task.gap * self.delay_factor
        if made.status == 429 and made.retry_after and made.retry_after.isdecimal():
            delay = int(made.retry_after) / 1000
        gap = min(task.gap * 2, LONGEST_GAP)
        self.put(Task(body=task.body, gap=gap, waited=waited), delay=delay)

    def _headers(self, content: bytes) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "HubSpot Connect 2.0 (namespace: webhooks-nio-http-client) - sandbox",
            **(PROXIES[self.proxy] if self.proxy else {}),
        }
        if self.key:
            headers["X-Leadrota-Key"] = self.key
        if self.signatures == "none":
            return headers
        secret, url = self.sandbox.client_secret, self.signed_url
        headers |= sign_v2(secret=secret, method="POST", url=url, body=content)
        if self.signatures == "v2_and_v3":
            headers |= sign_v3(secret=secret, method="POST", url=url, body=content, at=self.clock())
        return headers

    def _keep_callback(self, made: Try) -> None:
        waits = made.fields.get("hs_execution_state") == "BLOCK"
        if waits and "callbackId" in made.body:
            with self.sandbox.lock:
                self.sandbox.callbacks.open(
                    made.body["callbackId"], made.fields.get("hs_expiration_duration")
                )
