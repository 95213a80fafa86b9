"""Follows the demo's leads through the history that the REST API shows."""

from __future__ import annotations

from typing import Any

from connector.demo.servers import Api
from connector.demo.world import PLANNED

Row = dict[str, Any]


class Watch:
    """Every history row seen so far, in the state of the last look."""

    def __init__(self, api: Api) -> None:
        self._api = api
        pools = api.call("GET", "/round-robin/pools")
        self.pools: dict[str, str] = {pool["id"]: pool["name"] for pool in pools}
        self.rows: dict[str, Row] = {}  # by assignment id

    def look(self) -> list[Row]:
        """Read the history again and return the rows that are new, oldest first."""
        new: list[Row] = []
        for pool_id in self.pools:
            path = f"/round-robin/pools/{pool_id}/history"
            for shown in reversed(self._api.call("GET", path, limit=1000)):
                row = shown | {"pool_id": pool_id}
                if row["assignment_id"] not in self.rows:
                    new.append(row)
                self.rows[row["assignment_id"]] = row
        return sorted(new, key=lambda row: str(row["assigned_at"]))

    def by_lead(self) -> dict[str, Row]:
        """The row that speaks for each lead: the one with the highest sequence."""
        latest: dict[str, Row] = {}
        for row in sorted(self.rows.values(), key=lambda row: int(row["sequence"])):
            latest[str(row["lead_id"])] = row
        return latest

    def settled(self, connection: str) -> int:
        """How many leads of the connection have an owner whom the CRM shows."""
        return sum(
            lead_id.startswith(f"{connection}:") and row["write_back"] in ("done", "none")
            for lead_id, row in self.by_lead().items()
            if row["status"] != "held"
        )

    def is_settled(self) -> bool:
        """Has every lead its owner?"""
        return all(self.settled(connection) == total for connection, total in PLANNED.items())
