"""A batch costs as many SQL statements as a single lead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from connector.model import Standing
from connector.store import assignments, inbox, lanes, outbox, pools
from connector.store.database import Database, Session
from tests.store.builders import (
    NOW,
    board_of,
    claim,
    contact,
    decision,
    events,
    pool_of,
    put,
    statements,
    user,
)

ALICE = user("a", hubspot="1")


def board(session: Session, pool_id: str, size: int) -> None:
    assert len(board_of(session, pool_id).pool.members) == size


def save(session: Session, pool_id: str, size: int) -> None:
    found = board_of(session, pool_id)
    owing = Standing(owed=2)
    members = tuple(replace(member, standing=owing) for member in found.pool.members)
    after = replace(found, pool=replace(found.pool, members=members), last_sequence=1)
    pools.save(session, found, after)


def record(session: Session, pool_id: str, size: int) -> None:
    for first in (1, 1 + size):  # the second call supersedes what the first wrote
        made = [
            decision(pool_id, f"L{number}", ALICE, record=contact(str(number)))
            for number in range(size)
        ]
        assignments.record(session, made, first_sequence=first)


def write_out(session: Session, pool_id: str, size: int) -> None:
    made = [
        decision(pool_id, f"L{number}", ALICE, record=contact(str(number)))
        for number in range(size)
    ]
    rows = assignments.record(session, made, first_sequence=1)
    wanted = [
        outbox.WantedOwner(
            connection="hubspot",
            object_type="contacts",
            record_id=row.record.id,
            owner_id="1",
            assignment_id=row.id,
        )
        for row in rows
        if row.record
    ]
    outbox.add(session, wanted, NOW)
    sent = outbox.due(session, "hubspot", NOW, 200)
    assert len(sent) == size
    outbox.kill(session, dict.fromkeys(sent[: size // 2], ("x", "y")), NOW)
    outbox.settle_done(session, sent[size // 2 :], NOW)


def take_in(session: Session, pool_id: str, size: int) -> None:
    lanes.ensure(session, ["hubspot"])
    assert inbox.add(session, "hubspot", events(*(str(n) for n in range(size))), NOW) == size
    taken = claim(session, limit=200)
    assert taken is not None
    assert len(taken.inbox) == size
    inbox.finish(session, [item.id for item in taken.inbox], NOW)


@pytest.mark.parametrize("work", [board, save, record, write_out, take_in])
def test_the_number_of_statements_does_not_grow_with_the_batch(
    database: Database, work: Callable[[Session, str, int], None]
) -> None:
    sent = []
    for size in (2, 200):
        names = [f"u{number}" for number in range(size)]
        with database.write() as session:
            put(session, ALICE)
            pool_id = pool_of(session, *names)
        with pytest.raises(_Undone), database.write() as session, statements(database) as counted:  # noqa: PT012
            work(session, pool_id, size)
            sent.append(list(counted))
            raise _Undone
    assert len(sent[0]) == len(sent[1]) <= 20


class _Undone(Exception):
    """Rolls back, so that the second run finds what the first one found."""
