"""What a flow's HTTP callout or Apex sends: JSON with the records that somebody chose to tell of.

``{"orgId", "object", "event", "records": [...]}``, and ``pool`` where a flow asks for one.
Salesforce sends a callout once: nothing repeats it when it fails.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn

from adapters.salesforce import events
from adapters.salesforce.scope import Scope
from connector.errors import WebhookRefused
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Received

# A flow's callout takes its form of an answer from a sample, so this is always the same object.
ACCEPTED = b'{"status": "accepted"}'

_WORDS = {
    EventKind.CREATED: "created create inserted insert",
    EventKind.CHANGED: "updated update changed change undeleted undelete restored restore",
    EventKind.DELETED: "deleted delete",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}


def read(body: bytes, scope: Scope, received_at: datetime | None) -> Received:
    """The records of one callout as events, in its order; a list without any is fine.

    Names are taken in any case. A record is an object with its ``Id``, as Apex writes it, or the id
    alone. Its object type is what ``object`` says, else what Apex wrote in its ``attributes``, else
    what its id's prefix tells. One that has no good id is ignored among the others.

    Raises ``WebhookRefused``: 400 for what is no such JSON, 403 for another org.
    """
    told = events.by_name(_document(body))
    scope.check_org(events.text(told.get("orgid")))
    records = told.get("records")
    if not isinstance(records, list):
        raise _broken('"records" must be a list of objects that have an Id, or of ids.')
    return Received(
        events=[_event(raw, told, scope, received_at) for raw in records],
        answer=Answer(status=202, body=ACCEPTED, content_type="application/json"),
    )


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body.decode(), parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        raise _broken("It is not valid JSON.") from None
    if not isinstance(document, dict):
        raise _broken("It must be an object with orgId, object, event and records.")
    return document


def _broken(why: str) -> WebhookRefused:
    return WebhookRefused(f"The callout cannot be read. {why}", code="bad_body", status=400)


def _event(
    raw: Any, told: Mapping[str, Any], scope: Scope, received_at: datetime | None
) -> LeadEvent:
    event = events.read(
        _fields(raw),
        scope,
        key="",
        object_type=_text(told.get("object")) or _written_type(raw),
        kind=_kind(told.get("event")),
        pool=_wording(told.get("pool")) or None,
    )
    return replace(event, key=_key(event, received_at))


def _fields(raw: Any) -> dict[str, Any]:
    """The simple fields of a record by name; null and nested ones are left out."""
    if not isinstance(raw, dict):
        return {"Id": _text(raw)} if isinstance(raw, str) else {}
    return {
        _storable(name): _storable(value) if isinstance(value, str) else value
        for name, value in raw.items()
        if isinstance(value, str | int | float)
    }


def _written_type(raw: Any) -> str:
    """The object type that Apex adds to a record when it writes it as JSON."""
    attributes = raw.get("attributes") if isinstance(raw, dict) else None
    return _text(attributes.get("type")) if isinstance(attributes, dict) else ""


def _kind(word: Any) -> EventKind | None:
    """What happened, in any of the usual words, those of Apex triggers too; None: not told."""
    plain = _text(word).lower().removeprefix("after_").removeprefix("before_")
    return _KINDS.get(plain)


def _key(event: LeadEvent, received_at: datetime | None) -> str:
    """The same for the same news of the same record, however its id is written.

    A time stamp of the record tells two changes apart. Without one the time of receipt does, or the
    second would be lost; told twice it then counts twice, which costs a read and changes nothing.
    """
    fields = events.by_name(event.payload) | {"id": event.record_id, "ownerid": event.owner_id}
    is_stamped = any(map(events.moment, map(fields.get, ("systemmodstamp", "lastmodifieddate"))))
    at = None if is_stamped or received_at is None else received_at.isoformat()
    return events.fingerprint(event.object_type, event.kind, event.pool, fields, at)


def _wording(value: Any) -> str:
    """The text; anything else as JSON, so that whoever sent it finds it again."""
    return _text(value if isinstance(value, str) or value is None else json.dumps(value)[:200])


def _text(value: Any) -> str:
    return _storable(events.text(value))


def _storable(text: str) -> str:
    """The text without characters that no database stores; they are replaced."""
    # One NUL or half a surrogate pair, legal in JSON, makes PostgreSQL refuse the whole delivery.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("number out of range")
    return number
