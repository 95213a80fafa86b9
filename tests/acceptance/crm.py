"""One of the two CRMs, spoken of in the same words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adapters.sandbox.server import Sandbox
from tests.acceptance.stage import Stage, hubspot_leads, salesforce_leads


@dataclass
class Crm:
    """HubSpot or Salesforce on a stage."""

    stage: Stage
    name: str

    @property
    def sandbox(self) -> Sandbox:
        return self.stage.hubspot if self.name == "hubspot" else self.stage.salesforce

    def fail_reads(self, **fault: Any) -> None:
        """Let reads of the leads themselves fail; see ``faults.Fault``."""
        if self.name == "hubspot":
            self.sandbox.faults.add("/contacts/batch/read", **fault)
        else:
            self.sandbox.faults.add("/query", query="FROM Lead WHERE Id IN", **fault)

    def new(self, count: int, owner: str | None = None) -> list[str]:
        if self.name == "hubspot":
            owned = {"hubspot_owner_id": owner} if owner else {}
            return self.stage.contacts(count, **owned)
        return self.stage.leads(count, **({"OwnerId": owner} if owner else {}))

    def tell(self, ids: list[str]) -> None:
        if self.name == "hubspot":
            self.stage.tell_hubspot(ids)
        else:
            self.stage.tell_salesforce(ids)

    def tell_owner(self, record_id: str, owner: str) -> None:
        if self.name == "hubspot":
            self.stage.tell_hubspot(
                [record_id], "propertyChange", name="hubspot_owner_id", value=owner
            )
        else:
            self.stage.tell_salesforce([record_id])

    def set_owner(self, record_id: str, owner: str) -> None:
        if self.name == "hubspot":
            self.stage.hubspot.set_owner("contacts", record_id, owner)
        else:
            self.stage.salesforce.set_owner(record_id, owner)

    def fire(self, user: str) -> None:
        if self.name == "hubspot":
            self.stage.hubspot.archive_owner(self.owner(user))
        else:
            self.stage.salesforce.deactivate(self.owner(user))

    def owner(self, user: str) -> str:
        return self.stage.owners[user][self.name]

    def lead_ids(self, ids: list[str]) -> list[str]:
        return (hubspot_leads if self.name == "hubspot" else salesforce_leads)(ids)

    def users_of(self, ids: list[str]) -> list[str | None]:
        """Whom the CRM shows for each."""
        return [self.stage.user_of(lead_id) for lead_id in self.lead_ids(ids)]
