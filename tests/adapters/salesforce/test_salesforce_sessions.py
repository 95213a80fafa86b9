"""One session for all threads and processes, and log-ins that come to nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select

from adapters.salesforce import transport
from adapters.salesforce.org import SalesforceCrm
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce import SalesforceSandbox
from connector import grants
from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.ports import Grant, OwnerWrite
from connector.sharing import SharedByAll
from connector.store import tables
from connector.store.database import Database

ROOT = Path(__file__).parents[3]
LEAD = "00Q000000000001"
EVERY_15_MINUTES = 900.0

Process = Callable[..., SalesforceCrm]

# Five threads of a process that find their session expired; prints how many could read.
CALLER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from config import load
from connector import wiring
from connector.store.database import connect
url, org, lead = sys.argv[1:]
settings = load({
    "DATABASE_URL": url, "SALESFORCE_LOGIN_URL": org, "SALESFORCE_CLIENT_ID": "sandbox-client",
    "SALESFORCE_CLIENT_SECRET": "sandbox-secret", "SALESFORCE_ORG_ID": "00D5g000000XyZ1EAK",
})
with wiring.workshop(settings) as shop:
    crm = shop.crms["salesforce"]
    crm.read_records("Lead", [lead])
    print("ready", flush=True)
    sys.stdin.readline()
    with ThreadPoolExecutor(5) as pool:
        read = list(pool.map(lambda _: lead in crm.read_records("Lead", [lead]), range(5)))
print(sum(read), flush=True)
"""


@pytest.fixture
def process(
    database: Database,
    org: SalesforceSandbox,
    clock: Any,
    make_settings: Callable[..., SalesforceSettings],
) -> Iterator[Process]:
    """Start another process with the same database; ``by_hand``: a person looks."""
    opened: list[SalesforceCrm] = []

    def start(*, by_hand: bool = False, key: str | None = None, **given: Any) -> SalesforceCrm:
        settings = make_settings(**({"login_url": org.url} | given))
        shared = SharedByAll(
            database,
            settings.name,
            clock=clock,
            real_clock=clock,
            encryption_key=key,
            credentials=settings.credentials,
            heeds_pauses=not by_hand,
        )
        opened.append(SalesforceCrm(settings, shared, clock=clock))
        return opened[-1]

    yield start
    for crm in opened:
        crm.close()


@pytest.fixture
def crm(process: Process) -> SalesforceCrm:
    return process()


def probe(crm: SalesforceCrm, clock: Any, *, seconds: float = 30) -> str:
    """One claimed batch after a probe's gap: read and write until something fails."""
    clock.go(seconds)
    try:
        crm.read_records("Lead", [LEAD])
        crm.write_owners("Lead", [OwnerWrite(record_id=LEAD, owner_id="005000000000001")])
    except CrmUnreachable as error:
        return error.code
    return "worked"


def row(database: Database) -> Any:
    with database.read() as session:
        return session.execute(select(tables.crm_tokens)).one()


def stale(crm: SalesforceCrm, org: SalesforceSandbox) -> str:
    """A lead that was read before the session ended."""
    lead = org.create("Lead", {})
    assert lead in crm.read_records("Lead", [lead])
    org.expire_tokens()
    return lead


# -- one session for all


def test_another_process_uses_the_session_and_knows_the_integration_user_and_org(
    org: SalesforceSandbox, process: Process, crm: SalesforceCrm
) -> None:
    crm.read_records("Lead", [LEAD])
    other = process()._call()
    assert (other.user_id, other.org_id) == (org.integration_user, org.org_id)
    assert org.log_ins == 1


def test_who_finds_the_session_ended_takes_the_new_one_of_another_process(
    org: SalesforceSandbox, process: Process, crm: SalesforceCrm
) -> None:
    other = process()
    other.read_records("Lead", [LEAD])
    lead = stale(crm, org)
    assert lead in crm.read_records("Lead", [lead])
    assert lead in other.read_records("Lead", [lead])
    assert org.log_ins == 2


def test_twenty_threads_with_one_expired_session_log_in_once(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = stale(crm, org)
    start = threading.Barrier(20)

    def read(_: int) -> bool:
        start.wait()
        return lead in crm.read_records("Lead", [lead])

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(read, range(20)))
    assert org.log_ins == 2


def test_threads_of_four_processes_with_one_expired_session_log_in_once(
    org: SalesforceSandbox, database: Database
) -> None:
    lead = org.create("Lead", {})
    url = database.engine.url.render_as_string(hide_password=False)
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, url, org.url, lead],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for caller in callers:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "ready\n"
    assert org.log_ins == 1
    org.expire_tokens()
    told = [caller.communicate("go\n")[0] for caller in callers]
    assert told == ["5\n"] * 4
    assert org.log_ins == 2


def test_the_database_holds_the_session_encrypted_without_a_key_in_the_settings(
    org: SalesforceSandbox, crm: SalesforceCrm, database: Database
) -> None:
    crm.read_records("Lead", [LEAD])
    stored = row(database)
    assert stored.access_token
    assert (stored.expires_at, stored.refresh_token) == (None, None)
    told = [word for word in ("sandbox.", "sandbox-secret", org.url) if word in str(stored)]
    assert told == []


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "sandbox-client-2"},
        {"client_secret": "sandbox-secret-2"},
        {"username": "somebody"},
        {"key": "an encryption key of 40 characters or so"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_settings_log_in_anew_and_do_not_stop_at_what_they_cannot_read(
    org: SalesforceSandbox, process: Process, crm: SalesforceCrm, change: dict[str, str]
) -> None:
    crm.read_records("Lead", [LEAD])
    org.tokens.client_id = change.get("client_id", org.tokens.client_id)
    org.tokens.client_secret = change.get("client_secret", org.tokens.client_secret)
    other = process(**change)
    assert other.read_records("Lead", [LEAD]) == {}
    assert other.read_records("Lead", [LEAD]) == {}
    assert org.log_ins == 2


@pytest.mark.parametrize(
    "held",
    [
        "no JSON",
        "[]",
        json.dumps({"access_token": "t"}),
        json.dumps(
            {
                "access_token": "t",
                "instance_url": "https://evil.example",
                "user_id": None,
                "org_id": None,
            }
        ),
    ],
)
def test_a_stored_session_that_is_none_of_ours_or_of_elsewhere_is_not_used(
    org: SalesforceSandbox, crm: SalesforceCrm, held: str
) -> None:
    crm._shared.keep(Grant(access_token=held, seconds=None))  # type: ignore[attr-defined]
    assert crm.read_records("Lead", [LEAD]) == {}
    assert org.log_ins == 1


def test_the_lease_is_longer_than_a_log_in_may_take() -> None:
    assert grants.LEASE.total_seconds() > transport.CALL_SECONDS


# -- what a session costs


def test_a_call_that_gets_through_is_written_down_once(
    crm: SalesforceCrm, database: Database
) -> None:
    changed: list[str] = []

    def note(*args: Any) -> None:
        if "UPDATE crm_tokens" in args[2]:
            changed.append(args[2])

    event.listen(database.engine, "before_cursor_execute", note)
    crm.read_records("Lead", [LEAD])
    after_the_first = len(changed)
    for _ in range(9):
        crm.read_records("Lead", [LEAD])
    event.remove(database.engine, "before_cursor_execute", note)
    assert len(changed) == after_the_first
    assert row(database).log_ins == 0


def test_sessions_that_end_by_themselves_are_renewed_without_end(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    for number in range(1, 12):
        assert probe(crm, clock) == "worked"
        assert org.log_ins == number
        org.expire_tokens()


# -- refusals that last


@pytest.mark.parametrize("preset", ["session_expired", "unauthorized_page"])
@pytest.mark.parametrize("had_worked", [False, True])
@pytest.mark.parametrize("processes", [1, 3])
def test_an_episode_of_refusals_costs_five_log_ins_in_all_and_two_a_batch(
    org: SalesforceSandbox,
    process: Process,
    clock: Any,
    preset: str,
    had_worked: bool,
    processes: int,
) -> None:
    crms = [process() for _ in range(processes)]
    if had_worked:
        crms[0].read_records("Lead", [LEAD])
    before = org.log_ins
    org.faults.add("/services/data", preset=preset, times=None)
    for number in range(30):
        log_ins, calls = org.log_ins, len(org.calls_to("/services/data"))
        assert probe(crms[number % processes], clock, seconds=EVERY_15_MINUTES) != "worked"
        assert org.log_ins - log_ins <= 2
        assert len(org.calls_to("/services/data")) > calls  # each probe tries what it has
    assert org.log_ins - before == 5
    org.faults.clear()
    assert all(probe(crm, clock) == "worked" for crm in crms)
    assert org.log_ins - before == 5


def test_a_restart_does_not_begin_the_episode_anew(
    org: SalesforceSandbox, process: Process, clock: Any
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    for _ in range(30):
        probe(process(), clock, seconds=EVERY_15_MINUTES)
    assert org.log_ins == 5


@pytest.mark.parametrize("restarts", [False, True])
def test_a_session_that_is_not_valid_for_rest_never_causes_a_log_in(
    org: SalesforceSandbox, process: Process, clock: Any, restarts: bool
) -> None:
    crm = process()
    crm.read_records("Lead", [LEAD])
    org.faults.add("/services/data", preset="session_lasting", times=None)
    for _ in range(20):
        crm = process() if restarts else crm
        assert probe(crm, clock, seconds=EVERY_15_MINUTES) == "INVALID_SESSION_ID"
    assert org.log_ins == 1
    org.faults.clear()
    assert probe(crm, clock) == "worked"


def test_a_look_by_a_person_logs_in_anew_and_the_others_go_on_with_its_session(
    org: SalesforceSandbox, process: Process, crm: SalesforceCrm, clock: Any
) -> None:
    """Whoever put the org right need not wait for the session of before to end."""
    org.faults.add("/services/data", preset="session_lasting", times=None)
    assert probe(crm, clock) == "INVALID_SESSION_ID"
    org.faults.clear()
    assert probe(process(by_hand=True), clock) == "worked"
    assert probe(crm, clock) == "worked"
    assert org.log_ins == 2
    assert org.calls[-1].headers["authorization"].endswith("000002")


def test_a_look_by_a_person_makes_one_log_in_however_many_were_in_vain(
    org: SalesforceSandbox, process: Process, clock: Any
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    for _ in range(30):
        probe(process(), clock, seconds=EVERY_15_MINUTES)
    look = process(by_hand=True)
    for _ in range(3):
        assert probe(look, clock) != "worked"
    assert org.log_ins == 6


def test_what_stopped_the_log_ins_is_told_with_what_helps(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    assert [probe(crm, clock) for _ in range(3)] == ["INVALID_SESSION_ID", *["token_refused"] * 2]
    with pytest.raises(CrmUnreachable) as stopped:
        crm.read_records("Lead", [LEAD])
    assert "2026-11-30 09:45 UTC" in stopped.value.message
    assert "leadrota doctor" in stopped.value.message
    assert "leadrota connect" not in stopped.value.message


def test_a_success_ends_the_episode(org: SalesforceSandbox, crm: SalesforceCrm, clock: Any) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    for _ in range(30):
        probe(crm, clock, seconds=EVERY_15_MINUTES)
    org.faults.clear()
    assert probe(crm, clock) == "worked"
    org.expire_tokens()
    assert probe(crm, clock) == "worked"
    assert org.log_ins == 6


def test_a_clock_that_was_set_back_does_not_stop_log_ins_for_years(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    for _ in range(5):
        probe(crm, clock)
    assert org.log_ins == 2
    probe(crm, clock, seconds=-9 * 365 * 86_400)
    assert org.log_ins == 3


def test_a_call_renews_its_session_once_however_many_requests_it_makes(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    leads = [org.create("Lead", {}) for _ in range(3)]
    org.page_size = 1
    org.faults.add("/query/$", preset="session_expired")
    org.faults.add("/query/.+", preset="session_expired")
    with pytest.raises(CrmUnreachable):
        crm.read_records("Lead", leads)
    assert org.log_ins == 2


# -- the log-in itself fails


def test_log_ins_that_are_refused_themselves_go_on_with_each_probe(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    refusal = {"error": "invalid_client", "error_description": "invalid client credentials"}
    org.faults.add("/oauth2/token", status=400, body=refusal, times=None)
    for tries in range(1, 9):
        assert probe(crm, clock) == "invalid_client"
        assert len(org.calls_to("/oauth2/token")) == tries
    org.faults.clear()
    assert probe(crm, clock) == "worked"


def test_a_refused_log_in_does_not_begin_the_episode_anew(
    org: SalesforceSandbox, crm: SalesforceCrm, clock: Any
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    org.faults.add("/oauth2/token", status=400, body={"error": "invalid_grant"}, after=3)
    for _ in range(30):
        probe(crm, clock, seconds=EVERY_15_MINUTES)
    assert len(org.calls_to("/oauth2/token")) == 6
    assert org.log_ins == 5


def test_a_log_in_that_fails_for_a_moment_is_no_refusal_of_the_session(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    lead = stale(crm, org)
    org.faults.add("/oauth2/token", preset="unavailable_page", times=None)
    with pytest.raises(CrmAgain):
        crm.read_records("Lead", [lead])
    org.faults.clear()
    assert lead in crm.read_records("Lead", [lead])


def test_too_many_log_ins_within_an_hour_are_a_pause(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    """https://github.com/n8n-io/n8n/pull/32325 has the text: its code is that of a bad grant."""
    body = {"error": "invalid_grant", "error_description": "login rate exceeded"}
    org.faults.add("/oauth2/token", status=400, body=body)
    with pytest.raises(CrmPaced) as paced:
        crm.read_records("Lead", [LEAD])
    assert paced.value.pause_seconds == 900
