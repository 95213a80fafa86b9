"""A history row gives back the lead with all that its decision was given."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from connector.model import (
    Board,
    Candidate,
    ExistingOwner,
    Lead,
    LeadKind,
    SkipReason,
    Slot,
    Status,
    StickyStep,
    User,
)
from connector.store import assignments
from connector.store.database import Database
from connector.store.facts import elsewhere_of, facts_of, lead_of, meetings_of
from connector.store.tables import assignments as assignments_table
from tests import builders
from tests.store.builders import NOW, contact, decision, empty_pool, put, user

HOUR = timedelta(hours=1)
ALICE = User(
    id="a",
    name="Alice",
    owners={"salesforce": "005", "hubspot": "1"},
    refused_by=frozenset({"salesforce"}),
    daily_quota=3,
)
SLOT = Slot(starts_at=NOW, ends_at=NOW + HOUR)


def kept(database: Database, lead: Lead, board: Board | None = None) -> Any:
    """Record the lead with nobody who takes it, and read it again."""
    with database.write() as session:
        made = replace(decision(empty_pool(session), lead.id), lead=lead)
        boards = [board] if board else []
        (row,) = assignments.record(session, [made], first_sequence=1, boards=boards)
    with database.read() as session:
        return assignments.get(session, row.id)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": LeadKind.TASK},
        {"kind": LeadKind.MEETING, "slot": SLOT},
        {"record": contact("1"), "email": "Kim@x.com", "company": " X ", "attributes": {"b": [1]}},
        {"preferred": ALICE},
        {"existing_owner": ExistingOwner(owner_id="9")},
        {"existing_owner": ExistingOwner(owner_id="1", user=ALICE), "replaces": ("2", "3")},
        {
            "candidates": (
                Candidate(step=StickyStep.PERSON, user=ALICE, found="had lead_7"),
                Candidate(step=StickyStep.COMPANY, user=None, found="this company is new"),
            )
        },
        {"anew": "its owner was cleared"},
        {"excluded": {"b": SkipReason.REFUSED_BY_CRM, "a": SkipReason.EXCLUDED}},
        {"fallback_from": "other", "replaces": ("1",)},
    ],
    ids=" ".join,
)
def test_a_lead_comes_back_from_its_row(database: Database, given: dict[str, Any]) -> None:
    lead = Lead(id="x", **given)
    assert lead_of(kept(database, lead)) == lead


def test_what_was_not_given_is_not_kept() -> None:
    assert facts_of(Lead(id="x"), None) == {}
    assert facts_of(Lead(id="x"), builders.strict("AB")) == {}


def test_leads_elsewhere_and_meetings_at_the_same_time_come_back(database: Database) -> None:
    before = Slot(starts_at=NOW - HOUR, ends_at=NOW)
    across = Slot(starts_at=NOW - HOUR, ends_at=NOW + HOUR / 4)
    behind = Slot(starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR)
    plain = builders.strict("AB")
    board = replace(
        plain,
        takings={"A": (NOW,)},  # of this pool: its own rows tell that
        elsewhere={"B": (NOW - HOUR, NOW), "A": ()},
        meetings={"B": (before, across), "A": (behind,)},
    )
    row = kept(database, Lead(id="x", slot=SLOT), board)
    assert elsewhere_of(row.facts) == {"B": (NOW - HOUR, NOW)}
    assert meetings_of(row.facts) == {"B": (across,)}
    without_slot = kept(database, Lead(id="x"), board)
    assert "meetings" not in without_slot.facts


def test_a_row_of_an_earlier_version_still_tells_its_turn(database: Database) -> None:
    with database.write() as session:
        put(session, user("a"))
        made = decision(empty_pool(session), "x", user("a"))
        (row,) = assignments.record(session, [made], first_sequence=5)
        old = {"skipped": [["b", "no_owner", None]], "checks": [], "order": ["a"], "route": None}
        session.execute(assignments_table.update().values(member_id=7, trace=old))
        found = assignments.get(session, row.id)
    assert found is not None
    assert found.turn is not None
    assert (found.turn.member_id, found.turn.user_id, found.turn.sequence) == (7, "a", 5)
    assert (found.turn.at, found.status) == (NOW, Status.ASSIGNED)
    assert (found.skipped[0].reason, found.skipped[0].until) == (SkipReason.NO_OWNER, None)
    assert (found.order_after, found.facts, lead_of(found)) == ((), {}, Lead(id="x"))
