"""A key brings back the first answer for a day."""

from __future__ import annotations

from datetime import timedelta

from connector.store import idempotency
from connector.store.database import Database
from connector.store.idempotency import Stored
from tests.store.builders import NOW


def test_a_new_key_is_ours_and_a_running_one_is_not(database: Database) -> None:
    with database.write() as session:
        assert idempotency.begin(session, "t", "k", "/p", "h", NOW) is None
        running = Stored(path="/p", body_hash="h", status=None, body=None, headers=None)
        assert idempotency.begin(session, "t", "k", "/q", "i", NOW) == running
        assert idempotency.begin(session, "t2", "k", "/p", "h", NOW) is None


def test_a_finished_key_brings_the_answer_back_for_a_day(database: Database) -> None:
    with database.write() as session:
        idempotency.begin(session, "t", "k", "/p", "h", NOW)
        idempotency.finish(session, "t", "k", 201, b"{}\x00", {"Location": "/x"})
        almost = NOW + timedelta(hours=24, seconds=-1)
        answer = Stored(
            path="/p", body_hash="h", status=201, body=b"{}\x00", headers={"Location": "/x"}
        )
        assert idempotency.begin(session, "t", "k", "/p", "h", almost) == answer
        assert idempotency.begin(session, "t", "k", "/p", "h", NOW + timedelta(hours=24)) is None
        emptied = idempotency.begin(session, "t", "k", "/p", "h", NOW + timedelta(hours=24))
        assert emptied is not None
        assert (emptied.status, emptied.body) == (None, None)


def test_a_request_that_never_ended_does_not_block_its_key_for_long(database: Database) -> None:
    with database.write() as session:
        idempotency.begin(session, "t", "k", "/p", "h", NOW)
        soon, later = NOW + timedelta(minutes=4), NOW + timedelta(minutes=5)
        assert idempotency.begin(session, "t", "k", "/p", "h", soon) is not None
        assert idempotency.begin(session, "t", "k", "/p", "h", later) is None


def test_a_dropped_key_can_be_used_anew(database: Database) -> None:
    with database.write() as session:
        idempotency.begin(session, "t", "k", "/p", "h", NOW)
        idempotency.drop(session, "t", "k")
        assert idempotency.begin(session, "t", "k", "/p", "other", NOW) is None
