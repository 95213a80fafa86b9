"""The list of checks of the sandbox HubSpot's rules, and how a check gets on it.

Sources are the sections of the project's HubSpot fact sheet; a repository stands where a rule
was found in public code instead. INF: inferred there, not read in HubSpot's own words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hubspot_caller import Caller, Clock

from adapters.sandbox.hubspot import HubSpotSandbox

Check = Callable[[HubSpotSandbox, Caller, Clock], None]
OWNER = "hubspot_owner_id"


class Row(NamedTuple):
    rule: str
    source: str
    check: Check


ROWS: list[Row] = []


def keeps(rule: str, source: str) -> Callable[[Check], Check]:
    def note(check: Check) -> Check:
        ROWS.append(Row(rule, source, check))
        return check

    return note


def contact(portal: HubSpotSandbox, **properties: str | None) -> str:
    return portal.create("contacts", {"email": "lead@example.test", **properties})
