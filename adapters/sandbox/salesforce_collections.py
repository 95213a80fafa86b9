"""``PATCH …/composite/sobjects``: many rows in one call, one result for each, in order."""

from __future__ import annotations

from collections.abc import Mapping, Set
from copy import deepcopy
from dataclasses import replace
from itertools import groupby

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_writes as writes
from adapters.sandbox.salesforce_ids import MalformedId
from adapters.sandbox.salesforce_records import Records
from adapters.sandbox.salesforce_switches import Options, Switches

Result = dict[str, object]

_MOST_RECORDS = 200
_MOST_RUNS = 10
_ROLLED_BACK = (
    "Record rolled back because not all records were valid and the request was using AllOrNone "
    "header"
)


def patch(
    records: Records,
    switches: Switches,
    body: Mapping[str, object],
    how: Options,
) -> list[Result]:
    """Change the rows of a collections request; raises ``Refused`` for the request as a whole."""
    entries = body.get("records")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise say.refuse(400, "JSON_PARSER_ERROR", "records must be a list of objects", None)
    _check_list(entries, records.rules)
    # One header cannot hold the stamps of many rows.
    how = replace(how, unmodified_since=None, tag=None)
    with records.lock:
        together = body.get("allOrNone") is True and "all_or_none" in records.rules
        before = deepcopy(records.rows) if together else {}
        results = _write_all(records, switches, entries, how)
        if together and not all(result["success"] for result in results):
            records.rows = before
            results = [_rolled_back(result) for result in results]
    for entry, result in zip(entries, results, strict=True):
        if result["success"]:
            records.tell(_type(entry), str(result["id"]), over_api=True, kind="updated")
    return results if "result_order" in records.rules else sorted(results, key=_failed_first)


def _check_list(entries: list[Mapping[str, object]], rules: Set[str]) -> None:
    if not entries and "collections_empty" in rules:
        message = "At least 1 record is required"
        raise say.refuse(400, "REQUIRED_FIELD_MISSING", message, None)
    if len(entries) > _MOST_RECORDS and "collections_limit" in rules:
        message = f"The request may hold at most {_MOST_RECORDS} records"
        raise say.refuse(400, "NUMBER_OUTSIDE_VALID_RANGE", message, None)
    runs = sum(1 for _ in groupby(entries, key=_type))
    if runs > _MOST_RUNS and "collections_runs" in rules:
        message = f"The request may hold at most {_MOST_RUNS} runs of one object type"
        raise say.refuse(400, "NUMBER_OUTSIDE_VALID_RANGE", message, None)


def _write_all(
    records: Records,
    switches: Switches,
    entries: list[Mapping[str, object]],
    how: Options,
) -> list[Result]:
    seen: set[str] = set()
    results = []
    for entry in entries:
        try:
            _check_entry(records, entry, seen)
            values = {k: v for k, v in entry.items() if k.lower() not in ("attributes", "id")}
            target = (_type(entry), _id(entry))
            written = writes.update(records, switches, target, values, how)
        except say.Refused as refused:
            results.append(_failure(refused, entry, records.rules))
        else:
            results.append({"id": written, "success": True, "errors": []})
    return results


def _check_entry(records: Records, entry: Mapping[str, object], seen: set[str]) -> None:
    if _id(entry) is None and "missing_id" in records.rules:
        raise say.refuse(400, "MISSING_ARGUMENT", "Id not specified in an update call")
    kind = _type(entry)
    if records.objects.seen_object(kind) != kind:
        message = f"sObject type '{kind}' is not supported."
        raise say.refuse(400, "INVALID_TYPE", message)
    try:
        wide = records.wide(_id(entry))
    except MalformedId:
        raise say.malformed_id(_id(entry)) from None
    if wide in seen and "duplicate_ids" in records.rules:
        raise say.refuse(400, "DUPLICATE_VALUE", f"Duplicate id in list: {wide}", ["Id"])
    seen.add(wide)


def _failure(refused: say.Refused, entry: Mapping[str, object], rules: Set[str]) -> Result:
    errors = refused.collection_errors() if "status_code_key" in rules else refused.entries
    failure: Result = {"success": False, "errors": errors}
    return failure if "result_no_id" in rules else {"id": _id(entry)} | failure


def _rolled_back(result: Result) -> Result:
    if not result["success"]:
        return result
    error = {
        "statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK",
        "message": _ROLLED_BACK,
        "fields": [],
    }
    return {"success": False, "errors": [error]}


def _failed_first(result: Result) -> bool:
    return bool(result["success"])


def _type(entry: Mapping[str, object]) -> str:
    attributes = entry.get("attributes")
    return str(attributes.get("type", "")) if isinstance(attributes, dict) else ""


def _id(entry: Mapping[str, object]) -> object:
    return entry.get("id", entry.get("Id"))
