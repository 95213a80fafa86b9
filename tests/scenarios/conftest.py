"""A stage on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.scenarios.stage import Stage


@pytest.fixture
def stage(database: Database) -> Iterator[Stage]:
    """Nobody and nothing in it yet."""
    made = Stage(database)
    yield made
    made.leave()
