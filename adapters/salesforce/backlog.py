"""Records that no message may have brought: those without an owner, and what changed lately."""

from __future__ import annotations

from datetime import datetime

from adapters.salesforce import records
from adapters.salesforce.client import Call
from connector.ports import Changes, Mark


def unowned(call: Call, object_type: str, since: datetime, after: str | None) -> list[str]:
    """By one query in the order of ids, whoever owns them; up to 200."""
    rows = call.query(records.created_soql(object_type, since, after))
    return [str(row["Id"]) for row in rows if row.get("Id")]


def changes(call: Call, object_type: str, mark: Mark) -> Changes:  # noqa: ARG001
    """Nothing yet."""
    return Changes(events=(), mark=mark, is_all=True)
