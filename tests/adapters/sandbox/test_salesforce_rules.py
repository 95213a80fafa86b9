"""Each rule of the sandbox org, its source, and a check over HTTP that notices its absence.

Sources are the section or test number of the project's Salesforce fact sheet and the tag of the
public page or repository named there.
"""

from __future__ import annotations

import pytest
import salesforce_rows_org  # noqa: F401 - adds its rows
from salesforce_caller import code, entry, serving
from salesforce_rows import ROWS, keeps, people

from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_rules import RULES

# -- log-in and limits


@keeps("client_credentials", "§2 D9b, §13 token")
def wrong_secrets_get_no_token(org, call, clock):
    for form, error in (
        ({"client_secret": "wrong"}, "invalid_client"),
        ({"client_id": "wrong"}, "invalid_client_id"),
    ):
        answer = call.token(**form)
        assert (answer.status_code, answer.json().get("error")) == (400, error)


@keeps("jwt_bearer", "§2 D28 R9")
def an_unsigned_assertion_gets_no_token(org, call, clock):
    grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    answer = call.token(grant_type=grant, assertion="e30.e30.x")
    assert (answer.status_code, answer.json().get("error")) == (400, "invalid_grant")


@keeps("no_expires_in", "§2 R9, §13 token")
def a_token_does_not_tell_its_life(org, call, clock):
    told = set(call.token().json())
    assert {"access_token", "instance_url", "id", "token_type", "issued_at", "signature"} <= told
    assert "expires_in" not in told


@keeps("session", "§2 D13 R10")
def an_expired_token_is_refused_with_a_list(org, call, clock):
    org.expire_tokens()
    answer = call.get("/limits")
    assert code(answer) == (401, "INVALID_SESSION_ID")
    assert answer.json() == [
        {"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}
    ]


@keeps("session_timeout", "§2 W30 W31")
def a_session_ends_two_hours_after_its_last_call(org, call, clock):
    clock.move(minutes=119)
    assert call.get("/limits").status_code == 200
    clock.move(minutes=119)
    assert call.get("/limits").status_code == 200
    clock.move(minutes=121)
    assert code(call.get("/limits")) == (401, "INVALID_SESSION_ID")


@keeps("limit_info", "§3.5 D34")
def every_answer_but_the_versions_tells_the_usage(org, call, clock):
    assert call.get("/limits").headers.get("Sforce-Limit-Info") == "api-usage=1/100000"
    assert call.get("/nothing").headers.get("Sforce-Limit-Info") == "api-usage=2/100000"
    versions = call.session.get(f"{org.url}/services/data/")
    assert "Sforce-Limit-Info" not in versions.headers
    assert call.get("/limits").json()["DailyApiRequests"]["Remaining"] == 99_997


@keeps("daily_limit", "§3.4 D13, T31")
def the_call_after_the_last_one_of_the_day_is_refused(org, call, clock):
    org.daily_limit = 1
    assert call.get("/limits").status_code == 200
    assert code(call.get("/limits")) == (403, "REQUEST_LIMIT_EXCEEDED")


@keeps("uri_limit", "§6 D30")
def a_long_address_is_refused(org, call, clock):
    ids = ",".join(f"'{org.integration_user}'" for _ in range(900))
    assert call.query(f"SELECT Id FROM User WHERE Id IN ({ids})").status_code == 414
    assert call.get("/limits", X_Padding="x" * 16_384).status_code == 431


# -- ids


@keeps("id_suffix", "§4 R12, T33")
def a_wrong_suffix_is_malformed(org, call, clock):
    user, _, lead = people(org)
    for wrong in (lead[:15] + "AAB", lead[:16], "00Q/../User000000"):
        assert code(call.get(f"/sobjects/Lead/{wrong[:18]}"))[0] in (400, 404)
    wrong = lead[:15] + "AAB"
    assert code(call.get(f"/sobjects/Lead/{wrong}")) == (400, "MALFORMED_ID")
    assert code(call.patch(wrong, {"OwnerId": user})) == (400, "MALFORMED_ID")
    assert code(call.patch(lead, {"OwnerId": user[:15] + "AAB"})) == (400, "MALFORMED_ID")


@keeps("id_prefix", "§4 prefixes, §3.4 MALFORMED_ID")
def an_id_of_another_object_is_malformed(org, call, clock):
    user, _, _ = people(org)
    account = org.create("Account", {"Name": "Acme"})
    (result,) = call.patch_all([entry(account, user, kind="Lead")]).json()
    assert result["success"] is False
    assert result["errors"][0]["statusCode"] == "MALFORMED_ID"


@keeps("case_matters", "§4 X8, T33")
def case_twins_are_two_records(org, call, clock):
    small = org.create("Lead", {"LastName": "a"}, record_id="00QRR00000aBcDe")
    big = org.create("Lead", {"LastName": "A"}, record_id="00QRR00000AbCdE2AV")
    assert call.ids("SELECT Id FROM Lead WHERE Id = '00QRR00000AbCdE'") == [big]
    assert call.ids(f"SELECT Id FROM Lead WHERE Id IN ('{small}')") == [small]


# -- owners


@keeps("owner_exists", "§3.4 INVALID_CROSS_REFERENCE_KEY, I14c")
def an_unknown_owner_is_refused(org, call, clock):
    _, queue, lead = people(org)
    answer = call.patch(lead, {"OwnerId": "0055g000009AbCdAAK"})
    assert code(answer) == (400, "INVALID_CROSS_REFERENCE_KEY")
    assert org.owner_of(lead) == queue


@keeps("owner_active", "§3.4 I11 W5, T22")
def an_inactive_owner_is_refused(org, call, clock):
    user, queue, lead = people(org)
    org.deactivate(user)
    assert code(call.patch(lead, {"OwnerId": user})) == (400, "INACTIVE_OWNER_OR_USER")
    assert org.owner_of(lead) == queue


@keeps("owner_prefix", "§3.4 FIELD_INTEGRITY_EXCEPTION")
def an_owner_that_is_no_person_is_refused(org, call, clock):
    _, _, lead = people(org)
    contact = org.create("Contact", {"LastName": "Owner"})
    assert code(call.patch(lead, {"OwnerId": contact})) == (400, "FIELD_INTEGRITY_EXCEPTION")


@keeps("owner_queue", "§4 R15, §3.4 I14a, T21")
def a_queue_owns_leads_but_no_account(org, call, clock):
    user, queue, lead = people(org)
    account = org.create("Account", {"Name": "Acme", "OwnerId": user})
    answer = call.patch(account, {"OwnerId": queue}, "Account")
    assert code(answer) == (400, "FIELD_INTEGRITY_EXCEPTION")
    assert answer.json()[0]["fields"] == ["OwnerId"]
    assert call.patch(lead, {"OwnerId": queue}).status_code == 204


@keeps("blank_owner", "§3.4")
def an_owner_cannot_be_blank(org, call, clock):
    _, _, lead = people(org)
    assert code(call.patch(lead, {"OwnerId": None})) == (400, "INVALID_CROSS_REFERENCE_KEY")


# -- one row


@keeps("deleted", "§3.4 ENTITY_IS_DELETED R14")
def a_deleted_record_is_gone(org, call, clock):
    user, _, lead = people(org)
    org.delete(lead)
    assert code(call.get(f"/sobjects/Lead/{lead}")) == (404, "ENTITY_IS_DELETED")
    assert code(call.patch(lead, {"OwnerId": user})) == (404, "ENTITY_IS_DELETED")
    (result,) = call.patch_all([entry(lead, user)]).json()
    assert result["errors"][0]["statusCode"] == "ENTITY_IS_DELETED"


@keeps("converted_lead", "§3.4 D31 W7")
def a_converted_lead_is_read_only(org, call, clock):
    user, _, lead = people(org)
    org.convert(lead)
    assert code(call.patch(lead, {"OwnerId": user})) == (400, "CANNOT_UPDATE_CONVERTED_LEAD")
    org.edit_converted_leads = True
    assert call.patch(lead, {"OwnerId": user}).status_code == 204


@keeps("row_lock", "§3.4 UNABLE_TO_LOCK_ROW, T11")
def a_locked_row_opens_after_some_tries(org, call, clock):
    user, _, lead = people(org)
    org.lock_row(lead, tries=2)
    tries = [code(call.patch(lead, {"OwnerId": user})) for _ in range(3)]
    locked = (400, "UNABLE_TO_LOCK_ROW")
    assert tries == [locked, locked, (204, None)]


@keeps("unknown_field", "§3.4 INVALID_FIELD R12")
def a_field_that_is_not_there_is_refused(org, call, clock):
    _, _, lead = people(org)
    assert code(call.patch(lead, {"StateCode": "CA"})) == (400, "INVALID_FIELD")
    assert code(call.query("SELECT Id, StateCode FROM Lead")) == (400, "INVALID_FIELD")


@keeps("read_only", "§3.4 INVALID_FIELD_FOR_INSERT_UPDATE")
def a_system_field_cannot_be_written(org, call, clock):
    _, _, lead = people(org)
    answer = call.patch(lead, {"IsConverted": True})
    assert code(answer) == (400, "INVALID_FIELD_FOR_INSERT_UPDATE")


@keeps("validation", "§3.4 FIELD_CUSTOM_VALIDATION_EXCEPTION")
def a_validation_rule_stops_any_save(org, call, clock):
    user, queue, lead = people(org)
    org.validation_rule = lambda kind, fields: [("Country must be filled in", "Country")]
    answer = call.patch(lead, {"OwnerId": user})
    assert code(answer) == (400, "FIELD_CUSTOM_VALIDATION_EXCEPTION")
    assert org.owner_of(lead) == queue


@keeps("one_error_many", "§3.1 I9, T9")
def all_broken_rules_are_told(org, call, clock):
    user, _, lead = people(org)
    org.validation_rule = lambda kind, fields: [("one", "Country"), ("two", "State")]
    told = call.patch(lead, {"OwnerId": user}).json()
    assert [(each["message"], each["fields"]) for each in told] == [
        ("one", ["Country"]),
        ("two", ["State"]),
    ]


@keeps("duplicate_rule", "§3.5 D32 W9")
def a_duplicate_rule_asks_for_a_header(org, call, clock):
    user, _, lead = people(org)
    twin = org.create("Lead", {"LastName": "Example"})
    org.duplicate_rule = lambda kind, fields: twin
    answer = call.patch(lead, {"OwnerId": user})
    assert code(answer) == (400, "DUPLICATES_DETECTED")
    assert answer.json()[0]["duplicateResult"]["allowSave"] is True
    header = "allowSave=true; includeRecordDetails=false; runAsCurrentUser=false"
    saved = call.patch(lead, {"OwnerId": user}, Sforce_Duplicate_Rule_Header=header)
    assert saved.status_code == 204


@keeps("assignment_rules", "§0.4 D15, T12")
def assignment_rules_run_unless_told_not_to(org, call, clock):
    user, queue, lead = people(org)
    account = org.create("Account", {"Name": "Acme", "OwnerId": user})
    org.assignment_rule = lambda kind, fields: queue if kind == "Lead" else org.integration_user
    assert call.patch(lead, {"OwnerId": user}).status_code == 204
    assert org.owner_of(lead) == queue
    call.patch_all([entry(lead, user)])
    assert org.owner_of(lead) == queue
    call.patch(account, {"OwnerId": user}, "Account")
    assert org.owner_of(account) == org.integration_user
    call.patch_all([entry(lead, user)], Sforce_Auto_Assign="FALSE")
    assert org.owner_of(lead) == user


@keeps("modified_stamps", "§13 PATCH")
def a_write_moves_the_stamps(org, call, clock):
    user, _, lead = people(org)
    clock.move(seconds=5)
    call.patch(lead, {"OwnerId": user})
    row = call.get(f"/sobjects/Lead/{lead}")
    assert row.json()["LastModifiedDate"] == "2026-11-30T09:15:12.000+0000"
    assert row.json()["SystemModstamp"] == "2026-11-30T09:15:12.000+0000"
    assert row.json()["CreatedDate"] == "2026-11-30T09:15:07.000+0000"
    assert row.headers["Last-Modified"] == "Mon, 30 Nov 2026 09:15:12 GMT"


@keeps("unmodified_since", "§3.5 D16, §3.6, T38")
def a_change_meanwhile_fails_the_precondition(org, call, clock):
    user, _, lead = people(org)
    before = call.get(f"/sobjects/Lead/{lead}").headers["Last-Modified"]
    org.before_write(lambda *_: (clock.move(seconds=2), org.change(lead, {"Country": "DE"})))
    answer = call.patch(lead, {"OwnerId": user}, If_Unmodified_Since=before)
    assert answer.status_code == 412
    org.write_hook = None
    now = call.get(f"/sobjects/Lead/{lead}").headers["Last-Modified"]
    assert call.patch(lead, {"OwnerId": user}, If_Unmodified_Since=now).status_code == 204
    assert call.patch(lead, {"OwnerId": user}, If_Unmodified_Since="soon").status_code == 400


# -- queries


@keeps("deleted_hidden", "§7 queryAll")
def query_hides_the_deleted(org, call, clock):
    _, _, lead = people(org)
    org.delete(lead)
    assert call.ids("SELECT Id FROM Lead") == []
    assert call.ids("SELECT Id FROM Lead", "queryAll") == [lead]


@keeps("malformed_query", "§3.4 MALFORMED_QUERY")
def a_query_that_is_no_soql_is_refused(org, call, clock):
    for text in ("", "SELECT", "SELECT Id FROM Lead WHERE", "SELECT Id FROM Lead WHERE Name = 'x"):
        assert code(call.query(text)) == (400, "MALFORMED_QUERY")


@keeps("unknown_type", "§3.4 INVALID_TYPE")
def an_object_that_is_not_there_is_refused(org, call, clock):
    assert code(call.query("SELECT Id FROM Leads")) == (400, "INVALID_TYPE")


@keeps("paging", "§13 query, §6 D33")
def rows_come_in_pages(org, call, clock):
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(5)]
    org.page_size = 2
    page = call.query("SELECT Id FROM Lead").json()
    found = page["records"]
    assert (page["totalSize"], page["done"], len(found)) == (5, False, 2)
    while not page["done"]:
        page = call.session.get(org.url + page["nextRecordsUrl"]).json()
        found += page["records"]
    assert [row["Id"] for row in found] == leads
    assert "nextRecordsUrl" not in page


@keeps("locator", "§13 INVALID_QUERY_LOCATOR")
def a_made_up_locator_is_refused(org, call, clock):
    answer = call.get("/query/01g5g0000000009EAA-2000-2000")
    assert code(answer) == (400, "INVALID_QUERY_LOCATOR")


# -- collections


@keeps("collections_empty", "§3.2 R12")
def no_record_at_all_is_refused(org, call, clock):
    assert code(call.patch_all([])) == (400, "REQUIRED_FIELD_MISSING")


@keeps("collections_limit", "§3.2 D14")
def two_hundred_pass_and_one_more_does_not(org, call, clock):
    user, queue, lead = people(org)
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(200)]
    entries = [entry(each, user) for each in leads]
    assert call.patch_all([*entries, entry(lead, user)]).status_code == 400
    assert org.owner_of(lead) == queue
    results = call.patch_all(entries).json()
    assert [result["id"] for result in results if result["success"]] == leads


@keeps("collections_runs", "§3.2 D14")
def ten_runs_of_a_type_pass_and_eleven_do_not(org, call, clock):
    user, _, _ = people(org)
    kinds = ["Lead", "Contact"] * 6
    entries = [entry(org.create(kind, {"LastName": "x"}), user, kind) for kind in kinds]
    assert call.patch_all(entries[:11]).status_code == 400
    assert call.patch_all(entries[:10]).status_code == 200


@keeps("missing_id", "§3.2 R12")
def an_entry_without_an_id_fails_by_itself(org, call, clock):
    user, _, lead = people(org)
    first, second = call.patch_all([entry(None, user), entry(lead, user)]).json()
    assert first["errors"][0]["statusCode"] == "MISSING_ARGUMENT"
    assert second["success"] is True


@keeps("duplicate_ids", "§3.2 I21")
def the_same_id_twice_is_refused(org, call, clock):
    user, _, lead = people(org)
    results = call.patch_all([entry(lead, user), entry(lead[:15], user)]).json()
    assert [result["success"] for result in results] == [True, False]


@keeps("all_or_none", "§3.2 R12")
def one_failure_takes_the_others_back(org, call, clock):
    user, queue, lead = people(org)
    results = call.patch_all([entry(lead, user), entry(None, user)], all_or_none=True).json()
    told = [result["errors"] and result["errors"][0]["statusCode"] for result in results]
    assert told == ["ALL_OR_NONE_OPERATION_ROLLED_BACK", "MISSING_ARGUMENT"]
    assert org.owner_of(lead) == queue


@keeps("always_200", "§3.2 D14")
def a_call_whose_records_all_fail_answers_200(org, call, clock):
    user, _, lead = people(org)
    assert call.patch_all([entry(lead[:15] + "AAB", user)]).status_code == 200


@keeps("result_no_id", "§3.2 R12, T10")
def a_failed_result_has_no_id(org, call, clock):
    user, _, lead = people(org)
    org.lock_row(lead, tries=1)
    (result,) = call.patch_all([entry(lead, user)]).json()
    assert set(result) == {"success", "errors"}


@keeps("status_code_key", "§3.2 R12")
def collection_errors_say_status_code(org, call, clock):
    user, _, lead = people(org)
    org.lock_row(lead, tries=1)
    (result,) = call.patch_all([entry(lead, user)]).json()
    (error,) = result["errors"]
    assert set(error) == {"statusCode", "message", "fields"}
    assert lead in error["message"]


@keeps("result_order", "§3.2 D14, T10")
def results_come_in_the_order_of_the_request(org, call, clock):
    user, _, lead = people(org)
    other = org.create("Lead", {"LastName": "Other"})
    bad = entry(lead[:15] + "AAB", user)
    results = call.patch_all([entry(lead, user), bad, entry(other, user)]).json()
    assert [result.get("id") for result in results] == [lead, None, other]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_org_keeps_its_rule(row):
    with serving() as (org, call, clock):
        row.check(org, call, clock)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_check_fails_without_its_rule(row):
    with serving(without={row.rule}) as (org, call, clock), pytest.raises(AssertionError):
        row.check(org, call, clock)


def test_every_rule_of_the_api_has_a_row():
    assert sorted(row.rule for row in ROWS) == sorted(r for r in RULES if not r.startswith("om_"))


def test_an_unknown_rule_cannot_be_left_out():
    with pytest.raises(ValueError, match="no rule"):
        SalesforceSandbox(without={"gravity"})
