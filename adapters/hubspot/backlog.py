"""The records that nobody owns, page by page, for those that no webhook told of.

https://developers.hubspot.com/docs/guides/api/crm/search
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

PAGE = 200  # the most that a search answers


def question(object_type: str, since: datetime, after: str | None) -> dict[str, Any]:
    """The search for unowned records created since then, with ids beyond ``after``.

    Each page is a search of its own that begins behind the last id: a search ends at 10,000
    records, and pages of one search skip and repeat records while others change.
    """
    created = "createdate" if object_type == "contacts" else "hs_createdate"
    milliseconds = int(since.timestamp() * 1000)
    return {
        "filterGroups": [
            {
                "filters": [
                    {"propertyName": "hubspot_owner_id", "operator": "NOT_HAS_PROPERTY"},
                    {"propertyName": created, "operator": "GTE", "value": str(milliseconds)},
                    {"propertyName": "hs_object_id", "operator": "GT", "value": after or "0"},
                ]
            }
        ],
        "sorts": [{"propertyName": "hs_object_id", "direction": "ASCENDING"}],
        "properties": ["hs_object_id"],
        "limit": PAGE,
        "after": "0",
    }


def found(answer: Mapping[str, Any], after: str | None) -> list[str]:
    """The ids in the answer by size, those that are not beyond ``after`` left out."""
    ids = {str(row.get("id")) for row in answer["results"] if isinstance(row, Mapping)}
    numbers = sorted(int(one) for one in ids if one.isdecimal() and one.isascii())
    return [str(number) for number in numbers if number > int(after or 0)]
