"""Many callers at once: one decision for one lead, no turn used twice."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from connector import dispatch
from connector.model import Lead, Record, Status, Territory
from tests.builders import NOON

RECORD = Record(connection="hubspot", object_type="contacts", id="1")


def assign(team, pool_id, lead):
    with team.database.write() as session:
        return dispatch.assign(session, pool_id, [lead], now=NOON)[0]


def test_one_record_asked_for_in_two_pools_at_once_is_decided_once(team) -> None:
    pools = [team.pool("AB"), team.pool("AB", name="Other")]

    def ask(number: int) -> str:
        lead = Lead(id=f"asked-{number}", record=RECORD)
        return assign(team, pools[number % 2], lead).id

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(ask, range(24)))
    assert len(answers) == 1
    assert sum(len(team.history(pool)) for pool in pools) == 1


def test_leads_from_many_threads_go_round_exactly(team) -> None:
    pool = team.pool("ABCD")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: assign(team, pool, Lead(id=f"L{n}")), range(60)))
    rows = team.history(pool)
    assert [row.sequence for row in rows] == list(range(1, 61))
    assert [row.user_id for row in rows] == ["ABCD"[place % 4] for place in range(60)]


def test_one_lead_from_many_threads_is_one_decision(team) -> None:
    pool = team.pool("AB")
    with ThreadPoolExecutor(8) as threads:
        rows = list(threads.map(lambda _: assign(team, pool, Lead(id="L1")), range(20)))
    assert Counter(row.id for row in rows) == {rows[0].id: 20}
    assert len(team.history(pool)) == 1


def test_a_lead_twice_in_one_call_uses_one_turn(team) -> None:
    pool = team.pool("AB")
    with team.database.write() as session:
        leads = [Lead(id="L1"), Lead(id="L2"), Lead(id="L1")]
        rows = dispatch.assign(session, pool, leads, now=NOON)
    assert [row.user_id for row in rows] == ["A", "B", "A"]


def test_a_lead_that_another_pool_gave_out_goes_to_the_same_user(team) -> None:
    first, second = team.pool("AB"), team.pool("CD", name="Other")
    assert assign(team, first, Lead(id="L1")).user_id == "A"
    row = assign(team, second, Lead(id="L1"))
    assert (row.user_id, row.reason, row.sticky_step) == ("A", "sticky", "earlier_assignment")


def test_thirty_two_callers_with_quotas_and_edits_in_between_pass_no_quota(team) -> None:
    pool = team.pool("ABCD", daily_quota=60)
    team.change(pool, members={"A": {"daily_quota": 5}, "B": {"daily_quota": 20}})
    team.put_user("C", daily_quota=10)

    def call(number: int) -> None:
        if number % 16 == 7:
            team.change(pool, members={"D": {"weight": number % 5 + 1}})
        elif number % 16 == 9:
            team.put_user("D", email=f"d{number}@x.com")
        else:
            team.lead(pool, f"L{number % 110}")

    with ThreadPoolExecutor(32) as threads:
        list(threads.map(call, range(128)))
    rows = team.history(pool)
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    spread = Counter(row.user_id for row in rows if row.user_id)
    assert (spread["A"], spread["C"]) == (5, 10)
    assert spread["B"] <= 20
    assert spread.total() == 60
    assert Counter(row.lead_id for row in rows).most_common(1)[0][1] == 1
    assert team.differs(pool) is None


def test_a_lead_that_waits_in_a_pool_stays_there_though_the_territories_change(team) -> None:
    first, second = team.pool("A", name="First", sticky="off"), team.pool("B", name="Second")
    off = team.absent("A", hours=5)
    team.territories(Territory(name="All", when={}, pool_id=first))
    assert team.routed("L1").status is Status.HELD
    team.territories(Territory(name="All", when={}, pool_id=second))
    assert team.routed("L1").pool_id == first
    team.back("A", off)
    team.work()
    assert (team.given(first), team.given(second)) == ("-A", "")


def test_a_lead_that_waits_leaves_its_queue_when_another_pool_is_asked(team) -> None:
    first, second = team.pool("A", name="First", sticky="off"), team.pool("B", name="Second")
    off = team.absent("A", hours=5)
    team.lead(first, "L1")
    assert team.lead(second, "L1").user_id == "B"
    team.back("A", off)
    team.work()
    assert (team.given(first), team.given(second)) == ("-", "B")


def test_a_rejected_lead_stays_in_its_pool_though_the_territories_change(team) -> None:
    first, second = team.pool("AC", name="First"), team.pool("B", name="Second")
    team.territories(Territory(name="All", when={}, pool_id=first))
    team.reject(team.routed("L1"))
    team.territories(Territory(name="All", when={}, pool_id=second))
    assert (team.routed("L1").user_id, team.given(second)) == ("C", "")
