"""Which pool a lead goes to, and what waits when there is none."""

from __future__ import annotations

from tests.acceptance.stage import Stage, check_sequence, reads, writes

GERMAN = {"any": [{"field": name, "op": "eq", "value": "de"} for name in ("country", "Country")]}


def test_territories_are_shared_by_both_crms(stage: Stage) -> None:
    sales, dach = stage.team("AB"), stage.team("XY", pool="DACH")
    stage.api.call(
        "PUT",
        "/round-robin/territories",
        [{"name": "Germany", "when": GERMAN, "pool_id": dach}],
    )
    stage.tell_hubspot(stage.contacts(4, country="DE") + stage.contacts(2, country="US"))
    stage.tell_salesforce(stage.leads(4, Country="DE") + stage.leads(2, Country="US"))
    stage.work()
    for pool, members, count in ((dach, "XY", 8), (sales, "AB", 4)):
        rows = stage.api.history(pool)
        assert [row["assigned_user_id"] for row in rows] == list(members * (count // 2))
        check_sequence(rows)
        stage.check_owners(rows)
    assert stage.decision(stage.api.history(dach)[0])["territory"] == "Germany"


def test_without_a_pool_leads_are_held_and_go_out_once_there_is_one(stage: Stage) -> None:
    stage.configure(LEADROTA_DEFAULT_POOL="")
    stage.tell_hubspot(stage.contacts(3))
    stage.tell_salesforce(stage.leads(3))
    stage.work()
    assert stage.inbox() == {("done", None): 6}
    assert stage.hubspot.calls_to("/batch/update") == []
    stage.configure(LEADROTA_DEFAULT_POOL="Sales")
    stage.work()  # named, but not there yet
    pool = stage.team("AB")
    stage.work()
    rows = stage.api.history(pool)
    assert [row["assigned_user_id"] for row in rows] == list("ABABAB")
    assert {row["write_back"] for row in rows} == {"done"}
    check_sequence(rows)
    stage.check_owners(rows)


def test_a_lead_held_without_a_pool_can_be_seen_through_the_api(stage: Stage) -> None:
    stage.configure(LEADROTA_DEFAULT_POOL="")
    (contact,) = stage.contacts(1)
    stage.tell_hubspot([contact])
    stage.work()
    lead = {
        "lead_id": f"hubspot:contacts:{contact}",
        "record": {"connection": "hubspot", "object_type": "contacts", "id": contact},
    }
    held = stage.api.call("POST", "/round-robin/assign", lead)
    assert (held["status"], held["reason"]) == ("held", "no_territory_match")
    assert (held["pool_id"], held["sequence"], held["assigned_user_id"]) == (None, None, None)
    shown = stage.api.call("GET", f"/round-robin/assignments/{held['assignment_id']}")
    assert (shown["status"], shown["record"]["id"]) == ("held", contact)


def test_a_lead_that_nobody_can_take_is_shown_with_every_reason(stage: Stage) -> None:
    pool = stage.team("A")
    stage.api.users({"B": {}})
    stage.api.call("PATCH", f"/round-robin/pools/{pool}", {"add_members": ["B"]})
    stage.api.call("PATCH", "/round-robin/users/A", {"active": False})
    stage.tell_hubspot(stage.contacts(1))
    stage.work()
    (row,) = stage.api.history(pool)
    assert (row["status"], row["reason"]) == ("held", "no_member_available")
    assert [(one["user_id"], one["reason"]) for one in stage.decision(row)["skipped"]] == [
        ("A", "inactive"),
        ("B", "no_owner"),
    ]


def test_held_leads_go_out_oldest_first_and_before_newer_ones(stage: Stage) -> None:
    pool = stage.team("AB")
    for name in "AB":
        stage.api.call("PATCH", f"/round-robin/users/{name}", {"active": False})
    contacts = stage.contacts(5)
    stage.tell_hubspot(contacts[:3])
    stage.work()
    for name in "AB":
        stage.api.call("PATCH", f"/round-robin/users/{name}", {"active": True})
    stage.tell_hubspot(contacts[3:])
    stage.work()
    rows = stage.api.history(pool)
    check_sequence(rows)
    out = [row for row in rows if row["status"] == "assigned"]
    assert [row["record"]["id"] for row in out] == contacts
    assert [row["assigned_user_id"] for row in out] == list("ABABA")
    stage.check_owners(out)


def test_an_object_that_is_not_routed_is_stored_as_ignored_with_its_reason(stage: Stage) -> None:
    stage.configure(HUBSPOT_OBJECTS="leads", SALESFORCE_OBJECTS="Contact")
    pool = stage.team("AB")
    stage.tell_hubspot(stage.contacts(2))
    stage.tell_salesforce(stage.leads(2))
    stage.work()
    assert stage.inbox() == {("ignored", "object_not_routed"): 4}
    assert stage.api.history(pool) == []
    directory = {"/crm/v3/owners/", "/crm/v3/objects/users"}
    assert {call.path for call in stage.hubspot.calls} == directory
    assert reads(stage.salesforce) + writes(stage.salesforce) == []


def test_a_hubspot_lead_object_is_routed_like_a_contact(stage: Stage) -> None:
    pool = stage.team("AB")
    ids = [stage.hubspot.create("leads", {"hs_lead_name": f"L{n}"}) for n in range(4)]
    events = [stage.hubspot_sender.event("creation", "leads", one) for one in ids]
    assert stage.hubspot_sender.send(events) == 204
    stage.work()
    rows = stage.api.history(pool)
    assert [row["lead_id"] for row in rows] == [f"hubspot:leads:{one}" for one in ids]
    assert [row["assigned_user_id"] for row in rows] == list("ABAB")
    stage.check_owners(rows)


def test_events_of_another_portal_are_stored_as_ignored(stage: Stage) -> None:
    pool = stage.team("AB")
    (contact,) = stage.contacts(1)
    event = stage.hubspot_sender.event("creation", "contacts", contact)
    assert stage.hubspot_sender.send([event | {"portalId": 6666}]) == 204
    stage.work()
    assert stage.inbox() == {("ignored", "other_portal"): 1}
    assert stage.api.history(pool) == []
