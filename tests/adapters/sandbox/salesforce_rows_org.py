"""Rules that turn on how an org is set up: who may do what, what is hidden, what else runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event, Semaphore

from salesforce_caller import code, entry
from salesforce_rows import keeps, people


@keeps("automation", "T23")
def other_automation_takes_a_lead_whatever_the_headers_say(org, call, clock):
    user, queue, lead = people(org)
    org.automation = lambda kind, fields: queue
    answer = call.patch(lead, {"OwnerId": user}, Sforce_Auto_Assign="FALSE")
    assert (answer.status_code, org.owner_of(lead)) == (204, queue)
    call.patch_all([entry(lead, user)], Sforce_Auto_Assign="FALSE")
    assert org.owner_of(lead) == queue


@keeps("entity_tags", "§0.7 D16, §3.5")
def a_tag_guards_an_account_only(org, call, clock):
    user, _, lead = people(org)
    account = org.create("Account", {"Name": "Acme"})
    tag = call.get(f"/sobjects/Account/{account}").headers["ETag"]
    assert call.patch(account, {"OwnerId": user}, "Account", If_Match=tag).status_code == 204
    clock.move(seconds=2)
    org.change(account, {"Phone": "1"})
    assert call.patch(account, {"Phone": "2"}, "Account", If_Match=tag).status_code == 412
    assert call.patch(lead, {"OwnerId": user}, If_Match='"other"').status_code == 204


@keeps("transfer_right", "§3.4 INSUFFICIENT_ACCESS_OR_READONLY D20 R14")
def only_who_may_transfer_changes_an_owner(org, call, clock):
    user, _, lead = people(org)
    org.may_transfer = False
    assert code(call.patch(lead, {"OwnerId": user})) == (403, "INSUFFICIENT_ACCESS_OR_READONLY")
    assert call.patch(lead, {"Country": "DE"}).status_code == 204


@keeps("owner_licence", "§3.4 OP_WITH_INVALID_USER_TYPE_EXCEPTION R8")
def a_user_with_the_wrong_licence_owns_nothing(org, call, clock):
    _, _, lead = people(org)
    guest = org.add_user("Guest", "guest@example.com", user_type="CsnOnly")
    answer = call.patch(lead, {"OwnerId": guest})
    assert code(answer) == (400, "OP_WITH_INVALID_USER_TYPE_EXCEPTION")


@keeps("owner_reads", "§3.4 TRANSFER_REQUIRES_READ R13 D20")
def an_owner_must_be_able_to_read(org, call, clock):
    user, _, lead = people(org)
    org.hide_from(user, "Lead")
    assert code(call.patch(lead, {"OwnerId": user})) == (400, "TRANSFER_REQUIRES_READ")
    contact = org.create("Contact", {"LastName": "Example"})
    assert call.patch(contact, {"OwnerId": user}, "Contact").status_code == 204


@keeps("field_security", "§3.4 INVALID_FIELD R12, §5, §13 describe")
def hidden_fields_are_not_there_and_locked_ones_stay(org, call, clock):
    user, _, lead = people(org)
    org.hide("Lead", "Industry")
    org.make_read_only("Lead", "OwnerId")
    told = {each["name"]: each for each in call.get("/sobjects/Lead/describe").json()["fields"]}
    assert "Industry" not in told
    assert told["OwnerId"]["updateable"] is False
    assert code(call.query("SELECT Industry FROM Lead")) == (400, "INVALID_FIELD")
    assert "Industry" not in call.get(f"/sobjects/Lead/{lead}").json()
    answer = call.patch(lead, {"OwnerId": user})
    assert code(answer) == (400, "INVALID_FIELD_FOR_INSERT_UPDATE")


@keeps("object_security", "§5 D37, §3.4 INVALID_TYPE")
def hidden_objects_are_not_there(org, call, clock):
    org.hide("Case")
    names = [each["name"] for each in call.get("/sobjects").json()["sobjects"]]
    assert "Case" not in names
    assert "Lead" in names
    for hidden in ("Case", "UserServicePresence"):
        assert code(call.query(f"SELECT Id FROM {hidden}")) == (400, "INVALID_TYPE")
        assert code(call.get(f"/sobjects/{hidden}/describe")) == (404, "NOT_FOUND")
    org.features = ["omni_channel"]
    assert call.ids("SELECT Id FROM UserServicePresence") == []


@keeps("unfilterable", "§5 D36")
def some_fields_cannot_be_filtered_by(org, call, clock):
    soql = "SELECT UserId, IsEnabled FROM OutOfOffice"
    assert call.query(soql).status_code == 200
    assert code(call.query(f"{soql} WHERE IsEnabled = true")) == (400, "INVALID_FIELD")


@keeps("whole_seconds", "§1a, §1d T29")
def records_are_stamped_in_whole_seconds(org, call, clock):
    clock.move(milliseconds=345)
    lead = org.create("Lead", {"LastName": "Example"})
    row = call.get(f"/sobjects/Lead/{lead}").json()
    assert row["SystemModstamp"] == row["CreatedDate"] == "2026-11-30T09:15:07.000+0000"


@keeps("maintenance", "§3.4, §13 limits")
def in_a_maintenance_little_works(org, call, clock):
    user, _, lead = people(org)
    org.is_read_only = True
    word = "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE"
    assert code(call.patch(lead, {"OwnerId": user})) == (400, word)
    (result,) = call.patch_all([entry(lead, user)]).json()
    assert result["errors"][0]["statusCode"] == word
    assert call.ids("SELECT Id FROM Lead") == [lead]
    org.is_down = True
    assert code(call.query("SELECT Id FROM Lead")) == (503, "SERVER_UNAVAILABLE")


@keeps("concurrent_limit", "§6 D39, §3.4, T31")
def a_call_beside_too_many_long_ones_is_refused(org, call, clock):
    user, _, lead = people(org)
    org.long_calls, org.long_call_seconds = 2, 0.0
    running, go_on = Semaphore(0), Event()
    org.before_write(lambda *_: (running.release(), go_on.wait(10)))
    with ThreadPoolExecutor(2) as pool:
        long_ones = [pool.submit(call.patch, lead, {"OwnerId": user}) for _ in range(2)]
        assert running.acquire(timeout=10)
        assert running.acquire(timeout=10)
        answer = call.get("/limits")
        go_on.set()
        assert {each.result().status_code for each in long_ones} == {204}
    assert code(answer) == (403, "REQUEST_LIMIT_EXCEEDED")
    assert answer.json()[0]["message"].startswith("ConcurrentRequests")
    assert call.get("/limits").status_code == 200


@keeps("rest_session", "§2 R11 I5, T8")
def a_session_that_is_not_good_for_rest_stays_so(org, call, clock):
    org.tokens.has_rest = False
    call.log_in()
    answer = call.get("/limits")
    assert code(answer) == (401, "INVALID_SESSION_ID")
    assert answer.json()[0]["message"] == "This session is not valid for use with the REST API"
    org.tokens.has_rest, org.tokens.scope = True, "id"
    assert code(call.get("/limits")) == (401, "INVALID_SESSION_ID")


@keeps("log_in_limit", "§2 D7")
def too_many_log_ins_an_hour_are_refused(org, call, clock):
    org.tokens.log_in_limit = 2  # the caller's own was the first
    assert call.token().status_code == 200
    assert call.token().json().get("error") == "login_rate_exceeded"
    clock.now += timedelta(minutes=61)
    assert call.token().status_code == 200
