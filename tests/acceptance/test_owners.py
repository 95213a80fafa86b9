"""Who owns a record, before, between and after: what stays, what is followed, what is routed."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.crm import Crm
from tests.acceptance.stage import (
    Row,
    Stage,
    check_sequence,
    writes,
)


def told(row: Row) -> tuple[Any, ...]:
    return row["assigned_user_id"], row["status"], row["reason"], row["write_back"]


def test_an_owner_who_is_there_stays_and_uses_no_turn(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    stage.hire(["Manager"])  # an owner in the CRM, but no user here
    ids = crm.new(1, crm.owner("B")) + crm.new(1, crm.owner("Manager")) + crm.new(2)
    crm.tell(ids)
    stage.work()
    rows = stage.api.history(pool)
    assert [told(row) for row in rows] == [
        ("B", "kept", "sticky", "none"),
        (None, "kept", "sticky", "none"),
        ("A", "assigned", "rotation", "done"),
        ("B", "assigned", "rotation", "done"),
    ]
    assert [row["sticky_step"] for row in rows] == ["existing_owner"] * 2 + [None] * 2
    assert crm.users_of(ids) == ["B", "Manager", "A", "B"]
    check_sequence(rows)


def test_a_record_of_someone_who_left_is_routed(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    stage.hire(["Gone"])
    ids = crm.new(2, crm.owner("Gone"))
    crm.fire("Gone")
    crm.tell(ids)
    stage.work()
    assert [told(row) for row in stage.api.history(pool)] == [
        ("A", "assigned", "rotation", "done"),
        ("B", "assigned", "rotation", "done"),
    ]
    assert crm.users_of(ids) == ["A", "B"]


def test_a_record_of_a_queue_or_of_the_default_owner_is_routed(stage: Stage) -> None:
    pool = stage.team("AB")
    catch_all = stage.salesforce.add_user("Default Owner", "default@sales.example")
    stage.configure(SALESFORCE_UNASSIGNED_OWNERS=catch_all[:15])
    queue = stage.salesforce.add_queue("Web")
    ids = stage.leads(1, OwnerId=queue) + stage.leads(1, OwnerId=catch_all)
    ids += stage.leads(1, OwnerId=stage.salesforce.integration_user)
    stage.tell_salesforce(ids)
    stage.work()
    rows = stage.api.history(pool)
    assert [row["assigned_user_id"] for row in rows] == ["A", "B", "A"]
    stage.check_owners(rows)


def test_a_lead_of_the_default_owner_is_kept_as_long_as_nobody_says_so(stage: Stage) -> None:
    pool = stage.team("AB")
    person = stage.salesforce.add_user("Default Owner", "default@sales.example")
    (lead,) = stage.leads(1, OwnerId=person)
    stage.tell_salesforce([lead])
    stage.work()
    (row,) = stage.api.history(pool)
    assert told(row) == (None, "kept", "sticky", "none")
    assert stage.salesforce.owner_of(lead) == person


def test_our_own_echo_costs_neither_a_turn_nor_a_call(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    ids = crm.new(2)
    crm.tell(ids)
    stage.work()
    before, calls = stage.api.history(pool), len(crm.sandbox.calls)
    for record_id, user in zip(ids, "AB", strict=True):
        crm.tell_owner(record_id, crm.owner(user))
    stage.work()
    assert stage.api.history(pool) == before
    assert len(crm.sandbox.calls) == calls
    assert stage.inbox()["ignored", "own_echo"] == 2


def test_an_owner_that_was_cleared_is_routed_anew_and_uses_a_turn(stage: Stage) -> None:
    pool = stage.team("ABC")
    (contact,) = stage.contacts(1)
    stage.tell_hubspot([contact])
    stage.work()
    stage.hubspot.set_owner("contacts", contact, None)
    stage.tell_hubspot([contact], "propertyChange", name="hubspot_owner_id", value="")
    stage.work()
    rows = stage.api.history(pool)
    assert [row["assigned_user_id"] for row in rows] == ["A", "B"]
    stage.check_owners(rows)
    stage.tell_hubspot(stage.contacts(1))
    stage.work()
    assert stage.api.history(pool)[-1]["assigned_user_id"] == "C"


def test_an_owner_whom_a_person_sets_is_followed(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("ABC")
    (record_id,) = crm.new(1)
    crm.tell([record_id])
    stage.work()
    crm.set_owner(record_id, crm.owner("C"))
    crm.tell_owner(record_id, crm.owner("C"))
    stage.work()
    rows = stage.api.history(pool)
    assert [told(row) for row in rows] == [
        ("A", "assigned", "rotation", "done"),
        ("C", "reassigned", "manual", "none"),
    ]
    assert crm.users_of([record_id]) == ["C"]


def test_an_owner_who_appears_before_the_write_stays_and_the_turn_goes_back(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("AB")
    (record_id,) = crm.new(1)
    crm.tell([record_id])
    # The first read finds nobody; the look before the write is put off, and a person acts.
    status = 429 if crm.name == "hubspot" else 503
    crm.fail_reads(after=1, status=status, headers={"Retry-After": "5"}, body={})
    stage.work()
    crm.set_owner(record_id, crm.owner("B"))
    stage.later(seconds=5)
    stage.work()
    first, second = stage.api.history(pool)
    assert told(first) == ("A", "assigned", "rotation", "kept")
    assert told(second) == ("B", "kept", "kept_existing_owner", "none")
    assert crm.users_of([record_id]) == ["B"]
    assert writes(crm.sandbox) == []
    crm.tell(crm.new(2))
    stage.work()
    assert [told(row)[:3] for row in stage.api.history(pool)[2:]] == [
        ("A", "assigned", "owed"),
        ("B", "assigned", "rotation"),
    ]


def test_a_user_whom_the_crm_calls_inactive_is_passed_over_in_the_same_decision(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("ABC")
    stage.work()  # the directory is read; B leaves between two readings
    crm.fire("B")
    ids = crm.new(6)
    crm.tell(ids)
    drained = stage.work()
    rows = stage.api.history(pool)
    check_sequence(rows)
    assert len(rows) == 6
    assert "B" not in {row["assigned_user_id"] for row in rows}
    assert {row["write_back"] for row in rows} == {"done"}
    assert drained.refused == 2
    stage.check_owners(rows)
    (refused, *_) = stage.decision(rows[1])["skipped"]
    assert (refused["user_id"], refused["reason"]) == ("B", "refused_by_crm")
    assert refused["detail"]
    crm.tell(crm.new(3))
    assert stage.work().refused == 0  # known by now, so that no call is lost on it
    assert "B" not in {row["assigned_user_id"] for row in stage.api.history(pool)}


def test_a_user_inactive_in_one_crm_still_takes_leads_of_the_other(stage: Stage) -> None:
    pool = stage.team("AB")
    stage.hubspot.archive_owner(stage.owners["A"]["hubspot"])
    stage.tell_hubspot(stage.contacts(2))
    stage.work()
    stage.tell_salesforce(stage.leads(2))
    stage.work()
    rows = stage.api.history(pool)
    assert {row["assigned_user_id"] for row in rows[:2]} == {"B"}
    assert {row["assigned_user_id"] for row in rows[2:]} == {"A", "B"}
    stage.check_owners(rows)


def test_a_lead_that_every_user_is_refused_for_is_held_until_one_comes(crm: Crm) -> None:
    stage = crm.stage
    pool = stage.team("A")
    in_the_crm_only = stage.hire(["B"])
    crm.fire("A")
    (record_id,) = crm.new(1)
    crm.tell([record_id])
    stage.work()
    (row,) = stage.api.history(pool)
    assert told(row) == (None, "held", "no_member_available", "none")
    stage.api.users(in_the_crm_only)
    stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"add_members": ["B"]})
    stage.work()
    assert [told(row) for row in stage.api.history(pool)[1:]] == [
        ("B", "assigned", "rotation", "done")
    ]
    assert crm.users_of([record_id]) == ["B"]


def test_only_the_owner_field_is_ever_written(stage: Stage) -> None:
    stage.team("AB")
    contacts, leads = stage.contacts(3, country="DE"), stage.leads(3, Country="DE")
    stage.tell_hubspot(contacts)
    stage.tell_salesforce(leads)
    stage.work()
    (to_hubspot,), (to_salesforce,) = writes(stage.hubspot), writes(stage.salesforce)
    sent = json.loads(to_hubspot.body)["inputs"]
    assert [(one["id"], set(one["properties"])) for one in sent] == [
        (contact, {"hubspot_owner_id"}) for contact in contacts
    ]
    sent = json.loads(to_salesforce.body)["records"]
    assert [(one["id"], set(one)) for one in sent] == [
        (lead, {"attributes", "id", "OwnerId"}) for lead in leads
    ]
