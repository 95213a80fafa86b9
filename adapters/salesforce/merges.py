"""Which records took over those that are gone: the loser of a merge names the winner.

The loser is in the recycle bin, where only ``queryAll`` looks.
https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_objects_lead.htm
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from adapters.salesforce import ids, soql
from adapters.salesforce.client import Call
from connector.errors import CrmForbidden, CrmNever

_MERGED = frozenset({"Lead", "Contact", "Account"})
_LONGEST_CHAIN = 4  # a winner may have lost the next merge

ReadMore = Callable[[Collection[str]], Collection[str]]


def survivors(
    call: Call,
    object_type: str,
    asked: Collection[str],
    living: Collection[str],
    read_more: ReadMore,
) -> dict[str, str]:
    """Return the living record that took over each missing one which was merged.

    Ids have 18 characters. ``read_more`` reads records and returns the ids of all that live by now.
    Costs nothing when none is missing. Where the recycle bin is closed to us, all are just gone.
    """
    if object_type not in _MERGED:
        return {}
    winner_of: dict[str, str] = {}
    missing = set(asked) - set(living)
    for _ in range(_LONGEST_CHAIN):
        found = _winners(call, object_type, missing) if missing else {}
        winner_of |= found
        unread = set(found.values()) - set(living)
        if unread:
            living = read_more(unread)
        missing = unread - set(living) - winner_of.keys()
    ends = {loser: _last(winner_of, loser) for loser in asked if loser in winner_of}
    return {loser: winner for loser, winner in ends.items() if winner in living}


def _winners(call: Call, object_type: str, id18s: Collection[str]) -> dict[str, str]:
    select = f"SELECT Id,MasterRecordId FROM {object_type} WHERE IsDeleted = true AND "  # noqa: S608
    terms = [soql.Term("Id", id18) for id18 in sorted(id18s)]
    found: dict[str, str] = {}
    try:
        for group in soql.groups(terms, around=select):
            for row in call.query(select + soql.any_of(group), with_deleted=True):
                loser = ids.record_id(object_type, str(row.get("Id")))
                winner = ids.record_id(object_type, str(row.get("MasterRecordId") or ""))
                if loser and winner:
                    found[loser] = winner
    except (CrmForbidden, CrmNever):
        return {}
    return found


def _last(winner_of: Mapping[str, str], loser: str) -> str:
    seen: set[str] = set()
    while loser in winner_of and loser not in seen:
        seen.add(loser)
        loser = winner_of[loser]
    return loser
