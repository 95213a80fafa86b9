"""The product as a whole, in this process or as real processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.crm import Crm
from tests.acceptance.soap import SoapClient, soap_client
from tests.acceptance.stage import Stage


@pytest.fixture
def stage(database: Database) -> Iterator[Stage]:
    """On each kind of database."""
    with Stage(database) as set_up:
        yield set_up


@pytest.fixture
def soap(stage: Stage) -> Iterator[SoapClient]:
    with soap_client(stage) as client:
        yield client


@pytest.fixture(params=["hubspot-postgresql", "salesforce-sqlite"])
def crm(request: pytest.FixtureRequest) -> Iterator[Crm]:
    """Each CRM and each database; not all four pairs, since they do not know each other."""
    name, kind = request.param.split("-")
    with Stage(request.getfixturevalue(kind)) as set_up:
        yield Crm(set_up, name)
