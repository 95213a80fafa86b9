"""The world around Lead Rota in the demo: two CRMs that misbehave a little, a team, new leads."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_sender import SalesforceSender
from adapters.sandbox.server import real_clock

EUROPE = ("DE", "AT", "FR", "ES", "SE")
AMERICAS = ("US", "CA", "BR")
ELSEWHERE = ("JP", "AU")
COUNTRIES = EUROPE + AMERICAS + ELSEWHERE

PLANNED = {"hubspot": 180, "salesforce": 140}  # new leads of each CRM
OWNED_EVERY = 9  # every so many leads have an owner from the start
PAUSE_SECONDS = 0.02  # between two new leads of one CRM

WEBHOOK_KEY = "demo-webhook-key-of-the-sandbox"


@dataclass(frozen=True, kw_only=True)
class Person:
    """A sales rep with an owner id in each CRM."""

    id: str
    name: str
    email: str
    owners: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A lead that was made in a CRM."""

    at: float  # seconds since the epoch
    country: str
    owner_id: str | None  # who owned it from the start


@dataclass
class World:
    """Both sandbox CRMs, up inside ``with``."""

    hubspot: HubSpotSandbox = field(default_factory=HubSpotSandbox)
    salesforce: SalesforceSandbox = field(default_factory=SalesforceSandbox)
    team: list[Person] = field(default_factory=list)
    leads: dict[str, Made] = field(default_factory=dict)  # by lead id
    pause_seconds: int = 1  # of each 429

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(self.hubspot)
        self._stack.enter_context(self.salesforce)
        for name in ("Alice", "Bob", "Carol", "Dave", "Erin"):
            email = f"{name.lower()}@sales.example"
            owners = {
                "hubspot": self.hubspot.add_owner(email, name, "Sample"),
                "salesforce": self.salesforce.add_user(name, email),
            }
            self.team.append(Person(id=name.lower(), name=name, email=email, owners=owners))
        self._manager = {  # owns some leads, but is no user of Lead Rota
            "hubspot": self.hubspot.add_owner("manager@sales.example", "Mo", "Manager"),
            "salesforce": self.salesforce.add_user("Mo Manager", "manager@sales.example"),
        }
        self.salesforce.default_owner = self.salesforce.add_queue("New leads")
        self._script_faults()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def settings(self, public_url: str) -> dict[str, str]:
        """The environment that connects Lead Rota to both sandboxes."""
        return {
            "LEADROTA_PUBLIC_URL": public_url,
            "LEADROTA_DEFAULT_POOL": "Everywhere else",
            "HUBSPOT_ACCESS_TOKEN": self.hubspot.access_token,
            "HUBSPOT_CLIENT_SECRET": self.hubspot.client_secret,
            "HUBSPOT_PORTAL_ID": self.hubspot.portal_id,
            "HUBSPOT_BASE_URL": self.hubspot.url,
            "SALESFORCE_LOGIN_URL": self.salesforce.url,
            "SALESFORCE_CLIENT_ID": self.salesforce.tokens.client_id,
            "SALESFORCE_CLIENT_SECRET": self.salesforce.tokens.client_secret,
            "SALESFORCE_ORG_ID": self.salesforce.org_id,
            "SALESFORCE_WEBHOOK_KEY": WEBHOOK_KEY,
        }

    def call_back(self, url: str) -> None:
        """Where the CRMs send their webhooks."""
        self._url = url

    def make_leads(self) -> None:
        """Begin to make new leads in both CRMs, which tell of them by themselves."""
        self._hubspot_sender = self._stack.enter_context(
            HubSpotSender(self.hubspot, f"{self._url}/webhooks/hubspot")
        )
        self._salesforce_sender = self._stack.enter_context(
            SalesforceSender(self.salesforce, f"{self._url}/webhooks/salesforce", key=WEBHOOK_KEY)
        )
        self._hubspot_sender.duplicates = "same_id"
        self._salesforce_sender.is_repeated = True
        self._makers = [
            threading.Thread(target=self._make_contacts, daemon=True),
            threading.Thread(target=self._make_salesforce_leads, daemon=True),
        ]
        for maker in self._makers:
            maker.start()

    def is_told(self) -> bool:
        """Are all leads made, and has every webhook been answered?"""
        if len(self.leads) < sum(PLANNED.values()) or not self._salesforce_sender.flush(0):
            return False
        try:
            self._hubspot_sender.flush(0)
        except TimeoutError:
            return False
        return True

    def owner_of(self, lead_id: str) -> str | None:
        """The owner whom the CRM shows now."""
        connection, object_type, record_id = lead_id.split(":")
        if connection == "hubspot":
            return self.hubspot.owner_of(object_type, record_id)
        return self.salesforce.owner_of(record_id)

    def _make_contacts(self) -> None:
        for number in range(PLANNED["hubspot"]):
            country = COUNTRIES[number % len(COUNTRIES)]
            owner_id = self._owner_from_the_start(number, "hubspot")
            properties = {
                "email": f"contact{number}@buyer{number}.example",
                "country": country,
                "hubspot_owner_id": owner_id,
            }
            at = real_clock().timestamp()
            record_id = self.hubspot.create("contacts", properties)
            self.leads[f"hubspot:contacts:{record_id}"] = Made(
                at=at, country=country, owner_id=owner_id
            )
            time.sleep(PAUSE_SECONDS)

    def _make_salesforce_leads(self) -> None:
        for number in range(PLANNED["salesforce"]):
            country = COUNTRIES[number % len(COUNTRIES)]
            owner_id = self._owner_from_the_start(number, "salesforce")
            fields: dict[str, object] = {
                "LastName": f"Lead {number}",
                "Company": f"Buyer {number}",
                "Email": f"lead{number}@seeker{number}.example",
                "Country": country,
            }
            at = real_clock().timestamp()
            record_id = self.salesforce.create(
                "Lead", fields | ({"OwnerId": owner_id} if owner_id else {})
            )
            self.leads[f"salesforce:Lead:{record_id}"] = Made(
                at=at, country=country, owner_id=owner_id
            )
            time.sleep(PAUSE_SECONDS)

    def _owner_from_the_start(self, number: int, connection: str) -> str | None:
        if number % OWNED_EVERY:
            return None
        owners = [person.owners[connection] for person in self.team]
        owners.append(self._manager[connection])
        return owners[number // OWNED_EVERY % len(owners)]

    def _script_faults(self) -> None:
        self.hubspot.faults.add(
            "/batch/update",
            "POST",
            preset="ten_secondly_limit",
            headers={"Retry-After": str(self.pause_seconds)},
            times=3,
        )
        self.salesforce.faults.add("/composite/sobjects", "PATCH", drop="after", times=1)
