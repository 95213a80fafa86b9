"""A Salesforce org on a stage: records of any type, people, and what the org tells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any
from urllib.parse import unquote_plus

import requests

from adapters.sandbox.server import Call
from tests.acceptance.stage import KEY, Row, Stage


class Org:
    """The Salesforce of a stage, in the words of somebody who works in it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.sandbox = stage.salesforce
        self.sender = stage.salesforce_sender
        self.queue = self.sandbox.default_owner
        self._numbers = count(1)

    def route(self, *object_types: str, **settings: str) -> None:
        """Route these object types; other settings may change with them."""
        self.stage.configure(SALESFORCE_OBJECTS=",".join(object_types), **settings)

    def owner(self, user: str) -> str:
        """The owner id of a user."""
        return self.stage.owners[user]["salesforce"]

    def create(self, object_type: str, number: int = 1, **fields: Any) -> list[str]:
        """So many records, which the queue owns where it may, else the integration user."""
        return [
            self.sandbox.create(object_type, self._named(object_type) | fields)
            for _ in range(number)
        ]

    def tell(self, *ids: str) -> None:
        """Outbound messages of up to a hundred notifications about these records."""
        for first in range(0, len(ids), 100):
            assert self.sender.send(ids[first : first + 100]) == (200, True)

    def arrive(self, *ids: str) -> None:
        """The org tells of new records and the worker works."""
        self.tell(*ids)
        self.stage.work()

    def call_out(self, object_type: str, *records: Row, event: str = "created", **more: Any) -> Row:
        """A flow calls us about these records; the answer it gets."""
        body = {
            "orgId": self.sandbox.org_id,
            "object": object_type,
            "event": event,
            "records": list(records),
        }
        answer = requests.post(
            f"{self.stage.url}/webhooks/salesforce",
            json=body | more,
            headers={"X-Leadrota-Key": KEY},
            timeout=30,
        )
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def rows(self) -> list[Row]:
        """The history of the one pool, oldest first."""
        (pool,) = self.stage.api.call("GET", "/round-robin/pools")
        return self.stage.api.history(pool["id"])

    def users(self, ids: Sequence[str]) -> list[str | None]:
        """Whom the org shows as owner of each; None for a queue or somebody else."""
        names = {self.owner(name): name for name in self.stage.owners}
        return [names.get(self.sandbox.owner_of(one)) for one in ids]

    # -- what it cost

    def queries(self, of: str = "") -> list[str]:
        """The queries that were made, in SOQL; those of one object type."""
        asked = [unquote_plus(call.query.partition("q=")[2]) for call in self.calls("query")]
        return [one for one in asked if f" FROM {of}" in f"{one} "]

    def calls(self, part: str) -> list[Call]:
        """The calls whose path has this part."""
        return [call for call in self.sandbox.calls if part in call.path.split("/")]

    def writes(self) -> list[Call]:
        """The calls that write owners."""
        return [call for call in self.sandbox.calls if call.method == "PATCH"]

    def _named(self, object_type: str) -> Row:
        number = next(self._numbers)
        match object_type:
            case "Lead":
                return {"LastName": f"L{number}", "Company": f"Company {number}"}
            case "Contact":
                return {"LastName": f"L{number}"}
            case "Case" | "Task" | "Event":
                return {"Subject": f"S{number}"}
        return {"Name": f"N{number}"}


def moment(text: str) -> datetime:
    """``moment("2026-10-16T09:00")`` in UTC, as the sandbox keeps it."""
    return datetime.fromisoformat(f"{text}+00:00")
