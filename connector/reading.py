"""Read a batch of records so that one bad id among them does not cost the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from connector.errors import CrmAgain, CrmNever
from connector.ports import Crm, CrmRecord

MOST_CALLS = 20  # finds one bad id among 200 with room to spare


def read_each(
    crm: Crm, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
) -> tuple[dict[str, CrmRecord], dict[str, CrmNever]]:
    """The records by id, and the ids that the CRM refuses to read with its refusal.

    A batch that is refused as a whole is cut in halves. Raises ``CrmError`` for everything else.
    """
    found: dict[str, CrmRecord] = {}
    refused: dict[str, CrmNever] = {}
    waiting = [list(ids)] if ids else []
    for _ in range(MOST_CALLS):
        if not waiting:
            return found, refused
        batch = waiting.pop()
        try:
            found |= crm.read_records(object_type, batch, fields=fields)
        except CrmNever as refusal:
            if len(batch) == 1:
                refused[batch[0]] = refusal
            else:
                middle = len(batch) // 2
                waiting += [batch[:middle], batch[middle:]]
    if waiting:
        raise CrmAgain(f"The CRM refused to read {object_type} in too many pieces.")
    return found, refused
