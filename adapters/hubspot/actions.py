"""HubSpot's custom workflow actions: what an action asks, and what it is answered.

https://developers.hubspot.com/docs/api-reference/automation-actions-v4-v4/guide
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from adapters.hubspot import workflows
from adapters.hubspot.bodies import MOST_CHARACTERS, broken, fields, text, whole_id, wording
from adapters.hubspot.scope import Scope
from connector.model import EventKind, LeadEvent
from connector.ports import Answer, Choice, Question, Verdict

PAGE = 100  # options in one answer


def asks(body: dict[str, Any]) -> bool:
    """Tell whether the body is one of an action that waits for an answer."""
    return "callbackId" in body and isinstance(body.get("origin"), dict)


def read(body: dict[str, Any], scope: Scope) -> Question:
    """What an action asks: who gets its record, in the pool of ``inputFields`` if there is one.

    Raises ``WebhookRefused`` when ``callbackId`` cannot be one: nothing could be answered later.
    """
    callback_id = text(body["callbackId"])
    if callback_id is None or len(callback_id) > MOST_CHARACTERS:
        raise broken(f"callbackId must be a text of 1 to {MOST_CHARACTERS} characters.")
    enrolled = fields(body.get("object"))
    account = whole_id(body["origin"].get("portalId"))
    object_type = workflows.object_type_of(
        enrolled.get("objectTypeId") or enrolled.get("objectType")
    )
    record_id, flaw = workflows.record_of(iter([enrolled.get("objectId")]))
    event = LeadEvent(
        key=hashlib.sha256(json.dumps(["callback", callback_id]).encode()).hexdigest(),
        kind=EventKind.CREATED,
        object_type=object_type,
        record_id=record_id,
        account=account,
        pool=wording(fields(body.get("inputFields")).get("pool")),
        ignored=scope.refusal(account=account, object_type=object_type) or flaw,
        payload=body,
    )
    return Question(event=event, callback_id=callback_id, answer=answer)


def answer(verdict: Verdict | None) -> Answer:
    """A verdict for the action; None: it shall wait for the callback."""
    return in_json({"outputFields": output_fields(verdict)}, status=200)


def output_fields(verdict: Verdict | None) -> dict[str, str]:
    """The ``outputFields`` for a verdict; None lets the workflow wait, a week at most.

    A verdict without an owner ends the action as failed, and the workflow goes on.
    """
    if verdict is None:
        # HubSpot's own default is a week too; said here so that a change there changes nothing.
        return {"hs_execution_state": "BLOCK", "hs_expiration_duration": "P7D"}
    return {
        "assignedOwnerId": verdict.owner_id,
        "assignedOwnerEmail": verdict.owner_email,
        "assignedUserName": verdict.user_name,
        "pool": verdict.pool,
        "reason": verdict.reason,
        "hs_execution_state": "SUCCESS" if verdict.owner_id else "FAIL_CONTINUE",
    }


def options(body: Any, pools: Sequence[Choice], scope: Scope) -> Answer:
    """One page of the pools whose name holds what the editor's user typed, in the order given.

    None of them for another portal. Raises ``WebhookRefused`` for a body that is no such request.
    """
    if not isinstance(body, dict):
        raise broken("A request for options must be a JSON object.")
    wanted = fields(body.get("fetchOptions"))
    account = whole_id(fields(body.get("origin")).get("portalId"))
    typed = (text(wanted.get("q")) or "").casefold()
    found = [pool for pool in pools if typed in pool.name.casefold()]
    if scope.is_foreign(account):
        found = []
    start = _offset(wanted.get("after"))
    page = found[start : start + PAGE]
    more = {"after": str(start + PAGE)} if len(found) > start + PAGE else {}
    shown = [{"label": pool.name, "value": pool.id, "description": pool.note} for pool in page]
    return in_json({"options": shown, **more, "searchable": True}, status=200)


def in_json(body: dict[str, Any], *, status: int) -> Answer:
    """An answer in JSON."""
    return Answer(status=status, body=json.dumps(body).encode(), content_type="application/json")


def _offset(after: Any) -> int:
    if after in (None, ""):
        return 0
    if (offset := whole_id(after)) is None:
        raise broken("fetchOptions.after must be what an earlier answer gave.")
    return int(offset)
