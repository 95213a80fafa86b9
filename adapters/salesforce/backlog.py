"""Records that no message may have brought: those without an owner, and what changed lately."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from adapters.salesforce import ids, records
from adapters.salesforce.client import Call
from connector.errors import CrmAgain, CrmForbidden, CrmNever
from connector.model import EventKind, LeadEvent
from connector.ports import Changes, Mark

PAGE = 2_000  # records in one answer of ``changes``

Row = Mapping[str, Any]


def unowned(call: Call, object_type: str, since: datetime, after: str | None) -> list[str]:
    """By one query in the order of ids, whoever owns them; up to 200."""
    rows = call.query(records.created_soql(object_type, since, after))
    return [str(row["Id"]) for row in rows if row.get("Id")]


def changes(call: Call, object_type: str, mark: Mark, unassigned: Collection[str]) -> Changes:
    """By one query in the order of (SystemModstamp, Id); up to 2,000, however the org pages it.

    Many records share one stamp, and a page may end among them: so the next page begins behind the
    last id of that stamp. ``unassigned`` are users whose records count as unowned.
    """
    try:
        rows = call.query(changed_soql(object_type, mark))
    except CrmNever as error:
        if error.code != "INVALID_FIELD":
            raise
        raise CrmForbidden(
            f"Salesforce hides the owner of {object_type} records, or another field that cannot "
            "be left out. Let the integration user read it.",
            code=error.code,
            crm_message=error.crm_message,
        ) from None
    holding = {*unassigned, call.user_id}
    events = [_event(object_type, row) for row in rows]
    settled = {
        event.key: why
        for event, row in zip(events, rows, strict=True)
        if (why := _settled(event, row, holding))
    }
    if rows:
        mark = Mark(at=_moment(rows[-1], "SystemModstamp"), record_id=str(rows[-1].get("Id")))
    return Changes(events=events, mark=mark, is_all=len(rows) < PAGE, settled=settled)


def changed_soql(object_type: str, mark: Mark) -> str:
    """The query for what changed since the mark. Ids and moments in it are checked."""
    names = "Id,OwnerId,Owner.IsActive,CreatedDate,LastModifiedDate,SystemModstamp"
    if object_type == "Lead":
        names += ",IsConverted"
    at = _literal(mark.at)
    where = f"SystemModstamp >= {at}"
    if mark.record_id:
        id18 = ids.full_id(mark.record_id)
        if id18 is None:
            raise CrmNever("That is no Salesforce id.", code="bad_record_id")
        where = f"SystemModstamp > {at} OR (SystemModstamp = {at} AND Id > '{id18}')"
    return (
        f"SELECT {names} FROM {object_type} WHERE {where} "  # noqa: S608
        f"ORDER BY SystemModstamp,Id LIMIT {PAGE}"
    )


def _event(object_type: str, row: Row) -> LeadEvent:
    """The key says which state of the record this is, so that no state counts twice.

    A stamp may be no finer than a second, so the owner is part of it.
    """
    raw, stamp = str(row.get("Id") or ""), _moment(row, "SystemModstamp")
    record_id = ids.record_id(object_type, raw)
    owner_id = ids.full_id(str(row.get("OwnerId") or ""))
    is_new = _moment(row, "CreatedDate") == _moment(row, "LastModifiedDate")
    return LeadEvent(
        key=f"poll:{record_id or raw}:{stamp:%Y-%m-%dT%H:%M:%S.%f}:{owner_id or ''}",
        kind=EventKind.CREATED if is_new else EventKind.CHANGED,
        object_type=object_type,
        record_id=record_id or raw,
        occurred_at=stamp,
        owner_id=owner_id,
        ignored=None if record_id else "bad_record_id",
    )


def _settled(event: LeadEvent, row: Row, holding: Collection[str | None]) -> str | None:
    """Why a change matters only where we decided on the record before; None where it may matter."""
    if row.get("IsConverted") is True:
        return "record_closed"
    stays = records.owner_stays(event.owner_id, row.get("Owner"), holding)
    return "owned_already" if stays and event.kind is not EventKind.CREATED else None


def _moment(row: Row, name: str) -> datetime:
    """A date-time of a row, which every row has."""
    try:
        return datetime.fromisoformat(str(row.get(name))).astimezone(UTC)
    except ValueError:
        raise CrmAgain(f"Salesforce's answer has no {name}.", code="no_json") from None


def _literal(moment: datetime) -> str:
    """A date-time as SOQL writes it, with milliseconds where there are any.

    https://developer.salesforce.com/docs/platform/salesforce-soql-sosl/guide/sforce-api-calls-soql-select-dateformats.html
    """
    utc = moment.astimezone(UTC)
    milliseconds = f".{utc.microsecond // 1000:03d}" if utc.microsecond >= 1000 else ""
    return f"{utc:%Y-%m-%dT%H:%M:%S}{milliseconds}Z"
