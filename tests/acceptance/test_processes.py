"""Real processes: the form for one machine, several workers, and what a kill costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from adapters.sandbox.server import Sandbox, real_clock
from config import load
from connector.store import schema
from connector.store.database import connect
from connector.store.tables import lanes
from connector.worker import drain
from tests.acceptance.processes import PATIENCE, Process, Processes, wait_until
from tests.acceptance.stage import Row, check_sequence, turns, writes

LEADS = 100  # in each CRM
TAKEN_OVER_WITHIN = timedelta(seconds=60)


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Processes:
    """Nothing is prepared: ``serve`` makes the tables by itself."""
    return Processes(f"sqlite:///{tmp_path / 'leadrota.db'}", tmp_path)


@pytest.fixture
def on_empty_postgres(new_postgres_database: Callable[[], str], tmp_path: Path) -> Processes:
    """A database which only ``leadrota db upgrade`` fills with tables."""
    return Processes(new_postgres_database(), tmp_path)


@pytest.fixture
def on_postgres(on_empty_postgres: Processes) -> Processes:
    """A migrated database."""
    database = connect(on_empty_postgres.database_url)
    schema.upgrade(database)
    database.close()
    return on_empty_postgres


def check_each_assigned_once(system: Processes, pool: str, leads: set[str]) -> list[Row]:
    rows = system.api.history(pool)
    assert {row["lead_id"] for row in rows} == leads
    assert len(rows) == len(leads)
    check_sequence(rows)
    counts = turns(rows).values()
    assert max(counts) - min(counts) <= 1
    for row in rows:
        assert system.user_of(row["lead_id"]) == row["assigned_user_id"]
    return rows


def see_call(crm: Sandbox, path: str) -> None:
    wait_until(lambda: bool(crm.calls_to(path)))


def test_one_process_on_sqlite_gives_each_lead_its_owner(on_sqlite: Processes) -> None:
    with on_sqlite as system:
        system.serve()
        system.api.users(system.hire("ABC"))
        pool = system.api.pool("ABC")
        leads = system.send_leads(LEADS)
        system.wait_until_written(pool, leads)
        check_each_assigned_once(system, pool, leads)


def test_web_and_two_workers_on_postgresql_give_each_lead_its_owner_once(
    on_empty_postgres: Processes,
) -> None:
    with on_empty_postgres as system:
        assert system.run("db", "upgrade").returncode == 0
        system.serve()
        system.api.users(system.hire("ABC"))
        pool = system.api.pool("ABC")
        system.launch("worker")
        system.launch("worker")
        leads = system.send_leads(LEADS)
        system.wait_until_written(pool, leads)
        check_each_assigned_once(system, pool, leads)


def test_a_worker_killed_while_it_reads_loses_and_doubles_nothing(
    on_postgres: Processes,
) -> None:
    with on_postgres as system:
        pool, leads = a_batch_that_waits(system)
        system.hubspot.faults.add("/batch/read", delay=60)
        worker = system.launch("worker")
        see_call(system.hubspot, "/batch/read")
        worker.kill()
        system.hubspot.faults.clear()
        take_over(system, worker)
        check_each_assigned_once(system, pool, leads)


def test_a_worker_killed_between_a_write_and_its_answer_loses_and_doubles_nothing(
    on_postgres: Processes,
) -> None:
    with on_postgres as system:
        pool, leads = a_batch_that_waits(system)
        worker = system.launch("worker")
        # The write takes effect, and whoever asked for it never knows.
        system.hubspot.on_change(lambda _: worker.kill())
        take_over(system, worker)
        assert len(writes(system.hubspot)) == 1
        rows = check_each_assigned_once(system, pool, leads)
        assert {row["write_back"] for row in rows} == {"done"}


def a_batch_that_waits(system: Processes) -> tuple[str, set[str]]:
    """Leads that are stored and nobody works on."""
    system.serve_here()
    system.api.users(system.hire("ABC"))
    return system.api.pool("ABC"), system.send_leads(10)


def take_over(system: Processes, dead: Process) -> None:
    """Respect the dead worker's lease, and take over what it held within a minute of its death."""
    assert dead.wait(PATIENCE) == -signal.SIGKILL
    died_at = real_clock()
    calls = len(system.hubspot.calls)
    settings = load(system.environment)
    assert _leased_until(system, "hubspot") > died_at
    drain(settings, clock=lambda: died_at)
    assert len(system.hubspot.calls) == calls
    drain(settings, clock=lambda: died_at + TAKEN_OVER_WITHIN)


def _leased_until(system: Processes, connection: str) -> datetime:
    database = connect(system.database_url)
    with database.read() as session:
        until = session.scalar(select(lanes.c.lease_until).where(lanes.c.connection == connection))
    database.close()
    return until or datetime.min.replace(tzinfo=UTC)


def slow_batch(system: Processes, *, seconds: float) -> tuple[str, set[str]]:
    """A write to HubSpot that is on its way and takes its time."""
    system.api.users(system.hire("AB"))
    pool = system.api.pool("AB")
    system.hubspot.faults.add("/batch/update", delay=seconds)
    leads = system.send_leads(5)
    return pool, leads


def stop_twice(system: Processes, process: Process) -> None:
    """As platforms do: to every process of the group, and again for the impatient."""
    see_call(system.hubspot, "/batch/update")
    system.api.close()
    os.killpg(process.pid, signal.SIGTERM)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(25) == 0, system.log()


def test_a_worker_that_is_told_twice_to_stop_finishes_its_batch(on_postgres: Processes) -> None:
    with on_postgres as system:
        system.serve_here()
        worker = system.launch("worker")
        pool, _ = slow_batch(system, seconds=1.5)
        stop_twice(system, worker)
        told = {
            row["lead_id"]: row["write_back"]
            for row in system.api.history(pool)
            if row["lead_id"].startswith("hubspot:")
        }
        assert set(told.values()) >= {"done"}
        for lead_id, state in told.items():
            assert (state == "done") == (system.user_of(lead_id) is not None)
        assert _leased_until(system, "hubspot") < real_clock()


def test_a_web_process_with_the_worker_inside_finishes_its_batch(on_sqlite: Processes) -> None:
    with on_sqlite as system:
        web = system.serve()
        pool, leads = slow_batch(system, seconds=5)  # longer than gunicorn waits for its callers
        stop_twice(system, web)
        assert _leased_until(system, "hubspot") < real_clock()
        drain(load(system.environment))
        system.serve()
        check_each_assigned_once(system, pool, leads)


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_nothing_starts_on_a_postgresql_that_was_not_upgraded(
    on_empty_postgres: Processes, command: str
) -> None:
    with on_empty_postgres as system:
        result = system.run(command)
        assert result.returncode == 1
        assert "leadrota db upgrade" in result.stderr
        assert "Traceback" not in result.stderr


def test_the_demo_holds_all_its_checks(tmp_path: Path) -> None:
    result = subprocess.run(
        [str(Path(sys.executable).with_name("leadrota")), "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert result.returncode == 0, result.stdout + result.stderr
