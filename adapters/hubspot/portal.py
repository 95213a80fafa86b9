"""The outbound half of one portal, by the promises of ``connector.ports.Crm``."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from adapters.hubspot import errors, objects, records
from adapters.hubspot.client import Clock, HubSpotClient
from adapters.hubspot.owners import OwnerDirectory
from adapters.hubspot.settings import HubSpotSettings
from connector.model import Related
from connector.ports import (
    Capabilities,
    CrmRecord,
    CrmUser,
    Outcome,
    OwnerWrite,
    Result,
    Shared,
    Verdict,
)

CALL_SECONDS = 20.0
# Of one item in a batch; an item refused with any other category may go through later.
_FOR_GOOD = {
    "VALIDATION_ERROR",
    "OBJECT_NOT_FOUND",
    "CONFLICT",
    "FORBIDDEN",
    "INVALID_PARAMETER",
}


class HubSpotCrm:
    """One portal. ``clock`` is monotonic; the tests move it."""

    capabilities = Capabilities(read_batch=100, write_batch=100)

    def __init__(
        self, settings: HubSpotSettings, shared: Shared, *, clock: Clock = time.monotonic
    ) -> None:
        self._settings = settings
        self._shared = shared
        self._clock = clock
        self._client = HubSpotClient(settings, clock=clock)
        self._owners = OwnerDirectory(self._client.owners_page, clock=clock)

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        """Read up to 100 records by one batch read; owners are judged by the owners list."""
        if not ids:
            return {}
        deadline = self._clock() + CALL_SECONDS
        rows = self._rows(object_type, list(dict.fromkeys(ids)), deadline)
        owners = {row.owner_id for row in rows if row.owner_id}
        active = self._owners.active(owners, deadline=deadline)
        return {row.asked_id: _record(row, active) for row in rows}

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """Set up to 100 owners by one batch update; one outcome for each write, in order."""
        deadline = self._clock() + CALL_SECONDS
        active = self._owners.active({write.owner_id for write in writes}, deadline=deadline)
        sent = [write for write in writes if write.owner_id in active]
        told = self._update(object_type, sent, deadline) if sent else {}
        return [
            told[write.record_id] if write.owner_id in active else _inactive(write)
            for write in writes
        ]

    def related(self, object_type: str, ids: Collection[str]) -> Mapping[str, Sequence[Related]]:
        """By batch reads of associations."""
        raise NotImplementedError

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        """From the owners list and the users."""
        raise NotImplementedError

    def tell(self, callback_id: str, verdict: Verdict) -> None:
        """Complete the callback."""
        raise NotImplementedError

    def account_id(self) -> str | None:
        """The portal's id: as set, else read once from the account's details."""
        if self._settings.portal_id is not None:
            return self._settings.portal_id
        return str(self._client.account(self._clock() + CALL_SECONDS)["portalId"])

    def close(self) -> None:
        """Close connections. Calling it twice is fine."""
        self._client.close()

    def _rows(self, object_type: str, ids: list[str], deadline: float) -> list[records.Row]:
        names = objects.properties(object_type)
        answer = self._client.read_batch(object_type, ids, properties=names, deadline=deadline)
        rows, open_ids = records.rows(answer, ids)
        for record_id in open_ids:
            rows += self._rows(object_type, [record_id], deadline)
        return rows

    def _update(
        self, object_type: str, writes: Sequence[OwnerWrite], deadline: float
    ) -> dict[str, Outcome]:
        try:
            answer = self._client.update_owners(object_type, writes, deadline=deadline)
        except errors.CallRefused as refusal:
            if len(writes) > 1:
                raise  # HubSpot refuses a whole batch for one bad item: the caller tries halves
            return {writes[0].record_id: _refused(writes[0], refusal)}
        records.check_scopes(answer)  # what was written all the same is found by the next read
        return {
            write.record_id: _outcome(write, answer, alone=len(writes) == 1) for write in writes
        }


def _record(row: records.Row, active: frozenset[str]) -> CrmRecord:
    return CrmRecord(
        id=row.asked_id,
        owner_id=row.owner_id,
        owner_stays=row.owner_id in active,
        email=objects.email(row.values),
        company=objects.company(row.values),
        attributes=row.values,
        survivor_id=row.survivor_id,
    )


def _outcome(write: OwnerWrite, answer: Mapping[str, Any], *, alone: bool) -> Outcome:
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


def _refused(write: OwnerWrite, refusal: errors.CallRefused) -> Outcome:
    return Outcome(
        record_id=write.record_id,
        result=refusal.result,
        code=refusal.code,
        message=refusal.crm_message or refusal.message,
    )


def _inactive(write: OwnerWrite) -> Outcome:
    return Outcome(
        record_id=write.record_id,
        result=Result.INACTIVE_OWNER,
        code="owner_not_active",
        message=f"HubSpot lists no active person with the owner id {write.owner_id}.",
        is_listed=True,
    )
