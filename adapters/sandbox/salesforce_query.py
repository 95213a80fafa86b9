"""A parsed query answered from the org's records, with Salesforce's refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_schema as schema
from adapters.sandbox import salesforce_soql as soql
from adapters.sandbox.salesforce_ids import MalformedId
from adapters.sandbox.salesforce_records import Record, Records

Row = dict[str, object]
_IDS = ("id", "reference")


@dataclass(frozen=True, slots=True)
class Path:
    """A checked field path: the relationships to walk, then the field; spelt as the org does."""

    relations: tuple[tuple[str, str, str], ...]  # field, name, and the entity behind it
    entity: str
    field: str
    kind: str  # the field's type


def answer(records: Records, text: str, *, base: str, with_deleted: bool) -> list[Row]:
    """All rows of a query in the shape of REST; raises ``Refused``.

    ``base`` is ``/services/data/vNN.0``, from which each row's address is made.
    """
    try:
        query = soql.parse(text)
    except soql.Malformed as error:
        if "malformed_query" not in records.rules:
            return []
        raise _at(text, error.at, "MALFORMED_QUERY", str(error)) from None
    object_type = _object_type(records, query)
    paths = [_path(records, object_type, field, text) for field in query.fields]
    seen = [str(path) for path in paths]
    if len(set(seen)) < len(seen):
        raise _at(text, 0, "MALFORMED_QUERY", "duplicate field selected")
    keeps = _test(records, object_type, query.where, text)
    with records.lock:
        rows = records.of_type(object_type)
        found = [row for row in rows if keeps(row) and (with_deleted or not row.is_deleted)]
        for column in reversed(query.order):
            path = _path(records, object_type, column.field, text)
            _sort(records, found, path, column)
        return [_shape(records, row, paths, base) for row in found[: query.limit]]


def _at(text: str, at: int, code: str, message: str) -> say.Refused:
    where = f"\n{text}\n{' ' * at}^\nERROR at Row:1:Column:{at + 1}\n{message}"
    return say.refuse(400, code, where, None)


def _object_type(records: Records, query: soql.Query) -> str:
    known = records.objects.seen_object(query.object_type)
    if known is None and "unknown_type" not in records.rules:
        return "Lead"
    if known is None:
        message = f"sObject type '{query.object_type}' is not supported."
        raise _at(query.text, query.text.find(query.object_type), "INVALID_TYPE", message)
    return known


def _path(records: Records, object_type: str, dotted: str, text: str) -> Path:
    *names, last = dotted.split(".")
    entity = object_type
    relations = []
    for name in names:
        known = records.objects.relation(entity, name)
        if known is None:
            message = f"Didn't understand relationship '{name}' in field path."
            raise _at(text, max(text.find(dotted), 0), "INVALID_FIELD", message)
        relations.append(known)
        entity = known[2]
    field = _field(records, entity, last)
    if field is None:
        message = (
            f"No such column '{last}' on entity '{entity}'. If you are attempting to use a custom "
            "field, be sure to append the '__c' after the custom field name. Please reference your "
            "WSDL or the describe call for the appropriate names."
        )
        raise _at(text, max(text.find(dotted), 0), "INVALID_FIELD", message)
    kind = records.objects.field_type(entity, field)
    return Path(tuple(relations), entity, field, kind)


def _field(records: Records, entity: str, name: str) -> str | None:
    if entity == "Name":
        return next((f for f in schema.NAME_FIELDS if f.lower() == name.lower()), None)
    known = records.objects.seen_field(entity, name)
    return known if known or "unknown_field" in records.rules else name


def _walk(records: Records, row: Record | None, path: Path) -> object:
    for reference, _, _ in path.relations:
        row = _related(records, row, reference)
    if row is None:
        return None
    if path.entity == "Name":
        return _name_value(records, row, path.field)
    return records.read(row, path.field)


def _related(records: Records, row: Record | None, reference: str) -> Record | None:
    pointed = row.read(reference) if row else None
    return records.rows.get(pointed) if isinstance(pointed, str) else None


def _name_value(records: Records, row: Record, field: str) -> object:
    if field == "Type":
        return row.values.get("Type") if row.type == "Group" else row.type
    if field == "IsActive" and row.type != "User":
        return False  # no capture of a queue's value is known; a checkbox cannot be null
    return records.read(row, field)


def _shape(records: Records, row: Record, paths: list[Path], base: str) -> Row:
    shaped = _attributes(row.type, row, base)
    for path in paths:
        at: Row = shaped
        here: Record | None = row
        for reference, relation, entity in path.relations:
            here = _related(records, here, reference)
            if here is None:
                at[relation] = None
                break
            inner = at.setdefault(relation, _attributes(entity, here, base))
            at = inner if isinstance(inner, dict) else {}
        else:
            at[path.field] = _walk(records, row, path)
    return shaped


def _attributes(entity: str, row: Record, base: str) -> Row:
    return {"attributes": {"type": entity, "url": f"{base}/sobjects/{row.type}/{row.id}"}}


def _test(
    records: Records, object_type: str, condition: soql.Condition | None, text: str
) -> Callable[[Record], bool]:
    match condition:
        case None:
            return lambda _: True
        case soql.Junction("NOT", parts):
            inner = _test(records, object_type, parts[0], text)
            return lambda row: not inner(row)
        case soql.Junction(op, parts):
            tests = [_test(records, object_type, part, text) for part in parts]
            joined = all if op == "AND" else any
            return lambda row: joined(test(row) for test in tests)
        case soql.Comparison(field, op, values):
            path = _path(records, object_type, field, text)
            _check_filter(records, path, field, text)
            first, *rest = (_operand(records, path, value, text) for value in values)
            wanted = frozenset([first, *rest])
            if "case_matters" not in records.rules:
                folded = frozenset(str(each)[:15].casefold() for each in wanted)
                return lambda row: str(_walk(records, row, path))[:15].casefold() in folded
            return lambda row: _compare(
                op, _comparable(_walk(records, row, path), path), first, wanted
            )


def _check_filter(records: Records, path: Path, dotted: str, text: str) -> None:
    is_refused = path.kind == "address" or (path.entity, path.field) in schema.UNFILTERABLE
    if is_refused and "unfilterable" in records.rules:
        message = f"field '{path.field}' can not be filtered in a query call"
        raise _at(text, max(text.find(dotted), 0), "INVALID_FIELD", message)


def _operand(records: Records, path: Path, value: soql.Literal, text: str) -> object:
    if isinstance(value, str) and path.kind in _IDS:
        try:
            return records.wide(value)
        except MalformedId:
            at = max(text.find(value), 0)
            code = "INVALID_QUERY_FILTER_OPERATOR"
            raise _at(text, at, code, f"invalid ID field: {value}") from None
    if path.kind == "datetime" and not isinstance(value, datetime | None):
        message = f"value of filter criterion for field '{path.field}' must be of type dateTime"
        raise _at(text, 0, "INVALID_FIELD", message)
    return value.casefold() if isinstance(value, str) else value


def _comparable(value: object, path: Path) -> object:
    if path.kind == "datetime" and isinstance(value, str):
        return datetime.fromisoformat(value)
    if isinstance(value, str) and path.kind not in _IDS:
        return value.casefold()  # text compares without case, ids never do
    return value


def _compare(op: str, value: object, first: object, wanted: frozenset[object]) -> bool:
    match op:
        case "=" | "IN":
            return value in wanted
        case "!=" | "NOT IN":
            return value not in wanted
        case "LIKE":
            return isinstance(value, str) and bool(_like(str(first)).fullmatch(value))
    return _ordered(op, value, first)


def _ordered(op: str, value: object, other: object) -> bool:
    for kind in (datetime, str, (int, float)):
        if isinstance(value, kind) and isinstance(other, kind):
            less, same = bool(value < other), value == other  # type: ignore[operator]
            return {"<": less, "<=": less or same, ">": not (less or same), ">=": not less}[op]
    return False


def _like(pattern: str) -> re.Pattern[str]:
    wild = {"%": ".*", "_": "."}
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    return re.compile("".join(wild.get(p) or re.escape(p[-1]) for p in parts), re.DOTALL)


def _sort(records: Records, rows: list[Record], path: Path, column: soql.Order) -> None:
    def key(row: Record) -> tuple[bool, object]:
        value = _comparable(_walk(records, row, path), path)
        null_rank = (value is None) == (column.nulls_last != column.descending)
        return null_rank, "" if value is None else value

    rows.sort(key=key, reverse=column.descending)
