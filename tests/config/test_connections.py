import pytest

from adapters.hubspot.settings import HubSpotSettings
from adapters.salesforce.settings import SalesforceSettings
from config import load

HUBSPOT = {
    "LEADROTA_PUBLIC_URL": "https://leads.example.com",
    "HUBSPOT_ACCESS_TOKEN": "token-1",
    "HUBSPOT_CLIENT_SECRET": "secret-1",
}
OAUTH = {
    "LEADROTA_PUBLIC_URL": "https://leads.example.com",
    "LEADROTA_ENCRYPTION_KEY": "k" * 32,
    "HUBSPOT_CLIENT_ID": "client-1",
    "HUBSPOT_CLIENT_SECRET": "secret-1",
}
SALESFORCE = {
    "SALESFORCE_LOGIN_URL": "https://example.my.salesforce.com",
    "SALESFORCE_CLIENT_ID": "client-1",
    "SALESFORCE_CLIENT_SECRET": "secret-2",
    "SALESFORCE_ORG_ID": "00D5g000004abcd",
    "SALESFORCE_WEBHOOK_KEY": "key-1",
}
PEM = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


def without(env, *names):
    return {name: value for name, value in env.items() if name not in names}


def test_a_token_and_a_secret_make_the_connection_hubspot():
    assert load(HUBSPOT).connections == (
        HubSpotSettings(
            name="hubspot",
            access_token="token-1",
            client_secret="secret-1",
            public_url="https://leads.example.com",
        ),
    )


def test_the_details_of_hubspot_can_be_set():
    details = {
        "HUBSPOT_PORTAL_ID": "123",
        "HUBSPOT_OBJECTS": "contacts, companies,contacts",
        "HUBSPOT_API_VERSION": "2026-03",
        "HUBSPOT_BASE_URL": "http://127.0.0.1:8100/",
        "HUBSPOT_WEBHOOK_KEY": "sixteen-letters!",
        "HUBSPOT_AVAILABILITY": "0",
    }

    (hubspot,) = load(HUBSPOT | details).connections

    assert hubspot.portal_id == "123"
    assert hubspot.objects == ("contacts", "companies")
    assert hubspot.api_version == "2026-03"
    assert hubspot.base_url == "http://127.0.0.1:8100"
    assert hubspot.webhook_key == "sixteen-letters!"
    assert hubspot.availability is False
    assert "sixteen" not in repr(hubspot)


def test_types_of_an_account_s_own_can_be_routed_by_id():
    (hubspot,) = load(HUBSPOT | {"HUBSPOT_OBJECTS": "contacts, 2-3456789"}).connections

    assert hubspot.objects == ("contacts", "2-3456789")


def test_a_client_id_and_a_secret_make_a_connection_that_uses_oauth():
    assert load(OAUTH).connections == (
        HubSpotSettings(
            name="hubspot",
            client_id="client-1",
            client_secret="secret-1",
            public_url="https://leads.example.com",
        ),
    )


def test_a_refresh_token_can_be_given_to_begin_with():
    settings = load(OAUTH | {"HUBSPOT_REFRESH_TOKEN": "refresh-1"})

    assert settings.connections[0].refresh_token == "refresh-1"
    assert "refresh-1" not in repr(settings)


@pytest.mark.parametrize("name", [name for name in OAUTH if name != "HUBSPOT_CLIENT_ID"])
def test_half_an_app_with_oauth_names_what_is_missing(problems, name):
    (problem,) = problems(lambda: load(without(OAUTH, name)))

    assert problem.startswith(f"{name} is missing")


def test_there_is_one_way_to_a_token(problems):
    told = problems(lambda: load(OAUTH | {"HUBSPOT_ACCESS_TOKEN": "token-1"}))

    assert [line.split(";")[0] for line in told] == ["HUBSPOT_ACCESS_TOKEN cannot be set here"]


def test_a_refresh_token_without_its_app_is_told(problems):
    (problem,) = problems(lambda: load(HUBSPOT | {"HUBSPOT_REFRESH_TOKEN": "refresh-1"}))

    assert problem.startswith("HUBSPOT_REFRESH_TOKEN cannot be set here")


@pytest.mark.parametrize("name", HUBSPOT)
def test_half_a_hubspot_names_what_is_missing(problems, name):
    (problem,) = problems(lambda: load(without(HUBSPOT, name)))

    assert problem.startswith(f"{name} is missing")


def test_a_wrong_public_url_is_not_told_as_missing_too(problems):
    (problem,) = problems(lambda: load(HUBSPOT | {"LEADROTA_PUBLIC_URL": "leads.example.com"}))

    assert problem.startswith("LEADROTA_PUBLIC_URL must be")


def test_a_detail_without_its_connection_is_warned_of():
    settings = load({"HUBSPOT_PORTAL_ID": "123", "SALESFORCE_OBJECTS": "Lead"})

    assert settings.connections == ()
    assert [warning.split()[0] for warning in settings.warnings] == [
        "HUBSPOT_PORTAL_ID",
        "SALESFORCE_OBJECTS",
    ]


def test_the_ids_of_salesforce_are_kept_in_18_characters():
    env = SALESFORCE | {"SALESFORCE_UNASSIGNED_OWNERS": "0055g00000Abcde, 0055g00000AbcdfAAB"}

    (salesforce,) = load(env).connections

    assert salesforce == SalesforceSettings(
        name="salesforce",
        login_url="https://example.my.salesforce.com",
        client_id="client-1",
        client_secret="secret-2",
        org_id="00D5g000004abcdEAA",
        webhook_key="key-1",
        unassigned_owners=frozenset({"0055g00000AbcdeAAB", "0055g00000AbcdfAAB"}),
    )


@pytest.mark.parametrize("name", SALESFORCE)
def test_half_a_salesforce_names_what_is_missing(problems, name):
    (problem,) = problems(lambda: load(without(SALESFORCE, name)))

    assert problem.startswith(f"{name} is missing")


def test_a_salesforce_on_loopback_needs_no_webhook_key():
    env = without(SALESFORCE, "SALESFORCE_WEBHOOK_KEY")

    (salesforce,) = load(env | {"SALESFORCE_LOGIN_URL": "http://127.0.0.1:8101/"}).connections

    assert salesforce.login_url == "http://127.0.0.1:8101"
    assert salesforce.webhook_key is None


def test_a_private_key_and_a_user_name_stand_in_for_the_secret():
    env = without(SALESFORCE, "SALESFORCE_CLIENT_SECRET") | {
        "SALESFORCE_PRIVATE_KEY": PEM.replace("\n", "\\n"),
        "SALESFORCE_USERNAME": "integration@example.com",
    }

    (salesforce,) = load(env).connections

    assert salesforce.private_key == PEM
    assert salesforce.username == "integration@example.com"


@pytest.mark.parametrize("name", ["SALESFORCE_PRIVATE_KEY", "SALESFORCE_USERNAME"])
def test_half_of_the_jwt_flow_names_the_other_half(problems, name):
    env = without(SALESFORCE, "SALESFORCE_CLIENT_SECRET") | {
        "SALESFORCE_PRIVATE_KEY": PEM,
        "SALESFORCE_USERNAME": "integration@example.com",
    }

    (problem,) = problems(lambda: load(without(env, name)))

    assert problem.startswith(f"{name} is missing")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HUBSPOT_ACCESS_TOKEN", "hidden token"),
        ("HUBSPOT_PORTAL_ID", "hidden"),
        ("HUBSPOT_OBJECTS", ","),
        ("HUBSPOT_OBJECTS", "contacts;hidden"),
        ("HUBSPOT_API_VERSION", "hidden"),
        ("HUBSPOT_BASE_URL", "http://hidden.example.com"),
        ("HUBSPOT_WEBHOOK_KEY", "hidden-hidden-1"),
        ("HUBSPOT_WEBHOOK_KEY", "hidden with blanks in it"),
        ("HUBSPOT_AVAILABILITY", "hidden"),
        ("SALESFORCE_LOGIN_URL", "http://hidden.my.salesforce.com"),
        ("SALESFORCE_LOGIN_URL", "https://example.my.salesforce.com/hidden"),
        ("SALESFORCE_PRIVATE_KEY", "hidden"),
        ("SALESFORCE_ORG_ID", "00Dhidden"),
        ("SALESFORCE_ORG_ID", "0055g00000Abcde"),
        ("SALESFORCE_ORG_ID", "00D5g000004abcdAAA"),
        ("SALESFORCE_WEBHOOK_KEY", "hidden key"),
        ("SALESFORCE_API_VERSION", "64"),
        ("SALESFORCE_UNASSIGNED_OWNERS", "00G5g00000Abcde"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_not_repeated(problems, name, value):
    env = HUBSPOT | SALESFORCE | {"SALESFORCE_USERNAME": "u", "SALESFORCE_PRIVATE_KEY": PEM}

    (problem,) = problems(lambda: load(env | {name: value}))

    assert problem.startswith(f"{name} must ")
    assert "hidden" not in problem


TABLES = """
leadrota_public_url = "https://leads.example.com"

[connections.hubspot-eu]
kind = "hubspot"
access_token = "HUBSPOT_EU_TOKEN"
client_secret = "LEADROTA_EU_SECRET"
portal_id = 123
objects = ["contacts"]

[connections.org_2]
kind = "salesforce"
login_url = "https://example.my.salesforce.com"
client_id = "client-2"
client_secret = "SALESFORCE_2_SECRET"
webhook_key = "SALESFORCE_2_KEY"
org_id = "00D5g000004abcd"
unassigned_owners = []
"""
TABLE_SECRETS = {
    "HUBSPOT_EU_TOKEN": "token-eu",
    "LEADROTA_EU_SECRET": "secret-eu",
    "SALESFORCE_2_SECRET": "secret-2",
    "SALESFORCE_2_KEY": "key-2",
}


def test_tables_of_the_file_make_more_connections(load_toml):
    settings = load_toml(TABLES, **TABLE_SECRETS)

    hubspot, salesforce = settings.connections
    assert (hubspot.name, hubspot.access_token, hubspot.client_secret) == (
        "hubspot-eu",
        "token-eu",
        "secret-eu",
    )
    assert (hubspot.portal_id, hubspot.objects) == ("123", ("contacts",))
    assert (salesforce.name, salesforce.client_secret, salesforce.webhook_key) == (
        "org_2",
        "secret-2",
        "key-2",
    )


def test_a_table_may_be_an_app_that_uses_oauth(load_toml):
    toml = """
leadrota_public_url = "https://leads.example.com"
leadrota_encryption_key = "MY_KEY"

[connections.eu]
kind = "hubspot"
client_id = "client-eu"
client_secret = "EU_SECRET"
refresh_token = "EU_REFRESH"
webhook_key = "EU_WEBHOOKS"
availability = false
objects = ["2-3456789"]
"""

    secrets = {"MY_KEY": "k" * 32, "EU_SECRET": "s", "EU_REFRESH": "r", "EU_WEBHOOKS": "w" * 16}
    settings = load_toml(toml, **secrets)

    assert settings.encryption_key == "k" * 32
    assert settings.connections == (
        HubSpotSettings(
            name="eu",
            client_id="client-eu",
            client_secret="s",
            refresh_token="r",
            webhook_key="w" * 16,
            availability=False,
            objects=("2-3456789",),
            public_url="https://leads.example.com",
        ),
    )


def test_variables_that_a_table_names_are_not_unknown(load_toml):
    assert load_toml(TABLES, **TABLE_SECRETS).warnings == ()


def test_a_variable_that_a_table_names_may_be_in_a_file(load_toml, tmp_path):
    (tmp_path / "token").write_text("token-eu\n")
    env = without(TABLE_SECRETS, "HUBSPOT_EU_TOKEN")

    settings = load_toml(TABLES, **env, HUBSPOT_EU_TOKEN_FILE=str(tmp_path / "token"))

    assert settings.connections[0].access_token == "token-eu"
    assert settings.warnings == ()


def test_a_table_stands_beside_the_plain_variables(load_toml):
    settings = load_toml(TABLES, **TABLE_SECRETS, **HUBSPOT)

    assert [each.name for each in settings.connections] == ["hubspot", "hubspot-eu", "org_2"]


def test_a_secret_in_a_table_is_refused_and_not_repeated(problems, load_toml):
    toml = TABLES.replace('"HUBSPOT_EU_TOKEN"', '"pat-eu1-hidden"')

    told = problems(lambda: load_toml(toml, **without(TABLE_SECRETS, "HUBSPOT_EU_TOKEN")))

    assert told[0].startswith("connections.hubspot-eu.access_token in the TOML file must be")
    assert "hidden" not in "".join(told)


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('[connections.Big]\nkind = "hubspot"', "connections.Big"),
        ('[connections.x]\nkind = "other"', "connections.x.kind must be"),
        ("[connections.x]", "connections.x.kind must be"),
        ("connections = 3", "connections in the TOML file must be tables"),
        ("[connections]\nx = 3", "connections in the TOML file must be tables"),
        ('[connections.x]\nkind = "hubspot"', "connections.x.access_token is missing"),
        ('[connections.x]\nkind = "salesforce"\nloginurl = "a"', "Did you mean login_url?"),
    ],
)
def test_a_wrong_table_is_told(problems, load_toml, toml, told):
    assert told in "\n".join(problems(lambda: load_toml(toml)))


def test_two_connections_cannot_have_one_name(problems, load_toml):
    toml = '[connections.hubspot]\nkind = "hubspot"\n'

    (problem,) = problems(lambda: load_toml(toml, **HUBSPOT))

    assert problem.startswith("connections.hubspot in the TOML file is also set up")
