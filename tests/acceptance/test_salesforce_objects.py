"""Records of every type, from the org's word that they are new to the owner it shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.store.database import Database
from tests.acceptance.org import Org, moment
from tests.acceptance.stage import Stage, check_sequence

TYPES = {
    "Lead": "lead",
    "Contact": "lead",
    "Account": "lead",
    "Opportunity": "lead",
    "Case": "lead",
    "Task": "task",
    "Event": "meeting",
    "Visit__c": "lead",
}
MORNING = {
    "StartDateTime": moment("2026-10-16T09:00"),
    "EndDateTime": moment("2026-10-16T09:30"),
}


@pytest.fixture
def org(sqlite: Database) -> Iterator[Org]:
    with Stage(sqlite) as stage:
        stage.salesforce.add_object("Visit__c")
        yield Org(stage)


@pytest.mark.parametrize("way", ["outbound_message", "callout"])
@pytest.mark.parametrize(("object_type", "kind"), TYPES.items(), ids=TYPES)
def test_a_new_record_of_any_type_gets_its_owner(
    org: Org, object_type: str, kind: str, way: str
) -> None:
    org.stage.team("AB")
    org.route(*TYPES)
    ids = org.create(object_type, 3)
    if way == "outbound_message":
        org.tell(*ids)
    else:
        answer = org.call_out(object_type, *({"Id": one} for one in ids))
        assert answer == {"status": "accepted"}
    org.stage.work()
    rows = org.rows()
    assert [row["lead_id"] for row in rows] == [f"salesforce:{object_type}:{one}" for one in ids]
    assert org.users(ids) == ["A", "B", "A"]
    assert {row["write_back"] for row in rows} == {"done"}
    assert {org.stage.decision(row)["kind"] for row in rows} == {kind}
    check_sequence(rows)


def test_nothing_but_the_owner_of_a_record_changes(org: Org) -> None:
    org.stage.team("A")
    org.route(*TYPES)
    moved = {"OwnerId", "LastModifiedDate", "LastModifiedById", "SystemModstamp"}
    for object_type in TYPES:
        (record_id,) = org.create(object_type)
        before = org.sandbox.get(record_id)
        org.arrive(record_id)
        after = org.sandbox.get(record_id)
        assert org.users([record_id]) == ["A"]
        assert {name for name in before if before[name] != after[name]} <= moved


@pytest.mark.parametrize("object_type", ["Contact", "Visit__c"])
def test_a_type_is_only_routed_where_it_is_named(org: Org, object_type: str) -> None:
    org.stage.team("AB")
    org.route("Lead")
    org.arrive(*org.create(object_type))
    assert org.rows() == []
    assert org.stage.inbox() == {("ignored", "object_not_routed"): 1}


def test_two_meetings_at_the_same_time_go_to_two_members_and_a_third_waits(org: Org) -> None:
    org.stage.team("AB")
    org.route("Event")
    ids = org.create("Event", 3, **MORNING)
    org.arrive(*ids)
    rows = org.rows()
    assert [row["status"] for row in rows] == ["assigned", "assigned", "held"]
    skipped = org.stage.decision(rows[2])["skipped"]
    assert [(one["user_id"], one["reason"]) for one in skipped] == [("A", "busy"), ("B", "busy")]


def test_a_meeting_goes_to_who_is_free_then_and_not_to_who_is_free_now(org: Org) -> None:
    org.stage.team("AB")
    org.route("Event")
    absence = {"starts_at": "2026-10-16T00:00:00Z", "ends_at": "2026-10-17T00:00:00Z"}
    org.stage.api.call("POST", "/round-robin/users/A/absences", absence | {"reason": "leave"})
    ids = org.create("Event", 1, **MORNING)
    org.arrive(*ids)
    assert org.users(ids) == ["B"]


def test_a_territory_may_ask_for_any_field_of_the_org(org: Org) -> None:
    org.stage.team("A", pool="Sales")
    small = org.stage.team("B", pool="Small")
    org.sandbox.add_field("Lead", "Segment__c")
    rules = [
        {
            "name": "Small ones",
            "when": {"field": "segment__c", "op": "eq", "value": "small"},
            "pool_id": small,
        }
    ]
    org.stage.api.call("PUT", "/round-robin/territories", rules)
    ids = [org.create("Lead", Segment__c=one)[0] for one in ("small", "large", None)]
    org.arrive(*ids)
    assert org.users(ids) == ["B", "A", "A"]
