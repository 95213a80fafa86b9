"""An org that lets nobody in for a while: everything waits, nothing is lost."""

from __future__ import annotations

import pytest

from connector.store import figures
from tests.acceptance.stage import Stage, check_sequence


@pytest.mark.parametrize(("preset", "pause"), [("daily_limit", 900), ("concurrent_limit", 3)])
@pytest.mark.parametrize("call", ["/query", "/composite/sobjects"], ids=["reading", "writing"])
def test_a_limit_rests_the_connection_for_all_processes_and_loses_nothing(
    stage: Stage, call: str, preset: str, pause: float
) -> None:
    pool = stage.team("AB")
    stage.salesforce.faults.add(call, preset=preset)
    stage.tell_salesforce(stage.leads(4))
    stage.work()
    assert stage.paused_for("salesforce") == pause
    calls = len(stage.salesforce.calls)
    stage.later(seconds=pause - 1)
    stage.tell_salesforce(stage.leads(2))
    stage.work()  # each time as a process of its own
    assert len(stage.salesforce.calls) == calls
    stage.later(seconds=1)
    stage.work()
    rows = stage.api.history(pool)
    assert [row["write_back"] for row in rows] == ["done"] * 6
    check_sequence(rows)
    stage.check_owners(rows)
    assert stage.salesforce.log_ins == 1


def test_what_is_left_of_the_daily_limit_is_there_to_be_seen(stage: Stage) -> None:
    stage.team("A")
    stage.salesforce.daily_limit = 1000
    stage.tell_salesforce(stage.leads(1))
    stage.work()
    with stage.database.read() as session:
        told = figures.limits(session)
    left, most = told["salesforce", "daily"]
    assert most == 1000
    assert 0 < 1000 - left <= len(stage.salesforce.calls)


def test_a_lasting_refusal_costs_two_calls_and_two_log_ins_and_loses_nothing(stage: Stage) -> None:
    """https://github.com/simple-salesforce/simple-salesforce/issues/804"""
    pool = stage.team("AB")
    stage.salesforce.faults.add("/services/data", preset="session_expired", times=None)
    stage.tell_salesforce(stage.leads(4))
    stage.work()
    assert len(stage.salesforce.calls_to("/services/data")) == 2
    assert stage.salesforce.log_ins == 2
    for _ in range(20):  # five hours
        stage.later(minutes=15)
        stage.work()
    assert stage.salesforce.log_ins <= 5
    stage.salesforce.faults.clear()
    stage.later(minutes=15)
    stage.work()
    rows = stage.api.history(pool)
    assert [row["write_back"] for row in rows] == ["done"] * 4
    stage.check_owners(rows)
    assert stage.salesforce.log_ins <= 5
