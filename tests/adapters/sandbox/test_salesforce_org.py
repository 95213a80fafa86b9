"""What a test can do to the sandbox org, and how it answers then."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric import rsa
from salesforce_caller import START, code, entry, serving

from adapters.sandbox.salesforce import SalesforceSandbox

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture
def at():
    with serving() as scene:
        yield scene


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def with_key(key):
    public = key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
    with serving(public_key=public.decode(), username="api@acme.example") as scene:
        yield scene


def assertion(key, **changed: object) -> str:
    claims = {
        "iss": "sandbox-client",
        "sub": "api@acme.example",
        "aud": "https://login.salesforce.com",
        "exp": int(START.timestamp()) + 180,
    }
    return jwt.encode(claims | changed, key, algorithm="RS256")


# -- log-in


def test_a_good_assertion_gets_a_token_that_works(with_key, key):
    _, call, _ = with_key
    answer = call.token(grant_type=JWT_BEARER, assertion=assertion(key))
    call.session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    assert call.get("/limits").status_code == 200


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"iss": "other"}, "invalid_client_id"),
        ({"sub": "someone@acme.example"}, "invalid_grant"),
        ({"aud": "https://acme.my.salesforce.com"}, "invalid_grant"),
        ({"exp": int(START.timestamp())}, "invalid_grant"),
        ({"exp": int(START.timestamp()) + 301}, "invalid_grant"),
        ({"exp": "soon"}, "invalid_grant"),
    ],
)
def test_a_bad_assertion_gets_none(with_key, key, changed, error):
    _, call, _ = with_key
    answer = call.token(grant_type=JWT_BEARER, assertion=assertion(key, **changed))
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_an_assertion_signed_by_another_key_gets_none(with_key):
    _, call, _ = with_key
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    answer = call.token(grant_type=JWT_BEARER, assertion=assertion(other))
    assert answer.json()["error"] == "invalid_grant"


def test_a_user_who_did_not_approve_the_app_gets_none(with_key, key):
    org, call, _ = with_key
    org.tokens.is_approved = False
    answer = call.token(grant_type=JWT_BEARER, assertion=assertion(key))
    assert answer.json()["error_description"] == "user hasn't approved this consumer"


def test_the_secret_may_come_as_basic_authorization(at):
    org, _, _ = at
    basic = base64.b64encode(b"sandbox-client:sandbox-secret").decode()
    answer = requests.post(
        f"{org.url}/services/oauth2/token",
        data={"grant_type": "client_credentials"},
        headers={"Authorization": f"Basic {basic}"},
    )
    assert answer.json()["token_type"] == "Bearer"


def test_client_credentials_need_a_user_to_run_as(at):
    org, call, _ = at
    org.tokens.has_run_as_user = False
    assert call.token().json()["error"] == "invalid_grant"


def test_the_password_flow_is_not_offered(at):
    _, call, _ = at
    assert call.token(grant_type="password").json()["error"] == "unsupported_grant_type"


def test_a_refresh_token_that_was_given_out_gets_a_token(at):
    org, call, _ = at
    form = {"grant_type": "refresh_token", "refresh_token": "r1"}
    assert call.token(**form).json()["error"] == "invalid_grant"
    org.tokens.refresh_tokens.add("r1")
    assert call.token(**form).json()["token_type"] == "Bearer"
    assert call.token(**form, client_secret="wrong").json()["error"] == "invalid_client"


def test_a_frozen_user_gets_no_token(at):
    org, call, _ = at
    org.tokens.is_frozen = True
    assert call.token().json()["error"] == "invalid_grant"


def test_the_token_tells_its_scope(at):
    org, call, _ = at
    org.tokens.scope = "api refresh_token"
    assert call.token().json()["scope"] == "api refresh_token"
    call.log_in()
    assert call.get("/limits").status_code == 200


def test_the_identity_can_be_asked_for(at):
    org, call, _ = at
    address = call.token().json()["id"]
    told = call.session.get(address).json()
    assert told == {"user_id": org.integration_user, "organization_id": org.org_id}
    assert requests.get(address).status_code == 403
    assert call.session.get(address[:-1]).status_code == 403


def test_the_identity_names_org_and_user(at):
    org, call, _ = at
    told = call.token().json()
    assert told["instance_url"] == org.url
    assert told["id"] == f"{org.url}/id/00D5g000000XyZ1EAK/{org.integration_user}"


def test_log_ins_are_counted_and_refusals_are_not(at):
    org, call, _ = at
    call.token(client_secret="wrong")
    call.token()
    assert org.log_ins == 2  # the caller's own and this one


def test_an_instance_url_can_end_in_a_slash_that_must_be_stripped(at):
    org, call, _ = at
    org.trailing_slash = True
    instance = call.token().json()["instance_url"]
    assert instance == f"{org.url}/"
    assert code(call.session.get(f"{instance}/services/data/v64.0/limits")) == (404, "NOT_FOUND")


# -- resources


def test_the_versions_run_to_the_newest(at):
    org, call, _ = at
    newest = call.session.get(f"{org.url}/services/data").json()[-1]
    assert newest == {"label": "Winter '27", "url": "/services/data/v68.0", "version": "68.0"}


@pytest.mark.parametrize("version", ["v69.0", "v30.0", "68.0", "v64"])
def test_a_version_that_is_not_listed_is_not_found(at, version):
    org, call, _ = at
    answer = call.session.get(f"{org.url}/services/data/{version}/limits")
    assert code(answer) == (404, "NOT_FOUND")


def test_a_method_that_is_not_offered_is_405(at):
    _, call, _ = at
    answer = call.session.post(f"{call.base}/limits")
    assert code(answer) == (405, "METHOD_NOT_ALLOWED")


def test_a_row_can_be_read_by_its_short_id_and_chosen_fields(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com")
    row = call.get(f"/sobjects/User/{ann[:15]}?fields=Id,IsActive").json()
    del row["attributes"]
    assert row == {"Id": ann, "IsActive": True}


def test_a_row_that_never_was_is_not_found(at):
    _, call, _ = at
    assert code(call.get("/sobjects/Lead/00QRR00000AbCdE2AV")) == (404, "NOT_FOUND")
    assert code(call.patch("00QRR00000AbCdE2AV", {})) == (404, "NOT_FOUND")


def test_only_accounts_have_entity_tags(at):
    org, call, _ = at
    account = org.create("Account", {"Name": "Acme"})
    lead = org.create("Lead", {"LastName": "Example"})
    assert "ETag" in call.get(f"/sobjects/Account/{account}").headers
    assert "ETag" not in call.get(f"/sobjects/Lead/{lead}").headers


def test_a_body_that_is_no_json_object_is_refused(at):
    _, call, _ = at
    for body in (b"{", b"[]", b'{"records": 1}', b'{"records": [1]}'):
        answer = call.session.patch(f"{call.base}/composite/sobjects", data=body)
        assert code(answer) == (400, "JSON_PARSER_ERROR")


# -- what a test can do


def test_a_new_record_belongs_to_the_default_owner(at):
    org, _, _ = at
    assert org.owner_of(org.create("Lead", {"LastName": "a"})) == org.integration_user
    org.default_owner = org.add_queue("Inbox")
    assert org.owner_of(org.create("Lead", {"LastName": "b"})) == org.default_owner


def test_a_record_that_nobody_could_create_is_an_error(at):
    org, _, _ = at
    with pytest.raises(ValueError, match="no field Shoe"):
        org.create("Lead", {"Shoe": 44})
    with pytest.raises(ValueError, match="no object"):
        org.create("Boat", {})
    with pytest.raises(ValueError, match="starts with 00Q"):
        org.create("Lead", {}, record_id=org.integration_user)
    lead = org.create("Lead", {})
    with pytest.raises(ValueError, match="taken"):
        org.create("Lead", {}, record_id=lead)


def test_an_org_seeded_alike_makes_the_same_ids():
    def first_lead(seed: int) -> str:
        return SalesforceSandbox(seed=seed).create("Lead", {"LastName": "a"})

    assert first_lead(1) == first_lead(1) != first_lead(2)


def test_someone_can_take_a_lead_just_before_our_write(at):
    org, call, _ = at
    ann, bob = (org.add_user(name, f"{name}@example.com") for name in ("ann", "bob"))
    lead = org.create("Lead", {"LastName": "Example"})
    seen = []

    def take(kind: str, record_id: str, fields: object) -> None:
        seen.append((kind, record_id, fields, org.owner_of(record_id)))
        org.set_owner(record_id, bob)

    org.before_write(take)
    assert call.patch_all([entry(lead, ann)]).json()[0]["success"] is True
    assert seen == [("Lead", lead, {"OwnerId": ann}, org.integration_user)]
    assert org.owner_of(lead) == ann


def test_a_conversion_makes_a_contact_with_the_same_owner(at):
    org, _, _ = at
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {"LastName": "Example", "Company": "Acme", "OwnerId": ann})
    contact = org.convert(lead)
    assert org.get(lead)["IsConverted"] is True
    assert org.get(lead)["ConvertedContactId"] == contact
    assert org.owner_of(contact) == ann
    assert org.get(str(org.get(contact)["AccountId"]))["Name"] == "Acme"


def test_the_loser_of_a_merge_points_at_the_winner(at):
    org, call, _ = at
    winner, loser = (org.create("Lead", {"LastName": name}) for name in "ab")
    org.merge(winner, loser)
    assert call.ids("SELECT Id FROM Lead") == [winner]
    soql = "SELECT Id, MasterRecordId FROM Lead WHERE IsDeleted = true"
    (row,) = call.query(soql, "queryAll").json()["records"]
    assert (row["Id"], row["MasterRecordId"]) == (loser, winner)


def test_an_inactive_owner_is_taken_where_the_platform_takes_one(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com", active=False)
    account = org.create("Account", {"Name": "Acme"})
    lead = org.create("Lead", {"LastName": "Example"})
    assert call.patch(account, {"OwnerId": ann}, "Account").status_code == 204
    org.accept_inactive_owner = True
    assert call.patch(lead, {"OwnerId": ann}).status_code == 204


def test_a_batch_taken_back_leaves_no_trace(at):
    org, call, clock = at
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {"LastName": "Example"})
    before = org.get(lead)
    told = []
    org.on_change(lambda *change: told.append(change))
    clock.move(seconds=9)
    results = call.patch_all([entry(lead, ann), entry(lead, ann)], all_or_none=True).json()
    assert [result["success"] for result in results] == [False, False]
    assert org.get(lead) == before
    assert told == []


def test_threads_can_write_at_once(at):
    org, call, _ = at
    users = [org.add_user(str(n), f"{n}@example.com") for n in range(4)]
    leads = [org.create("Lead", {"LastName": str(n)}) for n in range(40)]
    token = call.session.headers["Authorization"]

    def write(lead: str, owner: str) -> int:
        address = f"{call.base}/sobjects/Lead/{lead}"
        headers = {"Authorization": token}
        return requests.patch(address, json={"OwnerId": owner}, headers=headers).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(write, leads, users * 10)) == {204}
    assert [org.owner_of(lead) for lead in leads] == users * 10


# -- faults


@pytest.mark.parametrize(
    ("preset", "status", "word"),
    [
        ("daily_limit", 403, "REQUEST_LIMIT_EXCEEDED"),
        ("concurrent_limit", 403, "REQUEST_LIMIT_EXCEEDED"),
        ("session_lasting", 401, "INVALID_SESSION_ID"),
        ("query_timeout", 400, "QUERY_TIMEOUT"),
        ("server_unavailable", 503, "SERVER_UNAVAILABLE"),
    ],
)
def test_a_preset_answers_in_the_words_of_salesforce(at, preset, status, word):
    org, call, _ = at
    org.faults.add("/limits", preset=preset)
    assert code(call.get("/limits")) == (status, word)
    assert call.get("/limits").status_code == 200


def test_the_token_endpoint_can_answer_with_a_page(at):
    org, call, _ = at
    org.faults.add("/oauth2/token", preset="unavailable_page")
    answer = call.token()
    assert (answer.status_code, answer.text[:6]) == (503, "<html>")
    assert call.token().status_code == 200


def test_a_write_can_be_lost_before_it_takes_effect(at):
    org, call, _ = at
    lead = org.create("Lead", {"LastName": "Example"})
    org.faults.add("/sobjects/Lead/", "PATCH", preset="lost_before")
    with pytest.raises(requests.ConnectionError):
        call.patch(lead, {"Country": "DE"})
    assert org.get(lead)["Country"] is None


def test_a_write_can_take_effect_and_lose_its_answer(at):
    org, call, _ = at
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {"LastName": "Example"})
    org.faults.add("/composite/sobjects", preset="lost_after")
    with pytest.raises(requests.ConnectionError):
        call.patch_all([entry(lead, ann)])
    assert org.owner_of(lead) == ann
    assert org.calls_to("/composite/sobjects")[0].json["records"][0]["id"] == lead


@pytest.mark.parametrize("switch", ["is_chunked", "is_compressed"])
def test_answers_may_be_chunked_or_compressed(at, switch):
    org, call, _ = at
    setattr(org, switch, True)
    leads = [org.create("Lead", {"LastName": str(number)}) for number in range(40)]
    answer = call.query("SELECT Id FROM Lead")
    written = call.patch(leads[0], {"Country": "DE"})
    assert written.status_code == 204
    assert not {"Transfer-Encoding", "Content-Encoding"} & set(written.headers)
    assert [row["Id"] for row in answer.json()["records"]] == leads
    told = {"is_chunked": "Transfer-Encoding", "is_compressed": "Content-Encoding"}
    assert told[switch] in answer.headers


def test_a_caller_who_cannot_unpack_gets_plain_answers(at):
    org, call, _ = at
    org.is_compressed = True
    answer = call.get("/limits", Accept_Encoding="identity")
    assert "Content-Encoding" not in answer.headers


def test_switches_are_set_by_hand_too(at):
    org, call, _ = at
    requests.patch(f"{org.url}/_sandbox/switches", json={"page_size": 1})
    for name in "ab":
        org.create("Lead", {"LastName": name})
    assert call.query("SELECT Id FROM Lead").json()["done"] is False


def test_a_record_can_be_created_over_the_api(at):
    org, call, _ = at
    org.default_owner = queue = org.add_queue("Inbox")
    address = f"{call.base}/sobjects/Lead"
    made = call.session.post(address, json={"LastName": "Example"})
    assert made.status_code == 201
    assert made.json()["success"] is True
    assert org.owner_of(made.json()["id"]) == org.integration_user
    org.assignment_rule = lambda kind, fields: queue
    made = call.session.post(address, json={"LastName": "Example"})
    assert org.owner_of(made.json()["id"]) == queue
    assert code(call.session.post(address, json={"Shoe": 44})) == (400, "INVALID_FIELD")
