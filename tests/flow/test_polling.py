"""What changed in a CRM is asked for page by page: nothing is lost, nothing counts twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from connector import polling
from connector.errors import CrmAgain, CrmError, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.polling import Poll
from connector.ports import Capabilities, Mark
from connector.store import lanes
from connector.store.lanes import Claim
from connector.store.tables import inbox, poll_marks
from connector.worker import work_once
from tests.builders import NOON
from tests.flow.conftest import Team
from tests.store.builders import run_all

MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """Ends the work on the spot, as a killed process does."""


def poll_each_minute(team: Team, *object_types: str) -> None:
    team.shop.polls = {"hubspot": Poll(every=MINUTE, object_types=object_types or ("contacts",))}
    with team.database.write() as session:
        polling.ensure(session, team.shop.polls, now=team.now)


def change(team: Team, *ids: str, ago: float = 0, owner: str | None = None, **how: bool) -> None:
    """Records that were made, or changed if they are there, so many seconds ago."""
    team.crm.create(*(one for one in ids if one not in team.crm.rows), owner=owner)
    team.crm.stamp(*ids, at=team.now - timedelta(seconds=ago), **how)


def claimed(team: Team, holder: str = "w") -> Claim:
    """What a worker takes when it starts to ask for changes."""
    with team.database.write() as session:
        claim = lanes.claim(
            session,
            holder=holder,
            now=team.now,
            lease_seconds=50,
            limits={"hubspot": (100, 100)},
            polls={"hubspot": ["contacts"]},
        )
    assert claim
    assert claim.poll == "contacts"
    return claim


def polled(team: Team, claim: Claim) -> polling.Polled | None:
    return polling.poll(
        team.database,
        claim,
        team.crm,
        every=MINUTE,
        clock=lambda: team.now,
        is_stopping=lambda: False,
    )


def events(team: Team) -> list[tuple[str, str, str | None]]:
    """Record, status and reason of every event, oldest first."""
    with team.database.read() as session:
        rows = session.execute(select(inbox).order_by(inbox.c.id)).all()
    return [(row.record_id, row.status, row.reason) for row in rows]


def mark(team: Team, object_type: str = "contacts") -> tuple[datetime, str]:
    with team.database.read() as session:
        row = session.execute(
            select(poll_marks).where(poll_marks.c.object_type == object_type)
        ).one()
    return row.read_until, row.record_id


def due_in(team: Team, object_type: str = "contacts") -> timedelta:
    with team.database.read() as session:
        due_at = session.scalar(
            select(poll_marks.c.due_at).where(poll_marks.c.object_type == object_type)
        )
    assert due_at
    return due_at - team.now


def test_leads_get_owners_though_no_message_tells_of_them(team) -> None:
    pool = team.pool("AB")
    poll_each_minute(team)
    change(team, "1", "2", "3", ago=1, is_new=True)
    done = team.work()
    assert (done.polled, done.events, done.written) == (3, 3, 3)
    assert team.crm.owners() == {"1": "h-A", "2": "h-B", "3": "h-A"}
    assert team.given(pool) == "ABA"


def test_a_crm_that_need_not_be_asked_is_not_asked(team) -> None:
    team.pool("A")
    change(team, "1")
    team.work()
    assert team.crm.polls == []


def test_the_crm_is_asked_again_when_it_is_time(team) -> None:
    poll_each_minute(team)
    team.work()
    team.later(seconds=59)
    team.work()
    assert len(team.crm.polls) == 1
    team.later(seconds=1)
    team.work()
    assert len(team.crm.polls) == 2


def test_the_first_reading_begins_a_few_minutes_ago(team) -> None:
    team.pool("A")
    poll_each_minute(team)
    change(team, "old", ago=301)
    change(team, "new", ago=299)
    team.work()
    assert [one for one, *_ in events(team)] == ["new"]


def test_a_change_that_shows_late_is_found(team) -> None:
    team.pool("AB")
    poll_each_minute(team)
    change(team, "1", is_new=True)
    team.work()
    team.later(minutes=1)
    change(team, "late", ago=60 + 90, is_new=True)  # 90 s before the newest that was read
    team.work()
    assert team.crm.owners() == {"1": "h-A", "late": "h-B"}


def test_a_change_that_shows_while_pages_are_read_is_found(team) -> None:
    poll_each_minute(team)
    change(team, "1", "2", ago=200)
    change(team, "3", "4", ago=100)

    def show_late() -> None:
        if len(team.crm.polls) == 3:  # both pages were read
            change(team, "late", ago=250)

    team.crm.before_changes = show_late
    team.work()
    team.later(minutes=1)
    team.work()
    assert sorted(one for one, *_ in events(team)) == ["1", "2", "3", "4", "late"]


def test_what_is_read_again_counts_once(team) -> None:
    pool = team.pool("A")
    poll_each_minute(team)
    change(team, "1", "2", "3", is_new=True)
    team.work()
    team.later(minutes=1)
    before, asked = len(team.crm.reads), len(team.crm.polls)
    done = team.work()
    assert team.crm.polls[asked][1].at < NOON  # so that all three are told once more
    assert (done.polled, done.events, len(team.crm.reads) - before) == (0, 0, 0)
    assert team.given(pool) == "AAA"


def test_what_was_read_and_is_old_is_not_asked_for_again(team) -> None:
    poll_each_minute(team)
    change(team, *"12345", ago=10)
    team.work()
    team.later(minutes=6)
    team.work()  # reads once more what may have shown late
    asked = len(team.crm.polls)
    team.later(minutes=1)
    team.work()
    assert team.crm.polls[asked:] == [
        ("contacts", Mark(at=NOON - timedelta(seconds=10), record_id="5"))
    ]


def test_more_records_of_one_moment_than_a_page_holds_are_read_once_each(team) -> None:
    poll_each_minute(team)
    change(team, *"12345")
    team.work()
    assert [one for one, *_ in events(team)] == list("12345")
    assert [one.record_id for _, one in team.crm.polls] == ["", "2", "4"]


def test_our_own_owner_writes_cost_no_read(team) -> None:
    team.pool("A")
    poll_each_minute(team)
    change(team, "1", ago=1, is_new=True)
    team.work()
    team.later(minutes=1)
    change(team, "1", ago=60)  # by our write
    before = len(team.crm.reads)
    team.work()
    assert events(team)[1:] == [("1", "ignored", "own_echo")]
    assert len(team.crm.reads) == before


def test_changes_of_records_that_others_own_cost_no_read(team) -> None:
    team.pool("A")
    poll_each_minute(team)
    change(team, "1", "2", "3", owner="somebody")
    team.work()
    assert events(team) == [(one, "ignored", "owned_already") for one in "123"]
    assert team.crm.reads == []


def test_an_owner_whom_a_person_sets_is_followed(team) -> None:
    pool = team.pool("AB")
    poll_each_minute(team)
    change(team, "1", ago=1, is_new=True)
    team.work()
    team.later(minutes=1)
    team.crm.rows["1"].owner_id = "h-B"
    change(team, "1")
    team.work()
    assert team.given(pool) == "AB"


def test_a_new_record_that_somebody_owns_is_kept_and_known(team) -> None:
    pool = team.pool("AB")
    poll_each_minute(team)
    change(team, "1", owner="h-B", is_new=True)
    team.work()
    assert [(row.user_id, row.status) for row in team.history(pool)] == [("B", "kept")]


@pytest.mark.parametrize("page", [1, 2, 3])
def test_a_process_that_dies_between_pages_loses_nothing_and_repeats_a_page_at_most(
    team, page: int
) -> None:
    poll_each_minute(team)
    change(team, *"123456")
    died = claimed(team)

    def die() -> None:
        if len(team.crm.polls) == page:
            raise Killed

    team.crm.before_changes = die
    with pytest.raises(Killed):
        polled(team, died)
    assert [one for one, *_ in events(team)] == list("123456")[: (page - 1) * 2]
    team.crm.before_changes = lambda: None
    team.crm.polls.clear()
    team.later(seconds=50)  # the lease is over
    team.work()
    assert [one for one, *_ in events(team)] == list("123456")
    assert team.crm.polls[0][1].record_id == ("", "2", "4")[page - 1]


def test_a_worker_that_lost_its_claim_moves_nothing(team) -> None:
    poll_each_minute(team)
    change(team, *"1234")
    late = claimed(team)

    def overtake() -> None:
        if len(team.crm.polls) == 2:
            team.later(seconds=51)
            assert polled(team, claimed(team, "other"))

    team.crm.before_changes = overtake
    assert polled(team, late) is None
    after = mark(team)
    assert polled(team, late) is None
    assert mark(team) == after
    assert [one for one, *_ in events(team)] == list("1234")


def test_workers_that_ask_at_once_store_each_change_once(team) -> None:
    poll_each_minute(team)
    change(team, *"123456789", is_new=True)
    pool = team.pool("ABC")
    run_all([team.work] * 4)
    team.work()
    assert sorted(one for one, *_ in events(team)) == list("123456789")
    assert team.given(pool) == "ABC" * 3


def test_a_reading_that_takes_too_long_goes_on_at_the_next_claim(team) -> None:
    poll_each_minute(team)
    change(team, *"123456")
    team.crm.before_changes = lambda: team.later(seconds=11)
    got = polled(team, claimed(team))
    assert got
    assert (got.pages, got.is_all, due_in(team)) == (2, False, timedelta())
    got = polled(team, claimed(team))
    assert got
    assert (got.pages, got.is_all) == (2, True)
    assert [one for one, *_ in events(team)] == list("123456")


def test_what_shows_late_between_two_claims_of_one_reading_is_found(team) -> None:
    poll_each_minute(team)
    change(team, *"12", ago=30)
    change(team, *"34", ago=20)
    team.crm.before_changes = lambda: team.later(seconds=21)
    assert polled(team, claimed(team))
    change(team, "late", ago=21 + 31)  # before 1 and 2
    team.later(minutes=20)  # the CRM asked for a pause
    team.work()
    team.later(minutes=1)
    team.work()
    assert sorted(one for one, *_ in events(team)) == ["1", "2", "3", "4", "late"]


def test_no_further_page_is_asked_for_once_the_worker_stops(team) -> None:
    poll_each_minute(team)
    change(team, *"123456")
    team.shop.is_stopping = lambda: True
    work_once(team.shop)
    assert len(team.crm.polls) == 1
    assert due_in(team) == timedelta()


def test_new_leads_do_not_wait_until_all_changes_are_read(team) -> None:
    team.pool("A")
    poll_each_minute(team)
    change(team, *"123456789", owner="somebody")
    team.crm.create("new")
    team.tell("new")
    team.crm.before_changes = lambda: team.later(seconds=21)  # a page a claim
    for _ in range(4):
        work_once(team.shop)
    assert team.crm.owners()["new"] == "h-A"
    assert len(team.crm.polls) == 2


def test_changes_are_asked_for_however_many_events_wait(team) -> None:
    poll_each_minute(team)
    team.crm.capabilities = type(team.crm.capabilities)(read_batch=1, write_batch=1)
    team.pool("A")
    team.crm.create(*"123456")
    team.tell(*"123456")
    for _ in range(2):
        work_once(team.shop)
    assert len(team.crm.polls) == 1


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(CrmPaced("slow down", pause_seconds=30), 30), (CrmUnreachable("down"), 30)],
    ids=["paced", "unreachable"],
)
def test_a_pause_of_the_connection_only_delays_the_reading(
    team, error: CrmError, seconds: int
) -> None:
    poll_each_minute(team)
    change(team, *"1234")
    team.crm.change_errors = [None, error]
    team.work()
    assert [one for one, *_ in events(team)] == ["1", "2"]
    team.later(seconds=seconds - 1)
    team.work()
    assert len(team.crm.polls) == 2
    team.later(seconds=1)
    team.work()
    assert [one for one, *_ in events(team)] == list("1234")


@pytest.mark.parametrize(
    ("error", "minutes"),
    [
        (CrmForbidden("no permission"), 15),
        (CrmNever("no such object"), 15),
        (CrmAgain("timed out"), 1),
        (ValueError("a fault of ours"), 1),
    ],
    ids=["forbidden", "never", "again", "fault"],
)
def test_an_object_type_that_fails_does_not_stop_the_others(
    team, error: Exception, minutes: int
) -> None:
    poll_each_minute(team, "companies", "contacts")
    change(team, "1")

    def fail() -> None:
        if team.crm.polls[-1][0] == "companies":
            raise error

    team.crm.before_changes = fail
    team.work()
    assert [one for one, _ in team.crm.polls] == ["companies", "contacts"]
    assert due_in(team, "companies") == minutes * MINUTE
    assert events(team)[0][0] == "1"
    team.later(minutes=minutes)
    team.crm.before_changes = lambda: None
    team.crm.polls.clear()
    team.work()
    assert sorted(one for one, _ in team.crm.polls) == ["companies", "contacts"]


def test_an_object_type_that_is_no_longer_routed_is_not_asked_for(team) -> None:
    poll_each_minute(team, "companies", "contacts")
    poll_each_minute(team, "contacts")
    team.work()
    assert [one for one, _ in team.crm.polls] == ["contacts"]


def test_polling_goes_on_where_it_stopped_when_the_worker_was_away(team) -> None:
    poll_each_minute(team)
    change(team, "1")
    team.work()
    team.later(hours=10)
    poll_each_minute(team)
    change(team, *"234567", ago=5 * 3600)
    team.work()
    assert sorted(one for one, *_ in events(team)) == list("1234567")


def test_a_clock_of_the_crm_that_is_behind_loses_nothing(team) -> None:
    poll_each_minute(team)
    for minute in range(8):
        change(team, f"r{minute}", ago=240)
        team.work()
        team.later(minutes=1)
    assert len({one for one, *_ in events(team)}) == 8


def test_a_clock_of_the_crm_that_is_ahead_loses_nothing(team) -> None:
    poll_each_minute(team)
    for minute in range(8):
        change(team, f"r{minute}", ago=-3600)
        team.work()
        team.later(minutes=1)
    assert len({one for one, *_ in events(team)}) == 8


@pytest.mark.parametrize(
    ("every", "can_tell", "asked"), [(MINUTE, True, 1), (MINUTE, False, 0), (None, True, 0)]
)
def test_a_crm_is_asked_on_request_and_where_it_can_tell(
    team, every: timedelta | None, can_tell: bool, asked: int
) -> None:
    connection = SimpleNamespace(name="hubspot", poll_every=every, objects=("contacts",))
    team.crm.capabilities = Capabilities(read_batch=100, write_batch=100, changes=can_tell)
    team.shop.polls = polling.wanted([connection], team.shop.crms)
    with team.database.write() as session:
        polling.ensure(session, team.shop.polls, now=team.now)
    team.work()
    assert len(team.crm.polls) == asked
