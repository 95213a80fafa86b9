"""A CRM's directory, read again and again, says who is active there and when they take leads."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest
from sqlalchemy import select

from connector import directory
from connector.errors import CrmAgain, CrmError, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.model import (
    Absence,
    EntryKind,
    Lead,
    Record,
    SkipReason,
    Status,
    User,
    WorkingHours,
    WriteBack,
)
from connector.ports import Outcome, Result
from connector.store import lanes, users
from connector.store.lanes import Claim
from connector.store.tables import lanes as lane_rows
from tests.builders import NOON
from tests.flow.conftest import Team
from tests.store.builders import statements

HOUR = timedelta(hours=1)
OFFICE = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(9), end=time(17)),)


def staffed(team: Team, names: str, **values: object) -> str:
    """A pool whose members are in the CRM's directory, which was read."""
    pool = team.pool(names, **values)
    team.crm.hire(*(f"h-{name}" for name in names))
    team.work()
    return pool


def read_again(team: Team) -> None:
    team.later(minutes=5)
    team.work()


def out_of_office(start: datetime, end: datetime) -> Absence:
    return Absence(id=start.isoformat(), starts_at=start, ends_at=end)


def contact(record_id: str) -> Lead:
    record = Record(connection="hubspot", object_type="contacts", id=record_id)
    return Lead(id=record.lead_id, record=record)


def known(team: Team, name: str) -> User:
    with team.database.read() as session:
        found = users.get(session, name)
    assert found
    return found


def claimed(team: Team) -> Claim:
    """What a worker takes when it starts on the directory."""
    with team.database.write() as session:
        claim = lanes.claim(
            session,
            holder="w",
            now=team.now,
            lease_seconds=50,
            limits={"hubspot": (100, 100)},
            directories=["hubspot"],
        )
    assert claim
    assert claim.directory
    return claim


def due_at(team: Team) -> datetime | None:
    """When the directory is read again; None: at once."""
    with team.database.read() as session:
        return session.scalar(select(lane_rows.c.directory_due_at))


def test_s26_who_is_away_in_the_crm_is_passed_over_and_then_next_in_turn(team) -> None:
    pool = staffed(team, "ABC")
    team.leads(pool, "L1")
    team.crm.say("h-B", away=True)
    read_again(team)
    row, *_ = team.leads(pool, "L2", "L3", "L4")
    assert team.given(pool) == "ACAC"
    assert [(one.user_id, one.reason, one.detail) for one in row.skipped] == [
        ("B", SkipReason.AWAY, "set to away in hubspot")
    ]
    team.crm.say("h-B")
    read_again(team)
    team.leads(pool, "L5", "L6", "L7", "L8")
    assert team.given(pool) == "ACAC" + "ABCA"
    assert team.differs(pool) is None


def test_s27_who_is_out_of_office_gets_held_leads_the_moment_it_ends(team) -> None:
    pool = staffed(team, "A")
    end = NOON + 2 * HOUR
    team.crm.say("h-A", absences=(out_of_office(NOON - HOUR, end),))
    read_again(team)
    row = team.lead(pool, "L1")
    assert row.status is Status.HELD
    (skip,) = row.skipped
    assert (skip.reason, skip.until) == (SkipReason.ABSENT, end)
    assert skip.detail == "out of office in hubspot until 2026-10-15 14:00 UTC"
    assert team.opens_at(pool) == end
    team.now = end - timedelta(seconds=1)
    assert team.work().released == 0
    team.now = end
    assert team.work().released == 1
    assert team.differs(pool) is None


def test_held_leads_go_out_when_the_crm_says_that_somebody_is_back(team) -> None:
    pool = staffed(team, "A")
    team.crm.say("h-A", away=True)
    read_again(team)
    assert team.lead(pool, "L1").status is Status.HELD
    team.crm.say("h-A")
    team.later(minutes=5)
    assert team.work().released == 1


def test_hours_and_zone_of_the_crm_count_where_none_are_set(team) -> None:
    pool = staffed(team, "AB")
    for name in "AB":
        team.crm.say(f"h-{name}", working_hours=OFFICE, time_zone="Asia/Tokyo")  # 21:00 there
    team.put_user("B", working_hours=OFFICE, time_zone="Europe/Berlin")
    read_again(team)
    row = team.lead(pool, "L1")
    assert (row.user_id, [skip.reason for skip in row.skipped]) == ("B", ["outside_hours"])
    assert row.skipped[0].detail == "outside working hours until 2026-10-16 09:00 JST"


def test_the_directory_is_read_before_the_first_lead_is_decided(team) -> None:
    pool = team.pool("AB")
    team.crm.hire("h-A", "h-B")
    team.crm.say("h-A", away=True)
    team.crm.create("1")
    team.tell("1")
    team.work()
    assert team.given(pool) == "B"


def test_it_is_read_as_often_as_suits_the_crm_and_counts_as_work_once(team) -> None:
    team.pool("A")
    team.crm.hire("h-A")
    assert team.work().directories == 1
    assert team.work().directories == 0
    team.later(minutes=2, seconds=-1)
    assert team.work().directories == 0
    team.later(seconds=1)
    assert team.work().directories == 1
    assert team.crm.directory_reads == 2


def test_a_crm_that_cannot_tell_of_its_users_is_not_asked(team) -> None:
    team.pool("A")
    team.work()
    assert team.crm.directory_reads == 0


def test_a_crm_in_which_nobody_has_an_owner_id_is_not_asked(team) -> None:
    team.crm.hire("h-A")
    assert team.work().directories == 1
    assert team.crm.directory_reads == 0


def test_what_did_not_change_writes_nothing_and_locks_no_pool(team) -> None:
    pool = staffed(team, "AB")
    team.crm.say(
        "h-A", away=True, working_hours=OFFICE, absences=(out_of_office(NOON, NOON + HOUR),)
    )
    read_again(team)
    before = len(team.journal(pool))
    team.later(minutes=5)
    claim = claimed(team)
    with statements(team.database) as sent:
        read = directory.refresh(team.database, claim, team.crm, now=team.now)
    assert read
    assert (read.asked, read.found, read.changed) == (2, 2, 0)
    assert len(team.journal(pool)) == before
    changing = [one for one in sent if one.startswith(("INSERT", "UPDATE", "DELETE"))]
    assert [one.split()[1] for one in changing] == ["lanes", "lanes"]
    assert not [one for one in sent if "pg_advisory" in one]


def test_a_change_is_an_edit_of_each_pool_of_that_user_alone(team) -> None:
    first, other = team.pool("AB"), team.pool("B", name="Other")
    team.crm.hire("h-A", "h-B")
    team.work()
    numbers = len(team.journal(first)), len(team.journal(other))
    team.crm.say("h-A", away=True)
    read_again(team)
    entry = team.journal(first)[-1]
    assert (entry.kind, entry.actor) == (EntryKind.EDITED, "crm:hubspot")
    away = {"status": "away", "time_zone": None, "working_hours": [], "absences": []}
    assert entry.body["config"] == {"users": {"A": {"reported": {"hubspot": away}}}}
    assert (len(team.journal(first)), len(team.journal(other))) == (numbers[0] + 1, numbers[1])
    assert team.differs(first) is None


@pytest.mark.parametrize("leaves", ["deactivated", "deleted"])
def test_whom_the_crm_does_not_list_as_active_is_inactive_there_until_it_does_again(
    team, leaves
) -> None:
    pool = staffed(team, "AB")
    team.crm.create("1", "2", "3")
    person = team.crm.users["h-A"]
    if leaves == "deactivated":
        team.crm.users["h-A"] = replace(person, active=False)
    else:
        del team.crm.users["h-A"]
    read_again(team)
    row, *_ = team.leads(pool, contact("1"), contact("2"))
    assert [(one.reason, one.detail) for one in row.skipped] == [
        (SkipReason.INACTIVE, "inactive in hubspot")
    ]
    assert team.given(pool) == "BB"
    team.crm.users["h-A"] = person
    read_again(team)
    team.leads(pool, contact("3"))
    assert team.given(pool) == "BBA"
    assert team.differs(pool) is None


def test_a_directory_that_knows_none_of_ours_changes_nothing(team) -> None:
    staffed(team, "AB")
    team.crm.say("h-A", away=True)
    read_again(team)
    before = known(team, "A"), known(team, "B")
    team.crm.users.clear()
    read_again(team)
    assert (known(team, "A"), known(team, "B")) == before
    assert before[0].reported


def test_what_the_crm_tells_no_more_is_forgotten(team) -> None:
    pool = staffed(team, "A")
    team.crm.say("h-A", away=True)
    read_again(team)
    assert team.lead(pool, "L1").status is Status.HELD
    team.crm.users["h-A"] = replace(team.crm.users["h-A"], availability=None)
    read_again(team)
    assert known(team, "A").reported == {}
    assert team.given(pool) == "-A"
    assert team.differs(pool) is None


def test_an_owner_that_the_directory_calls_inactive_at_a_write_comes_back_with_it(team) -> None:
    pool = staffed(team, "AB")
    team.crm.inactive.add("h-A")
    team.crm.create("1")
    team.tell("1")
    assert team.work().refused == 1
    assert team.given(pool) == "B"
    assert known(team, "A").refused_by == {"hubspot"}
    team.crm.inactive.clear()
    read_again(team)
    assert known(team, "A").refused_by == set()


def test_a_refusal_in_answer_to_a_write_lasts_whatever_the_directory_says(team) -> None:
    staffed(team, "AB")
    team.crm.create("1")
    no = Outcome(record_id="1", result=Result.INACTIVE_OWNER, code="INACTIVE", message="no")
    team.crm.refuse["1"] = no
    team.tell("1")
    team.work()
    read_again(team)
    assert known(team, "A").refused_by == {"hubspot"}


@pytest.mark.parametrize(
    ("error", "minutes"),
    [(CrmAgain("503"), 1), (CrmNever("400"), 2), (CrmForbidden("403"), 2)],
    ids=lambda one: type(one).__name__ if isinstance(one, CrmError) else "",
)
def test_a_directory_that_cannot_be_read_holds_up_no_lead(team, error, minutes) -> None:
    pool = team.pool("A")
    team.crm.hire("h-A")
    team.crm.people_errors = [error]
    team.crm.create("1")
    team.tell("1")
    drained = team.work()
    assert (drained.directories, drained.written) == (0, 1)
    assert team.history(pool)[0].write_back is WriteBack.DONE
    assert due_at(team) == team.now + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("error", "seconds"), [(CrmPaced("429", pause_seconds=10), 10), (CrmUnreachable("401"), 30)]
)
def test_a_pause_is_kept_for_the_directory_too_which_then_comes_first(team, error, seconds) -> None:
    pool = team.pool("AB")
    team.crm.hire("h-A", "h-B")
    team.crm.say("h-A", away=True)
    team.crm.people_errors = [error]
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.later(seconds=seconds - 1)
    team.work()
    assert (team.crm.directory_reads, team.history(pool)) == (1, [])
    team.later(seconds=1)
    team.work()
    assert (team.crm.directory_reads, team.given(pool)) == (2, "B")


def test_a_fault_of_our_own_holds_up_no_lead(team) -> None:
    pool = team.pool("A")
    team.crm.hire("h-A")
    team.crm.users["h-A"] = None
    team.crm.create("1")
    team.tell("1")
    team.work()
    assert team.given(pool) == "A"


def test_no_database_connection_is_held_during_the_call(team) -> None:
    held = []
    staffed(team, "A")
    team.crm.before_people = lambda: held.append(team.database.engine.pool.checkedout())
    read_again(team)
    assert held == [0]


def test_who_lost_the_claim_changes_nothing(team) -> None:
    pool = staffed(team, "A")
    team.crm.say("h-A", away=True)
    team.later(minutes=5)
    slow = claimed(team)
    team.later(seconds=51)
    claimed(team)
    before = known(team, "A"), team.journal(pool)
    assert directory.refresh(team.database, slow, team.crm, now=team.now) is None
    assert (known(team, "A"), team.journal(pool)) == before


def test_a_process_that_dies_over_it_leaves_it_to_the_next(team) -> None:
    team.pool("A")
    team.crm.hire("h-A")
    claimed(team)
    assert team.work().directories == 0
    team.later(seconds=50)
    assert team.work().directories == 1


def test_a_new_owner_id_is_asked_for_at_once(team) -> None:
    staffed(team, "AB")
    team.crm.hire("h-Z")
    team.crm.say("h-Z", away=True)
    team.put_user("A", owners={"hubspot": "h-Z"})
    assert team.work().directories == 1
    assert known(team, "A").reported["hubspot"].status == "away"


def test_an_owner_id_that_stays_is_not_asked_for_again(team) -> None:
    staffed(team, "AB")
    team.crm.say("h-A", away=True)
    read_again(team)
    team.put_user("A", daily_quota=7)
    assert team.work().directories == 0
    assert known(team, "A").reported["hubspot"].status == "away"


def test_an_owner_id_that_changes_during_the_call_keeps_nothing_of_the_old_one(team) -> None:
    staffed(team, "AB")
    for name in "AB":
        team.crm.say(f"h-{name}", away=True)
    team.crm.hire("h-Z")
    team.crm.before_people = lambda: team.put_user("A", owners={"hubspot": "h-Z"})
    team.later(minutes=5)
    directory.refresh(team.database, claimed(team), team.crm, now=team.now)
    assert known(team, "A").reported == {}
    assert known(team, "B").reported["hubspot"].status == "away"
    assert due_at(team) is None
