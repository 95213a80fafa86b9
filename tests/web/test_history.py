"""History and single assignments over HTTP."""

import pytest

from connector.store.database import Database
from tests.web.conftest import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def test_history_is_newest_first(api) -> None:
    pool_id = api.pool("u1", "u2")
    ids = [api.assign(pool_id, f"L{n}").json["assignment_id"] for n in range(3)]
    rows = api.get(f"/round-robin/pools/{pool_id}/history").json
    assert [row["assignment_id"] for row in rows] == ids[::-1]
    assert rows[0] == {
        "lead_id": "L2",
        "assigned_user_id": "u1",
        "assigned_user_name": "u1",
        "assigned_at": "2026-10-15T12:00:00Z",
        "assignment_id": ids[2],
        "sequence": 3,
        "status": "assigned",
        "reason": "rotation",
        "sticky_step": None,
        "record": None,
        "write_back": "none",
        "actor": "LEADROTA_API_TOKEN",
        "note": None,
    }


def test_history_is_found_by_lead_and_by_user(api) -> None:
    pool_id = api.pool("u1", "u2")
    for n in range(4):
        api.assign(pool_id, f"L{n}")
    path = f"/round-robin/pools/{pool_id}/history"
    assert [row["lead_id"] for row in api.get(f"{path}?lead_id=L1").json] == ["L1"]
    assert [row["lead_id"] for row in api.get(f"{path}?user_id=u2").json] == ["L3", "L1"]


def test_from_is_inclusive_and_to_is_not(api, world) -> None:
    pool_id = api.pool("u1")
    for n in range(3):
        api.assign(pool_id, f"L{n}")
        world.later(hours=1)
    path = f"/round-robin/pools/{pool_id}/history"
    found = api.get(f"{path}?from=2026-10-15T12:00:00Z&to=2026-10-15T14:00:00Z").json
    assert [row["lead_id"] for row in found] == ["L1", "L0"]
    found = api.get(f"{path}?from=2026-10-15T15:00:00%2B02:00").json
    assert [row["lead_id"] for row in found] == ["L2", "L1"]


@pytest.mark.parametrize("moment", ["2026-10-15", "2026-10-15T12:00:00", "1760000000", "now", ""])
def test_a_moment_needs_date_time_and_zone(api, moment) -> None:
    refused = api.get(f"/round-robin/pools/{api.pool()}/history?from={moment}")
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/from"


def test_the_links_lead_through_the_whole_history_once(api) -> None:
    pool_id = api.pool("u1", "u2")
    for n in range(5):
        api.assign(pool_id, f"L{n}")
    path, seen = f"/round-robin/pools/{pool_id}/history?limit=2", []
    while path:
        page = api.get(path)
        seen += [row["sequence"] for row in page.json]
        link = page.headers.get("Link", "")
        path = link[1 : link.index(">")] if link else ""
    assert seen == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=1_0", "limit=x", "cursor=-1"])
def test_a_bad_page_is_refused(api, query) -> None:
    assert api.get(f"/round-robin/pools/{api.pool()}/history?{query}").status_code == 422


def test_an_unknown_or_repeated_parameter_is_refused(api) -> None:
    path = f"/round-robin/pools/{api.pool()}/history"
    assert api.get(f"{path}?lead=L1").json["errors"][0]["pointer"] == "/lead"
    assert api.get(f"{path}?lead_id=L1&lead_id=L2").status_code == 422


def test_the_history_of_a_lead_is_read_over_all_pools_newest_first(api, world) -> None:
    first, second = api.pool("u1", "u2", name="A"), api.pool("u3", name="B")
    held = api.post("/round-robin/assign", {"lead_id": "L1"}).json
    made = []
    for pool_id in (first, second):
        world.later(seconds=1)
        made.append(api.assign(pool_id, "L1").json)
        api.assign(pool_id, "L2")
    world.later(seconds=1)
    path = f"/round-robin/assignments/{made[0]['assignment_id']}/reassign"
    moved = api.post(path, {"user_id": "u2"}).json
    rows = api.get("/round-robin/history?lead_id=L1").json
    assert [(row["assignment_id"], row["pool_id"]) for row in rows] == [
        (moved["assignment_id"], first),
        (made[1]["assignment_id"], second),
        (made[0]["assignment_id"], first),
        (held["assignment_id"], None),
    ]
    shape = api.get(f"/round-robin/pools/{first}/history?limit=1").json[0]
    assert rows[0].keys() == {*shape, "pool_id"}
    assert api.get("/round-robin/history?lead_id=L9").json == []


def test_the_links_lead_through_the_history_of_a_lead_once(api, world) -> None:
    for name in "ABC":
        api.assign(api.pool("u1", name=name), "L1")
        world.later(seconds=1)
    path, seen = "/round-robin/history?lead_id=L1&limit=2", []
    while path:
        page = api.get(path)
        seen += [row["assigned_at"] for row in page.json]
        link = page.headers.get("Link", "")
        path = link[1 : link.index(">")] if link else ""
    assert seen == [f"2026-10-15T12:00:0{second}Z" for second in (2, 1, 0)]


def test_the_history_over_all_pools_needs_a_lead(api) -> None:
    refused = api.get("/round-robin/history")
    assert refused.json["errors"] == [{"pointer": "/lead_id", "detail": "is needed"}]


def test_an_assignment_shows_the_whole_decision(api) -> None:
    pool_id = api.pool("u1", "u2")
    made = api.assign(pool_id, "L1").json
    whole = api.get(f"/round-robin/assignments/{made['assignment_id']}").json
    assert made.items() <= whole.items()
    assert whole["order"] == ["u1", "u2"]
    assert whole["order_after"] == ["u2", "u1"]
    assert whole["turn"] == {"user_id": "u1", "sequence": 1}
    assert whole["counted"] is True
    assert whole["route"]["pool_id"] == pool_id
    assert whole["checks"]
    assert whole["current"] is True
    assert whole["later"] == []
    assert whole["write_back"] == {
        "state": "none",
        "attempts": 0,
        "last_error": None,
        "crm_message": None,
        "next_try_at": None,
    }


def test_an_assignment_shows_every_member_with_its_verdict(api) -> None:
    pool_id = api.pool("u1", "u2")
    absence = {"starts_at": "2026-10-15T00:00:00Z", "ends_at": "2026-10-20T00:00:00Z"}
    api.put("/round-robin/users/u1", {"name": "Alice"})
    api.post("/round-robin/users/u1/absences", {**absence, "reason": "vacation"})
    made = api.assign(pool_id, "L1").json
    able, absent = api.get(f"/round-robin/assignments/{made['assignment_id']}").json["members"]
    assert absent == {
        "user_id": "u1",
        "name": "Alice",
        "verdict": "absent",
        "detail": "vacation until 2026-10-20",
        "until": "2026-10-20T00:00:00Z",
    }
    assert able == {
        "user_id": "u2",
        "name": "u2",
        "verdict": "able",
        "detail": None,
        "until": None,
    }


def test_an_unknown_assignment_is_not_found(api) -> None:
    missing = api.get("/round-robin/assignments/none")
    assert (missing.status_code, missing.json["code"]) == (404, "assignment_not_found")


def test_leads_that_wait_are_listed_with_their_reasons_oldest_first(api, world) -> None:
    pool_id = api.pool("u1")
    api.patch("/round-robin/users/u1", json={"active": False})
    api.assign(pool_id, "L1")
    world.later(seconds=1)
    api.post("/round-robin/assign", json={"lead_id": "L2"})
    first, second = api.get("/round-robin/held").json
    assert (first["lead_id"], first["pool_id"], first["reason"]) == (
        "L1",
        pool_id,
        "no_member_available",
    )
    assert first["skipped"][0]["reason"] == "inactive"
    assert (second["lead_id"], second["pool_id"], second["reason"]) == (
        "L2",
        None,
        "no_territory_match",
    )


def test_the_list_of_waiting_leads_is_paged(api, world) -> None:
    for number in range(3):
        api.post("/round-robin/assign", json={"lead_id": f"L{number}"})
        world.later(seconds=1)
    page = api.get("/round-robin/held?limit=2")
    assert [row["lead_id"] for row in page.json] == ["L0", "L1"]
    following = page.headers["Link"].split(">")[0].strip("<")
    assert [row["lead_id"] for row in api.get(following).json] == ["L2"]


def test_fairness_counts_leads_against_shares(api) -> None:
    pool_id = api.pool("u1", "u2")
    for number in range(3):
        api.assign(pool_id, f"L{number}")
    shown = api.get(f"/round-robin/pools/{pool_id}/fairness?to=2026-10-16T00:00:00Z").json
    assert (shown["from"], shown["to"]) == ("2026-09-16T00:00:00Z", "2026-10-16T00:00:00Z")
    assert (shown["leads"], shown["worst_distance"]) == (3, 0.5)
    assert shown["members"] == [
        {
            "user_id": "u1",
            "name": "u1",
            "received": 2,
            "fair_share": 1.5,
            "balance": -0.5,
            "longest_wait": 1,
            "worst_distance": 0.5,
        },
        {
            "user_id": "u2",
            "name": "u2",
            "received": 1,
            "fair_share": 1.5,
            "balance": 0.5,
            "longest_wait": 1,
            "worst_distance": 0.5,
        },
    ]


def test_fairness_looks_at_its_period_only(api, world) -> None:
    pool_id = api.pool("u1", "u2")
    api.assign(pool_id, "L1")
    moment = world.later(hours=1)
    api.assign(pool_id, "L2")
    path = f"/round-robin/pools/{pool_id}/fairness"
    start = moment.isoformat().replace("+00:00", "Z")
    until = api.get(f"{path}?to={start}").json
    since = api.get(f"{path}?from={start}&to=2026-10-16T00:00:00Z").json
    assert [member["received"] for member in until["members"]] == [1, 0]
    assert [member["received"] for member in since["members"]] == [0, 1]


def test_a_period_that_ends_before_it_begins_is_refused(api) -> None:
    path = f"/round-robin/pools/{api.pool('u1')}/fairness"
    refused = api.get(f"{path}?from=2026-10-15T12:00:00Z&to=2026-10-15T11:00:00Z")
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/from"
