"""Short ways to make what the store's tests need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from sqlalchemy import event, insert

from connector.model import (
    Board,
    Decision,
    EventKind,
    Lead,
    LeadEvent,
    Reason,
    Record,
    Status,
    Strategy,
    Turn,
    User,
)
from connector.store import assignments, lanes, outbox, pools, tables, users
from connector.store.database import Database, Session

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
OF_LEAD = {field.name for field in fields(Lead)}


def pool_of(session: Session, *user_ids: str, name: str = "SDR") -> str:
    """Make a pool of these users and return its id."""
    members = [pools.NewMember(user_id=user_id) for user_id in user_ids]
    return pools.create(session, pools.NewPool(values={"name": name}, members=members), NOW).id


def board_of(session: Session, pool_id: str) -> Board:
    """Read the board of a pool that is there."""
    board = pools.board(session, pool_id, now=NOW)
    assert board is not None
    return board


def empty_pool(session: Session, pool_id: str = "") -> str:
    """Make a pool without members, for tests of its history alone, and return its id."""
    pool_id = pool_id or str(uuid4())
    pool = {"id": pool_id, "name": "SDR", "strategy": Strategy.STRICT, "created_at": NOW}
    session.execute(insert(tables.round_robin_pools), [pool])
    session.execute(insert(tables.pool_state), [{"pool_id": pool_id}])
    return pool_id


def turn(session: Session, pool_id: str, lead_id: str) -> str:
    """Decide and record one lead under the pool's lock, simply in order; return the user."""
    pools.lock(session, [pool_id])
    board = board_of(session, pool_id)
    members, sequence = board.pool.members, board.last_sequence + 1
    last = next((m.position for m in members if m.id == board.last_assigned_member_id), 0)
    member = members[last % len(members)]
    used = Turn(member_id=member.id, user_id=member.user.id, sequence=sequence, at=NOW)
    made = decision(pool_id, lead_id, member.user, turn=used)
    assignments.record(session, [made], first_sequence=sequence)
    after = replace(board, last_assigned_member_id=member.id, last_sequence=sequence)
    pools.save(session, board, after)
    return member.user.id


def decision(pool_id: str | None, lead_id: str, user: User | None = None, **more: Any) -> Decision:
    """Make a decision: assigned with a user, held without."""
    lead = {name: more.pop(name) for name in OF_LEAD & more.keys()}
    rest: dict[str, Any] = {
        "status": Status.ASSIGNED if user else Status.HELD,
        "reason": Reason.ROTATION if user else Reason.NO_MEMBER_AVAILABLE,
        "decided_at": NOW,
    }
    return Decision(lead=Lead(id=lead_id, **lead), pool_id=pool_id, user=user, **(rest | more))


def contact(record_id: str, connection: str = "hubspot", object_type: str = "contacts") -> Record:
    return Record(connection=connection, object_type=object_type, id=record_id)


def user(user_id: str, **owners: str) -> User:
    return User(id=user_id, name=user_id.upper(), owners=owners)


def put(session: Session, *people: User) -> None:
    for person in people:
        users.put(session, person, NOW)


def events(*keys: str, object_type: str = "contacts", **more: Any) -> list[LeadEvent]:
    return [
        LeadEvent(
            key=key, kind=EventKind.CREATED, object_type=object_type, record_id=f"r-{key}", **more
        )
        for key in keys
    ]


def want_owners(
    session: Session,
    *record_ids: str,
    owner_id: str = "5501",
    connection: str = "hubspot",
    object_type: str = "contacts",
    now: datetime = NOW,
) -> list[str]:
    """Record an assignment for each record and ask for its owner; return the assignment ids."""
    person = User(id="u1", name="U1", owners={connection: owner_id})
    users.ensure(session, [("u1", None, None)], NOW)
    made = [
        assignments.record(
            session,
            [
                decision(
                    empty_pool(session),
                    f"{connection}:{object_type}:{record_id}",
                    person,
                    record=contact(record_id, connection, object_type),
                )
            ],
            first_sequence=1,
        )[0].id
        for record_id in record_ids
    ]
    outbox.add(
        session,
        [
            outbox.WantedOwner(
                connection=connection,
                object_type=object_type,
                record_id=record_id,
                owner_id=owner_id,
                assignment_id=assignment_id,
            )
            for record_id, assignment_id in zip(record_ids, made, strict=True)
        ],
        now,
    )
    return made


def claim(
    session: Session,
    now: datetime = NOW,
    *,
    holder: str = "w1",
    names: Sequence[str] = ("hubspot", "salesforce"),
    lease_seconds: float = 60,
    limit: int = 100,
    directories: Sequence[str] = (),
    polls: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> lanes.Claim | None:
    return lanes.claim(
        session,
        holder=holder,
        now=now,
        lease_seconds=lease_seconds,
        limits=dict.fromkeys(names, (limit, limit)),
        directories=directories,
        polls=polls,
    )


@contextmanager
def plans(database: Database) -> Iterator[list[str]]:
    """Collect how the database goes about each statement meanwhile."""
    seen: list[str] = []
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"

    def ask(_conn: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        asking = cursor.connection.cursor()
        asking.execute(f"{explain} {statement}", parameters)
        seen.extend(str(row[-1]) for row in asking.fetchall())
        asking.close()

    event.listen(database.engine, "before_cursor_execute", ask)
    try:
        yield seen
    finally:
        event.remove(database.engine, "before_cursor_execute", ask)


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect the SQL statements sent meanwhile; a batched INSERT counts each of its pages."""
    sent: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def run_all(tasks: Sequence[Callable[[], object]]) -> None:
    """Run each in a thread of its own and raise the first error."""
    errors: list[BaseException] = []

    def guarded(task: Callable[[], object]) -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]
