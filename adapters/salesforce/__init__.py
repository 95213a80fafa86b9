"""Salesforce: outbound messages in, owner writes out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.salesforce.settings import SalesforceSettings
    from connector.ports import Crm, Receiver, Shared


def receiver(settings: SalesforceSettings) -> Receiver:
    """Return the inbound half. Raises ``BadSettings`` when messages could be forged."""
    from adapters.salesforce.webhooks import SalesforceReceiver

    return SalesforceReceiver(settings)


def crm(
    settings: SalesforceSettings,
    shared: Shared,
    *,
    clock: Callable[[], datetime] | None = None,
) -> Crm:
    """Return the outbound half; ``clock`` gives aware UTC. Raises ``BadSettings``.

    Imported here only, since simple-salesforce costs 40 MB and the web process never needs it.
    """
    from adapters.salesforce.org import SalesforceCrm

    return SalesforceCrm(settings, shared, clock=clock or _now)


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - log-ins are checked against the real time
