"""Whoever has the person, the company or the lead gets it, across pools and within a batch."""

from connector.model import Lead, Reason, Status, StickyStep
from tests.builders import NOON


def steps(row) -> tuple[object, object, object]:
    return row.user_id, row.reason, row.sticky_step


def test_the_second_lead_of_a_person_follows_the_first_in_every_pool(team) -> None:
    first, second = team.pool("AB", name="First"), team.pool("CD", name="Second")
    team.lead(first, "L1", email="Kim@Firm.com ")
    row = team.lead(second, "L2", email=" kim@firm.COM")
    assert steps(row) == ("A", Reason.STICKY, StickyStep.PERSON)


def test_a_company_follows_its_name_and_else_the_mail_domain(team) -> None:
    pool = team.pool("ABC")
    team.lead(pool, "L1", company="Firm", email="a@firm.com")
    team.lead(pool, "L2", company="Other", email="b@other.com")
    assert team.lead(pool, "L3", company=" firm ").user_id == "A"
    assert team.lead(pool, "L4", email="z@other.com").user_id == "B"
    row = team.lead(pool, "L5", email="x@gmail.com")
    assert team.lead(pool, "L6", email="y@gmail.com").user_id != row.user_id


def test_leads_of_one_batch_follow_each_other(team) -> None:
    pool = team.pool("ABC")
    rows = team.leads(
        pool,
        Lead(id="L1", email="kim@firm.com"),
        Lead(id="L2", email="lee@firm.com"),
        Lead(id="L3", company="Third"),
        Lead(id="L4", email="kim@firm.com", company="Third"),
        Lead(id="L5", company="third"),
    )
    assert "".join(row.user_id for row in rows) == "AABAA"


def test_held_leads_that_go_out_together_follow_each_other(team) -> None:
    pool = team.pool("AB")
    off = [team.absent(name, hours=5) for name in "AB"]
    for number in range(1, 4):
        team.lead(pool, f"L{number}", email=f"p{number % 2}@gmail.com")
    for name, one in zip("AB", off, strict=True):
        team.back(name, one)
    team.work()
    assert team.given(pool)[3:] == "ABA"


def test_who_stood_in_does_not_take_the_person_over(team) -> None:
    pool = team.pool("AB", sticky="available")
    team.lead(pool, "L1", email="kim@firm.com")
    off = team.absent("A", hours=5)
    row = team.lead(pool, "L2", email="kim@firm.com")
    assert (row.user_id, row.stands_in_for) == ("B", "A")
    team.back("A", off)
    assert team.lead(pool, "L3", email="kim@firm.com").user_id == "A"


def test_with_a_counted_turn_a_full_sticky_user_is_passed_over(team) -> None:
    pool = team.pool("AB", sticky_turn="counted")
    team.change(pool, members={"A": {"daily_quota": 1}})
    team.lead(pool, "L1", email="kim@firm.com")
    assert team.lead(pool, "L2", email="kim@firm.com").user_id == "B"


def test_a_sticky_guest_has_the_own_quota_over_all_pools(team) -> None:
    first = team.pool("A", name="First")
    second = team.pool("BC", name="Second", sticky_turn="counted")
    team.put_user("A", daily_quota=3)
    rows = [team.lead(first, "L1", email="kim@firm.com")]
    rows += [team.lead(second, f"L{number}", email="kim@firm.com") for number in range(2, 6)]
    assert "".join(row.user_id for row in rows) == "AAABC"
    assert team.differs(second) is None


def test_the_same_guest_is_limited_within_a_batch_and_among_held_leads(team) -> None:
    first = team.pool("A", name="First")
    second = team.pool("B", name="Second", sticky_turn="counted")
    team.put_user("A", daily_quota=3)
    team.lead(first, "L1", email="kim@firm.com")
    rows = team.leads(second, *(Lead(id=f"M{n}", email="kim@firm.com") for n in range(4)))
    assert "".join(row.user_id for row in rows) == "AABB"


def test_somebody_who_left_the_company_has_nobody(team) -> None:
    pool = team.pool("AB")
    team.lead(pool, "L1", email="kim@firm.com")
    team.put_user("A", active=False)
    row = team.lead(pool, "L2", email="kim@firm.com")
    assert (row.user_id, row.stands_in_for) == ("B", None)


def test_an_undone_lead_says_nothing_of_its_person(team) -> None:
    pool = team.pool("ABC")
    team.undo(team.lead(pool, "L1", email="kim@firm.com"))
    team.lead(pool, "L2")  # A's turn comes back
    assert team.lead(pool, "L3", email="kim@firm.com").reason is Reason.ROTATION


def test_a_reassigned_lead_takes_its_person_along(team) -> None:
    pool = team.pool("ABC")
    team.reassign(team.lead(pool, "L1", email="kim@firm.com"), "C")
    assert team.lead(pool, "L2", email="kim@firm.com").user_id == "C"


def test_the_same_lead_in_another_pool_goes_to_who_had_it(team) -> None:
    first, second = team.pool("A", name="First"), team.pool("B", name="Second")
    team.lead(first, "L1")
    row = team.lead(second, "L1")
    assert steps(row) == ("A", Reason.STICKY, StickyStep.EARLIER_ASSIGNMENT)
    assert team.now == NOON


def test_a_sticky_lead_is_not_held_by_a_pool_in_which_nobody_is_there(team) -> None:
    pool = team.pool("AB")
    team.lead(pool, "L1", email="kim@firm.com")
    for name in "AB":
        team.absent(name, hours=5)
    assert team.lead(pool, "L2", email="kim@firm.com").user_id == "A"  # active, if absent
    assert team.lead(pool, "L3", email="lee@gmail.com").status is Status.HELD


def test_a_lead_may_be_named_as_strangely_as_it_likes(team) -> None:
    pool = team.pool("AB")
    team.lead(pool, "{0} {x!r} {", email="kim@firm.com")
    row = team.lead(pool, "L2", email="kim@firm.com")
    assert row.checks[0].outcome == "A has {0} {x!r} { of the same e-mail"
