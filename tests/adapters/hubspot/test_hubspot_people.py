"""The portal's people: both lists of owners, and what the users' records say of them."""

import json
from datetime import UTC, datetime, time

import pytest

from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from connector.model import Absence, Availability, Presence, WorkingHours

MONDAY_9 = datetime(2026, 11, 30, 9, tzinfo=UTC)
MONDAY_17 = datetime(2026, 11, 30, 17, tzinfo=UTC)
TUESDAY_9 = datetime(2026, 12, 1, 9, tzinfo=UTC)


def person(owner_id, **changes):
    return {"id": owner_id, "type": "PERSON", "archived": False} | changes


def user(record_id, **properties):
    return {"id": record_id, "properties": properties}


def page(*items, after=None):
    return {"results": items} | ({"paging": {"next": {"after": after}}} if after else {})


def milliseconds(moment):
    return int(moment.timestamp() * 1000)


def portal(answers, *, owners=(), archived=(), users=()):
    """Answer the three lists."""
    employed = owners or (person("5501"),)

    def listed(request):
        return 200, page(*(archived if "archived=true" in request.path else employed))

    answers.answer("/owners", listed)
    answers.answer("/objects/users", lambda _: (200, page(*users)))


def availability(answers, crm, **properties):
    """What the one owner's user record comes to."""
    portal(answers, users=[user("1", hubspot_owner_id="5501", **properties)])
    return crm.people()["5501"].availability


# -- the directory


def test_everybody_is_told_with_name_and_address(answers, crm):
    portal(
        answers,
        owners=[
            person("5501", email="rae@example.test", firstName="Rae", lastName="Ngata"),
            person("5502", email="kim@example.test", firstName="Kim", lastName=None),
            person("5503", email="lee@example.test", firstName="", lastName=" "),
            person(5504, email=""),
        ],
    )

    told = crm.people()

    assert [(one.owner_id, one.name, one.email, one.active) for one in told.values()] == [
        ("5501", "Rae Ngata", "rae@example.test", True),
        ("5502", "Kim", "kim@example.test", True),
        ("5503", "lee@example.test", "lee@example.test", True),
        ("5504", "5504", None, True),
    ]


def test_queues_and_archived_owners_are_told_as_inactive(answers, crm):
    portal(
        answers,
        owners=[person("5501"), person("5502", type="QUEUE"), person("5503", archived=True)],
        archived=[
            person("5504", userId=None, userIdIncludingInactive=9, archived=True),
            {"id": "5505"},  # the list itself says that he is archived
        ],
    )

    active = {one.owner_id: one.active for one in crm.people().values()}

    assert active == {"5501": True, "5502": False, "5503": False, "5504": False, "5505": False}


def test_an_owner_who_was_taken_back_between_two_lists_is_active(answers, crm):
    portal(answers, owners=[person("5501")], archived=[person("5501", archived=True)])

    assert crm.people()["5501"].active


def test_only_those_who_are_asked_for_are_told(answers, crm):
    portal(answers, owners=[person("5501"), person("5502")])

    assert list(crm.people(["5502", "7777"])) == ["5502"]
    assert crm.people([]) == {}


def test_all_pages_of_all_lists_are_read(answers, crm):
    def paged(items):
        def reply(request):
            start = int(request.path.partition("after=")[2].partition("&")[0] or 0)
            more = str(start + 100) if start + 100 < len(items) else None
            return 200, page(*items[start : start + 100], after=more)

        return reply

    owners = [person(str(5000 + n), userId=n) for n in range(230)]
    left = [person(str(7000 + n), archived=True) for n in range(130)]
    users = [
        user(str(n), hubspot_owner_id=str(5000 + n), hs_availability_status="away")
        for n in range(230)
    ]
    answers.answer("archived=true", paged(left))
    answers.answer("/owners", paged(owners))
    answers.answer("/objects/users", paged(users))

    told = crm.people()

    assert len(told) == 360
    assert told["5229"].availability.status is Presence.AWAY
    assert not told["7129"].active
    assert len(answers.requests) == 3 + 2 + 3


def test_one_active_person_is_known_from_the_list_in_memory(answers, crm):
    portal(
        answers,
        owners=[person("5501", email="rae@example.test"), person("5502", type="QUEUE")],
        archived=[person("5503", archived=True)],
    )

    assert crm.person("5501").email == "rae@example.test"
    assert crm.person("5501").name == "rae@example.test"
    assert len(answers.requests) == 1
    assert crm.person("5502") is None
    assert crm.person("5503") is None


def test_the_same_reading_serves_the_owners_of_records(answers, crm):
    portal(answers)
    crm.people()
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})

    assert crm.read_records("contacts", ["1"])["1"].owner_stays
    assert len(answers.paths("/owners")) == 2


@pytest.mark.parametrize(
    ("status", "kind"), [(500, CrmAgain), (429, CrmPaced), (403, CrmUnreachable)]
)
@pytest.mark.parametrize("path", ["archived=true", "/owners"])
def test_a_list_that_cannot_be_read_is_no_empty_directory(answers, crm, path, status, kind):
    answers.answer(path, lambda _: (status, {"message": "no"}))
    portal(answers)

    with pytest.raises(kind):
        crm.people()


def test_a_list_without_anybody_is_no_empty_directory(answers, crm):
    portal(answers, owners=[person("5502", type="QUEUE")], archived=[person("5501")])

    with pytest.raises(CrmAgain, match="without anybody"):
        crm.people()


# -- three ids of one person


def test_a_user_is_found_by_owner_id_then_by_user_id_and_never_by_record_id(answers, crm):
    portal(
        answers,
        owners=[
            person("5501", userId=11),
            person("5502", userId=12),
            person("5503", userId=13),
            person("5504", userId=14),
        ],
        users=[
            user("5503", hubspot_owner_id="5501", hs_availability_status="away"),
            user("14", hs_internal_user_id="12", hs_availability_status="away"),
            user("13", hubspot_owner_id="", hs_availability_status="away"),
            # Somebody else's user id, beside an owner id of his own.
            user("9", hubspot_owner_id="5509", hs_internal_user_id="13"),
        ],
    )

    told = {one.owner_id: one.availability for one in crm.people().values()}

    assert told["5501"].status is told["5502"].status is Presence.AWAY
    assert told["5503"] is told["5504"] is None


def test_an_archived_owner_is_found_by_the_user_id_that_is_left(answers, crm):
    portal(
        answers,
        archived=[person("5502", userId=None, userIdIncludingInactive=12, archived=True)],
        users=[user("1", hs_internal_user_id="12", hs_availability_status="away")],
    )

    assert crm.people()["5502"].availability.status is Presence.AWAY


def test_the_users_are_asked_for_what_is_needed(answers, crm):
    portal(answers)

    crm.people()

    (asked,) = answers.paths("/objects/users")
    for name in ("hs_availability_status", "hs_out_of_office_hours", "hs_working_hours",
                 "hs_standard_time_zone", "hubspot_owner_id", "hs_internal_user_id"):  # fmt: skip
        assert name in asked
    assert "limit=100" in asked


def test_availability_is_not_asked_for_where_it_is_switched_off(answers, connect):
    portal(answers, users=[user("1", hubspot_owner_id="5501", hs_availability_status="away")])

    crm = connect(answers.url, availability=False)

    assert crm.people()["5501"].availability is None
    assert answers.paths("/objects/users") == []


@pytest.mark.parametrize("status", [403, 404, 400])
def test_users_that_are_closed_to_us_cost_their_availability_alone(answers, crm, status):
    answers.answer("/objects/users", lambda _: (status, {"message": "needs users.read"}))
    portal(answers)

    assert (crm.people()["5501"].active, crm.people()["5501"].availability) == (True, None)
    assert "needs users.read" in crm.availability_problem


def test_a_problem_is_forgotten_when_it_is_gone(answers, crm):
    refused = [True]
    answers.answer(
        "/objects/users", lambda _: (403, {"message": "no"}) if refused else (200, page())
    )
    portal(answers)
    crm.people()
    refused.clear()

    crm.people()

    assert crm.availability_problem is None


@pytest.mark.parametrize(
    ("status", "kind"), [(500, CrmAgain), (429, CrmPaced), (401, CrmUnreachable)]
)
def test_users_that_cannot_be_read_now_are_no_end_of_their_availability(answers, crm, status, kind):
    answers.answer("/objects/users", lambda _: (status, {"message": "no"}))
    portal(answers)

    with pytest.raises(kind):
        crm.people()


# -- availability


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("away", Presence.AWAY),
        ("AWAY", Presence.AWAY),
        ("available", Presence.AVAILABLE),
        ("", Presence.AVAILABLE),
        (None, Presence.AVAILABLE),
        ("lunch", Presence.AVAILABLE),
        (5, Presence.AVAILABLE),
    ],
)
def test_only_away_is_away(answers, crm, value, status):
    assert availability(answers, crm, hs_availability_status=value).status is status


def test_a_user_who_set_nothing_is_available(answers, crm):
    assert availability(answers, crm) == Availability()
    assert crm.availability_problem is None


def spell(start, end):
    return {"startTimestamp": start, "endTimestamp": end}


def test_out_of_office_times_are_absences_by_start(answers, crm):
    told = availability(
        answers,
        crm,
        hs_out_of_office_hours=json.dumps(
            [
                spell(milliseconds(TUESDAY_9), milliseconds(TUESDAY_9) + 1),
                spell(milliseconds(MONDAY_9), milliseconds(MONDAY_17)),
            ]
        ),
    )

    assert told.absences[0] == Absence(
        id="2026-11-30T09:00:00+00:00", starts_at=MONDAY_9, ends_at=MONDAY_17
    )
    assert told.absences[1].starts_at == TUESDAY_9
    assert crm.availability_problem is None


def test_an_absence_keeps_its_id_from_reading_to_reading(answers, crm):
    hours = json.dumps([spell(milliseconds(MONDAY_9), milliseconds(MONDAY_17))])
    first = availability(answers, crm, hs_out_of_office_hours=hours)

    assert crm.people()["5501"].availability == first


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (int(MONDAY_9.timestamp()), int(MONDAY_17.timestamp())),
        (str(milliseconds(MONDAY_9)), str(milliseconds(MONDAY_17))),
        (float(milliseconds(MONDAY_9)), float(milliseconds(MONDAY_17))),
        (int(MONDAY_9.timestamp()), milliseconds(MONDAY_17)),
    ],
    ids=["seconds", "digits", "floats", "both units"],
)
def test_seconds_and_milliseconds_are_told_apart_by_size(answers, crm, start, end):
    told = availability(answers, crm, hs_out_of_office_hours=json.dumps([spell(start, end)]))

    assert [(one.starts_at, one.ends_at) for one in told.absences] == [(MONDAY_9, MONDAY_17)]


def test_two_absences_that_begin_together_are_the_longer_one(answers, crm):
    hours = [
        spell(milliseconds(MONDAY_9), milliseconds(TUESDAY_9)),
        spell(milliseconds(MONDAY_9), milliseconds(MONDAY_17)),
    ]

    told = availability(answers, crm, hs_out_of_office_hours=json.dumps(hours))

    assert [one.ends_at for one in told.absences] == [TUESDAY_9]


GOOD_SPELL = spell(milliseconds(MONDAY_9), milliseconds(MONDAY_17))


@pytest.mark.parametrize(
    "bad",
    [
        spell(17_900_000_000, 17_900_100_000),  # eleven digits, as HubSpot's guide shows them
        spell(0, milliseconds(MONDAY_17)),
        spell(milliseconds(MONDAY_17), milliseconds(MONDAY_9)),
        spell(milliseconds(MONDAY_9), milliseconds(MONDAY_9)),
        spell(None, milliseconds(MONDAY_9)),
        spell(True, milliseconds(MONDAY_9)),
        spell("soon", "later"),
        spell(milliseconds(MONDAY_9), 10**18),
        spell(milliseconds(MONDAY_9), 10**400),
        spell(float("nan"), float("nan")),
        spell(milliseconds(MONDAY_9), float("inf")),
        spell([1], {}),
        {},
        "x",
        None,
        5,
    ],
    ids=repr,
)
def test_an_absence_that_makes_no_sense_is_left_out_and_told(answers, crm, bad):
    hours = json.dumps([bad, GOOD_SPELL])

    told = availability(answers, crm, hs_out_of_office_hours=hours)

    assert [one.starts_at for one in told.absences] == [MONDAY_9]
    assert crm.availability_problem.endswith("left out: 1.")


def stretch(days, start, end):
    return {"days": days, "startMinute": start, "endMinute": end}


@pytest.mark.parametrize(
    ("days", "numbers"),
    [
        ("MONDAY", (0,)),
        ("TUESDAY", (1,)),
        ("WEDNESDAY", (2,)),
        ("THURSDAY", (3,)),
        ("FRIDAY", (4,)),
        ("SATURDAY", (5,)),
        ("SUNDAY", (6,)),
        ("MONDAY_TO_FRIDAY", (0, 1, 2, 3, 4)),
        ("SATURDAY_SUNDAY", (5, 6)),
        ("EVERY_DAY", (0, 1, 2, 3, 4, 5, 6)),
        ("every_day", (0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_working_hours_name_their_days_in_words(answers, crm, days, numbers):
    told = availability(answers, crm, hs_working_hours=json.dumps([stretch(days, 540, 1020)]))

    assert told.working_hours == (WorkingHours(days=numbers, start=time(9), end=time(17)),)


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        (0, 1440, (time(0), time(0))),  # the whole day
        (1320, 1440, (time(22), time(0))),
        (0, 1, (time(0), time(0, 1))),
        (1439, 1440, (time(23, 59), time(0))),
        ("540", 1020.0, (time(9), time(17))),
    ],
)
def test_minutes_count_from_midnight_to_midnight(answers, crm, start, end, hours):
    told = availability(answers, crm, hs_working_hours=json.dumps([stretch("MONDAY", start, end)]))

    assert [(one.start, one.end) for one in told.working_hours] == [hours]


@pytest.mark.parametrize(
    "bad",
    [
        stretch("MONDAY", 540, 540),
        stretch("MONDAY", 1020, 540),
        stretch("MONDAY", -1, 540),
        stretch("MONDAY", 540, 1441),
        stretch("MONDAY", 540.5, 600),
        stretch("MONDAY", True, 600),
        stretch("MONDAY", None, 600),
        stretch("MONDAY", float("nan"), 600),
        stretch("MONDAY", 540, float("inf")),
        stretch("SOMEDAY", 540, 1020),
        stretch(None, 540, 1020),
        stretch(["MONDAY"], 540, 1020),
        {},
        [],
        "MONDAY",
    ],
    ids=repr,
)
def test_hours_that_make_no_sense_are_left_out_and_told(answers, crm, bad):
    hours = json.dumps([bad, stretch("SUNDAY", 540, 1020)])

    told = availability(answers, crm, hs_working_hours=hours)

    assert [one.days for one in told.working_hours] == [(6,)]
    assert crm.availability_problem.endswith("left out: 1.")


@pytest.mark.parametrize("value", [None, "", " ", "[]", "null", []], ids=repr)
def test_no_hours_and_no_absences_look_the_same_in_many_ways(answers, crm, value):
    told = availability(answers, crm, hs_working_hours=value, hs_out_of_office_hours=value)

    assert told == Availability()
    assert crm.availability_problem is None


@pytest.mark.parametrize(
    "value",
    ["[", "{}x", '{"days": "MONDAY"}', pytest.param("[" * 200_000, id="deep"), "5", 5, True],
    ids=repr,
)
def test_a_text_that_is_no_list_is_told(answers, crm, value):
    assert availability(answers, crm, hs_working_hours=value) == Availability()
    assert crm.availability_problem.endswith("left out: 1.")


def test_a_list_that_was_not_made_a_text_is_read_all_the_same(answers, crm):
    told = availability(answers, crm, hs_working_hours=[stretch("MONDAY", 540, 1020)])

    assert told.working_hours == (WorkingHours(days=(0,), start=time(9), end=time(17)),)


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (" America/New_York ", "America/New_York"),
        ("", None),
        (None, None),
    ],
)
def test_a_time_zone_is_a_name(answers, crm, value, zone):
    assert availability(answers, crm, hs_standard_time_zone=value).time_zone == zone
    assert crm.availability_problem is None


@pytest.mark.parametrize(
    "value",
    ["Mars/Olympus", "Europe", "../../etc/passwd", "/etc/passwd", "x\0y", 5, ["UTC"]],
    ids=repr,
)
def test_an_unknown_time_zone_is_none_and_told(answers, crm, value):
    assert availability(answers, crm, hs_standard_time_zone=value).time_zone is None
    assert crm.availability_problem.endswith("left out: 1.")


@pytest.mark.parametrize("record", [{"id": "1"}, {"id": "1", "properties": 5}, {}], ids=repr)
def test_a_user_record_that_makes_no_sense_is_nobodys(answers, crm, record):
    portal(answers, users=[record])

    assert crm.people()["5501"].availability is None
