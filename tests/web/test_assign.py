"""Assigning over HTTP."""

import pytest

from connector.store.database import Database
from tests.builders import NOON
from tests.web.conftest import TOKEN, Caller, World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def test_leads_go_round(api) -> None:
    pool_id = api.pool("u1", "u2", "u3")
    taken = [api.assign(pool_id, f"L{n}").json["assigned_user_id"] for n in range(5)]
    assert taken == ["u1", "u2", "u3", "u1", "u2"]


def test_an_assignment_is_answered_as_the_contract_has_it(api) -> None:
    pool_id = api.pool("u1", "u2")
    api.patch("/round-robin/users/u1", {"active": False})
    made = api.assign(pool_id, "lead_123")
    assert made.status_code == 200
    assert made.json == {
        "lead_id": "lead_123",
        "assigned_user_id": "u2",
        "assigned_user_name": "u2",
        "assignment_id": made.json["assignment_id"],
        "sequence": 1,
        "assigned_at": NOON.isoformat().replace("+00:00", "Z"),
        "pool_id": pool_id,
        "territory": None,
        "status": "assigned",
        "reason": "rotation",
        "sticky_step": None,
        "record": None,
        "skipped": [{"user_id": "u1", "reason": "inactive", "detail": "the user is inactive"}],
    }


def test_the_same_lead_again_is_answered_the_same(api) -> None:
    pool_id = api.pool("u1", "u2")
    assert api.assign(pool_id, "L1").json == api.assign(pool_id, "L1").json
    assert api.assign(pool_id, "L2").json["assigned_user_id"] == "u2"


def test_a_lead_that_nobody_can_take_is_held(api) -> None:
    held = api.assign(api.pool(), "L1")
    assert held.status_code == 202
    assert (held.json["status"], held.json["reason"]) == ("held", "no_member_available")
    assert held.json["assigned_user_id"] is None


def test_every_commit_wakes_the_worker(api, world) -> None:
    pool_id = api.pool("u1")
    before = world.woken
    api.assign(pool_id, "L1")
    assert world.woken == before + 1


def test_a_refused_lead_wakes_nobody(api, world) -> None:
    api.assign("none", "L1")
    assert world.woken == 0


def test_everything_known_of_a_lead_may_be_sent(api) -> None:
    pool_id = api.pool("u1")
    made = api.assign(
        pool_id,
        "L1",
        kind="meeting",
        attributes={"country": "DE", "size": 12, "tags": ["a"], "nothing": None},
        email="lea@example.com",
        company="Example",
    )
    whole = api.get(f"/round-robin/assignments/{made.json['assignment_id']}").json
    assert whole["kind"] == "meeting"
    assert whole["attributes"]["tags"] == ["a"]
    assert (whole["email"], whole["company"]) == ("lea@example.com", "Example")


MEETING = {"starts_at": "2026-10-16T09:00:00Z", "ends_at": "2026-10-16T10:00:00Z"}


def test_a_meeting_goes_to_somebody_who_is_free_then(api) -> None:
    pool_id = api.pool("u1", "u2")
    absence = {"starts_at": "2026-10-16T00:00:00Z", "ends_at": "2026-10-17T00:00:00Z"}
    api.post("/round-robin/users/u1/absences", absence)
    made = api.assign(pool_id, "M1", kind="meeting", **MEETING).json
    assert made["assigned_user_id"] == "u2"
    whole = api.get(f"/round-robin/assignments/{made['assignment_id']}").json
    assert whole | MEETING == whole
    held = api.assign(pool_id, "M2", kind="meeting", **MEETING).json
    assert {skip["user_id"]: skip["reason"] for skip in held["skipped"]} == {
        "u1": "absent",
        "u2": "busy",
    }


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"ends_at": None}, "/ends_at"),
        ({"starts_at": None}, "/ends_at"),
        ({"ends_at": MEETING["starts_at"]}, "/ends_at"),
        ({"ends_at": "2026-11-16T09:00:01Z"}, "/ends_at"),
        ({"starts_at": "2026-10-16T09:00:00"}, "/starts_at"),
        ({"starts_at": "1026-10-16T09:00:00Z"}, "/starts_at"),
    ],
)
def test_the_times_of_a_meeting_fit_each_other(api, change, pointer) -> None:
    refused = api.assign(api.pool("u1"), "M1", **MEETING | change)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json["errors"]] == [pointer]


def test_an_end_that_is_left_out_is_asked_for(api) -> None:
    refused = api.assign(api.pool("u1"), "M1", starts_at=MEETING["starts_at"])
    assert refused.json["errors"] == [{"pointer": "/ends_at", "detail": "is needed with starts_at"}]


def test_a_user_may_be_asked_for(api) -> None:
    pool_id = api.pool("u1", "u2", "u3")
    made = api.assign(pool_id, "L1", preferred_user_id="u3").json
    assert (made["assigned_user_id"], made["reason"]) == ("u3", "preferred")


def test_a_user_who_does_not_exist_cannot_be_asked_for(api) -> None:
    refused = api.assign(api.pool("u1"), "L1", preferred_user_id="u9")
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/preferred_user_id"


def test_a_pool_that_refuses_says_who_could_not_and_records_nothing(api) -> None:
    pool_id = api.pool("u1", none_available="refuse")
    api.patch("/round-robin/users/u1", {"active": False})
    for refused in (
        api.assign(pool_id, "L1"),
        api.assign(pool_id, "L1", headers={"Idempotency-Key": "key"}),
    ):
        assert (refused.status_code, refused.json["code"]) == (409, "no_member_available")
        assert refused.json["detail"] == (
            "Nobody in the pool can take lead L1 now, and the pool holds none. "
            "u1: the user is inactive."
        )
    assert api.get(f"/round-robin/pools/{pool_id}/history").json == []


def test_a_pool_that_refuses_names_three_and_counts_the_rest(api) -> None:
    pool_id = api.pool("u1", "u2", "u3", "u4", "u5", none_available="refuse")
    for number in range(1, 6):
        api.patch(f"/round-robin/users/u{number}", {"active": False})
    assert (
        api.assign(pool_id, "L1")
        .json["detail"]
        .endswith(
            "holds none. u1: the user is inactive; u2: the user is inactive; "
            "u3: the user is inactive; and 2 more."
        )
    )


def test_a_pool_without_members_that_refuses_says_so(api) -> None:
    refused = api.assign(api.pool(none_available="refuse"), "L1")
    assert refused.json["detail"].endswith("holds none. The pool has no members.")


def test_a_field_that_does_not_exist_is_refused(api) -> None:
    refused = api.assign(api.pool("u1"), "L1", leadid="L1")
    assert refused.json["errors"] == [{"pointer": "/leadid", "detail": "there is no such field"}]


@pytest.mark.parametrize("lead_id", ["", "x" * 201, "a\nb", "a\x00b", "a\x7fb", "\ud800", 7, None])
def test_a_lead_id_is_1_to_200_plain_characters(api, lead_id) -> None:
    refused = api.assign(api.pool("u1"), lead_id)
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == "/lead_id"


def test_the_longest_lead_id_is_taken(api) -> None:
    assert api.assign(api.pool("u1"), "ü" * 200).status_code == 200


def test_a_record_is_kept_in_the_crm_s_own_form(api) -> None:
    pool_id = api.pool("u1")
    api.patch("/round-robin/users/u1", {"owners": {"knock": "owner1"}})
    record = {"connection": "knock", "object_type": "contacts", "id": "0088"}
    made = api.assign(pool_id, "my-id", record=record)
    assert made.json["lead_id"] == "my-id"
    assert made.json["record"] == record | {"id": "88"}


def test_the_owner_of_a_record_is_to_be_written_back(api) -> None:
    pool_id = api.pool("u1")
    api.patch("/round-robin/users/u1", {"owners": {"knock": "owner1"}})
    record = {"connection": "knock", "object_type": "contacts", "id": "88"}
    made = api.assign(pool_id, "my-id", record=record).json
    whole = api.get(f"/round-robin/assignments/{made['assignment_id']}").json
    assert whole["owner_id"] == "OWNER1"
    assert whole["write_back"] == {
        "state": "pending",
        "attempts": 0,
        "last_error": None,
        "crm_message": None,
        "next_try_at": "2026-10-15T12:00:00Z",
    }


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"connection": "other"}, "/record/connection"), ({"id": "abc"}, "/record/id")],
)
def test_a_record_that_cannot_be_is_refused(api, change, pointer) -> None:
    record = {"connection": "knock", "object_type": "contacts", "id": "88"} | change
    refused = api.assign(api.pool("u1"), "L1", record=record)
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"] == pointer


def test_the_lead_id_of_an_answer_is_the_one_given(api) -> None:
    pool_id = api.pool("u1", "u2")
    for user in ("u1", "u2"):
        api.patch(f"/round-robin/users/{user}", {"owners": {"knock": user}})
    record = {"connection": "knock", "object_type": "contacts", "id": "88"}
    first = api.assign(pool_id, "one", record=record).json
    second = api.assign(pool_id, "two", record=record).json
    assert second == first | {"lead_id": "two"}


def test_territories_choose_the_pool(api) -> None:
    pool_id = api.pool("u1")
    rule = {"field": "country", "op": "in", "value": ["DE", "AT"]}
    api.put("/round-robin/territories", [{"name": "DACH", "when": rule, "pool_id": pool_id}])
    made = api.post("/round-robin/assign", {"lead_id": "L1", "attributes": {"country": "de"}})
    assert made.status_code == 200
    assert (made.json["pool_id"], made.json["territory"]) == (pool_id, "DACH")


def test_without_a_territory_a_lead_is_held(api) -> None:
    held = api.post("/round-robin/assign", {"lead_id": "L1"})
    assert held.status_code == 202
    assert (held.json["pool_id"], held.json["reason"]) == (None, "no_territory_match")


def test_the_default_pool_takes_what_no_territory_claims(api, world) -> None:
    pool_id = api.pool("u1", name="Rest")
    other = Caller(world.build(default_pool="Rest").test_client(), api.headers)
    assert TOKEN in other.headers["Authorization"]
    assert other.post("/round-robin/assign", {"lead_id": "L1"}).json["pool_id"] == pool_id
