"""Who is active in an org and when they can take leads, read over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest

from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmForbidden, CrmPaced
from connector.model import Absence, Availability, Presence

Connect = Callable[..., SalesforceCrm]

BERLIN = "Europe/Berlin"
NOBODY = "0055g00000ZZZZZAA5"


@pytest.fixture
def ann(org: SalesforceSandbox) -> str:
    return org.add_user("Ann", "ann@example.com")


def asked(org: SalesforceSandbox) -> list[str]:
    """The object types that were queried, in order."""
    queries = [parse_qs(call.query)["q"][0] for call in org.calls_to("/query")]
    return [query.partition(" FROM ")[2].split()[0] for query in queries]


def away(org: SalesforceSandbox, user: str, start: object, end: object, **more: object) -> None:
    """Let a user note that they are out of office."""
    fields = {"UserId": user, "StartDate": start, "EndDate": end, "IsEnabled": True}
    org.create("OutOfOffice", fields | more)


def told(crm: SalesforceCrm, user: str) -> Availability:
    availability = crm.people([user])[user].availability
    assert availability is not None
    return availability


def spans(crm: SalesforceCrm, user: str) -> list[tuple[datetime, datetime]]:
    return [(one.starts_at, one.ends_at) for one in told(crm, user).absences]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def refusal(code: str) -> list[dict[str, str]]:
    return [{"errorCode": code, "message": f"said so: {code}"}]


def test_users_are_told_of_with_their_zone_and_whether_they_are_active(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.change(ann, {"TimeZoneSidKey": BERLIN})
    left = org.add_user("Left", "left@example.com", active=False)
    people = crm.people([ann, left, NOBODY])
    assert {one.owner_id: one.active for one in people.values()} == {ann: True, left: False}
    assert (people[ann].name, people[ann].email) == ("Ann", "ann@example.com")
    assert people[ann].availability == Availability(time_zone=BERLIN)
    assert crm.availability_problem is None


def test_two_queries_tell_all_of_four_hundred_users(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    users = [org.add_user(f"User {n}", f"u{n}@example.com") for n in range(401)]
    assert len(crm.people(users[:400])) == 400
    assert asked(org) == ["User", "OutOfOffice"]
    assert len(crm.people(users)) == 401
    assert asked(org)[2:] == ["User", "User", "OutOfOffice", "OutOfOffice"]


def test_an_id_is_answered_as_it_was_asked(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    assert list(crm.people([ann[:15]])) == [ann[:15]]


@pytest.mark.parametrize("bad", ["", "00G5g00000AbcdeAAB", "005' OR Id != '", "//evil.example"])
def test_what_is_no_id_of_a_user_is_never_sent(
    org: SalesforceSandbox, crm: SalesforceCrm, bad: str
) -> None:
    assert crm.people([bad]) == {}
    assert crm.people([]) == {}
    assert crm.person(bad) is None
    assert org.calls == []


def test_all_are_the_active_people_whose_records_count_as_owned(
    org: SalesforceSandbox, connect: Connect, ann: str
) -> None:
    inbox = org.add_user("Inbox", "inbox@example.com")
    org.add_user("Left", "left@example.com", active=False)
    robot = org.add_user("Robot", "robot@example.com")
    org.change(robot, {"UserType": "AutomatedProcess"})
    org.add_queue("New leads")
    away(org, ann, "2026-12-01", "2026-12-01")
    crm = connect(org.url, unassigned_owners=frozenset({inbox[:15]}))
    people = crm.people()
    assert set(people) == {ann}
    assert people[ann].availability is not None
    assert len(people[ann].availability.absences) == 1
    assert asked(org) == ["User", "OutOfOffice"]


def test_a_user_without_name_or_e_mail_is_told_of_too(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.change(ann, {"Name": None, "Email": None})
    assert (crm.people([ann])[ann].name, crm.people([ann])[ann].email) == (ann, None)


@pytest.mark.parametrize("form", ["{}", "{}T00:00:00.000+0000", "{}T00:00:00.000Z"])
def test_days_out_of_office_are_whole_days_where_the_user_is(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, form: str
) -> None:
    org.change(ann, {"TimeZoneSidKey": "America/New_York"})
    away(org, ann, form.format("2026-12-01"), form.format("2026-12-03"))
    start, end = utc(2026, 12, 1, 5), utc(2026, 12, 4, 5)
    absence = Absence(id=start.isoformat(), starts_at=start, ends_at=end)
    assert told(crm, ann).absences == (absence,)


def test_midnight_where_the_user_is_is_a_day_and_one_day_may_be_all(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.change(ann, {"TimeZoneSidKey": BERLIN})
    away(org, ann, "2026-11-30T23:00:00.000+0000", "2026-11-30T23:00:00.000+0000")
    assert spans(crm, ann) == [(utc(2026, 11, 30, 23), utc(2026, 12, 1, 23))]


def test_a_day_on_which_the_clocks_change_is_as_long_as_it_is(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.change(ann, {"TimeZoneSidKey": BERLIN})
    away(org, ann, "2027-03-28", "2027-03-28")
    assert spans(crm, ann) == [(utc(2027, 3, 27, 23), utc(2027, 3, 28, 22))]


def test_moments_within_a_day_are_taken_at_their_word(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    away(org, ann, "2026-12-01T13:30:00.000+0000", "2026-12-02T08:00:00.000+0000")
    assert spans(crm, ann) == [(utc(2026, 12, 1, 13, 30), utc(2026, 12, 2, 8))]


def test_times_that_are_switched_off_are_left_out_and_others_told_by_start(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    away(org, ann, "2026-12-24", "2026-12-26")  # to come
    away(org, ann, "2026-11-27", "2026-12-02")  # now
    away(org, ann, "2026-11-27", "2026-11-30")  # begins with that one, and is shorter
    away(org, ann, "2026-12-01", "2026-12-25")  # overlaps all
    away(org, ann, "2026-11-01", "2026-11-02")  # past
    away(org, ann, "2026-11-30", "2026-11-30", IsEnabled=False)
    assert spans(crm, ann) == [
        (utc(2026, 11, 1), utc(2026, 11, 3)),
        (utc(2026, 11, 27), utc(2026, 12, 3)),
        (utc(2026, 12, 1), utc(2026, 12, 26)),
        (utc(2026, 12, 24), utc(2026, 12, 27)),
    ]
    assert crm.availability_problem is None


@pytest.mark.parametrize(
    ("start", "end"),
    [("2026-12-05", "2026-12-01"), (None, "2026-12-01"), ("2026-12-01", None),
     ("soon", "2026-12-01"), (7, 8), ("2026-12-01", "9999-12-31"), ("", "")],
)  # fmt: skip
def test_times_that_make_no_sense_cost_nothing_but_themselves(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, start: object, end: object
) -> None:
    away(org, ann, start, end)
    away(org, ann, "2026-12-01", "2026-12-01")
    assert spans(crm, ann) == [(utc(2026, 12, 1), utc(2026, 12, 2))]
    assert crm.availability_problem is not None
    assert crm.availability_problem.endswith("left out: 1.")


def test_the_times_of_one_user_are_not_those_of_another(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    bob = org.add_user("Bob", "bob@example.com")
    away(org, bob, "2026-12-01", "2026-12-01")
    people = crm.people([ann, bob])
    assert [len(people[one].availability.absences) for one in (ann, bob)] == [0, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize(("zone", "count"), [(None, 0), ("", 0), ("Mars/Olympus", 1), ("../x", 1)])
def test_a_time_zone_that_nobody_knows_is_none(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, zone: str | None, count: int
) -> None:
    org.change(ann, {"TimeZoneSidKey": zone})
    away(org, ann, "2026-12-01", "2026-12-01")
    assert told(crm, ann).time_zone is None
    assert spans(crm, ann) == [(utc(2026, 12, 1), utc(2026, 12, 2))]
    assert bool(crm.availability_problem) is bool(count)


def test_a_problem_that_is_put_right_is_none(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.change(ann, {"TimeZoneSidKey": "Mars/Olympus"})
    told(crm, ann)
    assert crm.availability_problem
    org.change(ann, {"TimeZoneSidKey": BERLIN})
    told(crm, ann)
    assert crm.availability_problem is None


def test_whoever_is_not_online_in_omni_channel_is_away(
    org: SalesforceSandbox, connect: Connect, ann: str
) -> None:
    org.features = ["omni_channel"]
    crm = connect(org.url, omni_channel=True)
    bob, cas, dee = (org.add_user(name, f"{name}@example.com") for name in ("Bob", "Cas", "Dee"))
    org.set_presence(ann, is_away=True)
    org.set_presence(ann)
    org.set_presence(bob, is_away=True)
    org.set_presence(cas)
    org.end_presence(cas)
    people = crm.people([ann, bob, cas, dee])
    statuses = [people[one].availability.status for one in (ann, bob, cas, dee)]  # type: ignore[union-attr]
    assert statuses == [Presence.AVAILABLE, Presence.AWAY, Presence.AWAY, Presence.AWAY]
    assert asked(org) == ["User", "OutOfOffice", "UserServicePresence"]
    everybody = crm.people()
    assert everybody[ann].availability == Availability(time_zone="UTC")
    assert everybody[bob].availability == Availability(time_zone="UTC", status=Presence.AWAY)


def test_presence_is_not_asked_for_unless_it_is_wanted(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    assert told(crm, ann).status is Presence.AVAILABLE
    assert "UserServicePresence" not in asked(org)


@pytest.mark.parametrize("code", ["INVALID_TYPE", "INVALID_FIELD", "INSUFFICIENT_ACCESS"])
@pytest.mark.parametrize(("after", "hidden"), [(1, "OutOfOffice"), (2, "UserServicePresence")])
def test_what_an_org_hides_makes_nobody_away_and_is_told(
    org: SalesforceSandbox, connect: Connect, ann: str, after: int, hidden: str, code: str
) -> None:
    org.features = ["omni_channel"]
    crm = connect(org.url, omni_channel=True)
    org.set_presence(ann)
    org.faults.add("/query", status=400, body=refusal(code), after=after)
    assert told(crm, ann) == Availability(time_zone="UTC")
    assert crm.availability_problem is not None
    assert f"({hidden}, {code}): said so: {code}" in crm.availability_problem


def test_an_org_without_omni_channel_has_nobody_away(
    org: SalesforceSandbox, connect: Connect, ann: str
) -> None:
    crm = connect(org.url, omni_channel=True)
    assert told(crm, ann).status is Presence.AVAILABLE
    assert "UserServicePresence, INVALID_TYPE" in (crm.availability_problem or "")


@pytest.mark.parametrize("field", ["IsEnabled", "StartDate"])
def test_a_hidden_field_of_the_times_costs_them_alone(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, field: str
) -> None:
    away(org, ann, "2026-12-01", "2026-12-01")
    org.hide("OutOfOffice", field)
    assert told(crm, ann) == Availability(time_zone="UTC")
    assert "(OutOfOffice, INVALID_FIELD)" in (crm.availability_problem or "")


@pytest.mark.parametrize("field", ["Email", "TimeZoneSidKey"])
def test_fields_of_users_that_an_org_hides_cost_nothing_but_themselves(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, field: str
) -> None:
    away(org, ann, "2026-12-01", "2026-12-01")
    org.hide("User", field)
    person = crm.people([ann])[ann]
    assert (person.name, person.email, person.active) == ("Ann", None, True)
    assert len(told(crm, ann).absences) == 1
    assert "hides" in (crm.availability_problem or "")


def test_users_that_cannot_be_read_are_an_error_and_never_an_empty_directory(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    org.faults.add("/query", preset="server_unavailable", times=2)
    with pytest.raises(CrmAgain):
        crm.people([ann])
    org.hide("User")
    with pytest.raises(CrmForbidden):
        crm.people([ann])


@pytest.mark.parametrize(
    ("preset", "error"), [("server_unavailable", CrmAgain), ("daily_limit", CrmPaced)]
)
def test_a_failure_that_passes_tells_nothing_rather_than_half(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str, preset: str, error: type[Exception]
) -> None:
    org.faults.add("/query", preset=preset, after=1, times=2)
    with pytest.raises(error):
        crm.people([ann])


def test_where_availability_is_switched_off_users_alone_are_read(
    org: SalesforceSandbox, connect: Connect, ann: str
) -> None:
    crm = connect(org.url, availability=False, omni_channel=True)
    away(org, ann, "2026-11-01", "2026-12-31")
    assert crm.people([ann])[ann].availability is None
    assert asked(org) == ["User"]
    assert crm.availability_problem is None


def test_a_day_of_looking_at_the_users_costs_576_calls(
    org: SalesforceSandbox, crm: SalesforceCrm, ann: str
) -> None:
    crm.people([ann])
    a_day = timedelta(days=1) / crm.capabilities.people_every
    assert len(org.calls_to("/query")) * a_day == 576


def test_one_person_can_be_asked_for(org: SalesforceSandbox, crm: SalesforceCrm, ann: str) -> None:
    person: Any = crm.person(ann)
    assert (person.owner_id, person.name, person.email) == (ann, "Ann", "ann@example.com")
    assert person.availability is None
    org.deactivate(ann)
    assert crm.person(ann) is None
    assert crm.person(NOBODY) is None
