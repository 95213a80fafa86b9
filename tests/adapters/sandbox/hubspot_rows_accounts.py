"""Checks of the sandbox HubSpot's rules about people, tokens, callbacks and counters."""

from __future__ import annotations

from hubspot_caller import code
from hubspot_rows import OWNER, contact, keeps

RENEW = {"grant_type": "refresh_token", "client_id": "sandbox-client-id"}


def renew(call, refresh_token, **changes):
    form = {**RENEW, "client_secret": "sandbox-client-secret", "refresh_token": refresh_token}
    return call.session.post(call.portal.url + "/oauth/v1/token", data=form | changes)


def use(call, answer):
    call.session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


# -- people


@keeps("user_record_owner", "§5 three different ids")
def the_id_of_a_user_record_is_no_owner(portal, call, clock):
    lead = contact(portal)
    owner = portal.add_owner("ann@example.test")
    record = portal.user_record_id_of(owner)
    assert code(call.patch(lead, {OWNER: record})) == (400, "INVALID_OWNER_ID")
    assert len({owner, portal.user_id_of(owner), record}) == 3


@keeps("owner_email", "§6 owners: by exact address")
def an_owner_is_found_by_the_whole_address(portal, call, clock):
    portal.add_owner("ann@example.test")
    owner = portal.add_owner("an@example.test")
    found = call.get("/crm/v3/owners", email="AN@example.test").json()["results"]
    assert [one["id"] for one in found] == [owner]
    assert call.get("/crm/v3/owners", email="an").json()["results"] == []


# -- tokens


@keeps("token_expiry", "§3 expired token body, §10 #18")
def an_access_token_is_good_for_half_an_hour(portal, call, clock):
    use(call, renew(call, portal.use_oauth()))
    clock.move(seconds=1799)
    assert call.get("/crm/v3/owners").status_code == 200
    clock.move(seconds=6)
    answer = call.get("/crm/v3/owners")
    assert code(answer) == (401, "EXPIRED_AUTHENTICATION")
    assert "expired 5 second(s) ago" in answer.json()["message"]
    assert answer.json()["context"] == {"expire time": ["2026-11-30T09:45:07.000Z"]}


@keeps("refresh_token", "§3 bad refresh, §10 #19")
def a_revoked_or_replaced_refresh_token_is_refused(portal, call, clock):
    first = portal.use_oauth()
    portal.rotate_refresh_token = True
    second = renew(call, first).json()["refresh_token"]
    assert second != first
    answer = renew(call, first)
    assert (answer.status_code, answer.json().get("status")) == (400, "BAD_REFRESH_TOKEN")
    use(call, renew(call, second))
    portal.revoke()
    assert code(call.get("/crm/v3/owners")) == (401, "INVALID_AUTHENTICATION")
    assert renew(call, second).json().get("status") == "BAD_REFRESH_TOKEN"


@keeps("oauth_client", "§3 token exchange, INF for the words")
def the_token_endpoint_wants_the_apps_own_id_and_secret(portal, call, clock):
    refresh = portal.use_oauth()
    wrong_id = renew(call, refresh, client_id="another")
    assert (wrong_id.status_code, wrong_id.json().get("status")) == (400, "BAD_CLIENT_ID")
    wrong_secret = renew(call, refresh, client_secret="another")
    assert wrong_secret.json().get("status") == "BAD_CLIENT_SECRET"


@keeps("oauth_code", "§3 token exchange, INF for the words")
def a_code_is_good_once_and_for_one_address(portal, call, clock):
    portal.use_oauth()
    code_ = portal.tokens.grant_code("https://leads.example.test/done")
    form = {
        "grant_type": "authorization_code",
        "client_id": "sandbox-client-id",
        "client_secret": "sandbox-client-secret",
        "code": code_,
        "redirect_uri": "https://leads.example.test/done",
    }
    address = portal.url + "/oauth/v3/token"
    other = call.session.post(address, data=form | {"redirect_uri": "https://other.example.test"})
    assert other.json().get("status") == "BAD_REDIRECT_URI"
    use(call, call.session.post(address, data=form))
    assert call.get("/crm/v3/owners").status_code == 200
    assert call.session.post(address, data=form).json().get("status") == "BAD_AUTH_CODE"


@keeps("oauth_form", "§3 token exchange")
def the_token_endpoint_takes_forms_only(portal, call, clock):
    refresh = portal.use_oauth()
    form = {**RENEW, "client_secret": "sandbox-client-secret", "refresh_token": refresh}
    assert call.post("/oauth/v3/token", form).status_code == 400
    assert call.session.post(portal.url + "/oauth/v1/token", params=form).status_code == 400
    assert renew(call, refresh).status_code == 200


# -- callbacks


@keeps("callback_known", "§1c callbacks, INF for the refusal")
def an_unknown_callback_is_not_found(portal, call, clock):
    assert code(call.complete("ap-1", {})) == (404, "OBJECT_NOT_FOUND")
    portal.callbacks.open("ap-1")
    assert call.complete("ap-1", {"hs_execution_state": "SUCCESS"}).status_code == 204
    assert portal.completed == {"ap-1": {"hs_execution_state": "SUCCESS"}}


@keeps("callback_once", "§1c callbacks, INF")
def a_callback_is_completed_once(portal, call, clock):
    portal.callbacks.open("ap-1")
    assert call.complete("ap-1", {"n": "1"}).status_code == 204
    assert call.complete("ap-1", {"n": "2"}).status_code == 404
    assert portal.completed["ap-1"] == {"n": "1"}


@keeps("callback_ends", "§1c: default one week, hs_expiration_duration")
def a_callback_ends_after_a_week_or_when_the_action_said(portal, call, clock):
    portal.callbacks.open("ap-1")
    portal.callbacks.open("ap-2", "PT4H30M")
    clock.move(hours=4, minutes=29)
    assert portal.callbacks.waiting() == ["ap-1", "ap-2"]
    clock.move(minutes=1)
    assert call.complete("ap-2", {}).status_code == 404
    assert call.complete("ap-1", {}).status_code == 204


@keeps("typed_outputs", "§1c: SPEC 2026 requires typedOutputs")
def dated_versions_want_typed_outputs(portal, call, clock):
    portal.callbacks.open("ap-1")
    path = "/automation/actions/callbacks/2026-03/ap-1/complete"
    answer = call.post(path, {"outputFields": {}})
    assert code(answer) == (400, "VALIDATION_ERROR")
    assert "typedOutputs" in answer.json()["message"]
    assert call.post(path, {"outputFields": {}, "typedOutputs": {}}).status_code == 204


# -- counters


@keeps("own_counters", "§4: exempt from the ten-secondly limit, no headers on searches")
def associations_have_a_counter_of_their_own(portal, call, clock):
    portal.ten_secondly_limit, portal.association_limit = 1, 2
    lead = contact(portal)
    for _ in range(2):
        answer = call.links("contacts", "companies", [lead])
        assert answer.status_code == 200
        assert not [name for name in answer.headers if name.startswith("X-HubSpot-RateLimit")]
    assert code(call.links("contacts", "companies", [lead])) == (429, "TEN_SECONDLY_ROLLING")
    assert call.get("/crm/v3/owners").status_code == 200


@keeps("oauth_limits", "§4: 110 in ten seconds, no daily headers for OAuth")
def calls_with_oauth_tokens_have_a_smaller_limit(portal, call, clock):
    portal.daily_limit = 1
    use(call, renew(call, portal.use_oauth()))
    headers = [call.get("/crm/v3/owners").headers for _ in range(2)][1]
    assert headers.get("X-HubSpot-RateLimit-Max") == "110"
    assert "X-HubSpot-RateLimit-Daily" not in headers
