"""Checks of the sandbox HubSpot's rules about records, owners and limits."""

from __future__ import annotations

from hubspot_caller import code
from hubspot_rows import OWNER, contact, keeps

# -- requests


@keeps("token", "§3 revoked or wrong token")
def a_wrong_token_is_refused(portal, call, clock):
    call.session.headers["Authorization"] = "Bearer wrong"
    assert code(call.get("/crm/v3/owners")) == (401, "INVALID_AUTHENTICATION")
    del call.session.headers["Authorization"]
    assert code(call.get("/crm/v3/owners")) == (401, "INVALID_AUTHENTICATION")


@keeps("versions", "§3 date-based versioning")
def only_published_versions_are_served(portal, call, clock):
    lead = contact(portal)
    for version in ("v3", "2025-09", "2026-03", "2026-09", "2027-03-beta"):
        assert call.read([lead], version=version).status_code == 200
    assert call.read([lead], version="2026-10").status_code == 404


@keeps("unknown_type", "§5 type ids")
def an_unknown_object_type_is_refused(portal, call, clock):
    lead = contact(portal)
    assert call.get(f"/crm/v3/objects/0-1/{lead}").status_code == 200
    assert code(call.get(f"/crm/v3/objects/unicorns/{lead}")) == (400, "VALIDATION_ERROR")


@keeps("required_fields", "§5 batch read, SPEC BatchReadInputSimplePublicObjectId")
def a_required_field_left_out_is_refused(portal, call, clock):
    lead = contact(portal)
    full = {"inputs": [{"id": lead}], "properties": [OWNER], "propertiesWithHistory": []}
    for name in full:
        body = {key: value for key, value in full.items() if key != name}
        answer = call.post("/crm/v3/objects/contacts/batch/read", body)
        assert code(answer) == (400, "VALIDATION_ERROR")
        assert f"[{name}]" in answer.json()["message"]
    answer = call.post("/crm/v3/objects/contacts/batch/update", {"inputs": [{"id": lead}]})
    assert code(answer) == (400, "VALIDATION_ERROR")


@keeps("batch_limit", "§4 object batches, §12.2")
def a_batch_takes_a_hundred(portal, call, clock):
    ids = [contact(portal) for _ in range(101)]
    owner = portal.add_owner("ann@example.test")
    assert call.read(ids[:100]).status_code == 200
    assert call.read(ids).status_code == 400
    assert call.update(dict.fromkeys(ids, owner)).status_code == 400
    assert portal.owner_of("contacts", ids[0]) is None


@keeps("history_limit", "PipedreamHQ/pipedream#8462")
def a_batch_read_with_history_takes_fifty(portal, call, clock):
    ids = [contact(portal) for _ in range(51)]
    assert call.read(ids[:50], history=(OWNER,)).status_code == 200
    assert call.read(ids, history=(OWNER,)).status_code == 400


@keeps("duplicate_ids", "rudderlabs/rudder-transformer, test of its HubSpot destination")
def naming_an_id_twice_refuses_the_update(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    entry = {"id": lead, "properties": {OWNER: owner}}
    answer = call.post("/crm/v3/objects/contacts/batch/update", {"inputs": [entry, entry]})
    assert code(answer) == (400, "VALIDATION_ERROR")
    assert lead in answer.json()["message"]
    assert portal.owner_of("contacts", lead) is None


@keeps("batch_by_email", "§5 batch update, §10 #16")
def a_batch_update_by_email_changes_nothing(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    answer = call.update({"lead@example.test": owner})
    assert (answer.status_code, answer.json()["results"]) == (207, [])
    assert portal.owner_of("contacts", lead) is None


@keeps("comma_lists", "§5 single read")
def properties_come_with_commas_or_repeated(portal, call, clock):
    lead = contact(portal, firstname="Ada")
    both = call.record(lead, properties=["email", "firstname"]).json()["properties"]
    assert both["firstname"] == "Ada"
    assert call.record(lead, properties="email,firstname").json()["properties"] == both


@keeps("id_property", "§12.1 idProperty")
def a_record_is_found_by_its_email(portal, call, clock):
    lead = contact(portal)
    answer = call.record("lead@example.test", idProperty="email")
    assert (answer.status_code, answer.json().get("id")) == (200, lead)


# -- answers


@keeps("text_ids", "§5 examples")
def ids_are_text(portal, call, clock):
    lead = contact(portal)
    assert call.record(lead).json()["id"] == lead
    assert call.read([lead]).json()["results"][0]["id"] == lead


@keeps("wide_ids", "§1a ids, §10 #21")
def ids_need_more_than_32_bits(portal, call, clock):
    assert int(contact(portal)) > 2**31


@keeps("unknown_ids", "§5 batch read and update")
def unknown_ids_are_told_beside_the_good_results(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    for answer in (call.read([lead, "99999"]), call.update({lead: owner, "99999": owner})):
        assert answer.status_code == 207
        body = answer.json()
        assert [result["id"] for result in body["results"]] == [lead]
        assert body["numErrors"] == 1
        (error,) = body["errors"]
        assert (error["category"], error["context"]) == ("OBJECT_NOT_FOUND", {"ids": ["99999"]})
    assert portal.owner_of("contacts", lead) == owner


@keeps("dated_status", "§3 after the table, §5 batch update")
def partial_failure_is_200_from_2026_09_on(portal, call, clock):
    assert call.read(["99999"], version="2026-03").status_code == 207
    answer = call.read(["99999"], version="2026-09")
    assert (answer.status_code, answer.json()["numErrors"]) == (200, 1)


@keeps("batch_order", "§10 #16: compare result ids, INF")
def results_come_in_another_order(portal, call, clock):
    ids = [contact(portal) for _ in range(20)]
    told = [result["id"] for result in call.read(ids).json()["results"]]
    assert sorted(told) == sorted(ids)
    assert told != ids


@keeps("unknown_read_property", "§5 single read")
def an_unknown_property_is_left_out_of_a_read(portal, call, clock):
    lead = contact(portal)
    assert "nonsense" not in call.record(lead, properties="nonsense").json()["properties"]
    told = call.read([lead], "nonsense").json()["results"][0]["properties"]
    assert "nonsense" not in told


@keeps("deleted", "§12 state rules")
def a_deleted_record_is_not_found(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    portal.delete("contacts", lead)
    assert code(call.record(lead)) == (404, "OBJECT_NOT_FOUND")
    assert code(call.patch(lead, {OWNER: owner})) == (404, "OBJECT_NOT_FOUND")
    assert call.update({lead: owner}).json()["results"] == []
    assert call.record(lead, archived="true").json()["archived"] is True


# -- writes


@keeps("unknown_property", "§5 batch update")
def an_unknown_property_refuses_the_whole_request(portal, call, clock):
    lead, other = contact(portal), contact(portal)
    owner = portal.add_owner("ann@example.test")
    assert code(call.patch(lead, {"nonsense": "1"})) == (400, "PROPERTY_DOESNT_EXIST")
    inputs = [
        {"id": other, "properties": {OWNER: owner}},
        {"id": lead, "properties": {"nonsense": "1"}},
    ]
    answer = call.post("/crm/v3/objects/contacts/batch/update", {"inputs": inputs})
    assert code(answer) == (400, "PROPERTY_DOESNT_EXIST")
    assert portal.owner_of("contacts", other) is None


@keeps("text_values", "§5 single update")
def values_are_text(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    assert call.patch(lead, {OWNER: int(owner)}).status_code == 400
    assert call.patch(lead, {OWNER: owner}).status_code == 200


@keeps("unknown_owner", "§5 bad or archived owner")
def an_unknown_owner_is_refused(portal, call, clock):
    lead = contact(portal)
    answer = call.patch(lead, {OWNER: "7777"})
    assert code(answer) == (400, "INVALID_OWNER_ID")
    assert answer.json()["category"] == "VALIDATION_ERROR"
    assert answer.json()["errors"][0]["context"] == {"propertyName": [OWNER]}
    assert code(call.update({lead: "7777"})) == (400, "INVALID_OWNER_ID")


@keeps("user_id_owner", "§5 three different ids")
def a_user_id_is_no_owner(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    assert call.patch(lead, {OWNER: owner}).status_code == 200
    assert code(call.patch(lead, {OWNER: portal.user_id_of(owner)})) == (400, "INVALID_OWNER_ID")


@keeps("archived_owner", "§5 bad or archived owner, unverified")
def an_archived_owner_is_refused(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test", archived=True)
    assert code(call.patch(lead, {OWNER: owner})) == (400, "INVALID_OWNER_ID")


@keeps("whole_batch", "§5 one bad item, §10 #17, INF")
def one_bad_owner_refuses_the_batch(portal, call, clock):
    lead, other = contact(portal), contact(portal)
    owner = portal.add_owner("ann@example.test")
    assert code(call.update({lead: owner, other: "7777"})) == (400, "INVALID_OWNER_ID")
    assert portal.owner_of("contacts", lead) is None


@keeps("empty_clears", "§5 single update, §12 state rules")
def an_empty_text_clears(portal, call, clock):
    lead = contact(portal, **{OWNER: portal.add_owner("ann@example.test")})
    assert call.patch(lead, {OWNER: ""}).status_code == 200
    assert portal.owner_of("contacts", lead) is None
    assert call.record(lead, properties=OWNER).json()["properties"][OWNER] is None


@keeps("last_modified", "§5 last-modified property")
def a_write_bumps_the_record(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    before = call.record(lead).json()["properties"]["lastmodifieddate"]
    clock.move(seconds=2)
    call.patch(lead, {OWNER: owner})
    after = call.record(lead).json()["properties"]["lastmodifieddate"]
    assert (before, after) == ("2026-11-30T09:15:07.000Z", "2026-11-30T09:15:09.000Z")


@keeps("history", "§5 history entries")
def history_tells_who_set_the_owner_and_when(portal, call, clock):
    owner = portal.add_owner("ann@example.test")
    lead = contact(portal)
    portal.set_owner("contacts", lead, owner)
    clock.move(seconds=2)
    call.patch(lead, {OWNER: ""})
    read = call.record(lead, propertiesWithHistory=OWNER).json()["propertiesWithHistory"]
    told = [
        (entry["value"], entry["timestamp"], entry["sourceType"], entry["sourceId"])
        for entry in read[OWNER]
    ]
    assert told == [
        ("", "2026-11-30T09:15:09.000Z", "INTEGRATION", "9001"),
        (owner, "2026-11-30T09:15:07.000Z", "CRM_UI", "userId:7"),
    ]
    (result,) = call.read([lead], history=(OWNER,)).json()["results"]
    assert result["propertiesWithHistory"] == read


@keeps("admin_rule_dated", "§0.5")
def admin_rules_bind_writes_from_2026_09_on(portal, call, clock):
    portal.admin_rule = "company"
    owner = portal.add_owner("ann@example.test")
    lead = contact(portal)
    assert call.patch(lead, {OWNER: owner}, "2026-03").status_code == 200
    assert code(call.patch(lead, {OWNER: owner}, "2026-09")) == (400, "REQUIRED_PROPERTY")
    filled = contact(portal, company="Example")
    assert call.patch(filled, {OWNER: owner}, "2026-09").status_code == 200


# -- merges


@keeps("merged_single", "§5 merges")
def a_merged_id_leads_a_single_call_to_the_survivor(portal, call, clock):
    first, second = contact(portal), contact(portal)
    owner = portal.add_owner("ann@example.test")
    survivor = portal.merge(first, [second], new_id=True)
    for gone in (first, second):
        assert call.record(gone).json().get("id") == survivor
    assert call.patch(second, {OWNER: owner}).json().get("id") == survivor
    assert portal.owner_of("contacts", survivor) == owner
    merged = call.record(survivor, properties="hs_merged_object_ids").json()["properties"]
    assert set(merged["hs_merged_object_ids"].split(";")) == {first, second}


@keeps("merged_batch_update", "§5 merges")
def a_batch_update_does_not_find_a_merged_id(portal, call, clock):
    first, second = contact(portal), contact(portal)
    owner = portal.add_owner("ann@example.test")
    portal.merge(first, [second])
    answer = call.update({first: owner, second: owner})
    assert [result["id"] for result in answer.json()["results"]] == [first]
    assert answer.json().get("errors", [{}])[0].get("context") == {"ids": [second]}


# -- owners


@keeps("owner_pages", "§6 owners, §10 #10")
def owners_come_in_pages(portal, call, clock):
    ids = [portal.add_owner(f"rep{n}@example.test") for n in range(230)]
    told, pages, after = [], 0, {}
    while pages < 5:
        body = call.get("/crm/v3/owners/", **after).json()
        told += [owner["id"] for owner in body["results"]]
        pages += 1
        if "paging" not in body:
            break
        after = {"after": body["paging"]["next"]["after"]}
    assert (told, pages) == (ids, 3)
    assert call.get("/crm/v3/owners", limit=501).status_code == 400


@keeps("owner_lists", "§6 owners")
def archived_owners_are_a_list_of_their_own(portal, call, clock):
    active = portal.add_owner("ann@example.test")
    gone = portal.add_owner("bob@example.test", archived=True)
    assert [o["id"] for o in call.get("/crm/v3/owners").json()["results"]] == [active]
    archived = call.get("/crm/v3/owners", archived="true").json()["results"]
    assert [(o["id"], o["archived"]) for o in archived] == [(gone, True)]
    assert call.get(f"/crm/v3/owners/{gone}").status_code == 404
    assert call.get(f"/crm/v3/owners/{gone}", archived="true").status_code == 200


@keeps("archived_user_id", "§6 owners, §10 #8")
def an_archived_owner_has_no_user_id(portal, call, clock):
    owner = portal.add_owner("bob@example.test", archived=True)
    (told,) = call.get("/crm/v3/owners", archived="true").json()["results"]
    assert told["userId"] is None
    assert str(told["userIdIncludingInactive"]) == portal.user_id_of(owner)


# -- limits


@keeps("rate_limit", "§4 limits and 429 body")
def calls_beyond_a_limit_are_refused(portal, call, clock):
    portal.ten_secondly_limit, portal.daily_limit = 2, 3
    assert call.get("/crm/v3/owners").status_code == 200
    assert call.get("/crm/v3/owners").status_code == 200
    refused = call.get("/crm/v3/owners")
    assert code(refused) == (429, "TEN_SECONDLY_ROLLING")
    assert refused.json()["errorType"] == "RATE_LIMIT"
    assert "Retry-After" not in refused.headers
    portal.retry_after = True
    assert call.get("/crm/v3/owners").headers["Retry-After"] == "10"
    clock.move(seconds=10)
    assert call.get("/crm/v3/owners").status_code == 200
    clock.move(seconds=10)
    assert code(call.get("/crm/v3/owners")) == (429, "DAILY")
    clock.move(hours=20)  # past midnight in the account's time zone
    assert call.get("/crm/v3/owners").status_code == 200


@keeps("rate_headers", "§4 headers")
def answers_tell_what_is_left(portal, call, clock):
    headers = call.get("/crm/v3/owners").headers
    assert headers.get("X-HubSpot-RateLimit-Max") == "190"
    assert headers["X-HubSpot-RateLimit-Remaining"] == "189"
    assert headers["X-HubSpot-RateLimit-Interval-Milliseconds"] == "10000"
    assert headers["X-HubSpot-RateLimit-Daily-Remaining"] == "624999"
