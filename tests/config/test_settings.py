import pytest

from config import load

TOKEN = "t0ken-" * 8


def test_nothing_set_means_a_sqlite_file_on_this_machine_only():
    settings = load({})

    assert settings.database_url == "sqlite:///leadrota.db"
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.is_sqlite
    assert settings.connections == ()
    assert settings.warnings == ()


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("LEADROTA_DEFAULT_POOL", "Inbound")

    assert load().default_pool == "Inbound"


def test_a_port_of_the_platform_is_served_on_all_addresses():
    settings = load({"PORT": "5000"})

    assert (settings.host, settings.port) == ("0.0.0.0", 5000)


def test_an_empty_variable_counts_as_not_set():
    assert load({"LEADROTA_PUBLIC_URL": "", "PORT": ""}) == load({})


def test_one_web_process_serves_sqlite_and_more_are_warned_of():
    settings = load({"WEB_CONCURRENCY": "4"})

    assert settings.web_concurrency == 1
    assert "WEB_CONCURRENCY" in settings.warnings[0]


def test_postgresql_gets_the_web_processes_that_are_asked_for():
    url = "postgres://u:p@db.example.com/leads"

    assert load({"DATABASE_URL": url, "WEB_CONCURRENCY": "4"}).web_concurrency == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://u:hidden@db.example.com/x"),
        ("PORT", "hidden"),
        ("PORT", "65536"),
        ("PORT", "٨٠"),
        ("WEB_CONCURRENCY", "0"),
        ("LEADROTA_API_TOKEN", "hidden-too-short"),
        ("LEADROTA_API_TOKEN", "hidden with blanks " * 4),
        ("LEADROTA_LOG_FORMAT", "hidden"),
        ("LEADROTA_ENCRYPTION_KEY", "hidden-too-short"),
        ("LEADROTA_ENCRYPTION_KEY", f"{TOKEN},hidden-too-short"),
        ("LEADROTA_ENCRYPTION_KEY", ","),
        ("LEADROTA_ALLOW_EPHEMERAL_SQLITE", "hidden"),
        ("LEADROTA_PUBLIC_URL", "http://hidden.example.com"),
        ("LEADROTA_PUBLIC_URL", "https://example.com/hidden"),
        ("LEADROTA_PUBLIC_URL", "https://hidden:pw@example.com"),
        ("LEADROTA_PUBLIC_URL", "https://example.com?hidden=1"),
        ("LEADROTA_PUBLIC_URL", "https://example.com:hidden"),
        ("LEADROTA_PUBLIC_URL", "https://127.0.0.1.nip.example/hidden"),
        ("LEADROTA_PUBLIC_URL", "http://127.0.0.1.hidden.example.com"),
        ("LEADROTA_PUBLIC_URL", "hidden"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_not_repeated(problems, name, value):
    (problem,) = problems(lambda: load({name: value}))

    assert problem.startswith(f"{name} must ")
    assert "hidden" not in problem


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://leads.example.com", "https://leads.example.com"),
        ("https://leads.example.com/", "https://leads.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://localhost:8000", "http://localhost:8000"),
    ],
)
def test_the_public_url_is_an_origin(given, kept):
    assert load({"LEADROTA_PUBLIC_URL": given}).public_url == kept


def test_all_problems_are_told_at_once(problems):
    env = {
        "PORT": "x",
        "LEADROTA_API_TOKEN": "x",
        "LEADROTA_NAME": "x",
        "HUBSPOT_ACCESS_TOKEN": "x",
    }

    told = problems(lambda: load(env))

    assert {line.split()[0] for line in told} == set(env) - {"HUBSPOT_ACCESS_TOKEN"} | {
        "LEADROTA_PUBLIC_URL",
        "HUBSPOT_CLIENT_SECRET",
    }


def test_an_unknown_name_of_ours_stops_the_start_and_names_the_nearest(problems):
    (problem,) = problems(lambda: load({"LEADROTA_PUBLIK_URL": "https://leads.example.com"}))

    assert problem.startswith("LEADROTA_PUBLIK_URL is no setting")
    assert "Did you mean LEADROTA_PUBLIC_URL?" in problem


@pytest.mark.parametrize("name", ["LEADROTA_FOO", "LEADROTA_KEYS", "LEADROTA_", "LEADROTA_ID"])
def test_a_name_that_is_near_to_none_gets_no_guess(problems, name):
    (problem,) = problems(lambda: load({name: "x"}))

    assert "Did you mean" not in problem


def test_a_name_with_our_prefix_too_much_gets_the_name_without(problems):
    (problem,) = problems(lambda: load({"LEADROTA_DATABASE_URL": "x"}))

    assert problem.endswith("Did you mean DATABASE_URL?")


def test_a_start_that_is_refused_still_tells_of_unknown_names(problems):
    told = problems(lambda: load({"PORT": "x", "HUBSPOT_ACESS_TOKEN": "hidden"}))

    assert [line.split()[0] for line in told] == ["PORT", "HUBSPOT_ACESS_TOKEN"]
    assert told[1].endswith("Did you mean HUBSPOT_ACCESS_TOKEN?")
    assert "hidden" not in told[1]


@pytest.mark.parametrize("name", ["HUBSPOT_ACESS_TOKEN", "SALESFORCE_LOGINURL"])
def test_an_unknown_name_of_a_crm_is_only_warned_of(name):
    (warning,) = load({name: "hidden"}).warnings

    assert warning.startswith(f"{name} is no setting")
    assert "Did you mean" in warning
    assert "hidden" not in warning


def test_names_whose_feature_comes_later_are_taken():
    names = ("SECRET_KEY", "RETENTION_DAYS", "RESYNC_EVERY")

    assert load({f"LEADROTA_{name}": "x" for name in names}) == load({})


def test_sqlite_on_a_dyno_is_refused(problems):
    (problem,) = problems(lambda: load({"DYNO": "web.1"}))

    assert "LEADROTA_ALLOW_EPHEMERAL_SQLITE=1" in problem


def test_sqlite_on_a_dyno_can_be_allowed_and_is_warned_of():
    settings = load({"DYNO": "web.1", "LEADROTA_ALLOW_EPHEMERAL_SQLITE": "1"})

    assert "lost at each restart" in settings.warnings[0]


def test_postgresql_on_a_dyno_is_what_it_wants():
    assert load({"DYNO": "web.1", "DATABASE_URL": "postgres://h/d"}).warnings == ()


def test_secrets_stay_out_of_repr():
    settings = load(
        {
            "LEADROTA_API_TOKEN": TOKEN,
            "DATABASE_URL": "postgres://u:hidden-pw@h/d",
            "LEADROTA_PUBLIC_URL": "https://leads.example.com",
            "HUBSPOT_ACCESS_TOKEN": "hidden-token",
            "HUBSPOT_CLIENT_SECRET": "hidden-secret",
        }
    )

    assert settings.api_token == TOKEN
    assert "hidden" not in repr(settings)
    assert TOKEN not in repr(settings)


@pytest.mark.parametrize("key", ["ä text of 32 characters and more", f"{TOKEN} , {TOKEN}"])
def test_encryption_keys_are_kept_as_given_and_out_of_sight(key):
    settings = load({"LEADROTA_ENCRYPTION_KEY": key})

    assert settings.encryption_key == key
    assert key not in repr(settings)
