"""Who gets the lead: step after step, and a decision carries every reason."""

from dataclasses import replace
from datetime import timedelta

import pytest

from connector.engine.decide import decide
from connector.model import (
    Absence,
    Board,
    Candidate,
    NoneAvailable,
    Presence,
    Reason,
    Route,
    SkipReason,
    Slot,
    Status,
    StickyCheck,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
)
from tests.builders import NOON, contact, excluding, lead, owned_by, strict, under, user
from tests.engine.deals import pool_of

VACATION = Absence(
    id="a", starts_at=NOON, ends_at=NOON + timedelta(days=5, hours=1), reason="vacation"
)


def away(board: Board, *names: str) -> Board:
    """The board on which these users say that they are away."""
    return change_users(board, {name: {"status": Presence.AWAY} for name in names})


def change_users(board: Board, changes) -> Board:
    members = tuple(
        replace(one, user=replace(one.user, **changes.get(one.user.id, {})))
        for one in board.pool.members
    )
    return replace(board, pool=replace(board.pool, members=members))


def limited(board: Board, **quotas: int) -> Board:
    """``pool=6`` limits the pool, ``A=1`` the member A, in leads a day."""
    members = tuple(replace(one, daily_quota=quotas.get(one.user.id)) for one in board.pool.members)
    return replace(board, pool=replace(board.pool, members=members, daily_quota=quotas.get("pool")))


def full(board: Board) -> Board:
    """The board of a pool that takes one lead a day, which B had."""
    return replace(limited(board, pool=1), takings={"B": (NOON,)})


def had_by(who, step: StickyStep = StickyStep.PERSON) -> dict:
    return {"candidates": (Candidate(step=step, user=who, found=f"{who.name} has L0"),)}


def run(board: Board, *leads) -> tuple[list, Board]:
    """The decisions of the leads one after the other, and the board after them."""
    made = []
    for one in leads:
        decision, board = decide(one, board, NOON)
        made.append(decision)
    return made, board


def word(board: Board, count: int) -> str:
    """Who gets so many leads in a row; ``-`` is held."""
    made, _ = run(board, *(lead(f"N{number}") for number in range(count)))
    return "".join(one.user.id if one.user else "-" for one in made)


def reasons(decision) -> list[tuple[str, SkipReason]]:
    return [(skip.user_id, skip.reason) for skip in decision.skipped]


def test_all_steps_that_could_answer_answer_in_their_order():
    x, y = user("X"), user("Y")
    steps = [
        {"existing_owner": owned_by(user("W"))},
        {"preferred": x},
        had_by(y),
        {},
    ]
    made = []
    for left in range(len(steps)):
        given = {name: value for step in steps[left:] for name, value in step.items()}
        decision, _ = decide(contact(**given), strict("A"), NOON)
        made.append((decision.user.id, decision.reason))
    assert made == [
        ("W", Reason.STICKY),
        ("X", Reason.PREFERRED),
        ("Y", Reason.STICKY),
        ("A", Reason.ROTATION),
    ]


def test_a_turn_that_is_owed_is_served_before_the_rotation_and_keeps_its_place():
    board = strict("ABC", last="A")
    owed = replace(board.pool.members[0], standing=replace(board.pool.members[0].standing, owed=1))
    board = replace(board, pool=replace(board.pool, members=(owed, *board.pool.members[1:])))
    (first, second), _ = run(board, lead("L1"), lead("L2"))
    assert (first.user.id, first.reason) == ("A", Reason.OWED)
    assert (second.user.id, second.reason) == ("B", Reason.ROTATION)


def test_a_lead_from_a_pool_where_nobody_could_take_it_comes_as_a_fallback():
    decision, board = decide(lead(fallback_from="other"), strict("AB"), NOON)
    assert (decision.user.id, decision.reason) == ("A", Reason.FALLBACK)
    assert decision.turn.member_id == board.last_assigned_member_id == 1


def test_a_decision_uses_the_next_number_of_its_pool():
    board = replace(strict("AB"), last_sequence=41)
    decision, after = decide(lead(), board, NOON)
    assert (decision.turn.sequence, after.last_sequence) == (42, 42)


def test_a_held_decision_and_a_kept_one_use_a_number_too():
    for given in (lead(excluded=excluding("A")), contact(existing_owner=owned_by(None))):
        assert decide(given, strict("A"), NOON)[1].last_sequence == 1


def test_an_owner_who_is_a_user_keeps_the_lead_and_no_turn_is_used():
    board = strict("ABC", last="A")
    decision, after = decide(contact(existing_owner=owned_by(user("C"))), board, NOON)
    assert (decision.status, decision.reason) == (Status.KEPT, Reason.STICKY)
    assert (decision.sticky_step, decision.user.id) == (StickyStep.EXISTING_OWNER, "C")
    assert (decision.turn, decision.counted) == (None, False)
    assert after == replace(board, last_sequence=1)


def test_an_owner_who_is_no_user_of_ours_keeps_the_lead_too():
    decision, _ = decide(contact(existing_owner=owned_by(None)), strict("AB"), NOON)
    assert (decision.status, decision.user) == (Status.KEPT, None)
    assert decision.checks[0].outcome == "owner 9 already owns the record and is no user here"


def test_an_owner_who_is_there_ends_the_search():
    given = contact(existing_owner=owned_by(user("C")), **had_by(user("A")))
    decision, _ = decide(given, strict("AB"), NOON)
    assert decision.checks == (
        StickyCheck(
            step=StickyStep.EXISTING_OWNER, user_id="C", outcome="C already owns the record"
        ),
    )


def test_an_owner_who_is_there_stands_in_for_nobody():
    board = under(strict("AB"), sticky=StickyPolicy.AVAILABLE)
    absent = user("Z", absences=(VACATION,))
    decision, _ = decide(contact(existing_owner=owned_by(user("A")), **had_by(absent)), board, NOON)
    assert decision.stands_in_for is None


def test_leads_of_which_the_caller_is_no_owner_go_round_s06():
    assert word(strict("ABC"), 6) == "ABCABC"


def test_a_preferred_member_gets_the_lead_and_the_rotation_stays_s85():
    board = strict("ABC")
    decision, after = decide(lead(preferred=user("B")), board, NOON)
    assert (decision.user.id, decision.reason, decision.turn) == ("B", Reason.PREFERRED, None)
    assert word(after, 3) == "ABC"


def test_a_preferred_user_who_cannot_take_it_leaves_it_to_the_rotation_s85():
    decision, _ = decide(
        lead(preferred=user("B", status=Presence.AWAY)), away(strict("ABC"), "B"), NOON
    )
    assert (decision.user.id, decision.reason) == ("A", Reason.ROTATION)
    assert reasons(decision) == [("B", SkipReason.AWAY)]


def test_a_preferred_lead_uses_a_turn_where_sticky_ones_do():
    board = under(strict("ABC"), sticky_turn=StickyTurn.COUNTED)
    decision, after = decide(lead(preferred=user("A")), board, NOON)
    assert decision.turn.member_id == 1
    assert word(after, 3) == "BCA"


def test_a_preferred_lead_counts_towards_quotas_even_when_it_is_free():
    decision, after = decide(lead(preferred=user("B")), limited(strict("AB"), B=1), NOON)
    assert decision.counted
    assert word(after, 2) == "AA"


def test_a_preferred_user_need_not_be_a_member():
    board = under(strict("AB"), sticky_turn=StickyTurn.COUNTED)
    decision, after = decide(lead(preferred=user("X")), board, NOON)
    assert (decision.user.id, decision.turn, decision.counted) == ("X", None, True)
    assert after.pool == board.pool


def test_why_a_preferred_user_who_is_no_member_does_not_get_it_is_told():
    decision, _ = decide(lead(preferred=user("X", absences=(VACATION,))), strict("AB"), NOON)
    assert decision.user.id == "A"
    assert [(s.user_id, s.reason, s.detail) for s in decision.skipped] == [
        ("X", SkipReason.ABSENT, "vacation until 2026-10-20")
    ]


def test_a_preferred_member_of_weight_zero_gets_it_and_is_not_told_as_skipped():
    decision, _ = decide(lead(preferred=user("A")), strict("AB", A={"weight": 0}), NOON)
    assert (decision.user.id, decision.skipped) == ("A", ())


def test_a_full_pool_gives_nothing_to_a_preferred_user():
    decision, _ = decide(lead(preferred=user("A")), full(strict("AB")), NOON)
    assert (decision.status, decision.reason) == (Status.HELD, Reason.POOL_QUOTA_REACHED)


def test_a_preferred_user_stands_in_for_nobody():
    board = under(strict("AB"), sticky=StickyPolicy.AVAILABLE)
    given = lead(preferred=user("A"), **had_by(user("Z", absences=(VACATION,))))
    decision, _ = decide(given, board, NOON)
    assert (decision.user.id, decision.stands_in_for) == ("A", None)


def test_a_free_sticky_lead_leaves_rotation_and_quotas_alone_s82():
    board = limited(strict("ABC"), C=1)
    (_, sticky), after = run(board, lead("L1"), lead("L2", **had_by(user("C"))))
    assert (sticky.user.id, sticky.reason) == ("C", Reason.STICKY)
    assert (sticky.sticky_step, sticky.turn, sticky.counted) == (StickyStep.PERSON, None, False)
    assert word(after, 3) == "BCA"


def test_a_counted_sticky_lead_is_a_turn_in_advance_s82():
    board = under(strict("ABC"), sticky_turn=StickyTurn.COUNTED)
    (_, sticky), after = run(board, lead("L1"), lead("L2", **had_by(user("C"))))
    assert (sticky.turn.member_id, sticky.counted) == (3, True)
    made, _ = run(after, lead("L3"), lead("L4"), lead("L5"))
    assert [one.user.id for one in made] == ["B", "A", "B"]
    assert reasons(made[1]) == [("C", SkipReason.TURN_USED)]


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.LEAST_ASSIGNED])
def test_a_counted_sticky_lead_counts_under_every_strategy(strategy):
    board = pool_of(strategy, "ABC", sticky_turn=StickyTurn.COUNTED)
    _, after = decide(lead(**had_by(user("B"))), board, NOON)
    assert word(after, 2) == "AC"


def test_a_sticky_user_without_a_place_in_the_pool_uses_no_turn_but_counts():
    board = under(strict("AB"), sticky_turn=StickyTurn.COUNTED)
    decision, after = decide(lead(**had_by(user("X"))), board, NOON)
    assert (decision.turn, decision.counted) == (None, True)
    assert after.takings == {"X": (NOON,)}


def test_a_free_sticky_lead_goes_out_even_when_the_pool_is_full():
    decision, _ = decide(lead(**had_by(user("A"))), full(strict("AB")), NOON)
    assert (decision.user.id, decision.reason) == ("A", Reason.STICKY)


def test_a_member_of_weight_zero_gets_sticky_leads_and_no_turns_s36():
    board = strict("AB", A={"weight": 0})
    decision, after = decide(lead(**had_by(user("A"))), board, NOON)
    assert (decision.user.id, decision.skipped) == ("A", ())
    assert word(after, 4) == "BBBB"
    assert word(away(after, "B"), 1) == "-"


def test_a_customer_keeps_a_user_who_left_the_pool_but_not_one_who_left_the_company_s87():
    board = strict("BC")
    assert decide(lead(**had_by(user("A"))), board, NOON)[0].user.id == "A"
    assert decide(lead(**had_by(user("A", active=False))), board, NOON)[0].user.id == "B"


def test_a_full_pool_holds_with_its_reason_and_changes_no_turn():
    board = full(strict("AB"))
    decision, after = decide(lead(), board, NOON)
    assert (decision.status, decision.reason) == (Status.HELD, Reason.POOL_QUOTA_REACHED)
    assert (decision.user, decision.turn, decision.counted) == (None, None, False)
    assert after == replace(board, last_sequence=1)


def test_when_nobody_can_take_leads_they_are_held_and_the_turn_stays_s54():
    board = away(strict("AB", last="A"), "A", "B")
    made, after = run(board, *(lead(f"L{number}") for number in range(4)))
    assert {(one.status, one.reason) for one in made} == {(Status.HELD, Reason.NO_MEMBER_AVAILABLE)}
    assert after == replace(board, last_sequence=4)


def test_a_pool_without_members_holds():
    decision, _ = decide(lead(), strict(""), NOON)
    assert (decision.reason, decision.order) == (Reason.NO_MEMBER_AVAILABLE, ())


def fallback_to(who, names: str = "A") -> Board:
    """Everyone is away, and this user takes what nobody can."""
    policies = {"none_available": NoneAvailable.FALLBACK, "fallback_user_id": who.id}
    board = under(away(strict(names), *names), **policies)
    return replace(board, fallback_user=who)


def test_the_fallback_user_gets_it_whatever_the_hour_and_the_quota():
    who = user("F", status=Presence.AWAY, absences=(VACATION,), daily_quota=0)
    decision, after = decide(lead(), fallback_to(who), NOON)
    assert (decision.user.id, decision.reason) == ("F", Reason.FALLBACK)
    assert (decision.turn, decision.counted) == (None, True)
    assert after.takings == {"F": (NOON,)}
    assert reasons(decision) == [("A", SkipReason.AWAY)]


@pytest.mark.parametrize(
    ("who", "given", "reason"),
    [
        (user("F", active=False), contact(), SkipReason.INACTIVE),
        (user("F"), contact(excluded=excluding("F")), SkipReason.EXCLUDED),
        (user("F", owners={}), contact(), SkipReason.NO_OWNER),
        (user("F", refused_by=frozenset({"hubspot"})), contact(), SkipReason.INACTIVE),
    ],
)
def test_a_fallback_user_who_cannot_have_it_at_all_does_not_get_it_and_why_is_told(
    who, given, reason
):
    decision, _ = decide(given, fallback_to(who), NOON)
    assert (decision.status, decision.reason) == (Status.HELD, Reason.NO_MEMBER_AVAILABLE)
    assert reasons(decision) == [("A", SkipReason.AWAY), ("F", reason)]


def test_a_full_pool_has_no_fallback_user():
    decision, _ = decide(lead(), full(fallback_to(user("F"), "AB")), NOON)
    assert decision.reason is Reason.POOL_QUOTA_REACHED


@pytest.mark.parametrize("policy", [NoneAvailable.HOLD, NoneAvailable.REFUSE])
def test_a_fallback_user_gets_nothing_under_another_policy(policy):
    board = under(fallback_to(user("F")), none_available=policy)
    assert decide(lead(), board, NOON)[0].status is Status.HELD


def test_a_member_can_be_the_fallback_user_and_is_not_told_as_skipped_then():
    board = fallback_to(user("A"), "AB")
    decision, _ = decide(lead(), board, NOON)
    assert decision.user.id == "A"
    assert reasons(decision) == [("B", SkipReason.AWAY)]


def test_each_member_that_is_skipped_comes_with_its_reason():
    board = strict(
        "ABCDEFG",
        A={"user_active": False},
        B={"active": False},
        C={"weight": 0},
        D={"owners": {"salesforce": "005"}},
        E={"refused_by": frozenset({"hubspot"})},
    )
    decision, _ = decide(contact(excluded=excluding("F")), board, NOON)
    assert decision.user.id == "G"
    assert reasons(decision) == [
        ("A", SkipReason.INACTIVE),
        ("B", SkipReason.INACTIVE),
        ("C", SkipReason.WEIGHT_ZERO),
        ("D", SkipReason.NO_OWNER),
        ("E", SkipReason.INACTIVE),
        ("F", SkipReason.EXCLUDED),
    ]
    assert decision.skipped[3].detail == "no owner id in hubspot"


def test_who_gets_it_and_why_not_the_others_s131():
    board = limited(change_users(strict("ABC"), {"A": {"absences": (VACATION,)}}), B=5)
    board = replace(board, takings={"B": (NOON,) * 5}, last_sequence=7)
    decision, _ = decide(lead(), board, NOON)
    assert (decision.user.id, decision.turn.sequence, decision.decided_at) == ("C", 8, NOON)
    assert [(s.user_id, s.reason, s.detail) for s in decision.skipped] == [
        ("A", SkipReason.ABSENT, "vacation until 2026-10-20"),
        ("B", SkipReason.QUOTA_REACHED, "5/5 today"),
    ]
    assert (decision.order, decision.order_after) == (("C", "A", "B"), ("C", "A", "B"))


def test_members_behind_the_one_chosen_are_judged_too():
    decision, _ = decide(lead(), strict("ABC", B={"active": False}), NOON)
    assert (decision.user.id, reasons(decision)) == ("A", [("B", SkipReason.INACTIVE)])


def test_a_held_lead_tells_of_everyone_in_the_order_of_the_rotation():
    decision, _ = decide(lead(), away(strict("ABC", last="A"), "A", "B", "C"), NOON)
    assert [skip.user_id for skip in decision.skipped] == list(decision.order) == ["B", "C", "A"]


def test_a_kept_lead_tells_who_could_not_have_taken_it():
    decision, _ = decide(contact(existing_owner=owned_by(None)), away(strict("AB"), "A"), NOON)
    assert reasons(decision) == [("A", SkipReason.AWAY)]


def test_a_decision_shows_the_order_before_and_after():
    decision, _ = decide(lead(), strict("ABC", last="A"), NOON)
    assert (decision.order, decision.order_after) == (("B", "C", "A"), ("C", "A", "B"))


def test_a_decision_keeps_the_route_that_led_to_the_pool():
    route = Route(pool_id="pool", territory="DACH", passed=("US: country is missing",))
    assert decide(lead(), strict("A"), NOON, route=route)[0].route == route


def test_a_decision_without_a_route_names_its_pool():
    assert decide(lead(), strict("A"), NOON)[0].route == Route(pool_id="pool")


def test_two_meetings_of_one_user_never_overlap():
    slot = Slot(starts_at=NOON, ends_at=NOON + timedelta(hours=1))
    made, _ = run(strict("AB"), *(lead(f"M{number}", slot=slot) for number in range(3)))
    assert [one.user.id if one.user else None for one in made] == ["A", "B", None]
    assert reasons(made[2]) == [("A", SkipReason.BUSY), ("B", SkipReason.BUSY)]


def test_user_member_and_pool_quotas_all_hold():
    board = limited(strict("ABC"), pool=6, A=1)
    board = change_users(board, {"B": {"daily_quota": 2}})
    assert word(board, 10) == "ABCBCC----"
