"""One sandbox org, and the adapter that is connected to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.salesforce.org import SalesforceCrm
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce import SalesforceSandbox
from tests.alone import Alone

ORG = "00D5g000000XyZ1EAK"


class Clock:
    """A clock that goes only when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def salesforce_settings(**given: object) -> SalesforceSettings:
    """Settings of a connection to an org on loopback, with some of them given."""
    values: dict[str, object] = {
        "name": "salesforce",
        "login_url": "http://127.0.0.1:1",
        "client_id": "sandbox-client",
        "client_secret": "sandbox-secret",
        "org_id": ORG,
    }
    return SalesforceSettings(**(values | given))  # type: ignore[arg-type]


@pytest.fixture
def make_settings() -> Callable[..., SalesforceSettings]:
    return salesforce_settings


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def org() -> Iterator[SalesforceSandbox]:
    with SalesforceSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def connect(clock: Clock) -> Iterator[Callable[..., SalesforceCrm]]:
    """``connect(url, call_seconds=20, **settings)``; closed at the end of the test."""
    opened: list[SalesforceCrm] = []

    def open_crm(url: str, *, call_seconds: float = 20.0, **given: object) -> SalesforceCrm:
        settings = salesforce_settings(login_url=url, **given)
        opened.append(SalesforceCrm(settings, Alone(), clock=clock, call_seconds=call_seconds))
        return opened[-1]

    yield open_crm
    for crm in opened:
        crm.close()


@pytest.fixture
def crm(org: SalesforceSandbox, connect: Callable[..., SalesforceCrm]) -> SalesforceCrm:
    return connect(org.url)
