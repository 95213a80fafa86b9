"""Each setting is shown with its source, and no secret with anything that could be used."""

from __future__ import annotations

import pytest

from config import Origin, Source, load, origins

TOKEN = "t0ken-" * 8
SECRETS = {
    "HUBSPOT_ACCESS_TOKEN": "pat-hidden-1",
    "HUBSPOT_CLIENT_SECRET": "hidden-" * 5,
    "LEADROTA_API_TOKEN": "hidden-" * 12,
}
HUBSPOT = SECRETS | {"LEADROTA_PUBLIC_URL": "https://leads.example.com"}


def told(env: dict[str, str]) -> dict[str, Origin]:
    return {one.name: one for one in origins(load(env), env)}


def test_what_is_set_and_what_is_not() -> None:
    found = told({"PORT": "9000"})

    assert found["PORT"] == Origin(
        name="PORT", value="9000", source=Source.ENVIRONMENT, place="PORT"
    )
    assert found["DATABASE_URL"] == Origin(
        name="DATABASE_URL", value="sqlite:///leadrota.db", source=Source.DEFAULT, place=None
    )
    assert found["LEADROTA_API_TOKEN"].value is None
    assert not [name for name in found if name.startswith(("HUBSPOT", "SALESFORCE"))]


def test_a_connection_is_shown_whole() -> None:
    found = told(HUBSPOT | {"HUBSPOT_OBJECTS": "contacts,2-1"})

    assert (found["HUBSPOT_OBJECTS"].value, found["HUBSPOT_OBJECTS"].source) == (
        "contacts,2-1",
        Source.ENVIRONMENT,
    )
    assert (found["HUBSPOT_AVAILABILITY"].value, found["HUBSPOT_AVAILABILITY"].source) == (
        "1",
        Source.DEFAULT,
    )


def test_of_secrets_only_the_rough_length_is_shown() -> None:
    found = told(HUBSPOT)

    assert {name: found[name].value for name in SECRETS} == {
        "HUBSPOT_ACCESS_TOKEN": "•••• (1 to 15 characters)",
        "HUBSPOT_CLIENT_SECRET": "•••• (32 to 63 characters)",
        "LEADROTA_API_TOKEN": "•••• (64 to 127 characters)",
    }
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    ("length", "shown"), [(32, "32 to 63"), (63, "32 to 63"), (127, "64 to 127"), (128, "128")]
)
def test_lengths_are_shown_by_classes(length: int, shown: str) -> None:
    value = told({"LEADROTA_API_TOKEN": "x" * length})["LEADROTA_API_TOKEN"].value

    assert value is not None
    assert value.startswith(f"•••• ({shown} ")


def test_a_secret_in_a_file_is_told_by_the_path(tmp_path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)

    one = told({"LEADROTA_API_TOKEN_FILE": str(path)})["LEADROTA_API_TOKEN"]

    assert (one.source, one.place) == (Source.FILE, str(path))
    assert one.value == "•••• (32 to 63 characters)"


def test_settings_of_the_toml_file_and_secrets_that_it_names(tmp_path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'leadrota_default_pool = "Inbound"\n[connections.eu]\nkind = "hubspot"\n'
        'access_token = "EU_TOKEN"\nclient_secret = "EU_SECRET"\nportal_id = "7"\n'
    )
    env = {
        "LEADROTA_CONFIG": str(path),
        "LEADROTA_PUBLIC_URL": "https://leads.example.com",
        "EU_TOKEN": "hidden",
        "EU_SECRET_FILE": str(tmp_path / "secret"),
    }
    (tmp_path / "secret").write_text("hidden")

    found = told(env)

    assert [
        (found[name].value, found[name].source, found[name].place)
        for name in (
            "LEADROTA_DEFAULT_POOL",
            "connections.eu.portal_id",
            "connections.eu.access_token",
            "connections.eu.client_secret",
            "connections.eu.api_version",
        )
    ] == [
        ("Inbound", Source.TOML, str(path)),
        ("7", Source.TOML, str(path)),
        ("•••• (1 to 15 characters)", Source.ENVIRONMENT, "EU_TOKEN"),
        ("•••• (1 to 15 characters)", Source.FILE, str(tmp_path / "secret")),
        ("v3", Source.DEFAULT, None),
    ]
    assert found["LEADROTA_CONFIG"].source is Source.ENVIRONMENT


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///here.db", "sqlite:///here.db"),
        ("postgres://host/leads", "postgres://host/leads"),
        ("postgresql://me:hidden@host:5432/leads", "postgresql://••••@host:5432/leads"),
        ("postgresql+psycopg://h/l?password=hidden", "postgresql+psycopg://h/l?••••"),
        ("postgres://me:hid/hidden@host/leads", "••••"),
        ("postgres://me:hid?hidden@host/leads", "••••"),
        ("postgres://me:hid@hidden@host/leads", "••••"),
        ("postgres://host/leads?password=hid@hidden", "••••"),
    ],
)
def test_the_address_of_the_database_is_shown_without_its_password(url: str, shown: str) -> None:
    assert told({"DATABASE_URL": url})["DATABASE_URL"].value == shown


def test_of_settings_that_cannot_be_used_no_value_is_shown(tmp_path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'leadrota_api_token = "hidden-1"\nport = "hidden-2"\nconnections = "hidden-3"\n'
    )
    env = {"LEADROTA_CONFIG": str(path), "LEADROTA_PUBLIC_URL": "hidden-4", "HUBSPOT_OBJECTS": "x"}

    found = {one.name: one for one in origins(None, env)}

    assert all(one.value is None for one in found.values())
    assert "hidden" not in repr(found)
    assert found["PORT"].source is Source.TOML
    assert found["HUBSPOT_OBJECTS"].source is Source.ENVIRONMENT
    assert found["LEADROTA_PUBLIC_URL"].source is Source.ENVIRONMENT
