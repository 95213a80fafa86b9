"""Users over HTTP."""

from datetime import UTC, datetime, time

import pytest

from connector import edits
from connector.model import Absence, Availability, Presence, WorkingHours
from connector.store.availability import Told

ALICE = {
    "name": "Alice",
    "email": "alice@example.com",
    "active": True,
    "status": "away",
    "time_zone": "Europe/Berlin",
    "working_hours": [
        {"days": ["mon", "tue"], "start": "09:00", "end": "17:30"},
        {"days": ["fri"], "start": "22:00", "end": "02:00"},
        {"days": ["sat", "sun"], "start": "00:00", "end": "24:00"},
    ],
    "holidays": "DE-BY",
    "owners": {"elsewhere": "5501"},
    "daily_quota": 20,
}
NOTHING_TOLD = {"reported": {}, "inactive_in": []}


def test_put_makes_a_user_and_then_replaces_it(api) -> None:
    made = api.put("/round-robin/users/u1", ALICE)
    assert (made.status_code, made.json) == (201, {"user_id": "u1", **ALICE, **NOTHING_TOLD})
    replaced = api.put("/round-robin/users/u1", {"name": "Alicia"})
    assert replaced.status_code == 200
    assert replaced.json == {
        "user_id": "u1",
        "name": "Alicia",
        "email": None,
        "active": True,
        "status": "available",
        "time_zone": None,
        "working_hours": [],
        "holidays": None,
        "owners": {},
        "daily_quota": None,
        **NOTHING_TOLD,
    }
    assert api.get("/round-robin/users/u1").json == replaced.json


def test_a_user_without_a_name_is_called_by_its_id(api) -> None:
    assert api.put("/round-robin/users/u1", {}).json["name"] == "u1"


def test_patch_changes_only_what_is_given(api) -> None:
    api.put("/round-robin/users/u1", ALICE)
    changed = api.patch("/round-robin/users/u1", {"active": False, "time_zone": None})
    expected = ALICE | {"active": False, "time_zone": None}
    assert changed.json == {"user_id": "u1", **expected, **NOTHING_TOLD}
    assert api.get("/round-robin/users/u1").json == changed.json


def test_an_unknown_user_is_not_found(api) -> None:
    for missing in (
        api.get("/round-robin/users/none"),
        api.patch("/round-robin/users/none", {"active": False}),
    ):
        assert (missing.status_code, missing.json["code"]) == (404, "user_not_found")


def test_owner_ids_are_kept_in_the_crm_s_own_form(api) -> None:
    made = api.put("/round-robin/users/u1", {"owners": {"knock": "abc", "elsewhere": "abc"}})
    assert made.json["owners"] == {"knock": "ABC", "elsewhere": "abc"}


def test_an_owner_id_that_cannot_be_is_refused(api) -> None:
    refused = api.put("/round-robin/users/u1", {"owners": {"knock": "a b"}})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/owners/knock"


def test_an_owner_id_belongs_to_one_user(api) -> None:
    api.put("/round-robin/users/u1", {"owners": {"knock": "A"}})
    refused = api.put("/round-robin/users/u2", {"owners": {"knock": "a"}})
    assert (refused.status_code, refused.json["code"]) == (409, "owner_taken")
    assert api.get("/round-robin/users/u2").status_code == 404


MONDAY = {"days": ["mon"], "start": "09:00", "end": "17:00"}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("status", "busy", "/status"),
        ("status", None, "/status"),
        ("holidays", "XX", "/holidays"),
        ("holidays", "DE-XX", "/holidays"),
        ("holidays", "de", "/holidays"),
        ("daily_quota", -1, "/daily_quota"),
        ("daily_quota", True, "/daily_quota"),
        ("working_hours", None, "/working_hours"),
        ("working_hours", [MONDAY | {"days": []}], "/working_hours/0/days"),
        ("working_hours", [MONDAY | {"days": ["monday"]}], "/working_hours/0/days/0"),
        ("working_hours", [MONDAY | {"days": ["mon", "mon"]}], "/working_hours/0/days"),
        ("working_hours", [MONDAY, MONDAY | {"start": "9:00"}], "/working_hours/1/start"),
        ("working_hours", [MONDAY | {"start": "24:00"}], "/working_hours/0/start"),
        ("working_hours", [MONDAY | {"end": "24:01"}], "/working_hours/0/end"),
        ("working_hours", [MONDAY | {"end": "17:00\n"}], "/working_hours/0/end"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_stands(api, method, field, value, pointer) -> None:
    api.put("/round-robin/users/u1", {})
    refused = api(method, "/round-robin/users/u1", {field: value})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == pointer


def test_patch_sets_and_clears_what_may_be_empty(api) -> None:
    api.put("/round-robin/users/u1", ALICE)
    empty = {"email": None, "holidays": None, "daily_quota": None, "working_hours": []}
    changed = api.patch("/round-robin/users/u1", empty)
    assert changed.json == {"user_id": "u1", **ALICE, **empty, **NOTHING_TOLD}


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../etc/passwd", "europe/berlin ", 1])
def test_a_time_zone_is_an_iana_name(api, zone) -> None:
    assert api.put("/round-robin/users/u1", {"time_zone": zone}).status_code == 422


def test_the_list_is_paged_by_a_link(api) -> None:
    ids = ["a b", "ä", "c&d", "x"]
    for user_id in ids:
        assert api.put(f"/round-robin/users/{user_id.replace(' ', '%20')}", {}).status_code == 201
    path, seen = "/round-robin/users?limit=1", []
    while path:
        page = api.get(path)
        seen += [user["user_id"] for user in page.json]
        link = page.headers.get("Link", "")
        path = link[1 : link.index(">")] if link else ""
    assert sorted(seen) == sorted(ids)


def test_a_user_who_becomes_active_wakes_the_worker(api, world) -> None:
    api.put("/round-robin/users/u1", {"active": False})
    before = world.woken
    api.patch("/round-robin/users/u1", {"active": True})
    assert world.woken == before + 1


def test_a_user_id_in_the_path_has_no_control_characters(api) -> None:
    refused = api.put("/round-robin/users/a%00b", {})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/user_id"


def report(world) -> dict:
    """A CRM tells of its owner ABC; the answer's own words for that."""
    absence = Absence(
        id="x",
        starts_at=datetime(2026, 10, 15, 13, tzinfo=UTC),
        ends_at=datetime(2026, 10, 16, tzinfo=UTC),
    )
    availability = Availability(
        status=Presence.AWAY,
        time_zone="Asia/Tokyo",
        working_hours=(WorkingHours(days=(0, 1), start=time(9), end=time(0)),),
        absences=(absence,),
    )
    told = {"u1": Told(owner_id="ABC", listed=False, availability=availability)}
    with world.database.write() as session:
        edits.follow_directory(session, "knock", told, now=world.now)
    return {
        "reported": {
            "knock": {
                "status": "away",
                "time_zone": "Asia/Tokyo",
                "working_hours": [{"days": ["mon", "tue"], "start": "09:00", "end": "24:00"}],
                "absences": [
                    {"starts_at": "2026-10-15T13:00:00Z", "ends_at": "2026-10-16T00:00:00Z"}
                ],
            }
        },
        "inactive_in": ["knock"],
    }


def test_what_a_crm_tells_of_a_user_is_shown_beside_what_was_set(api, world) -> None:
    mine = ALICE | {"owners": {"knock": "ABC"}}
    api.put("/round-robin/users/u1", mine)
    told = report(world)
    assert api.get("/round-robin/users/u1").json == {"user_id": "u1", **mine, **told}
    assert api.get("/round-robin/users").json == [{"user_id": "u1", **mine, **told}]


def test_a_put_or_patch_leaves_what_a_crm_tells_and_answers_with_it(api, world) -> None:
    api.put("/round-robin/users/u1", {"owners": {"knock": "ABC"}})
    told = report(world)
    for answer in (
        api.put("/round-robin/users/u1", {"owners": {"knock": "ABC"}}),
        api.patch("/round-robin/users/u1", {"daily_quota": 3}),
    ):
        assert {name: answer.json[name] for name in told} == told
    other = api.patch("/round-robin/users/u1", {"owners": {"knock": "XYZ"}})
    assert {name: other.json[name] for name in told} == NOTHING_TOLD


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("field", ["reported", "inactive_in"])
def test_what_a_crm_tells_cannot_be_set(api, method, field) -> None:
    api.put("/round-robin/users/u1", {})
    refused = api(method, "/round-robin/users/u1", NOTHING_TOLD | {"name": "A"})
    assert refused.status_code == 422
    assert f"/{field}" in [error["pointer"] for error in refused.json["errors"]]


def test_a_pool_shows_who_is_away_in_a_crm(api, world) -> None:
    api.put("/round-robin/users/u1", {"owners": {"knock": "ABC"}})
    pool_id = api.pool("u1", "u2")
    report(world)
    members = api.get(f"/round-robin/pools/{pool_id}").json["members"]
    assert [member["unavailable"] for member in members] == [
        {"reason": "away", "detail": "set to away in knock", "until": None},
        None,
    ]
