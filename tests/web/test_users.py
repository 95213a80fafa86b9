"""Users over HTTP."""

import pytest

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


def test_put_makes_a_user_and_then_replaces_it(api) -> None:
    made = api.put("/round-robin/users/u1", ALICE)
    assert (made.status_code, made.json) == (201, {"user_id": "u1", **ALICE})
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
    }
    assert api.get("/round-robin/users/u1").json == replaced.json


def test_a_user_without_a_name_is_called_by_its_id(api) -> None:
    assert api.put("/round-robin/users/u1", {}).json["name"] == "u1"


def test_patch_changes_only_what_is_given(api) -> None:
    api.put("/round-robin/users/u1", ALICE)
    changed = api.patch("/round-robin/users/u1", {"active": False, "time_zone": None})
    assert changed.json == {"user_id": "u1", **ALICE, "active": False, "time_zone": None}
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
    assert api.patch("/round-robin/users/u1", empty).json == {"user_id": "u1", **ALICE, **empty}


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
