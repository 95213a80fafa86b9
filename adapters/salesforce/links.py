"""Whom the person and the company of a record belong to, by its links, e-mail and web domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from adapters.salesforce.client import Call
from connector.model import Related
from connector.ports import CrmRecord


class Links:
    """Looks up what records are linked to. Shared by threads."""

    def __init__(self, unassigned: Collection[str]) -> None:
        """``unassigned`` are users whose records count as unowned."""
        self._unassigned = frozenset(unassigned)

    def of(
        self,
        call: Call,  # noqa: ARG002
        object_type: str,  # noqa: ARG002
        found: Mapping[str, CrmRecord],  # noqa: ARG002
    ) -> dict[str, Sequence[Related]]:
        """Nothing yet."""
        return {}
