"""What a workflow's "Send a webhook" sends: one record, in one of three shapes.

A contact as the old contacts API shows it (``vid``, ``properties.<name>.value``), any other object
(``objectId``, ``objectTypeId``, ``properties``), or a flat body with the keys the admin chose.
https://knowledge.hubspot.com/workflows/how-do-i-use-webhooks-with-hubspot-workflows
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

from adapters.hubspot import objects, signatures
from adapters.hubspot.bodies import fields, storable, text, whole_id, wording
from adapters.hubspot.scope import Scope
from connector.model import EventKind, LeadEvent
from connector.ports import Delivery

_CONTACT = "0-1"
_PORTAL = ("portalId", "portal-id", "portal_id")


def read(body: dict[str, Any], delivery: Delivery, scope: Scope) -> LeadEvent:
    """The record that a workflow wants routed, with the pool it asks for, if it does.

    The pool is the body's ``pool``, else ``?pool=`` of the address. Without ``objectTypeId`` it is
    a contact. A record id is looked for in ``objectId``, ``hs_object_id``, ``vid``,
    ``canonical-vid`` and ``properties.hs_object_id``.

    The key is the same for the same body at the same address at the same time: that of the v3
    signature, else the minute it came in. Without the time a contact that runs through the workflow
    a second time, with the very same flat body, would be lost. A repeat of HubSpot's, a minute
    later at the soonest and signed afresh, is thus a new event: it costs a read of the record,
    which has its owner by then, and changes nothing.
    """
    told = [body[name] for name in _PORTAL if body.get(name) not in (None, "")]
    account = whole_id(told[0]) if told else scope.portal_id
    object_type = object_type_of(body.get("objectTypeId"))
    record_id, flaw = record_of(_ids(body))
    return LeadEvent(
        key=_key(delivery),
        kind=EventKind.CREATED,
        object_type=object_type,
        record_id=record_id,
        account=account,
        pool=wording(body.get("pool")) or _asked_in(delivery.target),
        ignored=scope.refusal(account=account, object_type=object_type) or flaw,
        payload=body,
    )


def object_type_of(given: Any) -> str:
    """The name we keep for the type; that of contacts for none, "" for what cannot be one."""
    if given is None or given == "":
        return objects.canonical(_CONTACT)
    return objects.canonical(text(given) or "")


def record_of(candidates: Iterator[Any]) -> tuple[str, str | None]:
    """The first good id; else "" and the machine word for why there is none."""
    given = [value for value in candidates if value not in (None, "")]
    found = next(filter(None, map(whole_id, given)), None)
    if found:
        return found, None
    return "", "bad_record_id" if given else "no_record_id"


def _ids(body: Mapping[str, Any]) -> Iterator[Any]:
    yield from map(body.get, ("objectId", "hs_object_id", "vid", "canonical-vid"))
    own = fields(body.get("properties")).get("hs_object_id")
    yield own.get("value") if isinstance(own, dict) else own


def _asked_in(target: str) -> str | None:
    query = parse_qs(target.partition("?")[2])
    return text(storable(query["pool"][0])) if "pool" in query else None


def _key(delivery: Delivery) -> str:
    at = delivery.headers.get(signatures.TIMESTAMP)
    if at is None and delivery.received_at:
        at = delivery.received_at.replace(second=0, microsecond=0).isoformat()
    body = hashlib.sha256(delivery.body).hexdigest()
    return hashlib.sha256(json.dumps([delivery.target, body, at]).encode()).hexdigest()
