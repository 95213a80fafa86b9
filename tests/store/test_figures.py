"""Numbers for monitoring are right, and cost the same however long the history."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from connector.ports import Limit
from connector.store import calls, figures, lanes
from connector.store.database import Database, Session
from tests.store import rows
from tests.store.builders import NOW

AN_HOUR_AGO = NOW - timedelta(hours=1)
LATER = NOW + timedelta(minutes=1)


def ago(*minutes: float):
    return [NOW - timedelta(minutes=number) for number in minutes]


def test_a_pool_tells_its_decisions_and_what_waits_since_when(database: Database) -> None:
    with database.write() as session:
        busy = rows.pool(session, "busy", decisions=9)
        rows.pool(session, "idle")
        rows.history(session, busy, at=ago(5, 3))
        rows.history(session, busy, at=ago(60), first=3, current=False)

        found = {one.name: one for one in figures.of_pools(session)}

    assert (found["busy"].decisions, found["busy"].held) == (9, 2)
    assert found["busy"].oldest_held_at == NOW - timedelta(minutes=5)
    assert (found["idle"].decisions, found["idle"].held) == (0, 0)
    assert found["idle"].oldest_held_at is None


def test_leads_that_wait_without_a_pool_come_last(database: Database) -> None:
    with database.write() as session:
        rows.pool(session, "idle")
        rows.history(session, None, at=ago(2), reason="no_territory_match")

        last = figures.of_pools(session)[-1]

    assert (last.id, last.name, last.decisions, last.held) == ("", "", 0, 1)


def test_decisions_are_counted_by_pool_and_reason_from_the_moment_on(database: Database) -> None:
    with database.write() as session:
        pool_id = rows.pool(session, "SDR")
        taken = {"status": "assigned", "reason": "rotation", "user_id": rows.user(session, "u1")}
        rows.history(session, pool_id, at=ago(1, 60), first=1, **taken)
        rows.history(session, pool_id, at=ago(60.1), first=3, **taken)
        rows.history(session, pool_id, at=ago(2), first=4)

        found = figures.decisions_since(session, AN_HOUR_AGO)

    assert found == {(pool_id, "rotation"): 2, (pool_id, "no_member_available"): 1}


def test_events_are_counted_by_connection_and_outcome(database: Database) -> None:
    with database.write() as session:
        rows.events(session, "hubspot", "done", at=ago(90, 60, 30))
        rows.events(session, "hubspot", "ignored", at=ago(1), reason="own_echo")
        rows.events(session, "hubspot", "ready", at=ago(1), reason="bad_answer")
        rows.events(session, "salesforce", "done", at=ago(1))

        found = figures.events_since(session, AN_HOUR_AGO)

    assert found == {
        ("hubspot", "done", ""): 2,
        ("hubspot", "ignored", "own_echo"): 1,
        ("hubspot", "ready", ""): 1,
        ("salesforce", "done", ""): 1,
    }


def test_an_inbox_tells_what_waits_what_is_due_and_what_was_given_up_on(
    database: Database,
) -> None:
    with database.write() as session:
        rows.events(session, "hubspot", "ready", at=ago(3, 1))
        rows.events(session, "hubspot", "ready", at=ago(2), due=LATER)
        rows.events(session, "hubspot", "done", at=ago(90))
        rows.events(session, "salesforce", "dead", at=ago(90, 80))

        found = figures.of_inbox(session, now=NOW)

    assert found == {
        "hubspot": figures.Backlog(waiting=3, due=2, oldest_at=ago(3)[0], dead=0),
        "salesforce": figures.Backlog(waiting=0, due=0, oldest_at=None, dead=2),
    }


def test_an_outbox_tells_the_same_of_owner_writes(database: Database) -> None:
    with database.write() as session:
        (row,) = rows.history(session, rows.pool(session, "SDR"), at=[NOW])
        rows.writes(session, "hubspot", "ready", at=ago(4), assignment_id=row)
        rows.writes(session, "hubspot", "ready", at=ago(5), assignment_id=row, due=LATER)
        rows.writes(session, "hubspot", "dead", at=ago(50), assignment_id=row)
        for status in ("done", "kept", "withdrawn"):
            rows.writes(session, "hubspot", status, at=ago(90), assignment_id=row)

        found = figures.of_outbox(session, now=NOW)

    assert found == {"hubspot": figures.Backlog(waiting=2, due=1, oldest_at=ago(5)[0], dead=1)}


def test_a_pause_is_told_in_seconds_until_it_is_over(database: Database) -> None:
    with database.write() as session:
        lanes.ensure(session, ["hubspot", "salesforce"])
        session.execute(text("UPDATE lanes SET paused_until = NULL WHERE connection = 'hubspot'"))
        session.execute(
            lanes.tables.lanes.update()
            .where(lanes.tables.lanes.c.connection == "salesforce")
            .values(paused_until=NOW + timedelta(seconds=90))
        )

        assert figures.pauses(session, now=NOW) == {"hubspot": 0, "salesforce": 90}
        over = figures.pauses(session, now=NOW + timedelta(seconds=91))
    assert over == {"hubspot": 0, "salesforce": 0}


def test_limits_are_told_by_connection_and_name(database: Database) -> None:
    with database.write() as session:
        for connection, name, left in (("b", "daily", 5), ("a", "daily", 4), ("a", "burst", 3)):
            limit = Limit(name=name, most=9, left=left)
            calls.note_limits(session, connection, [limit], now=NOW)

        assert list(figures.limits(session).items()) == [
            (("a", "burst"), (3, 9)),
            (("a", "daily"), (4, 9)),
            (("b", "daily"), (5, 9)),
        ]


def steps(session: Session) -> int:
    """How many steps SQLite's machine takes for all figures together."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    driver = session.connection().connection.dbapi_connection
    driver.set_progress_handler(count, 1)
    figures.of_pools(session)
    figures.decisions_since(session, AN_HOUR_AGO)
    figures.events_since(session, AN_HOUR_AGO)
    figures.of_inbox(session, now=NOW)
    figures.of_outbox(session, now=NOW)
    figures.pauses(session, now=NOW)
    figures.limits(session)
    driver.set_progress_handler(None, 1)
    return taken


def test_the_cost_does_not_grow_with_the_history(sqlite: Database) -> None:
    costs = []
    with sqlite.write() as session:
        pool_id = rows.pool(session, "SDR")
        user_id = rows.user(session, "u1")
        for first in (1, 2001, 4001):
            old = ago(*range(100, 2100))
            taken = {"status": "assigned", "reason": "rotation", "user_id": user_id}
            ids = rows.history(session, pool_id, at=old, first=first, current=False, **taken)
            rows.events(session, "hubspot", "done", at=old)
            rows.writes(session, "hubspot", "done", at=old, assignment_id=ids[0])
            costs.append(steps(session))

    assert costs[1] == costs[2]
