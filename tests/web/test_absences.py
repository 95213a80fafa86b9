"""Absences over HTTP."""

import pytest

WEEK = {"starts_at": "2026-10-15T00:00:00Z", "ends_at": "2026-10-22T00:00:00Z"}


@pytest.fixture
def path(api) -> str:
    api.put("/round-robin/users/u1", {})
    return "/round-robin/users/u1/absences"


def test_an_absence_is_made_listed_and_removed(api, path) -> None:
    made = api.post(path, {**WEEK, "reason": "vacation"})
    assert made.status_code == 201
    assert made.json == {"id": made.json["id"], **WEEK, "reason": "vacation"}
    assert made.headers["Location"] == f"{path}/{made.json['id']}"
    assert api.get(path).json == [made.json]
    gone = api.delete(made.headers["Location"])
    assert (gone.status_code, gone.data) == (204, b"")
    assert api.get(path).json == []


def test_times_come_back_in_utc(api, path) -> None:
    berlin = {"starts_at": "2026-10-15T00:00:00+02:00", "ends_at": "2026-10-16T00:00:00+02:00"}
    assert api.post(path, berlin).json["starts_at"] == "2026-10-14T22:00:00Z"


def test_nobody_gets_a_lead_while_away(api, path) -> None:
    pool_id = api.pool("u1", "u2")
    absence = api.post(path, WEEK).json
    made = api.assign(pool_id, "L1").json
    assert made["assigned_user_id"] == "u2"
    assert made["skipped"][0]["reason"] == "absent"
    api.delete(f"{path}/{absence['id']}")
    assert api.assign(pool_id, "L2").json["assigned_user_id"] == "u1"


def test_absences_may_overlap_and_are_listed_by_start(api, path) -> None:
    for day in (20, 10, 15):
        moments = {"starts_at": f"2026-10-{day}T00:00:00Z", "ends_at": "2026-10-25T00:00:00Z"}
        assert api.post(path, moments).status_code == 201
    assert [one["starts_at"][:10] for one in api.get(path).json] == [
        "2026-10-10",
        "2026-10-15",
        "2026-10-20",
    ]


def test_the_list_is_paged_by_a_link(api, path) -> None:
    for day in (3, 1, 2, 1):
        api.post(path, {**WEEK, "starts_at": f"2026-10-0{day}T00:00:00Z"})
    following, seen = f"{path}?limit=1", []
    while following:
        page = api.get(following)
        seen += [one["starts_at"][8:10] for one in page.json]
        link = page.headers.get("Link", "")
        following = link[1 : link.index(">")] if link else ""
    assert seen == ["01", "01", "02", "03"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"ends_at": "2026-10-15T00:00:00Z"}, "/ends_at"),
        ({"ends_at": "2026-10-14T00:00:00Z"}, "/ends_at"),
        ({"ends_at": "9999-12-31T00:00:00Z"}, "/ends_at"),
        ({"starts_at": "0001-01-01T00:00:00Z"}, "/starts_at"),
        ({"starts_at": "2026-10-15"}, "/starts_at"),
        ({"reason": ""}, "/reason"),
        ({"reason": "a\nb"}, "/reason"),
        ({"id": "mine"}, "/id"),
    ],
)
def test_an_absence_that_makes_no_sense_is_refused(api, path, change, pointer) -> None:
    refused = api.post(path, WEEK | change)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json["errors"]] == [pointer]


def test_an_unknown_user_has_no_absences(api) -> None:
    for missing in (
        api.post("/round-robin/users/none/absences", WEEK),
        api.get("/round-robin/users/none/absences"),
        api.delete("/round-robin/users/none/absences/none"),
    ):
        assert (missing.status_code, missing.json["code"]) == (404, "user_not_found")


def test_an_absence_of_somebody_else_is_not_found(api, path) -> None:
    made = api.post(path, WEEK).json
    api.put("/round-robin/users/u2", {})
    missing = api.delete(f"/round-robin/users/u2/absences/{made['id']}")
    assert (missing.status_code, missing.json["code"]) == (404, "absence_not_found")
    assert len(api.get(path).json) == 1


def test_a_new_user_body_leaves_absences_alone(api, path) -> None:
    api.post(path, WEEK)
    api.put("/round-robin/users/u1", {"name": "Alice"})
    api.patch("/round-robin/users/u1", {"name": "Alicia"})
    assert len(api.get(path).json) == 1
