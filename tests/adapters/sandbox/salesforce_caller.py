"""A plain HTTP caller of the sandbox org, and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import requests

from adapters.sandbox.salesforce import SalesforceSandbox

START = datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


class Caller:
    """Calls as a client would, logged in by client credentials."""

    def __init__(self, org: SalesforceSandbox, session: requests.Session) -> None:
        self.org = org
        self.session = session
        self.base = f"{org.url}/services/data/v64.0"
        self.log_in()

    def token(self, **form: str) -> requests.Response:
        good = {
            "grant_type": "client_credentials",
            "client_id": "sandbox-client",
            "client_secret": "sandbox-secret",
        }
        return self.session.post(f"{self.org.url}/services/oauth2/token", data=good | form)

    def log_in(self) -> None:
        self.session.headers["Authorization"] = f"Bearer {self.token().json()['access_token']}"

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.session.get(self.base + path, headers=_dashed(headers))

    def patch(self, record_id: str, fields: dict, kind: str = "Lead", **headers: str):
        address = f"{self.base}/sobjects/{kind}/{record_id}"
        return self.session.patch(address, json=fields, headers=_dashed(headers))

    def patch_all(self, entries: list[dict], all_or_none: bool = False, **headers: str):
        body = {"allOrNone": all_or_none, "records": entries}
        address = f"{self.base}/composite/sobjects"
        return self.session.patch(address, json=body, headers=_dashed(headers))

    def query(self, soql: str, resource: str = "query", **headers: str) -> requests.Response:
        address = f"{self.base}/{resource}"
        return self.session.get(address, params={"q": soql}, headers=_dashed(headers))

    def ids(self, soql: str, resource: str = "query") -> list[str]:
        return [row["Id"] for row in self.query(soql, resource).json()["records"]]


def entry(record_id: str | None, owner_id: str, kind: str = "Lead") -> dict:
    """One record of a collections request."""
    named = {"id": record_id} if record_id else {}
    return {"attributes": {"type": kind}, **named, "OwnerId": owner_id}


def code(response: requests.Response) -> tuple[int, str | None]:
    """Status and first error code of a single call."""
    if response.status_code < 400:
        return response.status_code, None
    return response.status_code, response.json()[0]["errorCode"]


def _dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def serving(**settings: object) -> Iterator[tuple[SalesforceSandbox, Caller, Clock]]:
    """A served org, a caller who is logged in, and the org's clock."""
    clock = Clock()
    org = SalesforceSandbox(clock=clock, **settings)
    with org, requests.Session() as session:
        yield org, Caller(org, session), clock
