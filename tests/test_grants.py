"""OAuth tokens: fetched once for all processes, stored encrypted, never lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from adapters.hubspot import oauth
from adapters.hubspot.settings import HubSpotSettings
from connector import grants
from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.grants import Tokens
from connector.ports import Credentials, Grant
from connector.store import tables
from connector.store import tokens as store
from connector.store.database import Database, connect
from tests.oauth import TokenEndpoint

ROOT = Path(__file__).parents[1]
KEY = "an encryption key of 40 characters or so"

# Ten threads of one process that want a token; prints what each got.
CALLER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from adapters.hubspot import oauth
from adapters.hubspot.settings import HubSpotSettings
from connector.grants import Tokens
from connector.store.database import connect
url, endpoint, now, key = sys.argv[1:]
database = connect(url)
settings = HubSpotSettings(
    name="hubspot", client_id="client-1", client_secret="client-secret-1",
    public_url="https://leads.example.com", base_url=endpoint,
)
tokens = Tokens(
    database,
    "hubspot",
    clock=lambda: datetime.fromisoformat(now),
    encryption_key=key,
    credentials=settings.credentials,
)
renew = oauth.renewal(settings)
with ThreadPoolExecutor(5) as pool:
    got = list(pool.map(lambda _: tokens.access_token(renew), range(5)))
database.close()
print(*got)
"""


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock(now) -> Clock:
    return Clock(now)


@pytest.fixture
def endpoint():
    with TokenEndpoint() as serving:
        yield serving


@pytest.fixture
def renew(endpoint):
    return oauth.renewal(
        HubSpotSettings(
            name="hubspot",
            client_id="client-1",
            client_secret="client-secret-1",
            refresh_token="refresh-0",
            public_url="https://leads.example.com",
            base_url=endpoint.url,
        )
    )


@pytest.fixture
def process(database, clock):
    """Another process with the same database and settings."""

    def start(*, key=KEY, given="refresh-0", app="client-1", sleep=None, insists=False) -> Tokens:
        def no_wait(seconds: float) -> None:
            raise AssertionError(f"nobody should wait here, but {seconds} s were asked for")

        return Tokens(
            database,
            "hubspot",
            clock=clock,
            encryption_key=key,
            credentials=Credentials(given=given, app=app),
            sleep=sleep or no_wait,
            insists=insists,
        )

    return start


def row(database: Database):
    with database.read() as session:
        return session.execute(select(tables.crm_tokens)).one()


def lease(database: Database, until: datetime) -> None:
    """Somebody fetches a token until then."""
    with database.write() as session:
        store.lock(session, "hubspot")
        store.lease(session, "hubspot", holder="somebody", until=until)


def test_a_token_is_fetched_once_and_used_for_25_minutes(process, renew, endpoint, clock):
    tokens = process()

    assert tokens.access_token(renew) == "access-1"
    clock.passes(minutes=24)
    assert tokens.access_token(renew) == "access-1"
    clock.passes(minutes=1)
    assert tokens.access_token(renew) == "access-2"
    assert len(endpoint.calls) == 2


def test_another_process_uses_the_stored_token(process, renew, endpoint, clock):
    process().access_token(renew)
    clock.passes(minutes=24)

    assert process().access_token(renew) == "access-1"
    assert len(endpoint.calls) == 1


def test_the_database_holds_no_token_that_can_be_read(process, renew, database):
    process().access_token(renew)

    stored = row(database)
    assert stored.access_token
    assert stored.refresh_token
    assert not [word for word in ("access-1", "refresh-0") if word in str(stored)]
    assert (stored.leased_by, stored.lease_until) == (None, None)


def test_a_rotated_refresh_token_is_used_next_even_by_another_process(
    process, renew, endpoint, clock
):
    endpoint.rotates = True
    for number in (1, 2, 3):
        assert process().access_token(renew) == f"access-{number}"
        clock.passes(minutes=40)

    assert [form["refresh_token"] for form in endpoint.forms] == [
        "refresh-0",
        "refresh-1",
        "refresh-2",
    ]


def test_a_token_of_short_life_is_used_for_half_of_it(process, renew, endpoint, clock):
    endpoint.instead = {"expires_in": 60}
    tokens = process()
    tokens.access_token(renew)

    clock.passes(seconds=29)
    assert tokens.access_token(renew) == "access-1"
    clock.passes(seconds=1)
    assert tokens.access_token(renew) == "access-2"


def test_a_refused_token_is_replaced_once_for_all(process, renew, endpoint):
    one, other = process(), process()
    token = one.access_token(renew)
    other.access_token(renew)

    assert one.access_token(renew, rejected=token) == "access-2"
    assert other.access_token(renew, rejected=token) == "access-2"
    assert len(endpoint.calls) == 2


def test_a_token_that_is_refused_as_soon_as_it_is_given_is_not_asked_for_again(
    process, renew, endpoint, clock
):
    tokens = process()
    rejected = tokens.access_token(renew)
    rejected = tokens.access_token(renew, rejected=rejected)

    for _ in range(9):
        with pytest.raises(CrmUnreachable, match="leadrota connect hubspot"):
            tokens.access_token(renew, rejected=rejected)
    assert len(endpoint.calls) == 2
    # The CRM may have come to its senses: the token is there to be tried.
    assert tokens.access_token(renew) == rejected


def test_while_another_fetches_the_old_token_is_used(process, renew, endpoint, clock, database):
    tokens = process()
    tokens.access_token(renew)
    clock.passes(minutes=26)
    lease(database, clock.now + timedelta(seconds=20))

    assert tokens.access_token(renew) == "access-1"
    assert len(endpoint.calls) == 1


def test_who_has_no_token_waits_for_the_other_and_gives_up_after_ten_seconds(
    process, renew, endpoint, clock, database
):
    slept: list[float] = []
    lease(database, clock.now + timedelta(seconds=20))

    with pytest.raises(CrmAgain) as caught:
        process(sleep=slept.append).access_token(renew)

    assert caught.value.code == "token_awaited"
    assert 10 <= sum(slept) < 10.5
    assert endpoint.calls == []


def test_who_waits_gets_the_token_that_the_other_stores(process, renew, endpoint, clock, database):
    other = process()

    def meanwhile(_seconds: float) -> None:
        other.keep(Grant(access_token="from-other", refresh_token="refresh-0", seconds=1800))

    lease(database, clock.now + timedelta(seconds=20))

    assert process(sleep=meanwhile).access_token(renew) == "from-other"
    assert endpoint.calls == []


def test_a_lease_of_a_machine_whose_clock_is_ahead_counts(process, renew, clock, database):
    lease(database, clock.now + timedelta(seconds=40))

    with pytest.raises(CrmAgain):
        process(sleep=lambda _seconds: None).access_token(renew)


@pytest.mark.parametrize("seconds", [-1, 3600], ids=["is over", "is from before a clock went back"])
def test_a_lease_of_a_process_that_died_is_taken_over(process, renew, clock, database, seconds):
    lease(database, clock.now + timedelta(seconds=seconds))

    assert process().access_token(renew) == "access-1"


def test_who_lost_its_lease_does_not_overwrite_what_came_since(process, renew, clock, database):
    other = process()

    def slow(refresh_token: str | None) -> Grant:
        other.keep(Grant(access_token="newer", refresh_token="refresh-0", seconds=1800))
        return renew(refresh_token)

    tokens = process()
    with pytest.raises(CrmAgain):
        tokens.access_token(slow)

    assert tokens.access_token(renew) == "newer"


def test_log_ins_in_which_the_process_dies_count(process, clock):
    def dies(_refresh_token: str | None) -> Grant:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            process().access_token(dies)
        clock.passes(minutes=1)

    with pytest.raises(CrmUnreachable):
        process().access_token(dies)


def test_a_failure_goes_up_and_the_next_one_may_try(process, renew, endpoint, database):
    endpoint.faults.add("/oauth/", status=503)
    tokens = process()

    with pytest.raises(CrmAgain):
        tokens.access_token(renew)

    assert row(database).leased_by is None
    assert process().access_token(renew) == "access-1"


def test_a_failure_before_the_end_leaves_the_old_token_in_use_and_is_not_repeated_at_once(
    process, renew, endpoint, clock
):
    tokens = process()
    tokens.access_token(renew)
    clock.passes(minutes=26)
    endpoint.faults.add("/oauth/", status=503)

    assert [tokens.access_token(renew) for _ in range(5)] == ["access-1"] * 5
    assert len(endpoint.calls) == 2
    clock.passes(seconds=31)
    assert tokens.access_token(renew) == "access-2"


def test_a_dead_refresh_token_is_asked_for_five_times_and_then_told_from_memory(
    process, renew, endpoint, clock
):
    endpoint.refresh_token = "another"
    tokens = process()

    for _ in range(20):
        with pytest.raises(CrmUnreachable) as caught:
            tokens.access_token(renew)
        assert caught.value.code == "bad_refresh_token"
        clock.passes(minutes=15)
    assert len(endpoint.calls) == 5

    process().keep(Grant(access_token="x", refresh_token="another", seconds=1))
    clock.passes(minutes=1)
    assert tokens.access_token(renew) == "access-1"


def test_a_newer_refresh_token_in_the_settings_wins_once(process, renew, endpoint, clock):
    process().access_token(renew)
    renewed_with = []

    def watched(refresh_token: str | None) -> Grant:
        renewed_with.append(refresh_token)
        return Grant(access_token=f"new-{len(renewed_with)}", refresh_token="moved", seconds=1800)

    assert process(given="refresh-new").access_token(watched) == "new-1"
    clock.passes(minutes=40)
    assert process(given="refresh-new").access_token(watched) == "new-2"
    clock.passes(minutes=40)
    assert process(given=None).access_token(watched) == "new-3"
    assert renewed_with == [None, "moved", "moved"]


def test_what_an_admin_connected_wins_over_an_older_setting(process, renew, endpoint, clock):
    endpoint.refresh_token = "refresh-connected"

    process().keep(Grant(access_token="x", refresh_token="refresh-connected", seconds=600))
    assert process().access_token(renew) == "x"
    clock.passes(minutes=10)

    assert process().access_token(renew) == "access-1"


def test_a_wrong_encryption_key_is_told_and_changes_nothing(process, renew, endpoint, database):
    process().access_token(renew)
    before = row(database)

    with pytest.raises(CrmUnreachable) as caught:
        process(key="x" * 32).access_token(renew)

    assert caught.value.code == "wrong_encryption_key"
    assert "LEADROTA_ENCRYPTION_KEY" in caught.value.message
    assert row(database) == before
    assert len(endpoint.calls) == 1


def test_a_new_key_in_front_of_the_old_one_reads_on_and_takes_over(process, renew, clock):
    new = "a new key " * 4
    process().access_token(renew)

    assert process(key=f"{new},{KEY}").access_token(renew) == "access-1"
    clock.passes(minutes=26)
    process(key=f"{new},{KEY}").access_token(renew)
    assert process(key=new).access_token(renew) == "access-2"


def test_a_client_secret_that_was_put_right_is_tried_at_once_with_the_stored_token(
    process, renew, endpoint, clock
):
    process().access_token(renew)
    clock.passes(hours=1)
    asked = []

    def refused(refresh_token: str | None) -> Grant:
        asked.append(refresh_token)
        raise CrmUnreachable("wrong client secret", code="invalid_client")

    for _ in range(9):
        with pytest.raises(CrmUnreachable):
            process(app="wrong").access_token(refused)
        clock.passes(minutes=15)

    assert asked == ["refresh-0"] * 5
    assert process().access_token(renew) == "access-2"


def test_the_count_goes_on_in_another_process_and_after_a_restart(process, endpoint, renew, clock):
    endpoint.refresh_token = "another"

    for _ in range(20):
        with pytest.raises(CrmUnreachable) as caught:
            process().access_token(renew)
        assert caught.value.code == "bad_refresh_token"
        assert "leadrota connect" in caught.value.message
        clock.passes(minutes=15)

    assert len(endpoint.calls) == 5
    with pytest.raises(CrmUnreachable):
        process(insists=True).access_token(renew)
    assert len(endpoint.calls) == 6  # a person looks


def test_a_call_that_gets_through_ends_the_count(process, renew, endpoint):
    tokens = process()
    token = None
    for number in range(1, 9):
        token = tokens.access_token(renew, rejected=token)
        assert token == f"access-{number}"
        tokens.worked(token)


def test_an_older_token_that_works_does_not_end_the_count(process, renew, endpoint):
    one, other = process(), process()
    older = one.access_token(renew)
    newer = other.access_token(renew, rejected=older)

    one.worked(older)

    with pytest.raises(CrmUnreachable):
        other.access_token(renew, rejected=newer)


def test_noting_how_a_call_went_never_fails(process, renew, database, tmp_path, clock):
    lost = connect(f"sqlite:///{tmp_path}/missing/leadrota.db")
    tokens = Tokens(lost, "hubspot", clock=clock, encryption_key=KEY, credentials=Credentials())
    tokens._kept = grants._Kept(access_token="a", renew_at=None, is_doubted=True)

    tokens.worked("a")
    tokens.refused("a")

    lost.close()


def test_without_a_key_nothing_is_fetched(process, renew, endpoint):
    with pytest.raises(CrmUnreachable) as caught:
        process(key=None).access_token(renew)

    assert caught.value.code == "no_encryption_key"
    assert endpoint.calls == []


def test_threads_that_wait_for_a_failing_log_in_share_its_end(process, endpoint, renew, clock):
    entered, go = threading.Event(), threading.Event()
    asked = []

    def slow(refresh_token: str | None) -> Grant:
        asked.append(refresh_token)
        entered.set()
        assert go.wait(30)
        raise CrmUnreachable("no such token", code="bad_refresh_token")

    waiting = threading.Barrier(4)
    patience = threading.local()

    def wait(_seconds: float) -> None:
        if not getattr(patience, "noted", False):
            patience.noted = True
            waiting.wait(30)
        assert failed.wait(30)

    tokens = process(sleep=wait)
    failed = threading.Event()
    ends: list[str] = []

    def ask() -> None:
        try:
            tokens.access_token(slow)
        except CrmUnreachable as error:
            ends.append(error.code)
        finally:
            failed.set()

    first = threading.Thread(target=ask)
    first.start()
    assert entered.wait(30)
    others = [threading.Thread(target=ask) for _ in range(3)]
    for thread in others:
        thread.start()
    waiting.wait(30)
    go.set()
    for thread in [first, *others]:
        thread.join()

    assert ends == ["bad_refresh_token"] * 4
    assert asked == [None]


def test_threads_of_several_processes_fetch_an_expired_token_once(
    process, renew, endpoint, clock, database, now
):
    process(given=None).access_token(renew)
    later = now + timedelta(hours=1)
    url = database.engine.url.render_as_string(hide_password=False)
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, url, endpoint.url, later.isoformat(), KEY],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]

    told = [caller.communicate()[0] for caller in callers]

    assert " ".join(told).split() == ["access-2"] * 10
    assert len(endpoint.calls) == 2


def test_a_hitch_of_the_database_does_not_lose_a_rotated_token(
    sqlite, renew, clock, tmp_path, endpoint
):
    endpoint.rotates = True
    lock, aside = tmp_path / "test.db-lock", tmp_path / "aside"
    waits: list[float] = []

    def renew_and_lose_the_database(refresh_token: str | None) -> Grant:
        lock.rename(aside)
        lock.mkdir()  # no writer gets through
        return renew(refresh_token)

    def repair(seconds: float) -> None:
        waits.append(seconds)
        lock.rmdir()
        aside.rename(lock)

    tokens = Tokens(
        sqlite,
        "hubspot",
        clock=clock,
        encryption_key=KEY,
        credentials=Credentials(given="refresh-0"),
        sleep=repair,
    )

    assert tokens.access_token(renew_and_lose_the_database) == "access-1"
    assert waits == [1.0]
    clock.passes(minutes=40)
    assert tokens.access_token(renew) == "access-2"


def test_a_database_that_cannot_be_asked_is_a_pause(process, renew, database, tmp_path, clock):
    lost = connect(f"sqlite:///{tmp_path}/missing/leadrota.db")
    tokens = Tokens(lost, "hubspot", clock=clock, encryption_key=KEY, credentials=Credentials())

    with pytest.raises(CrmPaced) as caught:
        tokens.access_token(renew)

    lost.close()
    assert caught.value.pause_seconds == 1


def test_the_lease_is_longer_than_a_call_may_take():
    assert grants.LEASE.total_seconds() > oauth.WHOLE_SECONDS + oauth.CONNECT_SECONDS
