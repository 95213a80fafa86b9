"""Users are known by our id, and by one owner id per connection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connector.errors import Conflict
from connector.model import User
from connector.store import users
from connector.store.database import Database
from tests.store.builders import NOW, put, user


def test_a_user_comes_back_as_it_was_put(database: Database) -> None:
    alice = User(
        id="u1",
        name="Alice",
        email="alice@example.com",
        active=False,
        time_zone="Europe/Berlin",
        owners={"hubspot": "1", "salesforce": "005A"},
    )
    with database.write() as session:
        assert users.put(session, alice, NOW) is True
        assert users.get(session, "u1") == alice
        assert users.get(session, "u2") is None


def test_putting_a_user_again_replaces_everything(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1", salesforce="005A"))
        again = User(id="u1", name="New", owners={"salesforce": "005B"})
        assert users.put(session, again, NOW) is False
        assert users.get(session, "u1") == again


def test_an_owner_id_belongs_to_one_user_per_connection(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1"), user("u2", salesforce="1"))
    with pytest.raises(Conflict, match="u1") as caught, database.write() as session:
        put(session, user("u2", hubspot="1"))
    assert caught.value.code == "owner_taken"
    with database.read() as session:
        assert users.get(session, "u2") == user("u2", salesforce="1")


def test_users_are_found_by_their_owner_ids(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1", salesforce="9"), user("u2", hubspot="2"))
        found = users.by_owner(session, "hubspot", ["2", "1", "9"])
    assert {owner: person.id for owner, person in found.items()} == {"1": "u1", "2": "u2"}


def test_ensuring_makes_unknown_users_and_leaves_known_ones(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1"))
        users.ensure(session, [("u1", "Other", None), ("u2", None, "b@example.com")], NOW)
        assert users.find(session, ["u1", "u2", "u3"]) == {
            "u1": user("u1"),
            "u2": User(id="u2", name="u2", email="b@example.com"),
        }


def test_users_are_listed_by_id_in_pages(database: Database) -> None:
    with database.write() as session:
        put(session, *(user(name, hubspot=name) for name in ("c", "a", "b")))
        assert [u.id for u in users.listed(session, None, 2)] == ["a", "b"]
        assert users.listed(session, "b", 2) == [user("c", hubspot="c")]


def test_a_refused_owner_is_remembered_per_connection(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1", salesforce="2"))
        users.refuse(session, "u1", "hubspot")
        found = users.get(session, "u1")
    assert found is not None
    assert found.refused_by == {"hubspot"}


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"active": True}, set()),
        ({"active": False}, {"hubspot"}),
        ({"active": False, "owners": {"hubspot": "other"}}, set()),
    ],
    ids=["active again", "still inactive", "another owner id"],
)
def test_putting_a_user_again_forgets_a_refusal_when(
    database: Database, changes: dict[str, object], refused: set[str]
) -> None:
    first = user("u1", hubspot="1")
    with database.write() as session:
        put(session, first)
        users.refuse(session, "u1", "hubspot")
        put(session, replace(first, **changes))  # type: ignore[arg-type]
        found = users.get(session, "u1")
    assert found is not None
    assert found.refused_by == refused


def test_more_users_than_one_statement_takes_are_found(database: Database) -> None:
    ids = [f"u{number:04}" for number in range(1200)]
    with database.write() as session:
        users.ensure(session, [(user_id, None, None) for user_id in ids], NOW)
        assert list(users.find(session, ids)) == ids
