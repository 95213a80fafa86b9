"""The newest lead of a person or a company says who has it, however long the history is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from connector.model import Assignment, Status
from connector.model.keys import company_key, domain_key, email_key
from connector.store import assignments
from connector.store.assignments import Found
from connector.store.database import Database, Session
from tests.store.builders import (
    NOW,
    contact,
    decision,
    empty_pool,
    plans,
    put,
    statements,
    user,
)

ALICE, BOB = user("a", hubspot="1"), user("b", hubspot="2")
MINUTE = timedelta(minutes=1)
WALK = re.compile(r"Seq Scan on assignments|SCAN assignments")
LookUp = Callable[[Session, list[str]], dict[str, Found]]


@pytest.fixture
def pool_id(database: Database) -> str:
    with database.write() as session:
        put(session, ALICE, BOB)
        return empty_pool(session)


def give(
    session: Session, pool_id: str, lead_id: str, person: Any = None, **more: Any
) -> Assignment:
    """Record the next decision of the pool."""
    last = session.scalar(
        text("SELECT max(sequence) FROM assignments WHERE pool_id = :pool"), {"pool": pool_id}
    )
    made = decision(pool_id, lead_id, person, **more)
    (row,) = assignments.record(session, [made], first_sequence=(last or 0) + 1)
    return row


def who(found: dict[str, Found]) -> dict[str, str]:
    return {key: one.user_id for key, one in found.items()}


@pytest.mark.parametrize(
    ("look_up", "known", "asked"),
    [
        (assignments.by_email, {"email": " Kim@X.com "}, email_key("kim@x.COM")),
        (assignments.by_company, {"company": "STRASSE\n"}, company_key("straße")),
        (assignments.by_domain, {"email": "kim@X.com"}, domain_key("lee@x.com")),
    ],
)
def test_the_newest_of_any_pool_and_connection_is_found(
    database: Database, pool_id: str, look_up: LookUp, known: dict[str, str], asked: str
) -> None:
    with database.write() as session:
        other = empty_pool(session)
        give(session, other, "x", ALICE, **known, decided_at=NOW, record=contact("1"))
        newest = give(session, pool_id, "y", BOB, **known, decided_at=NOW + MINUTE)
        give(session, pool_id, "z", ALICE, decided_at=NOW + 2 * MINUTE)
        assert look_up(session, [asked, asked, "nobody"]) == {
            asked: Found(lead_id="y", user_id="b", assignment_id=newest.id)
        }
        assert look_up(session, []) == {}


def test_many_people_are_found_at_once(database: Database, pool_id: str) -> None:
    with database.write() as session:
        made = [
            decision(pool_id, f"L{n}", (ALICE, BOB)[n % 2], email=f"{n}@x.com") for n in range(600)
        ]
        assignments.record(session, made, first_sequence=1)
        found = assignments.by_email(session, [f"{n}@x.com" for n in range(700)])
    assert who(found) == {f"{n}@x.com": "ab"[n % 2] for n in range(600)}


def test_a_free_mailbox_tells_no_company(database: Database, pool_id: str) -> None:
    with database.write() as session:
        give(session, pool_id, "x", ALICE, email="kim@gmail.com")
        assert assignments.by_domain(session, ["gmail.com"]) == {}
        assert who(assignments.by_email(session, ["kim@gmail.com"])) == {"kim@gmail.com": "a"}


def test_someone_who_stood_in_does_not_replace_the_earlier_user(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        give(session, pool_id, "x", ALICE, email="k@x.com")
        give(session, pool_id, "y", BOB, email="k@x.com", stands_in_for="a")
        found = assignments.by_email(session, ["k@x.com"])["k@x.com"]
    assert (found.user_id, found.lead_id) == ("a", "y")


def test_a_lead_that_was_taken_back_says_nothing_any_more(database: Database, pool_id: str) -> None:
    with database.write() as session:
        give(session, pool_id, "x", ALICE, email="k@x.com")
        give(session, pool_id, "y", BOB, email="k@x.com")
        undone = {"status": Status.UNDONE, "stands_in_for": "b"}
        give(session, pool_id, "y", email="k@x.com", **undone)
        assert who(assignments.by_email(session, ["k@x.com"])) == {"k@x.com": "a"}
        give(session, pool_id, "x", email="k@x.com", status=Status.UNDONE)
        assert assignments.by_email(session, ["k@x.com"]) == {}


def test_a_lead_that_moved_is_with_its_new_user(database: Database, pool_id: str) -> None:
    with database.write() as session:
        give(session, pool_id, "x", ALICE, email="k@x.com")
        give(session, pool_id, "x", BOB, email="k@x.com", status=Status.REASSIGNED)
        assert who(assignments.by_email(session, ["k@x.com"])) == {"k@x.com": "b"}


def test_a_lead_that_waits_does_not_hide_who_has_the_person(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        give(session, pool_id, "x", ALICE, email="k@x.com")
        give(session, pool_id, "y", email="k@x.com")
        assert who(assignments.by_email(session, ["k@x.com"])) == {"k@x.com": "a"}


def test_an_amended_row_is_found_with_its_new_user(database: Database, pool_id: str) -> None:
    with database.write() as session:
        row = give(session, pool_id, "x", ALICE, email="k@x.com")
        assignments.amend(session, row.id, decision(pool_id, "x", BOB, email="k@x.com"), None)
        assert who(assignments.by_email(session, ["k@x.com"])) == {"k@x.com": "b"}


def test_the_last_row_of_a_lead_is_found_in_any_pool(database: Database, pool_id: str) -> None:
    with database.write() as session:
        other = empty_pool(session)
        give(session, pool_id, "x", ALICE)
        give(session, pool_id, "hubspot:contacts:1", ALICE, record=contact("1"))
        last = give(session, other, "x", status=Status.UNDONE)
        moved = give(session, other, "hubspot:contacts:1", BOB, record=contact("1"))
        found = assignments.last_of_leads(
            session, ["x", "y", "hubspot:contacts:1"], [contact("1"), contact("2")]
        )
        assert found == {"x": last, "hubspot:contacts:1": moved}


def test_the_last_row_of_a_record_is_found_under_whatever_lead_it_was(
    database: Database, pool_id: str
) -> None:
    with database.write() as session:
        first = give(session, pool_id, "named by a caller", ALICE, record=contact("1"))
        assert assignments.last_of_leads(session, [], [contact("1")]) == {
            "hubspot:contacts:1": first
        }


def _asks(session: Session, size: int) -> None:
    keys = [f"k{number}" for number in range(size)]
    assignments.by_email(session, keys)
    assignments.by_company(session, keys)
    assignments.by_domain(session, keys)
    assignments.last_of_leads(session, keys, [contact(key) for key in keys])


def test_the_number_of_statements_does_not_grow_with_the_keys(
    database: Database, pool_id: str
) -> None:
    sent = []
    with database.write() as session:
        made = [
            decision(
                pool_id, f"k{n}", ALICE, company=f"k{n}", email=f"@k{n}", record=contact(f"k{n}")
            )
            for n in range(200)
        ]
        assignments.record(session, made, first_sequence=1)
        for size in (2, 200):
            with statements(database) as counted:
                _asks(session, size)
                sent.append(len(counted))
    assert sent[0] <= sent[1] <= 9


def test_no_look_up_walks_through_the_history(database: Database, pool_id: str) -> None:
    """Many rows of one key, as of a large customer's mail domain, and the database's own plan."""
    with database.write() as session:
        made = [
            decision(
                pool_id,
                f"L{number}",
                ALICE,
                email=f"{number % 7}@big.com",
                company="Big",
                record=contact(str(number)),
            )
            for number in range(3000)
        ]
        assignments.record(session, made, first_sequence=1)
        session.execute(text("ANALYZE"))
        with plans(database) as seen:
            assert who(assignments.by_domain(session, ["big.com"])) == {"big.com": "a"}
            assert who(assignments.by_company(session, ["big"])) == {"big": "a"}
            assert who(assignments.by_email(session, ["3@big.com"])) == {"3@big.com": "a"}
        with plans(database) as seen_of_leads:
            assignments.last_of_leads(session, ["L5"], [contact("5")])
    for key in ("domain_key", "company_key", "email_key"):
        assert any(f"ix_assignments_{key}" in line for line in seen), key
    for key in ("lead_id", "record"):
        assert any(f"ix_assignments_{key}" in line for line in seen_of_leads), key
    assert [line for line in seen + seen_of_leads if WALK.search(line)] == []
    # Sorting would mean that every row of a key is read to find the newest.
    assert [line for line in seen if "Sort" in line or "TEMP B-TREE" in line] == []
