"""A HubSpot portal on a stage: records of any type, their links, and what the portal tells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.hubspot_workflows import HubSpotWorkflows
from adapters.sandbox.server import Call
from tests.acceptance.stage import PUBLIC_URL, Row, Stage

TARGET = "/webhooks/hubspot"


class Portal:
    """The HubSpot of a stage, in the words of somebody who works in it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.sandbox = stage.hubspot
        self.sender = stage.hubspot_sender
        self._companies = count(1)

    def route(self, *object_types: str, **settings: str) -> None:
        """Route these object types; other settings may change with them."""
        self.stage.configure(HUBSPOT_OBJECTS=",".join(object_types), **settings)

    def owner(self, user: str) -> str:
        """The owner id of a user."""
        return self.stage.owners[user]["hubspot"]

    def create(self, object_type: str, number: int = 1, **properties: str | None) -> list[str]:
        """So many records that nobody owns unless told so."""
        return [self.sandbox.create(object_type, properties) for _ in range(number)]

    def company(self, *contacts: str, owner: str | None = None) -> str:
        """A company, which is the primary one of these contacts."""
        named = {"name": f"Company {next(self._companies)}", "hubspot_owner_id": owner}
        company = self.sandbox.create("companies", named)
        for contact in contacts:
            self.sandbox.link("contacts", contact, "companies", company, primary=True)
        return company

    def tell(
        self, object_type: str, ids: Sequence[str], kind: Any = "creation", **more: Any
    ) -> None:
        """One signed delivery about these records."""
        events = [self.event(object_type, one, kind, **more) for one in ids]
        assert self.sender.send(events) == 204

    def event(self, object_type: str, record_id: str, kind: Any = "creation", **more: Any) -> Row:
        """One event."""
        return self.sender.event(kind, object_type, record_id, **more)

    def arrive(self, object_type: str, *ids: str) -> None:
        """The portal tells of new records and the worker works."""
        self.tell(object_type, ids)
        self.stage.work()

    def users(self, object_type: str, ids: Sequence[str]) -> list[str | None]:
        """Whom the portal shows as owner of each."""
        return [self.stage.user_of(f"hubspot:{object_type}:{one}") for one in ids]

    def workflows(self, *, key: str | None = None, path: str = TARGET) -> HubSpotWorkflows:
        """Workflows of this portal that call us."""
        return HubSpotWorkflows(
            self.sandbox, f"{self.stage.url}{path}", public_url=PUBLIC_URL, key=key
        )

    def all_told(self) -> HubSpotSender:
        """A sender that tells by itself of all that happens, in a ``with`` block."""
        return HubSpotSender(self.sandbox, f"{self.stage.url}{TARGET}", public_url=PUBLIC_URL)

    # -- what it cost

    def calls(self, area: str, ending: str = "") -> list[Call]:
        """The calls in one area of the API, such as ``objects/contacts``, in any version."""
        parts = area.split("/")
        return [
            call
            for call in self.sandbox.calls
            if all(part in call.path.split("/") for part in parts) and call.path.endswith(ending)
        ]

    def written(self) -> list[str]:
        """The id of every record that an owner was written to, in the order of the calls."""
        bodies = [json.loads(call.body) for call in self.sandbox.calls_to("/batch/update")]
        return [one["id"] for body in bodies for one in body["inputs"]]
