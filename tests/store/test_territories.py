"""Territories are one ordered list, replaced as a whole."""

from __future__ import annotations

import pytest

from connector.errors import NotFound
from connector.model import Territory
from connector.store import territories
from connector.store.database import Database
from tests.store.builders import pool_of


def test_the_whole_list_is_replaced_in_order(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "a")
        rules = [
            Territory(
                name=name,
                when={"all": [{"field": "x", "op": "in", "value": ["Ä", 1]}]},
                pool_id=pool_id,
            )
            for name in ("z", "a", "m")
        ]
        territories.replace(session, rules)
        assert territories.listed(session) == rules
        territories.replace(session, rules[::-1][:2])
        assert territories.listed(session) == rules[::-1][:2]
        territories.replace(session, [])
        assert territories.listed(session) == []


def test_a_pool_that_is_not_there_leaves_the_old_list(database: Database) -> None:
    with database.write() as session:
        old = [Territory(name="all", when={}, pool_id=pool_of(session, "a"))]
        territories.replace(session, old)
    with database.write() as session:
        with pytest.raises(NotFound) as caught:
            territories.replace(session, [*old, Territory(name="x", when={}, pool_id="gone")])
        assert caught.value.code == "pool_not_found"
        assert territories.listed(session) == old
