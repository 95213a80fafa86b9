"""What the switches and hooks of the sandbox HubSpot do, and what its answers look like."""

from __future__ import annotations

import pytest
from hubspot_caller import code, serving

from adapters.sandbox.hubspot import HubSpotSandbox

OWNER = "hubspot_owner_id"


def contact(portal: HubSpotSandbox, **properties: str | None) -> str:
    return portal.create("contacts", {"email": "lead@example.test", **properties})


def test_an_owner_that_is_not_set_can_be_null_missing_or_blank():
    with serving() as (portal, call, _):
        never, null, blank = contact(portal), contact(portal, **{OWNER: None}), contact(portal)
        portal.set_owner("contacts", blank, "")
        told = []
        for portal.empty_as in ("null", "missing", "blank"):
            results = call.read([never, null, blank]).json()["results"]
            by_id = {one["id"]: one["properties"].get(OWNER, "missing") for one in results}
            told.append([by_id[never], by_id[null], by_id[blank]])
        assert told == [[None, None, ""], ["missing", None, ""], ["", None, ""]]


def test_an_archived_owner_can_be_accepted():
    with serving() as (portal, call, _):
        lead = contact(portal)
        owner = portal.add_owner("bob@example.test", archived=True)
        portal.accept_archived_owner = True
        assert call.patch(lead, {OWNER: owner}).status_code == 200
        assert portal.owner_of("contacts", lead) == owner


def test_an_owner_archived_later_keeps_records_and_takes_no_more():
    with serving() as (portal, call, _):
        owner = portal.add_owner("bob@example.test")
        lead, other = contact(portal, **{OWNER: owner}), contact(portal)
        portal.archive_owner(owner)
        assert call.record(lead, properties=OWNER).json()["properties"][OWNER] == owner
        assert code(call.patch(other, {OWNER: owner})) == (400, "INVALID_OWNER_ID")


def test_a_bad_owner_can_fail_its_own_record_only():
    with serving() as (portal, call, _):
        lead, other = contact(portal), contact(portal)
        owner = portal.add_owner("ann@example.test")
        portal.whole_batch_400 = False
        answer = call.update({lead: owner, other: "7777"})
        assert answer.status_code == 207
        assert [result["id"] for result in answer.json()["results"]] == [lead]
        (error,) = answer.json()["errors"]
        assert error["context"] == {"ids": [other]}
        assert error["errors"][0]["code"] == "INVALID_OWNER_ID"


def test_somebody_may_set_an_owner_between_a_read_and_a_write():
    with serving() as (portal, call, _):
        ours, theirs = portal.add_owner("ann@example.test"), portal.add_owner("bob@example.test")
        lead = contact(portal)
        seen = []

        def rival(object_type, record_id, properties):
            seen.append((object_type, record_id, dict(properties)))
            portal.set_owner(object_type, record_id, theirs)

        portal.before_write(rival)
        call.update({lead: ours})
        assert seen == [("contacts", lead, {OWNER: ours})]
        assert portal.history_of("contacts", lead, OWNER) == [ours, theirs]


def test_a_merge_keeps_the_primary_record_and_fills_its_gaps():
    with serving() as (portal, *_):
        owner = portal.add_owner("ann@example.test")
        primary = contact(portal, firstname="Ada")
        other = contact(portal, firstname="Adah", **{OWNER: owner})
        assert portal.merge(primary, [other]) == primary
        assert portal.get("contacts", other) is None
        merged = portal.get("contacts", primary)
        assert (merged["firstname"], merged[OWNER]) == ("Ada", owner)


def test_a_batch_read_may_or_may_not_follow_merges():
    with serving() as (portal, call, _):
        primary, other = contact(portal), contact(portal)
        portal.merge(primary, [other])
        assert call.read([other]).json()["results"][0]["id"] == primary
        portal.batch_read_follows_merges = False
        assert call.read([other]).json()["errors"][0]["context"] == {"ids": [other]}


def test_a_restored_record_is_found_again():
    with serving() as (portal, call, _):
        lead = contact(portal)
        portal.delete("contacts", lead)
        portal.restore("contacts", lead)
        assert call.record(lead).status_code == 200


def test_a_missing_scope_is_named():
    with serving() as (portal, call, _):
        lead = contact(portal)
        portal.missing_scopes = ["crm.objects.owners.read", "crm.objects.contacts.write"]
        answer = call.get("/crm/v3/owners")
        assert answer.status_code == 403
        scopes = answer.json()["errors"][0]["context"]["requiredGranularScopes"]
        assert scopes == ["crm.objects.owners.read"]
        assert call.patch(lead, {OWNER: ""}).status_code == 403
        assert call.record(lead).status_code == 200


def test_the_account_tells_its_id_and_zone():
    with serving(portal_id="777", time_zone="Asia/Kolkata") as (_, call, _):
        for version in ("v3", "2026-03"):
            told = call.get(f"/account-info/{version}/details").json()
            assert (told["portalId"], told["timeZone"]) == (777, "Asia/Kolkata")
            assert (told["utcOffset"], told["utcOffsetMilliseconds"]) == ("+05:30", 19_800_000)


def test_an_owner_is_found_by_id_user_id_or_email():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test", "Ann", "Example")
        portal.add_owner("bob@example.test", type="QUEUE")
        by_user = call.get(f"/crm/v3/owners/{portal.user_id_of(owner)}", idProperty="userId")
        by_email = call.get("/crm/owners/2026-03", email="ann@example.test").json()["results"]
        assert by_email == [call.get(f"/crm/v3/owners/{owner}").json()] == [by_user.json()]
        assert code(call.get("/crm/v3/owners/1")) == (404, "OBJECT_NOT_FOUND")
        assert code(call.get("/crm/v3/owners", after="?")) == (400, "VALIDATION_ERROR")


def test_leads_name_their_dates_otherwise_than_contacts():
    with serving() as (portal, call, _):
        lead = portal.create("leads", {"hs_lead_name": "Ada Example"})
        for kind in ("leads", "0-136"):
            told = call.get(f"/crm/v3/objects/{kind}/{lead}").json()["properties"]
            assert {"hs_createdate", "hs_lastmodifieddate", "hs_lead_name"} <= set(told)


@pytest.mark.parametrize(
    "body",
    ["{", "[]", '{"inputs": 1}', '{"inputs": [1]}', '{"inputs": [{"id": "1", "properties": 1}]}'],
)
def test_a_malformed_body_is_refused_in_hubspots_words(body):
    with serving() as (portal, call, _):
        address = f"{portal.url}/crm/v3/objects/contacts/batch/update"
        headers = {"Content-Type": "application/json"}
        answer = call.session.post(address, data=body, headers=headers)
        assert code(answer) == (400, "VALIDATION_ERROR")


def test_an_unknown_path_or_method_is_refused():
    with serving() as (_, call, _):
        assert call.get("/crm/v3/unicorns").status_code == 404
        assert call.post("/crm/v3/owners", {}).status_code == 405


def test_a_record_id_is_used_once():
    with serving() as (portal, _, _):
        portal.create("contacts", {}, record_id="874716779721")
        with pytest.raises(ValueError, match="there already"):
            portal.create("contacts", {}, record_id="874716779721")
