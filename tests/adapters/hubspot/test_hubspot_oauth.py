"""HubSpot's token endpoint: what is asked, what is believed, and what a refusal means."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.hubspot import oauth
from adapters.hubspot.settings import HubSpotSettings
from adapters.sandbox.hubspot import HubSpotSandbox
from connector.errors import CrmAgain, CrmPaced, CrmUnreachable
from tests import hubspot_requests
from tests.oauth import CLIENT, TokenEndpoint

TOO_LONG = {"access_token": "a", "expires_in": 1800, "padding": "x" * 70_000}
SECRETS = ("refresh-0", "client-secret-1", "code-1")


@pytest.fixture
def endpoint():
    with TokenEndpoint() as serving:
        yield serving


@pytest.fixture
def settings(endpoint):
    return HubSpotSettings(
        name="hubspot",
        client_id="client-1",
        client_secret="client-secret-1",
        refresh_token="refresh-0",
        public_url="https://leads.example.com",
        base_url=endpoint.url,
    )


def refused(settings, error):
    with pytest.raises(error) as caught:
        oauth.renewal(settings)(None)
    told = f"{caught.value.message} {caught.value.crm_message} {caught.value!r}"
    assert not [secret for secret in SECRETS if secret in told]
    return caught.value


@pytest.mark.parametrize(
    ("version", "path"), [("v3", "/oauth/v1/token"), ("2026-03", "/oauth/2026-03/token")]
)
def test_a_refresh_is_a_form_in_the_body_alone(endpoint, settings, version, path):
    grant = oauth.renewal(replace(settings, api_version=version))(None)

    assert (grant.access_token, grant.refresh_token, grant.seconds) == (
        "access-1",
        "refresh-0",
        1800,
    )
    (call,) = endpoint.calls
    assert (call.method, call.path, call.query) == ("POST", path, "")
    assert call.headers["content-type"] == "application/x-www-form-urlencoded"
    assert "authorization" not in call.headers
    assert endpoint.forms == [
        {"grant_type": "refresh_token", "refresh_token": "refresh-0"} | CLIENT
    ]


def test_a_stored_refresh_token_wins_over_the_one_in_the_settings(endpoint, settings):
    endpoint.refresh_token = "refresh-stored"

    grant = oauth.renewal(settings)("refresh-stored")

    assert grant.refresh_token == "refresh-stored"


def test_an_answer_without_a_refresh_token_keeps_the_old_one(endpoint, settings):
    endpoint.instead = {"refresh_token": None}

    assert oauth.renewal(settings)(None).refresh_token == "refresh-0"


def test_a_code_is_exchanged_with_the_address_it_was_asked_with(endpoint, settings):
    grant = oauth.exchange(settings, "code-1", "https://leads.example.com/oauth/hubspot")

    assert (grant.access_token, grant.refresh_token) == ("access-1", "refresh-0")
    assert endpoint.forms[0]["grant_type"] == "authorization_code"


def test_an_exchange_without_a_refresh_token_is_no_grant(endpoint, settings):
    endpoint.instead = {"refresh_token": None}

    with pytest.raises(CrmAgain, match="usable tokens"):
        oauth.exchange(settings, "code-1", "https://leads.example.com/oauth/hubspot")


def test_without_any_refresh_token_nobody_is_asked_and_the_command_is_told(endpoint, settings):
    error = refused(replace(settings, refresh_token=None), CrmUnreachable)

    assert error.code == "not_connected"
    assert "leadrota connect hubspot" in error.message
    assert endpoint.calls == []


@pytest.mark.parametrize(
    "body",
    [
        {"status": "BAD_REFRESH_TOKEN", "message": "missing or invalid refresh token refresh-0"},
        {"error": "invalid_grant", "error_description": "refresh-0 is unknown"},
        {"status": "error", "message": "refresh token is invalid", "category": "BAD_REFRESH_TOKEN"},
    ],
)
def test_a_refresh_token_that_is_not_taken_tells_what_to_do(endpoint, settings, body):
    endpoint.faults.add("/oauth/", status=400, body=body)

    error = refused(settings, CrmUnreachable)

    assert error.code == "bad_refresh_token"
    assert "leadrota connect hubspot" in error.message
    assert error.crm_message


@pytest.mark.parametrize("status", [400, 401, 403])
@pytest.mark.parametrize(
    "body",
    [
        {"status": "BAD_CLIENT_SECRET", "message": "wrong client secret client-secret-1"},
        {"error": "BAD_CLIENT_SECRET", "error_description": "wrong: client-secret-1"},
    ],
)
def test_wrong_credentials_of_the_app_are_told_as_such(endpoint, settings, status, body):
    endpoint.faults.add("/oauth/", status=status, body=body)

    error = refused(settings, CrmUnreachable)

    assert error.code == "BAD_CLIENT_SECRET"
    assert "client id and client secret" in error.message
    assert error.crm_message.startswith("wrong")


def test_a_limit_is_a_pause(endpoint, settings):
    endpoint.faults.add("/oauth/", status=429, body={"message": "x"}, headers={"Retry-After": "7"})

    assert refused(settings, CrmPaced).pause_seconds == 7


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 502, "body": "<html>refresh-0</html>"},
        {"status": 400, "body": "<html>refresh-0</html>"},
        {"drop": "before"},
        {"drop": "after"},
        {"truncate": True},
        {"status": 200, "body": "<html></html>"},
        {"status": 200, "body": TOO_LONG},
    ],
    ids=lambda fault: str(fault)[:40],
)
def test_what_may_pass_by_itself_is_tried_again(endpoint, settings, fault):
    endpoint.faults.add("/oauth/", **fault)

    refused(settings, CrmAgain)


@pytest.mark.parametrize(
    "wrong",
    [
        {"access_token": None},
        {"access_token": "two words"},
        {"access_token": "line\nbreak"},
        {"access_token": ""},
        {"access_token": 7},
        {"refresh_token": "with blank "},
        {"expires_in": None},
        {"expires_in": 0},
        {"expires_in": -1},
        {"expires_in": True},
        {"expires_in": "1800"},
        {"expires_in": float("nan")},
        {"expires_in": 1e300},
    ],
    ids=str,
)
def test_an_answer_that_makes_no_sense_is_no_grant(endpoint, settings, wrong):
    endpoint.instead = wrong

    assert refused(settings, CrmAgain).code == "bad_answer"


def test_a_redirect_is_not_followed(endpoint, settings):
    with TokenEndpoint() as elsewhere:
        to = {"Location": f"{elsewhere.url}/oauth/v1/token"}
        endpoint.faults.add("/oauth/", status=307, headers=to)

        error = refused(settings, CrmUnreachable)

        assert error.code == "redirected"
        assert elsewhere.calls == []


def test_nobody_at_the_address_is_no_connection(endpoint, settings):
    endpoint.stop()

    assert refused(settings, CrmUnreachable).code == "no_connection"
    endpoint.start()


def test_an_answer_that_trickles_is_given_up_on(endpoint, settings):
    ticks = iter([0.0, oauth.WHOLE_SECONDS + 1])

    with pytest.raises(CrmAgain, match="too slowly"):
        oauth.renewal(settings, clock=lambda: next(ticks))(None)


def test_the_consent_names_the_app_the_account_and_what_it_needs(settings):
    url = oauth.consent_url(replace(settings, portal_id="4242"), "https://leads.example.com/x")

    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.path) == (
        "https",
        "app.hubspot.com",
        "/oauth/4242/authorize",
    )
    query = {name: value for name, (value,) in parse_qs(parts.query).items()}
    assert set(query.pop("scope").split()) == {
        "oauth",
        "crm.objects.owners.read",
        "crm.objects.users.read",
        "crm.objects.contacts.read",
        "crm.objects.contacts.write",
        "crm.objects.companies.read",
        "crm.objects.leads.read",
        "crm.objects.leads.write",
    }
    assert query == {
        "client_id": "client-1",
        "redirect_uri": "https://leads.example.com/x",
        "optional_scope": "automation",
    }


@pytest.mark.parametrize(
    ("routed", "own"),
    [
        ("tickets", {"tickets", "crm.objects.contacts.read"}),
        (
            "deal",
            {"crm.objects.deals.read", "crm.objects.deals.write", "crm.objects.contacts.read"},
        ),
        ("0-47", {"crm.objects.contacts.read", "crm.objects.contacts.write"}),
        (
            "2-3456789",
            {"crm.objects.custom.read", "crm.objects.custom.write", "crm.objects.contacts.read"},
        ),
    ],
)
def test_each_object_type_asks_for_its_own_scopes_and_those_of_person_and_company(
    settings, routed, own
):
    needed = oauth.scopes(replace(settings, objects=(routed,), availability=False))

    linked = {"crm.objects.companies.read"}
    assert set(needed) == {"oauth", "crm.objects.owners.read"} | own | linked


def test_companies_that_are_routed_need_no_other_records(settings):
    needed = oauth.scopes(replace(settings, objects=("companies",), availability=False))

    assert {name for name in needed if "contacts" in name} == set()


@pytest.fixture
def portal():
    with HubSpotSandbox() as serving:
        yield serving
        hubspot_requests.check(serving.calls)


@pytest.fixture
def app(portal):
    """An app that the sandbox's account has let in."""
    return HubSpotSettings(
        name="hubspot",
        client_id="client-1",
        client_secret=portal.client_secret,
        refresh_token=portal.use_oauth(client_id="client-1"),
        public_url="https://leads.example.com",
        base_url=portal.url,
    )


@pytest.mark.parametrize("version", ["v3", "2026-03"])
def test_the_sandbox_hands_out_and_renews(portal, app, version):
    portal.rotate_refresh_token = True
    renew = oauth.renewal(replace(app, api_version=version))

    first = renew(None)
    second = renew(first.refresh_token)

    assert first.access_token != second.access_token
    with pytest.raises(CrmUnreachable) as caught:
        renew(first.refresh_token)
    assert caught.value.code == "bad_refresh_token"


def test_the_sandbox_takes_a_code_once_and_with_its_own_address(portal, app):
    here, code = "https://leads.example.com/oauth/hubspot", portal.tokens.grant_code("x")
    with pytest.raises(CrmUnreachable, match="redirect address"):
        oauth.exchange(app, code, here)

    code = portal.tokens.grant_code(here)
    assert oauth.exchange(app, code, here).refresh_token
    with pytest.raises(CrmUnreachable) as caught:
        oauth.exchange(app, code, here)
    assert caught.value.code == "bad_refresh_token"
