"""The users of an org: who is active, and when they can take leads."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adapters.salesforce.client import Call
from adapters.salesforce.settings import SalesforceSettings
from connector.ports import CrmUser


class Users:
    """Reads the users of one org. Shared by threads.

    ``problem`` says why less was told of their availability than might be; None: nothing.
    """

    def __init__(self, settings: SalesforceSettings) -> None:
        self._settings = settings
        self.problem: str | None = None

    def read(self, call: Call, owner_ids: Collection[str] | None) -> Mapping[str, CrmUser]:  # noqa: ARG002
        """Nobody yet."""
        return {}
