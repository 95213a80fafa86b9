"""The way of a lead on a SQLite file: recorded decisions against bare inserts."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from benchmarks.timing import compare
from connector import dispatch, edits
from connector.model import EventKind, Lead, LeadEvent
from connector.store import database, inbox, schema
from connector.store.database import Database
from connector.store.pools import NewMember, NewPool

NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)
BATCH = 100


def run() -> None:
    """Batches against singles, and both against storing as many events."""
    with tempfile.TemporaryDirectory() as folder:
        store = database.connect(f"sqlite:///{Path(folder) / 'bench.db'}")
        schema.upgrade(store)
        with store.write() as session:
            members = [NewMember(user_id=f"u{place}") for place in range(20)]
            new = NewPool(values={"name": "Bench"}, members=members)
            pool_id = edits.create_pool(session, new, now=NOW, actor=None).id
        numbers = count()
        compare(
            "dispatch.assign, one batch of 100",
            lambda: _store_events(store, numbers),
            lambda: _assign(store, pool_id, numbers, batch=BATCH),
            items=BATCH,
            why="storing 100 webhook events in one commit",
        )
        compare(
            "dispatch.assign, 100 single leads",
            lambda: _assign(store, pool_id, numbers, batch=BATCH),
            lambda: _assign(store, pool_id, numbers, batch=1),
            items=BATCH,
            why="the same 100 leads as one batch",
        )
        store.close()


def _store_events(store: Database, numbers: count[int]) -> None:
    events = [
        LeadEvent(
            key=f"e{next(numbers)}",
            kind=EventKind.CREATED,
            object_type="contacts",
            record_id=str(next(numbers)),
            payload={"objectId": 1, "subscriptionType": "contact.creation"},
        )
        for _ in range(BATCH)
    ]
    with store.write() as session:
        inbox.add(session, "hubspot", events, NOW)


def _assign(store: Database, pool_id: str, numbers: count[int], *, batch: int) -> None:
    for _ in range(BATCH // batch):
        leads = [Lead(id=f"L{next(numbers)}") for _ in range(batch)]
        with store.write() as session:
            dispatch.assign(session, pool_id, leads, now=NOW)
