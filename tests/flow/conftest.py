"""A team in a database, a CRM in memory, a clock that moves when told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from connector.model import Assignment, EventKind, LeadEvent, Territory
from connector.store import assignments, inbox, lanes, pools, territories, users
from connector.store.database import Database
from connector.store.pools import NewMember
from connector.worker import Drained, Workshop, work_off
from tests.builders import NOON, user
from tests.flow.crm import MemoryCrm


class Team:
    """Everything a flow test touches: tell events, work, look at history and owners."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.crm = MemoryCrm()
        self.now = NOON
        self.chance = 1.0
        self.shop = Workshop(
            database=database,
            crms={"hubspot": self.crm},
            clock=lambda: self.now,
            holder="test",
            default_pool="Sales",
            chance=lambda: self.chance,
        )
        with database.write() as session:
            lanes.ensure(session, ["hubspot"])

    def pool(self, names: str, *, name: str = "Sales") -> str:
        with self.database.write() as session:
            for one in names:
                if users.get(session, one) is None:
                    users.put(session, user(one, owners={"hubspot": f"h-{one}"}), self.now)
            members = [NewMember(user_id=one) for one in names]
            return pools.create(session, name, members, self.now).id

    def territories(self, *rules: Territory) -> None:
        with self.database.write() as session:
            territories.replace(session, list(rules))

    def put_user(self, name: str, **changes: object) -> None:
        with self.database.write() as session:
            users.put(
                session, user(name, **{"owners": {"hubspot": f"h-{name}"}} | changes), self.now
            )

    def tell(
        self,
        *ids: str,
        kind: EventKind = EventKind.CREATED,
        key: str = "",
        owner: str | None = None,
        account: str | None = None,
        object_type: str = "contacts",
    ) -> int:
        events = [
            LeadEvent(
                key=f"{key or kind}:{object_type}:{record_id}:{owner}",
                kind=kind,
                object_type=object_type,
                record_id=record_id,
                owner_id=owner,
                account=account,
            )
            for record_id in ids
        ]
        with self.database.write() as session:
            return inbox.add(session, "hubspot", events, self.now)

    def work(self) -> Drained:
        return work_off(self.shop)

    def later(self, **delta: float) -> datetime:
        self.now += timedelta(**delta)
        return self.now

    def history(self, pool_id: str) -> Sequence[Assignment]:
        """Oldest first, as one reads."""
        with self.database.read() as session:
            return assignments.history(session, pool_id, limit=1000)[::-1]


@pytest.fixture
def team(database: Database) -> Team:
    return Team(database)
