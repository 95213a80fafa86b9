"""The sticky steps: who has the lead, its person or its company, and whether they get it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from connector.engine.decide import decide
from connector.engine.sticky import look
from connector.model import (
    Candidate,
    Presence,
    SkipReason,
    Slot,
    StickyPolicy,
    StickyStep,
    StickyTurn,
)
from tests.builders import NOON, contact, excluding, lead, strict, under, user

PERSON, COMPANY, EARLIER = (
    StickyStep.PERSON,
    StickyStep.COMPANY,
    StickyStep.EARLIER_ASSIGNMENT,
)
AVAILABLE, COUNTED = StickyPolicy.AVAILABLE, StickyTurn.COUNTED


def known(**found) -> dict:
    """``known(person=user("B"), company=None)``: what the look-ups found; the rest found nobody."""
    return {
        "candidates": tuple(
            Candidate(
                step=step,
                user=found.get(step),
                found=f"{found[step].name} has L0" if found.get(step) else f"no {step}",
            )
            for step in (PERSON, COMPANY, EARLIER)
        )
    }


def outcomes(found) -> dict[str, str]:
    return {str(check.step): check.outcome for check in found.checks}


def test_the_first_step_that_names_somebody_answers():
    found = look(lead(**known(company=user("B"), earlier_assignment=user("C"))), strict("A"), NOON)
    assert (found.user.id, found.step) == ("B", COMPANY)


def test_each_step_up_to_the_answer_tells_what_it_found():
    found = look(lead(**known(company=user("B"), earlier_assignment=user("C"))), strict("A"), NOON)
    assert [(check.step, check.user_id, check.outcome) for check in found.checks] == [
        (PERSON, None, "no person"),
        (COMPANY, "B", "B has L0"),
    ]


def test_the_order_of_the_steps_is_the_pools():
    board = under(strict("A"), sticky_steps=(EARLIER, COMPANY, PERSON))
    everyone = known(person=user("B"), company=user("C"), earlier_assignment=user("D"))
    assert look(lead(**everyone), board, NOON).step is EARLIER


@pytest.mark.parametrize("step", [PERSON, COMPANY, EARLIER])
def test_a_step_that_is_off_does_not_answer_and_says_so(step):
    others = tuple(one for one in (PERSON, COMPANY, EARLIER) if one is not step)
    found = look(lead(**known(**{step: user("B")})), under(strict("A"), sticky_steps=others), NOON)
    assert (found.user, found.waits) == (None, None)
    assert outcomes(found)[step] == "this step is off in this pool"
    assert len(found.checks) == 3


def test_without_sticky_routing_no_step_answers():
    found = look(lead(**known(person=user("B"))), under(strict("A"), sticky=StickyPolicy.OFF), NOON)
    assert (found.user, found.waits) == (None, None)
    assert set(outcomes(found).values()) == {"sticky routing is off in this pool"}


def test_steps_that_nobody_asked_are_told_as_such():
    assert set(outcomes(look(lead(), strict("A"), NOON)).values()) == {"not looked up"}


@pytest.mark.parametrize(
    ("who", "given", "why"),
    [
        (user("B", active=False), {}, "B is no longer active"),
        (user("B"), {"excluded": excluding("B")}, "B cannot have it: excluded"),
        (
            user("B"),
            {"excluded": {"B": SkipReason.REFUSED_BY_CRM}},
            "B cannot have it: refused_by_crm",
        ),
        (user("B", owners={}), {}, "B cannot have it: no owner id in hubspot"),
        (
            user("B", refused_by=frozenset({"hubspot"})),
            {},
            "B cannot have it: inactive in hubspot",
        ),
    ],
)
def test_who_cannot_have_the_lead_at_all_is_passed_over_and_replaced(who, given, why):
    decision, _ = decide(contact(**known(person=who), **given), strict("A"), NOON)
    assert decision.user.id == "A"
    assert decision.checks[1].outcome == why
    assert decision.stands_in_for is None


def test_the_next_step_answers_when_the_first_names_somebody_who_left():
    found = look(
        lead(**known(person=user("B", active=False), company=user("C"))), strict("A"), NOON
    )
    assert (found.user.id, found.step) == ("C", COMPANY)


def test_who_is_away_gets_their_lead_all_the_same_by_default():
    found = look(lead(**known(person=user("B", status=Presence.AWAY))), strict("A"), NOON)
    assert found.user.id == "B"


def test_who_is_paused_in_the_pool_gets_their_lead_all_the_same_by_default():
    board = strict("AB", B={"active": False})
    decision, _ = decide(lead(**known(person=user("B"))), board, NOON)
    assert (decision.user.id, decision.skipped) == ("B", ())


def test_under_available_only_who_can_take_it_now_gets_it():
    board = under(strict("A"), sticky=AVAILABLE)
    decision, _ = decide(lead(**known(person=user("B", status=Presence.AWAY))), board, NOON)
    assert decision.user.id == "A"
    assert decision.checks[0].outcome == "B cannot take it now: has set themselves to away"


def test_who_stands_in_is_known_as_such_whichever_step_it_is():
    board = under(strict("A"), sticky=AVAILABLE)
    absent = user("B", status=Presence.AWAY)
    by_turn, _ = decide(lead(**known(person=absent)), board, NOON)
    by_company, _ = decide(lead(**known(person=absent, company=user("C"))), board, NOON)
    assert (by_turn.user.id, by_turn.stands_in_for) == ("A", "B")
    assert (by_company.user.id, by_company.stands_in_for) == ("C", "B")


def test_of_two_who_cannot_take_it_the_first_is_stood_in_for():
    board = under(strict("A"), sticky=AVAILABLE)
    absent = [user(name, status=Presence.AWAY) for name in "BC"]
    decision, _ = decide(lead(**known(person=absent[0], company=absent[1])), board, NOON)
    assert decision.stands_in_for == "B"


def test_a_lead_that_is_held_has_nobody_standing_in():
    board = under(strict("A", A={"active": False}), sticky=AVAILABLE)
    decision, _ = decide(lead(**known(person=user("B", status=Presence.AWAY))), board, NOON)
    assert (decision.user, decision.stands_in_for) == (None, None)


def test_nobody_stands_in_for_themselves():
    board = under(strict("A"), sticky=AVAILABLE)
    absent = user("A", status=Presence.AWAY)
    decision, _ = decide(lead(**known(person=absent)), board, NOON)
    assert (decision.user.id, decision.stands_in_for) == ("A", None)


def busy_board(*, member: int | None = None, pool: int | None = None, **policies):
    """A and B, where B had a lead today; quotas of B and of the pool."""
    board = under(strict("AB", B={"daily_quota": member}), **policies)
    return replace(board, pool=replace(board.pool, daily_quota=pool), takings={"B": (NOON,)})


def test_a_free_sticky_lead_needs_no_room():
    found = look(lead(**known(person=user("B"))), busy_board(member=1, pool=1), NOON)
    assert found.user.id == "B"


def test_a_counted_sticky_lead_needs_room_in_the_members_quota():
    board = busy_board(member=1, sticky_turn=COUNTED)
    decision, _ = decide(lead(**known(person=user("B"))), board, NOON)
    assert (decision.user.id, decision.stands_in_for) == ("A", "B")
    assert decision.checks[0].outcome == "B has no room: 1/1 today"


@pytest.mark.parametrize("policy", [StickyPolicy.ACTIVE, AVAILABLE])
def test_a_counted_sticky_lead_needs_room_in_the_pools_quota(policy):
    board = busy_board(pool=1, sticky=policy, sticky_turn=COUNTED)
    found = look(lead(**known(person=user("B"))), board, NOON)
    assert found.user is None
    assert outcomes(found)["person"] == "B has no room: the pool has 1/1 today"


def test_a_counted_sticky_lead_needs_room_in_the_users_own_quota_though_no_member():
    board = replace(under(strict("A"), sticky_turn=COUNTED), elsewhere={"X": (NOON,)})
    found = look(lead(**known(person=user("X", daily_quota=1))), board, NOON)
    assert outcomes(found)["person"] == "X has no room: 1/1 today over all pools"


def test_nobody_is_in_two_meetings_at_once_for_being_sticky():
    slot = Slot(starts_at=NOON, ends_at=NOON + timedelta(hours=1))
    board = replace(strict("AB"), meetings={"B": (slot,)})
    decision, _ = decide(lead(slot=slot, **known(person=user("B"))), board, NOON)
    assert (decision.user.id, decision.stands_in_for) == ("A", "B")
    assert outcomes(look(decision.lead, board, NOON))["person"].startswith("B cannot take it now")
