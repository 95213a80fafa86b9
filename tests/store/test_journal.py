"""A pool's journal counts its entries without gaps and gives them back as they were."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from connector.errors import NotFound
from connector.model import Entry, EntryKind, GivenBack, Turn
from connector.store import images, journal, tables
from connector.store.database import Database, Session
from tests import builders
from tests.store.builders import NOW, empty_pool


def add(session: Session, pool_id: str, after_sequence: int = 0, **body: object) -> int:
    return journal.add(
        session,
        pool_id,
        kind=EntryKind.EDITED,
        after_sequence=after_sequence,
        at=NOW,
        actor="kim",
        body=body,
    )


def test_each_pool_counts_its_own_entries(database: Database) -> None:
    with database.write() as session:
        one, other = empty_pool(session), empty_pool(session)
        assert [add(session, pool_id) for pool_id in (one, one, other, one)] == [1, 2, 1, 3]
        state = tables.pool_state.c
        rows = session.execute(select(state.pool_id, state.entries))
        assert {row.pool_id: row.entries for row in rows} == {one: 3, other: 1}


def test_entries_come_back_in_order(database: Database) -> None:
    with database.write() as session:
        pool_id = empty_pool(session)
        add(session, pool_id, after_sequence=4, why="a new rule")
        add(session, pool_id, after_sequence=2)
    with database.read() as session:
        first, second = journal.entries(session, pool_id)
        assert list(journal.entries(session, "other")) == []
    assert first == Entry(
        number=1,
        after_sequence=4,
        at=NOW,
        kind=EntryKind.EDITED,
        actor="kim",
        body={"why": "a new rule"},
    )
    assert (second.number, second.after_sequence, second.body) == (2, 2, {})


def test_a_snapshot_gives_the_board_back(database: Database) -> None:
    board = builders.strict("AB", last="A", B={"weight": 3})
    body = {"config": images.config(board), "state": images.state(board)}
    with database.write() as session:
        pool_id = empty_pool(session)
        add(session, pool_id, **body)
        (entry,) = journal.entries(session, pool_id)
    assert images.board_of(entry.body["config"], entry.body["state"]) == board


def test_any_text_of_an_edit_can_be_kept(database: Database) -> None:
    odd = "\x00 \ud800 \N{PILE OF POO}"
    with database.write() as session:
        pool_id = empty_pool(session)
        add(session, pool_id, why=odd)
        (entry,) = journal.entries(session, pool_id)
    assert entry.body == {"why": odd}


def test_a_pool_that_is_not_there_has_no_journal(database: Database) -> None:
    with database.write() as session, pytest.raises(NotFound, match="nowhere"):
        add(session, "nowhere")


def test_an_entry_of_an_unknown_kind_is_refused(database: Database) -> None:
    with database.write() as session:
        pool_id = empty_pool(session)
    row = {"pool_id": pool_id, "number": 1, "after_sequence": 0, "at": NOW, "body": {}}
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(tables.journal.insert(), [row | {"kind": "unheard"}])


def test_turns_that_came_back_are_found_since_a_moment(database: Database) -> None:
    def come_back(session: Session, pool_id: str, sequence: int, *, days: int, used: bool) -> None:
        turn = Turn(member_id=1, user_id="A", sequence=sequence, at=NOW)
        given = GivenBack(
            assignment_id="a", user_id="A", turn=turn if used else None, counted_at=NOW
        )
        journal.add(
            session,
            pool_id,
            kind=EntryKind.RETURNED,
            after_sequence=9,
            at=NOW + timedelta(days=days),
            actor=None,
            body={"sequence": sequence, "given": images.given_back(given)},
        )

    with database.write() as session:
        pool_id, other = empty_pool(session), empty_pool(session)
        add(session, pool_id)
        come_back(session, pool_id, 3, days=-1, used=True)
        come_back(session, pool_id, 4, days=0, used=True)
        come_back(session, pool_id, 5, days=1, used=False)
        come_back(session, other, 6, days=1, used=True)
        assert journal.returned_turns(session, pool_id, NOW) == {4}
