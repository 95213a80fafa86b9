"""What the sandbox org says no with: one exception, and the bodies that Salesforce sends."""

from __future__ import annotations

from collections.abc import Sequence

Entry = dict[str, object]


class Refused(Exception):
    """A request or one record of it is refused; nothing of it was changed.

    ``entries`` is the list body of a single call: each has ``message`` and ``errorCode``, most
    have ``fields``.
    """

    def __init__(self, status: int, entries: Sequence[Entry]) -> None:
        super().__init__(entries[0]["errorCode"])
        self.status = status
        self.entries = list(entries)

    def collection_errors(self) -> list[Entry]:
        """The same errors in the shape of a collections result, where the key is another."""
        return [
            {"statusCode": entry["errorCode"], "message": entry["message"]}
            | {"fields": entry.get("fields", [])}
            | ({"duplicateResult": d} if (d := entry.get("duplicateResult")) else {})
            for entry in self.entries
        ]


def refuse(status: int, code: str, message: str, fields: Sequence[str] | None = ()) -> Refused:
    """A refusal with one entry; ``fields=None`` leaves the key out, as request errors do."""
    entry: Entry = {"message": message, "errorCode": code}
    if fields is not None:
        entry["fields"] = list(fields)
    return Refused(status, [entry])


def not_found() -> Refused:
    """Nothing is at this address."""
    return refuse(404, "NOT_FOUND", "The requested resource does not exist", None)


def malformed_id(raw: object, field: str = "Id") -> Refused:
    """The text is no id, or an id of another object type."""
    return refuse(400, "MALFORMED_ID", f"malformed id {raw}", [field])


def wrong_owner_type(owner_id: str) -> Refused:
    """The owner is a record of a type that may not own this object."""
    message = f"Owner ID: id value of incorrect type: {owner_id}"
    return refuse(400, "FIELD_INTEGRITY_EXCEPTION", message, ["OwnerId"])


def row_locked(record_id: str) -> Refused:
    """Another transaction holds the row."""
    message = f"unable to obtain exclusive access to this record or 1 records: {record_id}"
    return refuse(400, "UNABLE_TO_LOCK_ROW", message)


def changed_meanwhile() -> Refused:
    """The record is not as the caller saw it last."""
    return refuse(412, "PRECONDITION_FAILED", "the record was modified since", None)


def no_access() -> Refused:
    """The API client may not give records of others away."""
    message = "insufficient access rights on object id"
    return refuse(403, "INSUFFICIENT_ACCESS_OR_READONLY", message)


def read_only() -> Refused:
    """The org is in a maintenance that lets calls read only."""
    code = "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE"
    return refuse(400, code, "the org is in read-only mode during maintenance")


def unavailable() -> Refused:
    """The org is in a maintenance that lets nobody in."""
    return refuse(503, "SERVER_UNAVAILABLE", "The server is temporarily unavailable", None)


def duplicates(record_id: str, object_type: str, rule: str) -> Refused:
    """A duplicate rule found a twin and lets the caller save anyway."""
    text = "Use one of these records?"
    match = {
        "entityType": object_type,
        "rule": "Sandbox_Match",
        "matchRecords": [
            {
                "matchConfidence": 100.0,
                "record": {"attributes": {"type": object_type}, "Id": record_id},
            }
        ],
    }
    result = {
        "allowSave": True,
        "duplicateRule": rule,
        "duplicateRuleEntityType": object_type,
        "errorMessage": text,
        "matchResults": [match],
    }
    entry: Entry = {
        "message": text,
        "errorCode": "DUPLICATES_DETECTED",
        "fields": [],
        "duplicateResult": result,
    }
    return Refused(400, [entry])
