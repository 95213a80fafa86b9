"""The journal of each pool: with its decisions, all that ever changed its board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from connector.errors import unknown_pool
from connector.model import Board, Entry, EntryKind
from connector.store import images
from connector.store.database import Session
from connector.store.tables import journal, pool_state

PAGE = 100  # a snapshot of a large pool is long


def add(
    session: Session,
    pool_id: str,
    *,
    kind: EntryKind,
    after_sequence: int,
    at: datetime,
    actor: str | None,
    body: Mapping[str, Any],
) -> int:
    """Write the pool's next entry and return its number; the pool's lock is held.

    ``after_sequence`` is the pool's last decision so far. Raises ``NotFound`` for an unknown pool.
    """
    number = session.scalar(
        update(pool_state)
        .where(pool_state.c.pool_id == pool_id)
        .values(entries=pool_state.c.entries + 1)
        .returning(pool_state.c.entries)
    )
    if number is None:
        raise unknown_pool(pool_id)
    row = {
        "pool_id": pool_id,
        "number": number,
        "after_sequence": after_sequence,
        "at": at,
        "kind": kind,
        "actor": actor,
        "body": dict(body),
    }
    session.execute(insert(journal), [row])
    return int(number)


def begin(session: Session, board: Board, *, at: datetime, actor: str | None) -> None:
    """Write the entry with which a pool's journal begins: the whole board, takings included."""
    add(
        session,
        board.pool.id,
        kind=EntryKind.SNAPSHOT,
        after_sequence=board.last_sequence,
        at=at,
        actor=actor,
        body={
            "config": images.config(board),
            "state": images.state(board),
            "takings": images.times(board.takings),
        },
    )


def last_number(session: Session, pool_id: str) -> int:
    """Tell the number of the pool's last entry; 0 before the first."""
    query = select(pool_state.c.entries).where(pool_state.c.pool_id == pool_id)
    return session.scalar(query) or 0


def entries(session: Session, pool_id: str) -> Iterator[Entry]:
    """Read a pool's entries by number, page by page; within the transaction."""
    query = select(journal).where(journal.c.pool_id == pool_id).order_by(journal.c.number)
    for row in session.execute(query, execution_options={"yield_per": PAGE}):
        yield Entry(
            number=row.number,
            after_sequence=row.after_sequence,
            at=row.at,
            kind=EntryKind(row.kind),
            actor=row.actor,
            body=row.body,
        )


def returned_turns(session: Session, pool_id: str, since: datetime) -> set[int]:
    """Find the decisions, by sequence, whose turn came back outside of a decision since then."""
    columns = journal.c
    bodies = session.scalars(
        select(columns.body).where(
            columns.pool_id == pool_id, columns.kind == EntryKind.RETURNED, columns.at >= since
        )
    )
    turns = [body["given"]["turn"] for body in bodies]
    return {turn["sequence"] for turn in turns if turn}
