"""The one name we keep for an object type, however it is given."""

import pytest

from adapters import hubspot
from adapters.hubspot.settings import HubSpotSettings

NAMES = {
    "contacts": ("contact", "0-1"),
    "companies": ("company", "0-2"),
    "deals": ("deal", "0-3"),
    "tickets": ("ticket", "0-5"),
    "products": ("product", "0-7"),
    "line_items": ("line_item", "0-8"),
    "tasks": ("task", "0-27"),
    "notes": ("note", "0-46"),
    "meetings": ("meeting", "0-47"),
    "calls": ("call", "0-48"),
    "emails": ("email", "0-49"),
    "users": ("user", "0-115"),
    "leads": ("lead", "0-136"),
}


@pytest.fixture(scope="module")
def receiver():
    return hubspot.receiver(
        HubSpotSettings(
            name="hubspot",
            access_token="token",
            client_secret="secret",
            public_url="https://connector.example.test",
        )
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [(given, name) for name, others in NAMES.items() for given in (name, *others)],
)
def test_a_name_a_singular_and_a_type_id_are_one_type(receiver, given, kept):
    for form in (given, given.upper(), given.title(), f" {given}\t\n"):
        assert receiver.object_type(form) == kept


@pytest.mark.parametrize("given", ["2-31337", "p4242_Pets", "Pets", "0-1-1", "contact s", "", " "])
def test_an_unknown_type_is_kept_as_it_is(receiver, given):
    assert receiver.object_type(given) == given
