"""The rules of the sandbox org with a check each, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from salesforce_caller import Caller

from adapters.sandbox.salesforce import SalesforceSandbox

Check = Callable[[SalesforceSandbox, Caller, object], None]


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


def people(org: SalesforceSandbox) -> tuple[str, str, str]:
    """A user, a queue and a lead that the queue owns."""
    queue = org.add_queue("Inbox")
    lead = org.create("Lead", {"LastName": "Example", "OwnerId": queue})
    return org.add_user("Ann", "ann@example.com"), queue, lead
