"""Public bug reports of Salesforce integrations, each with the tests that keep it away from here.

A test is named by its file under ``tests`` and its function.
"""

from __future__ import annotations

from dataclasses import dataclass

_WHOLE = "acceptance/test_salesforce_reports.py::test_"
_CHANGES = "acceptance/test_salesforce_changes.py::test_"
_ADAPTER = "adapters/salesforce/test_salesforce_"
_MESSAGES = "adapters/salesforce/test_outbound_messages.py::test_"
_SCENARIOS = "scenarios/test_org.py::test_"

# Rows of which no test can be made, since what they are about is not there.
NOT_BUILT = {30: "The event bus (Pub/Sub) is not used: messages, callouts and polling are."}


@dataclass(frozen=True, slots=True)
class Report:
    """One fault of others. ``promise`` says what holds here instead."""

    number: int
    source: str
    promise: str
    tests: tuple[str, ...]


REPORTS: tuple[Report, ...] = ()
