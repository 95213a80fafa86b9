"""How owner writes went, by the answer to their batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.hubspot import errors, records
from connector.ports import Outcome, OwnerWrite, Result

# Of one item in a batch; an item refused with any other category may go through later.
_FOR_GOOD = {
    "VALIDATION_ERROR",
    "OBJECT_NOT_FOUND",
    "FORBIDDEN",
    "INVALID_PARAMETER",
}


def told(write: OwnerWrite, answer: Mapping[str, Any], *, alone: bool) -> Outcome:
    """What the answer to a batch says of one write; ``alone``: the batch held no other."""
    for result in answer["results"]:
        if isinstance(result, dict) and str(result.get("id")) == write.record_id:
            return _written(write, result)
    for error in records.error_items(answer):
        ids = records.error_ids(error)
        if write.record_id in ids or (alone and not ids):
            return _failed(write, error)
    return Outcome(
        record_id=write.record_id,
        result=Result.AGAIN,
        code="not_in_answer",
        message="HubSpot's answer does not mention this record.",
    )


def _written(write: OwnerWrite, result: Mapping[str, Any]) -> Outcome:
    properties = result.get("properties")
    shown = properties.get("hubspot_owner_id") if isinstance(properties, dict) else None
    if shown is None or str(shown) == write.owner_id:
        return Outcome(record_id=write.record_id, result=Result.DONE)
    return Outcome(
        record_id=write.record_id,
        result=Result.AGAIN,
        code="owner_not_set",
        message=f"HubSpot took the write but shows the owner {shown!r}.",
    )


def _failed(write: OwnerWrite, error: Mapping[str, Any]) -> Outcome:
    otherwise = Result.NEVER if error.get("category") in _FOR_GOOD else Result.AGAIN
    return Outcome(
        record_id=write.record_id,
        result=errors.owner_result(error) or otherwise,
        code=errors.machine_word(error),
        message=errors.message(error),
    )


def refused(write: OwnerWrite, refusal: errors.CallRefused) -> Outcome:
    """The outcome of a write that HubSpot refused as a call of its own."""
    return Outcome(
        record_id=write.record_id,
        result=refusal.result,
        code=refusal.code,
        message=refusal.crm_message or refusal.message,
    )


def inactive(write: OwnerWrite) -> Outcome:
    """The outcome of a write that is not sent, since nobody active has that owner id."""
    return Outcome(
        record_id=write.record_id,
        result=Result.INACTIVE_OWNER,
        code="owner_not_active",
        message=f"HubSpot lists no active person with the owner id {write.owner_id}.",
        is_listed=True,
    )
