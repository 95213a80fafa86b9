"""The inbound half of a Salesforce org: outbound messages, and callouts of flows and Apex.

One address takes both; the content type tells them apart. Neither is signed, so each carries a key
of ours: an outbound message in its address, since Salesforce adds no header to it, a callout in a
header.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import unquote_to_bytes

from adapters.salesforce import callouts, ids, messages, scope
from adapters.salesforce.addresses import is_loopback
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import BadSettings, WebhookRefused
from connector.ports import Answer, Choice, Delivery, Received

KEY = "x-leadrota-key"

_JSON = "application/json"
_XML = ("text/xml", "application/xml")


class SalesforceReceiver:
    """The inbound half of one connected org."""

    def __init__(self, settings: SalesforceSettings) -> None:
        """Raise ``BadSettings`` when a message of this org could not be told from a forged one."""
        if not settings.webhook_key and not is_loopback(settings.login_url):
            raise BadSettings(
                f"Connection {settings.name}: outbound messages carry no signature and an org id "
                "is no secret. Set SALESFORCE_WEBHOOK_KEY and add ?key=… to the endpoint address "
                "in Salesforce."
            )
        self._scope = scope.of(settings)
        self._key = settings.webhook_key.encode() if settings.webhook_key else None

    def verify(self, delivery: Delivery, now: datetime) -> None:  # noqa: ARG002 - no time stamp
        """Check the key, if there is one: of a callout the header, else ``?key=``."""
        if self._key is None:
            return
        if _is_callout(delivery):
            given = [delivery.headers.get(KEY, "").encode("utf-8", "replace")]
            flaw = "The callout lacks the header X-Leadrota-Key or has the wrong key."
        else:
            given = _query_values(delivery.target, b"key")
            flaw = "The address of the outbound message lacks ?key=… or has the wrong key."
        if len(given) != 1 or not hmac.compare_digest(given[0], self._key):
            raise WebhookRefused(flaw, code="bad_key", status=401)

    def parse(self, delivery: Delivery) -> Received:
        """Read a verified delivery; events that mean nothing to us carry ``ignored``."""
        media_type = _media_type(delivery)
        if media_type in _XML:
            return messages.read(delivery.body, self._scope)
        if media_type == _JSON and _is_callout(delivery):
            return callouts.read(delivery.body, self._scope, delivery.received_at)
        raise WebhookRefused(
            "An outbound message must be text/xml, a callout application/json.",
            code="unsupported_media_type",
            status=415,
        )

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> None:
        """None: Salesforce asks for no pools."""

    def object_type(self, raw: str) -> str:
        """The API name, which Salesforce takes in any case; an unknown one stays as it is."""
        return self._scope.object_type(raw)

    def record_id(self, object_type: str, raw: str) -> str | None:
        """The 18-character id, None if the object type cannot have it."""
        return ids.record_id(object_type, raw)

    def owner_id(self, raw: str) -> str | None:
        """The 18-character id of a user; a queue is nobody's owner id."""
        return ids.user_id(raw)

    def refused(self, refusal: WebhookRefused, delivery: Delivery) -> Answer | None:
        """A SOAP fault; None for a callout, whose sender reads JSON."""
        return None if _is_callout(delivery) else messages.fault(refusal)


def _is_callout(delivery: Delivery) -> bool:
    """Tell whether the sender means a callout, whether or not it says so by its content type."""
    media_type = _media_type(delivery)
    if media_type == _JSON:
        return not delivery.body.lstrip().startswith(b"<")
    return media_type not in _XML and KEY in delivery.headers


def _media_type(delivery: Delivery) -> str:
    return delivery.headers.get("content-type", "").partition(";")[0].strip().lower()


def _query_values(target: str, name: bytes) -> list[bytes]:
    pairs = (part.partition("=") for part in target.partition("?")[2].split("&"))
    return [unquote_to_bytes(value) for key, _, value in pairs if unquote_to_bytes(key) == name]
