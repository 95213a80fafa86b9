"""Leads that nobody could take go out by themselves, oldest first, once somebody can."""

from datetime import time, timedelta

import pytest
from sqlalchemy import event

from connector.model import Lead, Record, Slot, Status, WorkingHours
from connector.worker import work_off
from tests.builders import NOON, excluding, user
from tests.flow.conftest import Team

HOUR = timedelta(hours=1)
OFFICE = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(9), end=time(17)),)


def held(team: Team, pool: str, count: int = 2) -> None:
    """Let leads wait in the pool, whose members are all away."""
    for number in range(1, count + 1):
        assert team.lead(pool, f"H{number}").status is Status.HELD


def waits_for_a_member(team: Team, *, away: str = "A", hours: float = 2, **values) -> str:
    pool = team.pool(away, **values)
    for name in away:
        team.absent(name, hours=hours)
    held(team, pool)
    return pool


def test_they_go_out_when_an_absence_ends_and_not_before(team) -> None:
    pool = waits_for_a_member(team)
    team.later(hours=2, seconds=-1)
    assert team.work().released == 0
    team.later(seconds=1)
    assert team.work().released == 2
    assert [(row.lead_id, row.user_id) for row in team.history(pool)[2:]] == [
        ("H1", "A"),
        ("H2", "A"),
    ]


def test_they_go_out_when_an_absence_is_deleted(team) -> None:
    pool = team.pool("A")
    off = team.absent("A", hours=9)
    held(team, pool)
    team.work()
    team.back("A", off)
    assert team.work().released == 2


def test_they_go_out_when_hours_begin(team) -> None:
    team.now = NOON.replace(hour=20)
    pool = team.pool("A")
    team.put_user("A", working_hours=OFFICE, time_zone="Europe/Berlin")
    held(team, pool)
    team.work()
    assert team.opens_at(pool) == (NOON + timedelta(days=1)).replace(hour=7)  # 9:00 in Berlin
    team.now = (NOON + timedelta(days=1)).replace(hour=7)
    assert team.work().released == 2


@pytest.mark.parametrize("limit", ["member", "user", "pool"])
def test_they_go_out_when_a_quota_begins_anew(team, limit) -> None:
    pool = team.pool("A", daily_quota=1 if limit == "pool" else None)
    if limit == "member":
        team.change(pool, members={"A": {"daily_quota": 1}})
    if limit == "user":
        team.put_user("A", daily_quota=1)
    team.lead(pool, "L1")
    held(team, pool)
    team.work()
    assert team.opens_at(pool) == (NOON + timedelta(days=1)).replace(hour=0)
    team.later(hours=12)
    assert team.work().released == 1
    assert team.opens_at(pool) == (NOON + timedelta(days=2)).replace(hour=0)


def test_a_rolling_quota_opens_when_the_oldest_lead_is_a_day_old(team) -> None:
    pool = team.pool("A", quota_window="rolling24h")
    team.change(pool, members={"A": {"daily_quota": 1}})
    team.later(minutes=7)
    at = team.now
    team.lead(pool, "L1")
    held(team, pool, 1)
    assert team.opens_at(pool) == at + 24 * HOUR
    team.now = at + 24 * HOUR
    assert team.work().released == 1


def test_they_go_out_when_a_member_is_added(team) -> None:
    pool = waits_for_a_member(team)
    team.change(pool, add="B")
    team.work()
    assert team.given(pool) == "--BB"


def test_they_go_out_when_a_policy_lets_somebody_have_them(team) -> None:
    pool = waits_for_a_member(team)
    team.put_user("X")
    team.change(pool, none_available="fallback", fallback_user_id="X")
    team.work()
    assert team.given(pool) == "--XX"


@pytest.mark.parametrize("change", ["undo", "reassign"])
def test_they_go_out_when_a_quota_comes_back(team, change) -> None:
    pool = team.pool("A")
    team.put_user("X")
    team.change(pool, members={"A": {"daily_quota": 1}})
    row = team.lead(pool, "L1")
    held(team, pool)
    team.work()
    team.undo(row) if change == "undo" else team.reassign(row, "X")
    assert team.work().released == 1
    assert team.history(pool)[-1].lead_id == "H1"


def test_they_go_out_in_another_pool_when_the_users_own_quota_comes_back(team) -> None:
    first, second = team.pool("A", name="First"), team.pool("A", name="Second")
    team.put_user("A", daily_quota=1)
    row = team.lead(first, "L1")
    held(team, second)
    team.work()
    team.undo(row)
    assert team.work().released == 1
    assert team.given(second) == "--A"


def test_a_new_lead_never_overtakes_them(team) -> None:
    pool = waits_for_a_member(team)
    team.later(hours=2)  # and no worker looked yet
    team.lead(pool, "new")
    assert [row.lead_id for row in team.history(pool)[2:]] == ["H1", "H2", "new"]


def test_a_new_lead_does_not_wait_for_those_that_its_member_cannot_take(team) -> None:
    pool = team.pool("AB")
    team.put_user("B", owners={})
    team.absent("A", hours=5)
    record = Record(connection="hubspot", object_type="contacts", id="1")
    assert team.lead(pool, "crm", record=record).status is Status.HELD
    assert team.lead(pool, "plain").user_id == "B"


def test_six_hundred_that_nobody_can_take_do_not_hide_the_next(team) -> None:
    pool = team.pool("AB")
    off = team.absent("B", hours=9)
    stuck = [Lead(id=f"S{number}", excluded=excluding("A")) for number in range(600)]
    for start in range(0, 600, 300):
        team.leads(pool, *stuck[start : start + 300])
    away = team.absent("A", hours=9)
    held(team, pool, 1)
    team.back("A", away)
    team.work()
    assert [(row.lead_id, row.user_id) for row in team.history(pool)[600:]] == [
        ("H1", None),
        ("H1", "A"),
    ]
    team.back("B", off)
    assert team.work().released == 600


@pytest.mark.parametrize("strategy", ["strict", "weighted", "least_assigned"])
def test_the_opening_is_the_first_moment_at_which_anybody_is_back(team, strategy) -> None:
    pool = team.pool("ABC", strategy=strategy)
    for name, hours in (("A", 5), ("B", 3), ("C", 4)):
        team.absent(name, hours=hours)
    assert team.opens_at(pool) == NOON  # an edit: look at once
    team.work()
    assert team.opens_at(pool) is None  # nothing waits
    held(team, pool, 1)
    assert team.opens_at(pool) == NOON + 3 * HOUR


def test_without_an_end_in_sight_there_is_no_opening(team) -> None:
    pool = team.pool("A")
    team.put_user("A", status="away")
    held(team, pool)
    team.work()
    assert team.opens_at(pool) is None


def test_the_worker_looks_once_for_an_opening_and_does_not_poll(team) -> None:
    pool = waits_for_a_member(team, away="AB", hours=3)
    team.put_user("A", status="away")
    team.put_user("B", status="away")  # so the absences end and nobody is there
    team.work()

    looks: list[str] = []

    def see(_c, _cursor, statement, *_rest) -> None:
        if "UPDATE pool_state" in statement:
            looks.append(statement)

    event.listen(team.database.engine, "before_cursor_execute", see)
    try:
        for _ in range(100):
            team.later(minutes=5)
            work_off(team.shop)
    finally:
        event.remove(team.database.engine, "before_cursor_execute", see)
    assert (len(looks), team.opens_at(pool)) == (0, None)


def test_each_opening_costs_one_look(team) -> None:
    pool = team.pool("ABC")
    for name, hours in (("A", 1), ("B", 2), ("C", 3)):
        team.absent(name, hours=hours)
        team.put_user(name, owners={})
    record = Record(connection="hubspot", object_type="contacts", id="1")
    team.lead(pool, "crm", record=record)
    team.work()

    looks: list[object] = []

    def see(_c, _cursor, statement, parameters, *_rest) -> None:
        if "UPDATE pool_state SET opens_at" in statement:
            looks.append(parameters)

    event.listen(team.database.engine, "before_cursor_execute", see)
    try:
        for _ in range(60):
            team.later(minutes=5)
            work_off(team.shop)
    finally:
        event.remove(team.database.engine, "before_cursor_execute", see)
    assert len(looks) == 3
    assert team.opens_at(pool) is None


def test_a_meeting_waits_for_somebody_who_is_free_at_its_time(team) -> None:
    pool = team.pool("A")
    off = team.absent("A", days=3)
    slot = Slot(starts_at=NOON + 24 * HOUR, ends_at=NOON + 25 * HOUR)
    assert team.lead(pool, "M1", slot=slot).status is Status.HELD
    plain = team.lead(pool, "L1")
    assert plain.status is Status.HELD
    team.back("A", off)
    team.work()
    assert [(row.lead_id, row.user_id) for row in team.history(pool)[2:]] == [
        ("M1", "A"),
        ("L1", "A"),
    ]


def test_a_meeting_does_not_wait_behind_an_absence_that_is_over_by_then(team) -> None:
    pool = team.pool("A")
    team.change(pool, members={"A": {"daily_quota": 1}})
    team.lead(pool, "L1")
    team.absent("A", hours=20)
    slot = Slot(starts_at=NOON + 48 * HOUR, ends_at=NOON + 49 * HOUR)
    assert team.lead(pool, "M1", slot=slot).status is Status.HELD  # the quota
    team.now = (NOON + timedelta(days=1)).replace(hour=0)
    assert team.work().released == 1


def test_a_meeting_that_was_undone_makes_room_for_another_in_every_pool(team) -> None:
    first, second = team.pool("A", name="First"), team.pool("A", name="Second")
    slot = Slot(starts_at=NOON + HOUR, ends_at=NOON + 2 * HOUR)
    row = team.lead(first, "M1", slot=slot)
    assert team.lead(second, "M2", slot=slot).status is Status.HELD
    team.work()
    team.undo(row)
    team.work()
    assert team.given(second) == "-A"


def test_held_leads_of_a_pool_and_its_fallback_go_out_in_the_order_they_came(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", name="First", none_available="fallback", fallback_pool_id=other)
    off = [team.absent(name, days=9) for name in "AB"]
    for place, lead_id in ((pool, "H1"), (other, "H2"), (pool, "H3"), (other, "H4")):
        team.later(minutes=1)
        assert team.lead(place, lead_id).status is Status.HELD
    team.back("B", off[1])
    team.work()
    rows = [row for row in team.history(other) if row.user_id]
    assert [(row.lead_id, row.reason) for row in rows] == [
        ("H1", "fallback"),
        ("H2", "rotation"),
        ("H3", "fallback"),
        ("H4", "rotation"),
    ]


def test_a_held_lead_that_went_out_in_the_fallback_pool_waits_no_longer(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", name="First", none_available="fallback", fallback_pool_id=other)
    off = [team.absent(name, days=9) for name in "AB"]
    assert team.lead(pool, "H1").status is Status.HELD
    team.back("B", off[1])
    team.work()
    team.back("A", off[0])
    team.work()
    assert (team.given(pool), team.given(other)) == ("-", "B")
    assert team.lead(pool, "H1").user_id == "B"
    assert team.opens_at(pool) is None


def test_a_new_lead_of_the_fallback_pool_does_not_overtake_those_that_fall_back_to_it(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", name="First", none_available="fallback", fallback_pool_id=other)
    team.absent("A", days=9)
    team.absent("B", hours=2)
    held(team, pool)
    team.later(hours=2)
    team.lead(other, "new")
    assert [row.lead_id for row in team.history(other)] == ["H1", "H2", "new"]


def test_a_new_lead_does_not_overtake_a_held_one_of_the_same_person(team) -> None:
    pool = team.pool("AB")
    team.absent("A", hours=50)
    team.absent("B", hours=50)
    team.lead(pool, "H", email="kim@firm.com")
    given = team.reassign(team.lead(pool, "Y", email="kim@firm.com"), "A")
    assert given.user_id == "A"
    team.lead(pool, "N", email="kim@firm.com")
    told = [(row.lead_id, row.user_id) for row in team.history(pool) if row.user_id]
    assert told == [("Y", "A"), ("H", "A"), ("N", "A")]


def test_a_batch_brings_a_held_lead_along_as_single_calls_do(team) -> None:
    pool = team.pool("ABC")
    for name in "ABC":
        team.absent(name, hours=50)
    team.lead(pool, "H", company="Firm")
    team.put_user("D")
    team.leads(pool, Lead(id="L1", company="firm", preferred=user("D")), Lead(id="L2"))
    told = [(row.lead_id, row.user_id) for row in team.history(pool)]
    assert told == [("H", None), ("L1", "D"), ("H", "D"), ("L2", None)]
