"""What all processes share of a connection: pace, pauses, limits left."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, text

from connector.errors import CrmPaced
from connector.ports import Limit
from connector.sharing import SharedByAll
from connector.store import figures, lanes, tables
from connector.store.database import Database, connect

ROOT = Path(__file__).parents[1]
RATE = {"burst": 6.0, "per_second": 4.0}

# Makes calls by a clock that stands still; prints for how long each had to wait.
CALLER = """
import sys
from datetime import datetime
from connector.errors import CrmPaced
from connector.sharing import SharedByAll
from connector.store.database import connect
now, waits, admitted = datetime.fromisoformat(sys.argv[2]), [], 0
database = connect(sys.argv[1])
clock = lambda: now
shared = SharedByAll(
    database, "hubspot", clock=clock, real_clock=clock, encryption_key=None, sleep=waits.append
)
for _ in range(6):
    try:
        shared.admit("calls", burst=6.0, per_second=4.0)
        admitted += 1
    except CrmPaced:
        pass
database.close()
print(*[0.0] * (admitted - len(waits)), *waits)
"""


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(now) -> Clock:
    return Clock(now)


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def shared(database, clock, waits):
    return sharing(database, clock, waits)


def sharing(database, clock, waits=None, connection="hubspot", *, real_clock=None):
    waits = [] if waits is None else waits
    return SharedByAll(
        database,
        connection,
        clock=clock,
        real_clock=real_clock or clock,
        encryption_key=None,
        sleep=waits.append,
    )


def refused(shared, bucket="calls", **rate) -> float:
    """For how long a call that is not let through shall pause."""
    with pytest.raises(CrmPaced) as caught:
        shared.admit(bucket, **(RATE | rate))
    return caught.value.pause_seconds


def pause(database: Database, until: datetime | None, connection: str = "hubspot") -> None:
    with database.write() as session:
        lanes.ensure(session, [connection])
        session.execute(tables.lanes.update().values(paused_until=until))


def test_a_burst_passes_then_calls_wait_their_turn_then_they_are_sent_off(shared, waits):
    for _ in range(10):
        shared.admit("calls", **RATE)

    assert waits == [0.25, 0.5, 0.75, 1.0]
    assert refused(shared) == 1.25
    assert refused(shared) == 1.25  # it took nothing


def test_tokens_come_back_with_time(shared, clock, waits):
    for _ in range(6):
        shared.admit("calls", **RATE)
    clock.now += timedelta(seconds=0.5)

    shared.admit("calls", **RATE)
    shared.admit("calls", **RATE)
    assert waits == []
    shared.admit("calls", **RATE)
    assert waits == [0.25]


def test_the_pace_is_that_of_real_time_wherever_else_the_clock_stands(database, clock, waits):
    real = Clock(clock.now)
    shared = sharing(database, clock, waits, real_clock=real)
    for _ in range(60):
        shared.admit("calls", **RATE)
        real.now += timedelta(seconds=0.25)

    assert waits == []


def test_each_bucket_and_each_connection_counts_for_itself(database, clock, shared, waits):
    for _ in range(6):
        shared.admit("calls", **RATE)

    shared.admit("search", **RATE)
    sharing(database, clock, waits, "other").admit("calls", **RATE)

    assert waits == []


def test_the_numbers_may_change_from_call_to_call(shared, waits):
    shared.admit("calls", burst=100, per_second=10)

    shared.admit("calls", burst=1, per_second=1)
    assert refused(shared, burst=1, per_second=0.5) == 2


def test_a_clock_that_goes_back_gives_no_tokens(shared, clock, waits):
    for _ in range(6):
        shared.admit("calls", **RATE)
    clock.now -= timedelta(hours=1)

    shared.admit("calls", **RATE)

    assert waits == [0.25]


def in_threads(work, number):
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_together_never_go_over_the_limit(database, clock):
    waits: list[float] = []
    admitted: list[float] = []
    one = sharing(database, clock, waits)
    other = sharing(database, clock, waits)

    def call() -> None:
        for shared in (one, other) * 2:
            try:
                shared.admit("calls", **RATE)
                admitted.append(1)
            except CrmPaced:
                pass

    in_threads(call, 6)

    assert len(admitted) == 10
    assert sorted(waits) == [0.25, 0.5, 0.75, 1.0]


def test_processes_together_never_go_over_the_limit(database, now):
    url = database.engine.url.render_as_string(hide_password=False)
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, url, now.isoformat()],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]

    told = [caller.communicate()[0] for caller in callers]

    assert [caller.returncode for caller in callers] == [0, 0, 0]
    assert sorted(map(float, " ".join(told).split())) == [0.0] * 6 + [0.25, 0.5, 0.75, 1.0]


def test_a_connection_that_rests_takes_no_call_and_no_token(database, shared, now, waits):
    pause(database, now + timedelta(seconds=40))

    assert [refused(shared) for _ in range(20)] == [40] * 20

    pause(database, None)
    shared.admit("calls", **RATE)
    assert waits == []


def test_the_one_that_tries_after_a_pause_passes(database, shared, now):
    pause(database, now)

    shared.admit("calls", **RATE)


def test_another_connection_does_not_rest_with_it(database, clock, now):
    pause(database, now + timedelta(seconds=40))

    sharing(database, clock, connection="salesforce").admit("calls", **RATE)


@pytest.fixture
def unusable(tmp_path, clock):
    database = connect(f"sqlite:///{tmp_path}/missing/leadrota.db")
    yield sharing(database, clock)
    database.close()


def test_while_the_database_cannot_be_asked_no_call_is_made(unusable):
    assert refused(unusable) == 1


def test_limits_that_cannot_be_noted_do_no_harm(unusable):
    unusable.note_limits([Limit(name="daily", most=10, left=5)])


def limits(database) -> dict[str, tuple[int, int]]:
    """(most, left) by name."""
    with database.read() as session:
        found = figures.limits(session)
    return {name: (most, left) for (_, name), (left, most) in found.items()}


def told(**left: int) -> list[Limit]:
    return [Limit(name=name, most=100, left=number) for name, number in left.items()]


def test_limits_are_kept_as_told_last(database, shared, clock):
    shared.note_limits(told(ten_secondly=90, daily=5))
    clock.now += timedelta(seconds=1)
    shared.note_limits(told(ten_secondly=80))

    assert limits(database) == {"ten_secondly": (100, 80), "daily": (100, 5)}


def test_limits_are_written_once_a_second_at_most(database, shared, clock):
    shared.note_limits(told(ten_secondly=90))
    shared.note_limits(told(ten_secondly=89, daily=5))
    assert limits(database) == {"ten_secondly": (100, 90), "daily": (100, 5)}

    clock.now -= timedelta(hours=1)  # a clock that was set back holds nothing up
    shared.note_limits(told(ten_secondly=70))
    assert limits(database)["ten_secondly"] == (100, 70)


def test_numbers_that_make_no_sense_fit_all_the_same(database, shared):
    shared.note_limits([Limit(name="daily", most=10**15, left=-3)])

    assert limits(database) == {"daily": (2**31 - 1, 0)}


def test_no_limits_are_no_news(database, shared):
    shared.note_limits([])

    assert limits(database) == {}


def test_a_bucket_of_a_row_from_before_is_used(database, shared, now, waits):
    row = {"connection": "hubspot", "name": "calls", "tokens": 0.0, "filled_at": now}
    with database.write() as session:
        session.execute(insert(tables.call_buckets), [row])

    shared.admit("calls", **RATE)

    assert waits == [0.25]
    with database.read() as session:
        assert session.scalar(text("SELECT tokens FROM call_buckets")) == -1
