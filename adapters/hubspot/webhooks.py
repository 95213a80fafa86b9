"""HubSpot's app webhooks: who sent them, and what they say of which record.

https://developers.hubspot.com/docs/api-reference/webhooks-webhooks-v3/guide
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from adapters.hubspot import objects, signatures
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import BadSettings, WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Choice, Delivery, Question, Received

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OWNER = "hubspot_owner_id"
_KINDS = {
    "creation": EventKind.CREATED,
    "restore": EventKind.CHANGED,
    "merge": EventKind.CHANGED,
    "propertyChange": EventKind.CHANGED,
}


class HubSpotReceiver:
    """The inbound half of one portal."""

    def __init__(self, settings: HubSpotSettings) -> None:
        if not settings.client_secret.strip():
            # With an empty key anybody can compute a good signature.
            raise BadSettings(
                f"The connection {settings.name!r} needs the client secret of its HubSpot app."
            )
        self._secret = settings.client_secret.encode()
        self._public_url = settings.public_url.rstrip("/")
        self._portal_id = settings.portal_id
        self._routed = frozenset(objects.canonical(name) for name in settings.objects)

    def verify(self, delivery: Delivery, now: datetime) -> None:
        """Return when HubSpot signed this delivery in the last five minutes, else raise a 401."""
        signatures.check(delivery, secret=self._secret, public_url=self._public_url, now=now)

    def parse(self, delivery: Delivery) -> Received | Question:
        """Read the events of a verified delivery; those that mean nothing carry ``ignored``."""
        events = [self._event(raw) for raw in _events(delivery)]
        return Received(events=events, answer=Answer(status=204))

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> Answer | None:
        """The options of an input field of a workflow action."""
        raise NotImplementedError

    def object_type(self, raw: str) -> str:
        """The plural name, whether the type is given by name, singular or type id."""
        return objects.canonical(raw)

    def record_id(self, object_type: str, raw: str) -> str | None:  # noqa: ARG002
        """The id when it is a positive whole number of at most 20 digits, else None."""
        return _id(raw)

    def owner_id(self, raw: str) -> str | None:
        """The same for the id of an owner."""
        return _id(raw)

    def refused(self, refusal: WebhookRefused) -> Answer | None:  # noqa: ARG002
        """None: HubSpot reads only the status."""
        return None

    def _event(self, raw: dict[str, Any]) -> LeadEvent:
        subscription = raw.get("subscriptionType") or raw.get("eventType")
        prefix, _, action = str(subscription).partition(".")
        object_type = _object_type(prefix, raw)
        record_id = _record_id(action, raw)
        account = _id(raw.get("portalId"))
        kind = _KINDS.get(action, EventKind.OTHER)
        if action == "propertyChange" and raw.get("propertyName") == _OWNER:
            kind = EventKind.OWNER_CHANGED
        return LeadEvent(
            key=_key(raw, subscription),
            kind=kind if object_type else EventKind.OTHER,
            object_type=object_type or "",
            record_id=record_id or "",
            occurred_at=_time(raw.get("occurredAt")),
            owner_id=_owner(raw) if kind is EventKind.OWNER_CHANGED else None,
            account=account,
            ignored=(
                self._foreign(account)
                or _meaningless(object_type, action, raw)
                or (None if object_type in self._routed else "object_not_routed")
                or (None if record_id else "bad_record_id")
            ),
            payload=raw,
        )

    def _foreign(self, account: str | None) -> str | None:
        if self._portal_id is None or account == self._portal_id:
            return None
        return "other_portal"


def _events(delivery: Delivery) -> list[dict[str, Any]]:
    content_type = delivery.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise WebhookRefused(
            "App webhooks are application/json.", code="unsupported_media_type", status=415
        )
    try:
        body = _storable(
            json.loads(delivery.body.decode(), parse_constant=_no_number, parse_float=_finite)
        )
    except (ValueError, RecursionError):
        raise WebhookRefused("The body is not valid JSON.", code="bad_body", status=400) from None
    if not isinstance(body, list) or not all(isinstance(event, dict) for event in body):
        raise WebhookRefused(
            "The body must be a JSON array of events.", code="bad_body", status=400
        )
    return body


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("number out of range")
    return number


def _storable(value: Any) -> Any:
    # One NUL or half a surrogate pair, legal in JSON, makes PostgreSQL refuse the whole delivery.
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value


def _object_type(prefix: str, raw: Mapping[str, Any]) -> str | None:
    if prefix != "object":
        return objects.of_classic(prefix)
    type_id = raw.get("objectTypeId")
    return objects.canonical(type_id) if isinstance(type_id, str) and type_id else None


def _record_id(action: str, raw: Mapping[str, Any]) -> str | None:
    if action != "merge":
        return _id(raw.get("objectId"))
    # A merge may make a new record; the merged ones are dead then, the primary one too.
    names = ("newObjectId", "primaryObjectId", "objectId")
    return next((found for name in names if (found := _id(raw.get(name)))), None)


def _meaningless(object_type: str | None, action: str, raw: Mapping[str, Any]) -> str | None:
    if action in ("deletion", "privacyDeletion"):
        return "record_deleted"
    if action not in _KINDS or object_type is None:
        return "not_a_record_event"
    if action == "propertyChange" and not isinstance(raw.get("propertyName"), str):
        return "no_property_name"
    return None


def _owner(raw: Mapping[str, Any]) -> str | None:
    """The owner named: "" when cleared, None when the event does not say it legibly."""
    if "propertyValue" not in raw:
        return None
    value = raw["propertyValue"]
    return "" if value in (None, "") else _id(value)


def _id(value: Any) -> str | None:
    text = str(value) if isinstance(value, int | str) else ""
    return text if re.fullmatch("[1-9][0-9]{0,19}", text) else None


def _time(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return None


def _key(raw: Mapping[str, Any], subscription: Any) -> str:
    """The same for each repeat of one event, which differ in ``attemptNumber`` only.

    ``eventId`` alone is not unique. The ids of a merge and the property's name stand in it so that
    two events that agree in all the rest are not taken for one.
    """
    names = (
        "portalId objectTypeId objectId newObjectId primaryObjectId propertyName eventId occurredAt"
    )
    parts = [subscription, *(raw.get(name) for name in names.split())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
