from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
import responses
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from adapters.salesforce import addresses, auth, crm
from adapters.salesforce.org import SalesforceCrm
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import BadSettings, CrmAgain, CrmError, CrmPaced, CrmUnreachable
from connector.ports import OwnerWrite
from tests.alone import Alone

Connect = Callable[..., SalesforceCrm]
Settings = Callable[..., SalesforceSettings]

LEAD = "00Q000000000001"
MY_DOMAIN = "https://acme.my.salesforce.com"
TOKEN_URL = f"{MY_DOMAIN}/services/oauth2/token"


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """A private and a public key in PEM form."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


# -- an ended session


def test_one_log_in_serves_many_calls(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    for _ in range(3):
        crm.read_records("Lead", [LEAD])
    assert org.log_ins == 1
    assert org.connections == 1


@pytest.mark.parametrize("preset", ["session_expired", "session_bulk"])
def test_an_expired_session_is_renewed_once_and_the_call_repeated(
    org: SalesforceSandbox, crm: SalesforceCrm, preset: str
) -> None:
    lead = org.create("Lead", {})
    org.faults.add("/query", preset=preset)
    assert lead in crm.read_records("Lead", [lead])
    assert (org.log_ins, len(org.calls_to("/query"))) == (2, 2)


def test_a_lasting_401_costs_two_calls_and_two_log_ins(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.faults.add("/services/data", preset="session_expired", times=None)
    with pytest.raises(CrmUnreachable) as unreachable:
        crm.write_owners("Lead", [OwnerWrite(record_id=LEAD, owner_id="005000000000001")])
    assert unreachable.value.code == "INVALID_SESSION_ID"
    assert (org.log_ins, len(org.calls_to("/services/data"))) == (2, 2)


def test_sessions_that_end_again_and_again_cost_one_renewal_a_call(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    ann = org.add_user("Ann", "ann@example.com")
    lead = org.create("Lead", {})
    org.faults.add("/query", preset="session_expired")
    org.faults.add("/composite", preset="session_expired", times=None)
    with pytest.raises(CrmUnreachable):
        crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    assert org.log_ins == 2


@pytest.mark.parametrize(
    "fault",
    [
        {"preset": "session_lasting"},
        {"preset": "unauthorized_page"},
        {"status": 401, "body": {"message": "no list"}},
        {"status": 401, "body": [{"errorCode": "OTHER", "message": "m"}]},
        {"status": 403, "body": [{"errorCode": "INVALID_SESSION_ID", "message": "m"}]},
        {"preset": "api_disabled"},
    ],
)
def test_what_no_log_in_can_repair_causes_none(
    org: SalesforceSandbox, crm: SalesforceCrm, fault: dict[str, Any]
) -> None:
    org.faults.add("/query", times=None, **fault)
    with pytest.raises(CrmUnreachable):
        crm.read_records("Lead", [LEAD])
    assert (org.log_ins, len(org.calls_to("/query"))) == (1, 1)


@pytest.mark.parametrize(("preset", "pause"), [("daily_limit", 900), ("concurrent_limit", 3)])
def test_a_limit_is_a_pause_and_no_log_in(
    org: SalesforceSandbox, crm: SalesforceCrm, preset: str, pause: float
) -> None:
    org.faults.add("/query", preset=preset, times=None)
    with pytest.raises(CrmPaced) as paced:
        crm.read_records("Lead", [LEAD])
    assert paced.value.pause_seconds == pause
    assert (org.log_ins, len(org.calls_to("/query"))) == (1, 1)


# -- the log-in itself


def test_client_credentials_go_in_the_body_of_the_token_call(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    crm.read_records("Lead", [LEAD])
    (call,) = org.calls_to("/oauth2/token")
    assert call.body == (
        b"grant_type=client_credentials&client_id=sandbox-client&client_secret=sandbox-secret"
    )
    assert "authorization" not in call.headers


@pytest.mark.parametrize("one_line", [False, True])
def test_a_signed_assertion_logs_in_too(
    connect: Connect, keys: tuple[str, str], one_line: bool
) -> None:
    private, public = keys
    clock = lambda: datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)  # noqa: E731
    with SalesforceSandbox(public_key=public, username="robot@acme.example", clock=clock) as org:
        pem = private.replace("\n", "\\n") if one_line else private
        crm = connect(org.url, client_secret=None, private_key=pem, username="robot@acme.example")
        assert crm.read_records("Lead", [LEAD]) == {}
        form = org.calls_to("/oauth2/token")[0].body.decode()
    assertion = form.partition("assertion=")[2]
    claims = jwt.decode(assertion, options={"verify_signature": False})
    assert claims == {
        "iss": "sandbox-client",
        "sub": "robot@acme.example",
        "aud": "https://login.salesforce.com",
        "exp": int(clock().timestamp()) + 120,
    }


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://acme.my.salesforce.com", "login"),
        ("https://acme.develop.my.salesforce.com", "login"),
        ("https://login.salesforce.com", "login"),
        ("http://127.0.0.1:8000", "login"),
        ("https://test.salesforce.com", "test"),
        ("https://acme--dev.sandbox.my.salesforce.com", "test"),
        ("https://acme--dev.my.salesforce.com", "test"),
        ("https://acme.scratch.my.salesforce.com", "test"),
    ],
)
def test_the_audience_tells_sandboxes_from_production(url: str, name: str) -> None:
    assert auth.audience(url) == f"https://{name}.salesforce.com"


@pytest.mark.parametrize(
    "given",
    [
        {"client_secret": None},
        {"client_secret": None, "private_key": "x"},
        {"client_secret": None, "private_key": "s3cret", "username": "u"},
        {"login_url": "acme.my.salesforce.com"},
        {"login_url": "http://acme.my.salesforce.com"},
        {"login_url": "https://acme.my.salesforce.com/services"},
        {"login_url": "https://user:pw@acme.my.salesforce.com"},
        {"login_url": "https://acme.my.salesforce.com:port"},
    ],
)
def test_settings_that_can_never_log_in_stop_the_start(
    make_settings: Settings, given: dict[str, Any]
) -> None:
    with pytest.raises(BadSettings) as bad:
        crm(make_settings(**given), Alone())
    assert "s3cret" not in str(bad.value)


@pytest.mark.parametrize("given", [MY_DOMAIN, f"{MY_DOMAIN}/"])
@pytest.mark.parametrize("answered", [MY_DOMAIN, f"{MY_DOMAIN}/", "https://eu9.salesforce.com"])
@responses.activate
def test_a_full_my_domain_address_leads_to_the_right_hosts(
    connect: Connect, given: str, answered: str
) -> None:
    responses.post(TOKEN_URL, json={"access_token": "t", "instance_url": answered})
    query = responses.get(
        f"{answered.rstrip('/')}/services/data/v64.0/query/",
        json={"records": [{"Id": LEAD}], "done": True},
    )
    assert LEAD in connect(given).read_records("Lead", [LEAD])
    assert query.calls[0].request.headers["Authorization"] == "Bearer t"


@pytest.mark.parametrize(
    "instance",
    [
        "https://evil.example",
        "http://acme.my.salesforce.com",
        "https://acme.my.salesforce.com.evil.example",
        "https://evilsalesforce.com",
        "https://acme.my.salesforce.com@evil.example",
        "https://evil.example/.salesforce.com",
        "http://127.0.0.1:8000",
        "",
        None,
    ],
)
@responses.activate
def test_a_token_never_goes_to_an_address_outside_salesforce(
    connect: Connect, instance: str | None
) -> None:
    responses.post(TOKEN_URL, json={"access_token": "t", "instance_url": instance})
    with pytest.raises(CrmUnreachable) as unreachable:
        connect(MY_DOMAIN).read_records("Lead", [LEAD])
    assert unreachable.value.code == "foreign_instance"
    assert len(responses.calls) == 1


def test_loopback_stands_for_the_log_in_host_only_when_the_log_in_is_there_too() -> None:
    there = addresses.trusted_instance("http://localhost:2/", login_url="http://127.0.0.1:1")
    assert there == "http://localhost:2"
    assert addresses.trusted_instance("http://localhost:2", login_url=MY_DOMAIN) is None


def test_a_slash_at_the_end_of_the_instance_does_no_harm(
    org: SalesforceSandbox, crm: SalesforceCrm
) -> None:
    org.trailing_slash = True
    lead = org.create("Lead", {})
    assert lead in crm.read_records("Lead", [lead])


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        ({"status": 503, "body": "<html>busy</html>"}, CrmAgain, "crm_again"),
        ({"status": 429, "headers": {"Retry-After": "5"}}, CrmPaced, "crm_paced"),
        ({"status": 400, "json": {"error": "invalid_grant", "error_description": "not approved"}},
         CrmUnreachable, "invalid_grant"),
        ({"status": 401, "json": {"error": "invalid_client", "error_description": "bad"}},
         CrmUnreachable, "invalid_client"),
        ({"status": 400, "body": "<html>?</html>"}, CrmUnreachable, "crm_unreachable"),
        ({"status": 404, "body": "<html>?</html>"}, CrmUnreachable, "crm_unreachable"),
        ({"status": 403, "json": {"error": "denied"}}, CrmUnreachable, "denied"),
        ({"status": 302, "headers": {"Location": "https://evil.example"}}, CrmUnreachable,
         "crm_unreachable"),
        ({"status": 200, "body": "<html>log in</html>"}, CrmUnreachable, "no_token"),
        ({"status": 200, "json": []}, CrmUnreachable, "no_token"),
        ({"status": 200, "json": {"access_token": "t\u00e9", "instance_url": MY_DOMAIN}},
         CrmUnreachable, "no_token"),
    ],
)  # fmt: skip
@responses.activate
def test_a_refused_log_in_says_whether_to_try_again(
    connect: Connect, answer: dict[str, Any], kind: type[CrmError], code: str
) -> None:
    responses.post(TOKEN_URL, **answer)
    with pytest.raises(CrmError) as error:
        connect(MY_DOMAIN).write_owners(
            "Lead", [OwnerWrite(record_id=LEAD, owner_id="005000000000001")]
        )
    assert type(error.value) is kind
    assert error.value.code == code
    assert len(responses.calls) == 1


@pytest.mark.parametrize(
    ("switch", "word"),
    [
        ({"has_run_as_user": False}, "user to run as"),
        ({"client_id": "another"}, "SALESFORCE_CLIENT_ID"),
        ({"client_secret": "another"}, "SALESFORCE_CLIENT_SECRET"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_a_refused_log_in_says_what_to_look_at(
    org: SalesforceSandbox, crm: SalesforceCrm, switch: dict[str, Any], word: str
) -> None:
    for name, value in switch.items():
        setattr(org.tokens, name, value)
    with pytest.raises(CrmUnreachable, match=word):
        crm.read_records("Lead", [LEAD])


def test_a_refused_assertion_says_what_to_look_at(
    connect: Connect, keys: tuple[str, str], clock: Any
) -> None:
    with SalesforceSandbox(public_key=keys[1], username="robot@acme.example", clock=clock) as org:
        org.tokens.is_approved = False
        crm = connect(
            org.url, client_secret=None, private_key=keys[0], username="robot@acme.example"
        )
        with pytest.raises(CrmUnreachable, match="SALESFORCE_USERNAME") as refused:
            crm.read_records("Lead", [LEAD])
    assert refused.value.crm_message == "user hasn't approved this consumer"


@responses.activate
def test_the_words_of_a_refused_log_in_are_kept_but_no_secret(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = {"error": "invalid_client", "error_description": "invalid secret top-s3cret"}
    responses.post(TOKEN_URL, json=told, status=400)
    crm = connect(MY_DOMAIN, client_secret="top-s3cret")
    with pytest.raises(CrmUnreachable) as error:
        crm.read_records("Lead", [LEAD])
    assert error.value.crm_message == "invalid secret ***"
    assert "s3cret" not in str(error.value) + repr(error.value) + caplog.text


@responses.activate
def test_a_token_is_never_told(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = "00D!s3cret"
    responses.post(TOKEN_URL, json={"access_token": token, "instance_url": MY_DOMAIN})
    body = [{"errorCode": "INVALID_FIELD", "message": f"said {token}"}]
    responses.get(f"{MY_DOMAIN}/services/data/v64.0/query/", json=body, status=404)
    with pytest.raises(CrmUnreachable) as error:
        connect(MY_DOMAIN).read_records("Lead", [LEAD])
    assert error.value.crm_message == "said ***"
    assert "s3cret" not in str(error.value) + repr(error.value) + caplog.text
    assert "s3cret" not in repr(auth.Token(token, MY_DOMAIN, None, grant=token))


@responses.activate
def test_a_netrc_file_cannot_replace_the_token(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine acme.my.salesforce.com login u password p\n")
    monkeypatch.setenv("NETRC", str(netrc))
    token = responses.post(TOKEN_URL, json={"access_token": "t", "instance_url": MY_DOMAIN})
    query = responses.get(
        f"{MY_DOMAIN}/services/data/v64.0/query/", json={"records": [{"Id": LEAD}], "done": True}
    )
    connect(MY_DOMAIN).read_records("Lead", [LEAD])
    assert "Authorization" not in token.calls[0].request.headers
    assert query.calls[0].request.headers["Authorization"] == "Bearer t"
