"""Reads records in batches, and makes out which record of the answer is which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.hubspot import errors
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.exchange import Errand
from connector.errors import CrmAgain

_NOT_FOUND = "OBJECT_NOT_FOUND"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of the answer, under the id that was asked for."""

    asked_id: str
    survivor_id: str | None  # the record is another one now, by a merge
    values: Mapping[str, str]  # properties that have a value

    @property
    def merged_ids(self) -> tuple[str, ...]:
        """The ids of the records that were merged into this one."""
        return _merged(self.values)

    @property
    def owner_id(self) -> str | None:
        """Missing, null and "" are all no owner."""
        return self.values.get("hubspot_owner_id")


def read(
    client: HubSpotClient,
    object_type: str,
    ids: Sequence[str],
    *,
    properties: Sequence[str],
    errand: Errand,
) -> list[Row]:
    """Read up to 100 records, all different. An id without a row does not exist (any more)."""
    answer = client.read_batch(object_type, ids, properties=properties, errand=errand)
    found, open_ids = rows(answer, ids)
    for record_id in open_ids:
        found += read(client, object_type, [record_id], properties=properties, errand=errand)
    return found


def rows(answer: Mapping[str, Any], ids: Sequence[str]) -> tuple[list[Row], list[str]]:
    """The records found, and the ids that must be asked for one by one.

    An id that is in neither does not exist (any more). To be asked again are those among which
    cannot be told whose survivor is whose. Raises ``CrmAgain`` when the answer leaves open what
    became of an id: an error that does not say "not found", or a record that makes no sense.
    """
    _check_errors(answer)
    found = [_found(result) for result in answer["results"]]
    direct = [_row(record_id, values) for record_id, values in found if record_id in ids]
    answered = {row.asked_id for row in direct}
    merged = [
        _row(old, values, survivor_id=record_id)
        for record_id, values in found
        for old in _merged(values)
        if old in ids and old not in answered
    ]
    answered |= {row.asked_id for row in merged}
    survivors = {row.survivor_id for row in merged}
    strangers = [item for item in found if item[0] not in ids and item[0] not in survivors]
    named = _named(answer)
    open_ids = [asked for asked in ids if asked not in answered and asked not in named]
    if open_ids and len(open_ids) == len(ids) and not strangers:
        # Nothing found and nothing said of it: not HubSpot's way to say that records are gone.
        raise CrmAgain("HubSpot answered without a word on the records.", code="bad_answer")
    if not strangers:
        return [*direct, *merged], []
    if len(open_ids) == len(strangers) == 1:
        followed = _row(open_ids[0], strangers[0][1], survivor_id=strangers[0][0])
        return [*direct, *merged, followed], []
    if len(ids) == 1:
        raise CrmAgain("HubSpot answered with records that were not asked for.", code="bad_answer")
    return [*direct, *merged], open_ids


def error_ids(error: Mapping[str, Any]) -> list[str]:
    """The ids of the records that an item of ``errors`` speaks of."""
    context = error.get("context")
    ids = context.get("ids") if isinstance(context, dict) else None
    return [str(item) for item in ids] if isinstance(ids, list) else []


def error_items(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items of ``errors``, whatever the status was: 207 of v3, 200 of a date version."""
    items = answer.get("errors")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def check_scopes(answer: Mapping[str, Any]) -> None:
    """Raise ``CrmForbidden`` when items were refused for want of a scope, which concerns all."""
    for error in error_items(answer):
        if error.get("category") == errors.MISSING_SCOPES:
            raise errors.forbidden(error, "HubSpot refused some records for want of a scope.")


def _check_errors(answer: Mapping[str, Any]) -> None:
    check_scopes(answer)
    for error in error_items(answer):
        if error.get("category") != _NOT_FOUND:
            text = errors.message(error)
            raise CrmAgain(
                f"HubSpot could not read some records: {text}",
                code=errors.machine_word(error),
                crm_message=text,
            )


def _named(answer: Mapping[str, Any]) -> set[str]:
    return {record_id for error in error_items(answer) for record_id in error_ids(error)}


def _found(result: Any) -> tuple[str, dict[str, str]]:
    if not isinstance(result, dict) or not result.get("id"):
        raise CrmAgain("HubSpot answered with a record without id.", code="bad_answer")
    properties = result.get("properties")
    if not isinstance(properties, dict):
        raise CrmAgain("HubSpot answered with a record without properties.", code="bad_answer")
    return str(result["id"]), dict(_valued(properties.items()))


def _valued(items: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, str]]:
    return ((name, str(value)) for name, value in items if value is not None and value != "")


def _merged(values: Mapping[str, str]) -> tuple[str, ...]:
    ids = values.get("hs_merged_object_ids", "").split(";")
    return tuple(filter(None, map(str.strip, ids)))


def _row(asked_id: str, values: Mapping[str, str], *, survivor_id: str | None = None) -> Row:
    other = survivor_id or values.get("hs_object_id", asked_id)
    return Row(asked_id=asked_id, survivor_id=None if other == asked_id else other, values=values)
