"""Users are known by our id, and by one owner id per connection."""

from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta

import pytest

from connector.errors import Conflict
from connector.model import Absence, Availability, Presence, User, WorkingHours
from connector.store import availability, users
from connector.store.availability import Told
from connector.store.database import Database
from tests.store.builders import NOW, put, user


def test_a_user_comes_back_as_it_was_put(database: Database) -> None:
    alice = User(
        id="u1",
        name="Alice",
        email="alice@example.com",
        active=False,
        status=Presence.AWAY,
        time_zone="Europe/Berlin",
        working_hours=(
            WorkingHours(days=(0, 1, 4), start=time(9), end=time(17, 30)),
            WorkingHours(days=(5,), start=time(22), end=time(0)),
        ),
        holidays="DE-BY",
        daily_quota=0,
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


HUBSPOT = Availability(
    status=Presence.AWAY,
    time_zone="Europe/Berlin",
    working_hours=(WorkingHours(days=(0, 4), start=time(22), end=time(0)),),
    absences=(
        Absence(id="x", starts_at=NOW, ends_at=NOW + timedelta(microseconds=1), reason=None),
    ),
)


def told(owner_id: str, told: Availability | None = HUBSPOT, *, listed: bool = False) -> Told:
    return Told(owner_id=owner_id, listed=listed, availability=told)


def test_what_a_directory_tells_is_kept_by_user_and_connection(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1", salesforce="2"), user("u2", hubspot="3"))
        news = {"u1": told("1"), "u2": told("3", Availability(), listed=True)}
        availability.keep(session, "hubspot", news, NOW)
        people = users.find(session, ["u1", "u2"])
        assert availability.known(session, "hubspot") == news
        assert availability.known(session, "salesforce") == {"u1": told("2", None, listed=True)}
    assert (people["u1"].refused_by, people["u1"].reported) == ({"hubspot"}, {"hubspot": HUBSPOT})
    assert (people["u2"].refused_by, people["u2"].reported) == (set(), {"hubspot": Availability()})


def test_what_a_directory_tells_anew_replaces_what_it_told(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1"))
        for news in (told("1"), told("1", Availability()), told("1", None, listed=True)):
            availability.keep(session, "hubspot", {"u1": news}, NOW)
            assert availability.known(session, "hubspot") == {"u1": news}


def test_a_directory_tells_nothing_of_an_owner_id_that_changed_meanwhile(
    database: Database,
) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="new"), user("u2", hubspot="2"))
        availability.keep(session, "hubspot", {"u1": told("old"), "u2": told("2")}, NOW)
        people = users.find(session, ["u1", "u2"])
    assert (people["u1"].refused_by, people["u1"].reported) == (set(), {})
    assert (people["u2"].refused_by, people["u2"].reported) == ({"hubspot"}, {"hubspot": HUBSPOT})


@pytest.mark.parametrize(("owner_id", "stays"), [("1", True), ("other", False), (None, False)])
def test_what_a_directory_tells_stays_when_the_user_is_put_again_with_the_owner_id(
    database: Database, owner_id: str | None, stays: bool
) -> None:
    owners = {"hubspot": owner_id} if owner_id else {}
    with database.write() as session:
        put(session, user("u1", hubspot="1", salesforce="2"), user("u2", hubspot="3"))
        availability.keep(session, "hubspot", {"u1": told("1"), "u2": told("3")}, NOW)
        availability.keep(session, "salesforce", {"u1": told("2", Availability())}, NOW)
        put(session, user("u1", salesforce="2", **owners))
        people = users.find(session, ["u1", "u2"])
        put(session, user("u1", hubspot="1"))  # nothing comes back from before
        again = users.get(session, "u1")
    kept = {"hubspot"} if stays else set()
    assert people["u1"].refused_by == kept | {"salesforce"}
    assert set(people["u1"].reported) == kept | {"salesforce"}
    assert people["u2"].reported == {"hubspot": HUBSPOT}
    assert again is not None
    assert set(again.reported) == kept


def test_a_refusal_by_the_directory_is_taken_back_by_it(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1", hubspot="1"))
        users.refuse(session, "u1", "hubspot", unlisted=True)
        before = users.find(session, ["u1"])["u1"]
        availability.keep(session, "hubspot", {"u1": told("1", listed=True)}, NOW)
        after = users.find(session, ["u1"])["u1"]
    assert (before.refused_by, after.refused_by) == ({"hubspot"}, set())


def test_more_users_than_one_statement_takes_are_found(database: Database) -> None:
    ids = [f"u{number:04}" for number in range(1200)]
    with database.write() as session:
        users.ensure(session, [(user_id, None, None) for user_id in ids], NOW)
        assert list(users.find(session, ids)) == ids


def absence(name: str, start: int, end: int) -> Absence:
    return Absence(
        id=name,
        starts_at=NOW + timedelta(hours=start),
        ends_at=NOW + timedelta(hours=end),
        reason="vacation",
    )


def test_absences_come_with_the_user_by_start_and_stay_when_the_user_is_put_again(
    database: Database,
) -> None:
    late, early, same = absence("a", 5, 6), absence("b", 1, 9), absence("c", 1, 2)
    with database.write() as session:
        put(session, user("u1"), user("u2"))
        for one in (late, same, early):
            users.add_absence(session, "u1", one)
        put(session, replace(user("u1"), absences=(absence("d", 0, 1),)))
        people = users.find(session, ["u1", "u2"])
    assert people["u1"].absences == (early, same, late)
    assert people["u2"].absences == ()


def test_absences_that_are_long_over_are_left_out_when_a_moment_is_given(
    database: Database,
) -> None:
    over, lately = absence("over", -30, -25), absence("lately", -30, -23)
    with database.write() as session:
        put(session, user("u1"))
        users.add_absence(session, "u1", over)
        users.add_absence(session, "u1", lately)
        assert users.find(session, ["u1"], now=NOW)["u1"].absences == (lately,)
        assert users.absences(session, "u1") == [lately, over]


def test_absences_are_listed_in_pages(database: Database) -> None:
    all_of_them = [
        absence(name, start, 9) for name, start in zip("bdaec", (1, 1, 2, 2, 2), strict=True)
    ]
    with database.write() as session:
        put(session, user("u1"))
        for one in all_of_them:
            users.add_absence(session, "u1", one)
        first = users.absences(session, "u1", None, 2)
        rest = users.absences(session, "u1", first[-1].id, 10)
    assert [one.id for one in first + rest] == list("bdace")


def test_an_absence_is_removed_only_from_its_own_user(database: Database) -> None:
    with database.write() as session:
        put(session, user("u1"), user("u2"))
        users.add_absence(session, "u1", absence("a", 1, 2))
        assert users.remove_absence(session, "u2", "a") is False
        assert users.remove_absence(session, "u1", "a") is True
        assert users.remove_absence(session, "u1", "a") is False
        assert users.absences(session, "u1") == []
