"""The whole product on loopback: both sandbox CRMs, the web part over HTTP, a worker on call.

The clock is the test's: web, worker, sandboxes and their senders all read it, nothing sleeps.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count, islice
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin

import requests
from sqlalchemy import select
from werkzeug.serving import make_server

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_sender import SalesforceSender
from adapters.sandbox.server import Call, Sandbox
from config import Settings, load
from connector import create_app
from connector.store.database import Database
from connector.store.tables import inbox, lanes
from connector.worker import drain
from connector.workshop import Drained
from tests import hubspot_requests
from tests.builders import NOON

PUBLIC_URL = "https://leads.example.com"
TOKEN = "a-token-of-more-than-thirty-two-characters"
KEY = "k+y/&=of-the-webhooks"

Row = dict[str, Any]


class Clock:
    """Stands still until it is told to move."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class Api:
    """The REST API, called by a program over HTTP."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {TOKEN}"

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        answer = self._session.request(
            method, f"{self.url}{path}", json=body, params=query, timeout=30
        )
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def is_ready(self) -> bool:
        try:
            return self._session.get(f"{self.url}/readyz", timeout=5).ok
        except requests.RequestException:
            return False

    def users(self, owners: Mapping[str, Mapping[str, str]], **changes: Any) -> None:
        for name, of_name in owners.items():
            body = {"name": name, "owners": dict(of_name)} | changes
            self.call("PUT", f"/round-robin/users/{name}", body)

    def pool(self, members: Iterable[str], name: str = "Sales") -> str:
        body = {"name": name, "members": [{"user_id": one} for one in members]}
        return str(self.call("POST", "/round-robin/pools", body)["id"])

    def history(self, pool_id: str) -> list[Row]:
        """Oldest first, as one reads."""
        url: str | None = f"{self.url}/round-robin/pools/{pool_id}/history?limit=1000"
        rows: list[Row] = []
        while url:
            page = self._session.get(url, timeout=30)
            assert page.ok, page.text
            rows += page.json()
            url = page.links.get("next", {}).get("url")
            url = urljoin(page.url, url) if url else None
        return rows[::-1]

    def close(self) -> None:
        self._session.close()


class Web:
    """The web part in a thread of this process, at a port that stays the same."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = f"http://127.0.0.1:{port}"

    def open(self, settings: Settings, clock: Callable[[], datetime] | None = None) -> None:
        self._app = create_app(settings, clock=clock)
        self._server = make_server("127.0.0.1", self._port, self._app, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._app.extensions["leadrota"].database.close()


class Crms:
    """Both sandboxes, the same people in each, and who owns what."""

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        timed = {"clock": clock} if clock else {}
        self.hubspot = HubSpotSandbox(**timed)
        self.salesforce = SalesforceSandbox(**timed)
        self.hubspot.ten_secondly_limit = None  # a clock that stands still would use it up
        self.owners: dict[str, dict[str, str]] = {}
        self._numbers = count()  # no two leads are of one person or company unless a test says so

    def start(self) -> None:
        self.hubspot.start()
        self.salesforce.start()
        self.salesforce.default_owner = self.salesforce.add_queue("New leads")

    def stop(self) -> None:
        self.hubspot.stop()
        self.salesforce.stop()

    def hire(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """People with a user in both CRMs; returns their owner ids."""
        for name in names:
            email = f"{name.lower()}@sales.example"
            self.owners[name] = {
                "hubspot": self.hubspot.add_owner(email, name),
                "salesforce": self.salesforce.add_user(name, email),
            }
        return {name: self.owners[name] for name in names}

    def contacts(self, number: int, **properties: str | None) -> list[str]:
        return [
            self.hubspot.create("contacts", {"email": f"c{n}@buyer{n}.example"} | properties)
            for n in islice(self._numbers, number)
        ]

    def leads(self, number: int, **fields: object) -> list[str]:
        return [
            self.salesforce.create("Lead", {"LastName": f"L{n}", "Company": f"C{n}"} | fields)
            for n in islice(self._numbers, number)
        ]

    def owner_of(self, lead_id: str) -> str | None:
        connection, object_type, record_id = lead_id.split(":")
        if connection == "hubspot":
            return self.hubspot.owner_of(object_type, record_id)
        return self.salesforce.owner_of(record_id)

    def user_of(self, lead_id: str) -> str | None:
        """Whose owner id the CRM shows."""
        connection, owner_id = lead_id.split(":")[0], self.owner_of(lead_id)
        names = [name for name, owners in self.owners.items() if owners[connection] == owner_id]
        return names[0] if names else None

    def settings(self) -> dict[str, str]:
        return {
            "LEADROTA_API_TOKEN": TOKEN,
            "LEADROTA_DEFAULT_POOL": "Sales",
            "HUBSPOT_ACCESS_TOKEN": self.hubspot.access_token,
            "HUBSPOT_CLIENT_SECRET": self.hubspot.client_secret,
            "HUBSPOT_PORTAL_ID": self.hubspot.portal_id,
            "HUBSPOT_BASE_URL": self.hubspot.url,
            "SALESFORCE_LOGIN_URL": self.salesforce.url,
            "SALESFORCE_CLIENT_ID": self.salesforce.tokens.client_id,
            "SALESFORCE_CLIENT_SECRET": self.salesforce.tokens.client_secret,
            "SALESFORCE_ORG_ID": self.salesforce.org_id,
        }


class Stage(Crms):
    """Lead Rota in this process between both CRMs."""

    def __init__(self, database: Database) -> None:
        self.clock = Clock(NOON)
        super().__init__(self.clock)
        self.database = database

    def __enter__(self) -> Self:
        self.start()
        self.environment = {
            **self.settings(),
            "DATABASE_URL": self.database.engine.url.render_as_string(hide_password=False),
            "LEADROTA_PUBLIC_URL": PUBLIC_URL,
            "SALESFORCE_WEBHOOK_KEY": KEY,
        }
        self._web = Web(free_port())
        self.url = self._web.url
        self.api = Api(self.url)
        self._web.open(load(self.environment), self.clock)
        self.hubspot_sender = HubSpotSender(
            self.hubspot, f"{self.url}/webhooks/hubspot", public_url=PUBLIC_URL
        )
        self.salesforce_sender = SalesforceSender(
            self.salesforce, f"{self.url}/webhooks/salesforce", key=KEY
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.api.close()
        self.hubspot_sender._pool.clear()
        self._web.close()
        self.stop()
        if kind is None:
            hubspot_requests.check(self.hubspot.calls)

    def configure(self, **changes: str) -> None:
        """Start the web part again with other settings; an empty one counts as not set."""
        self._web.close()
        self.environment |= changes
        self._web.open(load(self.environment), self.clock)

    # -- what happens

    def later(self, **delta: float) -> None:
        self.clock.now += timedelta(**delta)

    def work(self) -> Drained:
        return drain(load(self.environment), clock=self.clock)

    def team(self, names: str, *, pool: str = "Sales") -> str:
        """Hire people in both CRMs, make them users and put them in a pool."""
        self.api.users(self.hire(names))
        return self.api.pool(names, pool)

    def tell_hubspot(self, ids: Sequence[str], kind: Any = "creation", **fields: Any) -> list[Row]:
        """One signed delivery about these contacts; returns its events."""
        events = [self.hubspot_sender.event(kind, "contacts", one, **fields) for one in ids]
        assert self.hubspot_sender.send(events) == 204
        return events

    def tell_salesforce(self, ids: Sequence[str]) -> None:
        """One outbound message about these leads."""
        assert self.salesforce_sender.send(ids) == (200, True)

    # -- what came of it

    def inbox(self) -> Counter[tuple[str, str | None]]:
        """How many events are in which state, for which reason."""
        with self.database.read() as session:
            rows = session.execute(select(inbox.c.status, inbox.c.reason)).all()
        return Counter((row.status, row.reason) for row in rows)

    def paused_for(self, connection: str) -> float | None:
        """Seconds until the connection may be called again."""
        with self.database.read() as session:
            until = session.scalar(
                select(lanes.c.paused_until).where(lanes.c.connection == connection)
            )
        return (until - self.clock.now).total_seconds() if until else None

    def decision(self, row: Row) -> Row:
        return dict(self.api.call("GET", f"/round-robin/assignments/{row['assignment_id']}"))

    def check_owners(self, rows: Iterable[Row]) -> None:
        """The CRM shows for every lead the user of its last row."""
        last = {row["lead_id"]: row["assigned_user_id"] for row in rows}
        assert {lead_id: self.user_of(lead_id) for lead_id in last} == last


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def hubspot_leads(ids: Iterable[str]) -> list[str]:
    return [f"hubspot:contacts:{one}" for one in ids]


def salesforce_leads(ids: Iterable[str]) -> list[str]:
    return [f"salesforce:Lead:{one}" for one in ids]


def reads(crm: Sandbox) -> list[Call]:
    """Calls that read the leads themselves, whichever CRM; not what they are linked to."""
    queries = [call for call in crm.calls_to("/query") if "FROM+Lead+WHERE+Id+IN" in spaced(call)]
    return crm.calls_to("/contacts/batch/read") + queries


def writes(crm: Sandbox) -> list[Call]:
    """Calls that write owners, whichever CRM."""
    return crm.calls_to("/batch/update") + crm.calls_to("/composite/sobjects", "PATCH")


def spaced(call: Call) -> str:
    return call.query.replace("%20", "+")


def turns(rows: Iterable[Row]) -> Counter[str]:
    return Counter(row["assigned_user_id"] for row in rows)


def check_sequence(rows: Sequence[Row]) -> None:
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
