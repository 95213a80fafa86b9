"""Each member is judged by the same rules, in the same order, and each no has its reason."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from connector.engine.eligibility import refusal, refusal_of
from connector.model import (
    Absence,
    Board,
    Member,
    Policies,
    Presence,
    QuotaWindow,
    Skip,
    SkipReason,
    Slot,
    WorkingHours,
)
from tests.builders import contact, excluding, lead, strict, user

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 25, 12, 0, tzinfo=UTC)  # Christmas Day, a Friday
HOUR = timedelta(hours=1)
BEFORE_NOW = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(9), end=time(11)),)
VACATION = Absence(id="a", starts_at=NOW - HOUR, ends_at=NOW + 100 * HOUR, reason="vacation")
MEETING = Slot(starts_at=NOW, ends_at=NOW + HOUR)


def b(**changes) -> Member:
    """B, whose own fields are ``of_user``."""
    return Member(
        **{"id": 2, "user": user("B", **changes.pop("of_user", {})), "position": 2} | changes
    )


def board(*members: Member, **changes) -> Board:
    pool = replace(strict("A").pool, members=members, **changes.pop("pool", {}))
    return replace(Board(pool=pool), **changes)


def why(member: Member, given=None, now: datetime = NOW, **changes) -> Skip | None:
    return refusal(member, given or lead(), board(member, **changes), now)


def test_who_has_no_hindrance_can_take_a_lead():
    assert why(b()) is None


# What is told, why, and who is told it: fields of the member, and of the user behind.
HINDERED = {
    "the user is inactive": (SkipReason.INACTIVE, {"of_user": {"active": False}}),
    "inactive in hubspot": (
        SkipReason.INACTIVE,
        {"of_user": {"refused_by": frozenset({"hubspot"})}},
    ),
    "no owner id in hubspot": (SkipReason.NO_OWNER, {"of_user": {"owners": {}}}),
    "paused in this pool": (SkipReason.INACTIVE, {"active": False}),
    "the weight in this pool is 0": (SkipReason.WEIGHT_ZERO, {"weight": 0}),
    "has set themselves to away": (SkipReason.AWAY, {"of_user": {"status": Presence.AWAY}}),
    "vacation until 2026-12-29": (SkipReason.ABSENT, {"of_user": {"absences": (VACATION,)}}),
    "Christmas Day in DE": (SkipReason.HOLIDAY, {"of_user": {"holidays": "DE"}}),
    "outside working hours until 2026-12-28": (
        SkipReason.OUTSIDE_HOURS,
        {"of_user": {"working_hours": BEFORE_NOW}},
    ),
    "1/1 today": (SkipReason.QUOTA_REACHED, {"daily_quota": 1}),
}


def together(*details: str) -> Member:
    """B with all these hindrances at once."""
    changes, of_user = {}, {}
    for detail in details:
        _, change = HINDERED[detail]
        changes |= change
        of_user |= change.get("of_user", {})
    return b(**changes | {"of_user": of_user})


@pytest.mark.parametrize("detail", HINDERED)
def test_of_several_hindrances_the_first_in_order_is_told(detail):
    this_and_later = list(HINDERED)[list(HINDERED).index(detail) :]
    skip = why(together(*this_and_later), contact(), takings={"B": (NOW,)})
    reason, _ = HINDERED[detail]
    assert (skip.user_id, skip.reason, skip.detail) == ("B", reason, detail)


def test_who_is_excluded_from_this_lead_is_told_so_before_all_else():
    skip = why(together(*HINDERED), contact(excluded=excluding("B")))
    assert skip == Skip(user_id="B", reason=SkipReason.EXCLUDED)


def test_a_meeting_at_the_same_time_is_told_before_a_quota():
    skip = why(b(daily_quota=0), lead(slot=MEETING), meetings={"B": (MEETING,)})
    assert (skip.reason, skip.detail) == (
        SkipReason.BUSY,
        "another meeting at 2026-12-25 12:00 UTC",
    )


@pytest.mark.parametrize("status", [*Presence, "busy", "offline", "on the moon"])
def test_s55_only_available_is_available(status):
    skip = why(b(of_user={"status": status}))
    assert (skip.reason if skip else None) == (None if status == "available" else SkipReason.AWAY)


def test_a_lead_without_a_record_needs_no_owner_id():
    assert why(b(of_user={"owners": {}})) is None


def test_the_reason_of_an_exclusion_is_the_one_that_was_given():
    skip = why(b(), lead(excluded={"B": SkipReason.REFUSED_BY_CRM}))
    assert skip.reason is SkipReason.REFUSED_BY_CRM


def test_no_leads_in_the_last_hours_before_an_absence():
    vacation = replace(VACATION, starts_at=NOW + 2 * HOUR)
    member = b(of_user={"absences": (vacation,)})
    assert why(member, pool={"policies": Policies(leave_buffer_hours=1)}) is None
    skip = why(member, pool={"policies": Policies(leave_buffer_hours=2)})
    assert (skip.reason, skip.detail) == (SkipReason.ABSENT, "vacation begins 2026-12-25 14:00 UTC")


def test_hours_are_judged_in_the_pools_zone_when_the_user_has_none():
    member = b(of_user={"working_hours": BEFORE_NOW})
    assert why(member, pool={"time_zone": "America/Sao_Paulo"}) is None
    assert why(member, pool={"time_zone": "Asia/Tokyo"}).reason is SkipReason.OUTSIDE_HOURS


def test_a_meeting_is_judged_when_it_takes_place():
    tomorrow = Slot(starts_at=NOW + 24 * HOUR, ends_at=NOW + 25 * HOUR)
    back = b(of_user={"absences": (replace(VACATION, ends_at=NOW + 24 * HOUR),)})
    assert why(back, lead(slot=tomorrow)) is None
    leaves = b(of_user={"absences": (replace(VACATION, starts_at=NOW + 24.5 * HOUR),)})
    assert why(leaves, lead(slot=tomorrow)).reason is SkipReason.ABSENT
    assert why(leaves, lead(slot=tomorrow)).until is None


def test_away_keeps_from_meetings_too():
    tomorrow = Slot(starts_at=NOW + 24 * HOUR, ends_at=NOW + 25 * HOUR)
    skip = why(b(of_user={"status": Presence.AWAY}), lead(slot=tomorrow))
    assert skip.reason is SkipReason.AWAY


@pytest.mark.parametrize(
    ("starts", "ends", "busy"),
    [(-1, 0, False), (-1, 0.1, True), (0.2, 0.4, True), (0.9, 2, True), (1, 2, False)],
)
def test_meetings_may_follow_each_other_but_not_overlap(starts, ends, busy):
    other = Slot(starts_at=NOW + starts * HOUR, ends_at=NOW + ends * HOUR)
    skip = why(b(), lead(slot=MEETING), meetings={"B": (other,)})
    assert bool(skip) is busy


def test_a_lead_that_is_no_meeting_may_come_during_one():
    assert why(b(), meetings={"B": (MEETING,)}) is None


def test_the_quota_of_the_pools_window_holds():
    member, taken = b(daily_quota=1), {"B": (NOW - 13 * HOUR,)}
    assert why(member, takings=taken) is None
    rolling = Policies(quota_window=QuotaWindow.ROLLING24H)
    skip = why(member, takings=taken, pool={"policies": rolling})
    assert (skip.detail, skip.until) == ("1/1 in 24 hours", NOW + 11 * HOUR)


def test_by_name_a_weight_of_zero_does_not_matter():
    member = b(weight=0)
    assert refusal_of(member.user, lead(), board(member), NOW) is None


@pytest.mark.parametrize(
    "detail",
    [each for each in HINDERED if each not in ("excluded", "the weight in this pool is 0")],
)
def test_by_name_a_member_is_otherwise_judged_as_for_a_turn(detail):
    member = together(detail)
    state = board(member, takings={"B": (NOW,)})
    skip = refusal_of(member.user, contact(), state, NOW)
    assert skip == refusal(member, contact(), state, NOW)
    assert skip.detail == detail


def test_by_name_who_is_no_member_is_judged_as_a_user():
    state = board(b(active=False), elsewhere={"X": (NOW,)})
    assert refusal_of(user("X"), lead(), state, NOW) is None
    assert refusal_of(user("X", active=False), lead(), state, NOW).reason is SkipReason.INACTIVE
    full = refusal_of(user("X", daily_quota=1), lead(), state, NOW)
    assert full.reason is SkipReason.QUOTA_REACHED


VERDICTS = """
from tests.engine.test_eligibility import BEFORE_NOW, HOUR, NOW, VACATION, b, why
people = [{"working_hours": BEFORE_NOW}, {"holidays": "DE"}, {"absences": (VACATION,)}]
zones = [None, "Europe/Berlin", "America/New_York"]
for hour in range(0, 240, 5):
    for person in people:
        for zone in zones:
            member = b(of_user=person | {"time_zone": zone}, daily_quota=1)
            print(why(member, now=NOW + hour * HOUR, takings={"B": (NOW,)}))
"""


def test_s52_the_process_own_time_zone_does_not_matter():
    said = {
        subprocess.run(
            [sys.executable, "-c", VERDICTS],
            cwd=ROOT,
            env=os.environ | {"TZ": zone, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for zone in ("UTC", "Pacific/Auckland")
    }
    assert len(said) == 1
    assert "outside_hours" in said.pop()
