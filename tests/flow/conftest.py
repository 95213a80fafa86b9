"""A team in a database, a CRM in memory, a clock that moves when told."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import select

from connector import audit, changes, dispatch, edits
from connector.model import (
    Absence,
    Assignment,
    Board,
    Entry,
    EventKind,
    Lead,
    LeadEvent,
    Territory,
)
from connector.store import assignments, inbox, journal, lanes, pools, territories, users
from connector.store.database import Database, Session
from connector.store.pools import MemberChange, NewMember, NewPool, PoolChange
from connector.store.tables import pool_state
from connector.worker import work_off
from connector.workshop import Drained, Workshop
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

    def pool(
        self, names: str, *, name: str = "Sales", weights: str | None = None, **values: object
    ) -> str:
        """``pool("AB", weights="31", skip="hold")``: a pool of A and B, its other columns given."""
        members = [
            NewMember(user_id=one, weight=int(weight))
            for one, weight in zip(names, weights or "1" * len(names), strict=True)
        ]
        new = NewPool(values={"name": name} | values, members=members)
        with self.database.write() as session:
            for one in names:
                if users.get(session, one) is None:
                    self._put(session, one)
            return edits.create_pool(session, new, now=self.now, actor="boss").id

    def change(
        self,
        pool_id: str,
        *,
        add: str = "",
        remove: str = "",
        order: str = "",
        members: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
        redistribute: bool = False,
        **values: object,
    ) -> None:
        """``change(pool, remove="A", members={"B": {"weight": 3}}, skip="hold")``."""
        change = PoolChange(
            values=values,
            remove_members=list(remove),
            add_members=[NewMember(user_id=one) for one in add],
            update_members=[MemberChange(user_id=one, values=of) for one, of in members.items()],
            order=list(order) or None,
            redistribute=redistribute,
        )
        with self.database.write() as session:
            edits.change_pool(session, pool_id, change, now=self.now, actor="boss")

    def archive(self, pool_id: str, *, default_pool: str | None = None) -> None:
        with self.database.write() as session:
            edits.archive_pool(
                session, pool_id, default_pool=default_pool, now=self.now, actor="boss"
            )

    def lead(self, pool_id: str, lead_id: str, **of_lead: Any) -> Assignment:
        """Assign one lead, which is not refused."""
        (row,) = self.leads(pool_id, Lead(id=lead_id, **of_lead))
        assert isinstance(row, Assignment)
        return row

    def leads(self, pool_id: str, *leads: Lead | str) -> list[Assignment | dispatch.Refused]:
        """Assign leads in one batch."""
        wanted = [Lead(id=one) if isinstance(one, str) else one for one in leads]
        with self.database.write() as session:
            return dispatch.assign(session, pool_id, wanted, now=self.now)

    def reassign(
        self, row: Assignment, to: str | None = None, *, override: bool = False, note: str = "why"
    ) -> Assignment:
        with self.database.write() as session:
            return changes.reassign(
                session,
                row.id,
                user_id=to,
                override=override,
                now=self.now,
                actor="boss",
                note=note,
            )

    def reject(self, row: Assignment, note: str = "why") -> Assignment:
        with self.database.write() as session:
            return changes.reject(session, row.id, now=self.now, actor="boss", note=note)

    def routed(self, lead_id: str) -> Assignment:
        """Assign one lead where the territories send it."""
        with self.database.write() as session:
            (row,) = dispatch.assign_routed(
                session, [Lead(id=lead_id)], default_pool=None, now=self.now
            )
        assert isinstance(row, Assignment)
        return row

    def undo(self, row: Assignment, note: str = "why") -> Assignment:
        with self.database.write() as session:
            return changes.undo(session, row.id, now=self.now, actor="boss", note=note)

    def absent(self, name: str, **until: float) -> str:
        """``absent("A", hours=2)``: away from now on; returns the absence's id."""
        absence = Absence(
            id=f"off-{name}-{secrets.token_hex(4)}",
            starts_at=self.now,
            ends_at=self.now + timedelta(**until),
            reason="vacation",
        )
        with self.database.write() as session:
            edits.add_absence(session, name, absence, now=self.now, actor="boss")
        return absence.id

    def back(self, name: str, absence_id: str) -> None:
        with self.database.write() as session:
            edits.remove_absence(session, name, absence_id, now=self.now, actor="boss")

    def territories(self, *rules: Territory) -> None:
        with self.database.write() as session:
            territories.replace(session, list(rules))

    def put_user(self, name: str, **changes: object) -> None:
        with self.database.write() as session:
            self._put(session, name, **changes)

    def tell(
        self,
        *ids: str,
        kind: EventKind = EventKind.CREATED,
        key: str = "",
        owner: str | None = None,
        account: str | None = None,
        object_type: str = "contacts",
        merged: Sequence[str] = (),
        pool: str | None = None,
    ) -> int:
        events = [
            LeadEvent(
                key=f"{key or kind}:{object_type}:{record_id}:{owner}",
                kind=kind,
                object_type=object_type,
                record_id=record_id,
                owner_id=owner,
                account=account,
                merged_ids=tuple(merged),
                pool=pool,
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

    def given(self, pool_id: str) -> str:
        """Who got the pool's leads, oldest first; ``-`` is nobody."""
        return "".join(row.user_id or "-" for row in self.history(pool_id))

    def board(self, pool_id: str) -> Board:
        with self.database.read() as session:
            board = pools.board(session, pool_id, now=self.now)
        assert board
        return board

    def opens_at(self, pool_id: str) -> datetime | None:
        with self.database.read() as session:
            return session.scalar(
                select(pool_state.c.opens_at).where(pool_state.c.pool_id == pool_id)
            )

    def journal(self, pool_id: str) -> list[Entry]:
        with self.database.read() as session:
            return list(journal.entries(session, pool_id))

    def differs(self, pool_id: str) -> str | None:
        """What the audit of a pool says; None when it finds nothing."""
        with self.database.snapshot() as session:
            return audit.audit_pool(session, pool_id, now=self.now).differs

    def _put(self, session: Session, name: str, **changes: object) -> None:
        wanted = user(name, **{"owners": {"hubspot": f"h-{name}"}} | changes)
        edits.put_user(session, wanted, now=self.now, actor="boss")


@pytest.fixture
def team(database: Database) -> Team:
    return Team(database)
