"""A decision carries every reason: why this user, and why not the others."""

import pytest

from connector.engine.decide import advance, decide
from connector.model import Reason, Route, SkipReason, Status, StickyStep
from tests.builders import NOON, contact, excluding, lead, owned_by, strict, user


def test_an_owner_who_is_a_user_keeps_the_lead_and_no_turn_is_used() -> None:
    board = strict("ABC", last="A")
    decision = decide(contact(existing_owner=owned_by(user("C"))), board, NOON)
    assert (decision.status, decision.reason) == (Status.KEPT, Reason.STICKY)
    assert (decision.sticky_step, decision.user.id) == (StickyStep.EXISTING_OWNER, "C")
    assert advance(board, decision).last_assigned_member_id == board.last_assigned_member_id


def test_an_owner_who_is_no_user_of_ours_keeps_the_lead_too() -> None:
    decision = decide(contact(existing_owner=owned_by(None)), strict("AB"), NOON)
    assert (decision.status, decision.user) == (Status.KEPT, None)


def test_who_had_the_lead_before_gets_it_again_without_a_turn() -> None:
    board = strict("ABC")
    decision = decide(contact(earlier_user=user("X")), board, NOON)
    assert (decision.status, decision.reason) == (Status.ASSIGNED, Reason.STICKY)
    assert (decision.sticky_step, decision.user.id) == (StickyStep.EARLIER_ASSIGNMENT, "X")
    assert advance(board, decision).last_assigned_member_id is None


@pytest.mark.parametrize(
    ("earlier", "why"),
    [
        (user("X", active=False), "X is no longer active"),
        (user("X", owners={}), "X has no owner id in hubspot"),
        (user("X", refused_by=frozenset({"hubspot"})), "X is inactive in hubspot"),
    ],
)
def test_an_earlier_user_who_cannot_have_it_is_passed_over_with_the_reason(earlier, why) -> None:
    decision = decide(contact(earlier_user=earlier), strict("AB"), NOON)
    assert (decision.user.id, decision.reason) == ("A", Reason.ROTATION)
    assert decision.checks[-1].outcome == why


def test_each_member_that_is_skipped_comes_with_its_reason() -> None:
    board = strict(
        "ABCDEFG",
        A={"user_active": False},
        B={"active": False},
        C={"weight": 0},
        D={"owners": {"salesforce": "005"}},
        E={"refused_by": frozenset({"hubspot"})},
    )
    decision = decide(contact(excluded=excluding("F")), board, NOON)
    assert decision.user.id == "G"
    assert [(skip.user_id, skip.reason) for skip in decision.skipped] == [
        ("A", SkipReason.INACTIVE),
        ("B", SkipReason.INACTIVE),
        ("C", SkipReason.WEIGHT_ZERO),
        ("D", SkipReason.NO_OWNER),
        ("E", SkipReason.INACTIVE),
        ("F", SkipReason.EXCLUDED),
    ]
    assert [skip.detail for skip in decision.skipped][3] == "no owner id in hubspot"


def test_a_lead_without_a_record_needs_no_owner_id() -> None:
    assert decide(lead(), strict("A", A={"owners": {}}), NOON).user.id == "A"


def test_members_behind_the_one_chosen_are_judged_too() -> None:
    decision = decide(lead(), strict("ABC", B={"active": False}), NOON)
    assert (decision.user.id, [skip.user_id for skip in decision.skipped]) == ("A", ["B"])


def test_a_decision_shows_the_order_as_it_stood_before() -> None:
    assert decide(lead(), strict("ABC", last="A"), NOON).order == ("B", "C", "A")


def test_a_decision_keeps_the_route_that_led_to_the_pool() -> None:
    route = Route(pool_id="pool", territory="DACH", passed=("US: country is missing",))
    assert decide(lead(), strict("A"), NOON, route=route).route == route
