"""What is wrong with an org's settings or permissions, found by a few calls."""

from __future__ import annotations

from collections.abc import Collection

from adapters.salesforce.client import Call
from adapters.salesforce.settings import SalesforceSettings
from connector.ports import Concern


def concerns(
    call: Call,  # noqa: ARG001
    settings: SalesforceSettings,  # noqa: ARG001
    unassigned: Collection[str],  # noqa: ARG001
) -> list[Concern]:
    """Nothing yet."""
    return []
