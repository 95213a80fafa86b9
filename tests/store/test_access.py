"""Tokens are known by their hash only, and only until they are revoked."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from connector.errors import Conflict, NotFound
from connector.model import Scope
from connector.store import access
from connector.store.database import Database
from connector.store.tables import api_tokens
from tests.store.builders import NOW, run_all


def create(database: Database, name: str = "forms", scope: Scope = Scope.READ) -> str:
    with database.write() as session:
        return access.create(session, name, scope=scope, now=NOW)


def find(database: Database, token: str) -> access.Token | None:
    with database.read() as session:
        return access.find(session, token)


def revoke(database: Database, name: str = "forms") -> None:
    with database.write() as session:
        access.revoke(session, name, now=NOW)


def test_a_token_is_found_with_its_name_and_scope(database: Database) -> None:
    token = create(database, scope=Scope.ASSIGN)

    found = find(database, token)

    assert found is not None
    assert (found.name, found.scope) == ("forms", Scope.ASSIGN)
    assert (found.created_at, found.last_used_at) == (NOW, None)


def test_a_token_is_recognisable_and_never_the_same(sqlite: Database) -> None:
    tokens = {create(sqlite, f"t{number}") for number in range(20)}

    assert len(tokens) == 20
    assert all(re.fullmatch(r"lrt_[\w-]{43}", token) for token in tokens)


def test_the_token_itself_is_not_stored(sqlite: Database) -> None:
    token = create(sqlite)

    with sqlite.read() as session:
        stored = " ".join(map(str, session.execute(select(api_tokens)).one()))

    assert token not in stored
    assert token.removeprefix(access.PREFIX) not in stored
    assert access.hash_of(token) in stored


def test_a_token_that_is_almost_right_is_not_known(sqlite: Database) -> None:
    token = create(sqlite)

    for wrong in (token.swapcase(), token[:-1], f"{token} ", token.removeprefix("lrt_"), ""):
        assert find(sqlite, wrong) is None


def test_the_hash_is_no_token(sqlite: Database) -> None:
    assert find(sqlite, access.hash_of(create(sqlite))) is None


def test_a_revoked_token_is_not_known_any_more(database: Database) -> None:
    token, other = create(database), create(database, "other")

    revoke(database)

    assert find(database, token) is None
    assert find(database, other) is not None


def test_a_name_is_taken_until_it_is_revoked(database: Database) -> None:
    old = create(database)
    with pytest.raises(Conflict) as refused:
        create(database)
    assert refused.value.code == "token_exists"

    revoke(database)
    new = create(database)

    assert find(database, old) is None
    assert find(database, new) is not None


def test_of_two_who_take_a_name_at_once_one_is_refused(database: Database) -> None:
    refused = []

    def take() -> None:
        try:
            create(database)
        except Conflict as error:
            refused.append(error)

    run_all([take, take])

    assert len(refused) == 1


def test_revoking_a_name_that_is_not_there_says_so(database: Database) -> None:
    create(database)
    revoke(database)

    for name in ("forms", "never"):
        with pytest.raises(NotFound) as refused:
            revoke(database, name)
        assert refused.value.code == "token_not_found"


def test_the_list_holds_live_tokens_by_name(database: Database) -> None:
    for name in ("b", "a", "c"):
        create(database, name)
    revoke(database, "c")

    with database.read() as session:
        assert [token.name for token in access.listed(session)] == ["a", "b"]


def test_a_use_is_noted_once_a_minute(database: Database) -> None:
    token = create(database)
    for seconds, noted in ((0, 0), (59, 0), (60, 60), (61, 60)):
        found = find(database, token)
        assert found is not None
        now = NOW + timedelta(seconds=seconds)
        assert found.use_is_worth_noting(now) == (seconds == noted)
        with database.write() as session:
            access.note_use(session, found.id, now=now)
        after = find(database, token)
        assert after is not None
        assert after.last_used_at == NOW + timedelta(seconds=noted)


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        (Scope.READ, [Scope.READ]),
        (Scope.ASSIGN, [Scope.READ, Scope.ASSIGN]),
        (Scope.ADMIN, [Scope.READ, Scope.ASSIGN, Scope.ADMIN]),
    ],
)
def test_a_scope_covers_itself_and_less(scope: Scope, covered: list[Scope]) -> None:
    assert [other for other in Scope if scope.covers(other)] == covered
