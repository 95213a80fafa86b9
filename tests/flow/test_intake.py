"""From a CRM's event to a decision: what the record shows decides, not the event."""

from structlog.testing import capture_logs

from connector import dispatch
from connector.errors import CrmAgain, CrmNever, CrmPaced, CrmUnreachable
from connector.model import EventKind, Lead, Reason, Status, StickyStep, Territory, WriteBack
from connector.store import assignments, users


def owners_of(history):
    return [(row.user_id, row.status) for row in history]


def test_a_hundred_new_leads_in_one_batch_spread_exactly_over_the_pool(team) -> None:
    pool = team.pool("ABCDE")
    ids = [str(number) for number in range(100, 200)]
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()
    owners = [team.crm.owners()[one] for one in ids]
    assert owners == [f"h-{'ABCDE'[place % 5]}" for place in range(100)]
    assert [row.sequence for row in team.history(pool)] == list(range(1, 101))
    assert all(row.write_back is WriteBack.DONE for row in team.history(pool))


def test_a_batch_costs_one_read_one_look_and_one_write(team) -> None:
    team.pool("AB")
    ids = [str(number) for number in range(100, 200)]
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()
    assert (len(team.crm.reads), len(team.crm.writes)) == (2, 1)


def test_the_same_events_again_change_nothing(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", "2")
    team.tell("1", "2")
    team.work()
    assert team.tell("1", "2") == 0
    team.work()
    assert len(team.history(pool)) == 2


def test_another_event_of_an_assigned_lead_uses_no_turn(team) -> None:
    """Create and update of the same record arrive both, in one batch and later."""
    pool = team.pool("ABC")
    team.crm.create("1", "2")
    team.tell("1", "2")
    team.tell("1", "2", kind=EventKind.CHANGED)
    team.work()
    team.tell("1", "2", kind=EventKind.CHANGED, key="later")
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED), ("B", Status.ASSIGNED)]


def test_our_own_echo_costs_no_call(team) -> None:
    team.pool("A")
    team.crm.create("1")
    team.tell("1")
    team.work()
    reads = len(team.crm.reads)
    team.tell("1", kind=EventKind.OWNER_CHANGED, owner="h-A")
    team.work()
    assert len(team.crm.reads) == reads


def test_an_existing_owner_stays_and_uses_no_turn(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", owner="h-B")
    team.crm.create("2")
    team.tell("1", "2")
    team.work()
    kept, assigned = team.history(pool)
    assert (kept.status, kept.reason, kept.sticky_step, kept.user_id) == (
        Status.KEPT,
        Reason.STICKY,
        StickyStep.EXISTING_OWNER,
        "B",
    )
    assert (kept.write_back, assigned.user_id) == (WriteBack.NONE, "A")
    assert team.crm.owners() == {"1": "h-B", "2": "h-A"}


def test_an_owner_who_is_no_user_of_ours_stays_too(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", owner="h-Manager")
    team.tell("1")
    team.work()
    assert owners_of(team.history(pool)) == [(None, Status.KEPT)]
    assert team.crm.owners() == {"1": "h-Manager"}


def test_an_inactive_owner_counts_as_none(team) -> None:
    pool = team.pool("AB")
    team.crm.inactive.add("h-Gone")
    team.crm.create("1", owner="h-Gone")
    team.tell("1")
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED)]
    assert team.crm.owners() == {"1": "h-A"}


def test_territories_choose_the_pool_and_the_rest_goes_to_the_default(team) -> None:
    sales, dach = team.pool("A"), team.pool("B", name="DACH")
    when = {"field": "country", "op": "eq", "value": "DE"}
    team.territories(Territory(name="Germany", when=when, pool_id=dach))
    team.crm.create("1", country="DE")
    team.crm.create("2", country="US")
    team.tell("1", "2")
    team.work()
    assert [row.route.territory for row in team.history(dach)] == ["Germany"]
    assert [row.lead_id for row in team.history(sales)] == ["hubspot:contacts:2"]


def test_a_lead_without_a_pool_is_held_and_goes_out_once_there_is_one(team) -> None:
    team.crm.create("1")
    team.tell("1")
    team.work()
    assert team.crm.owners() == {"1": None}
    pool = team.pool("A")
    team.later(minutes=1)
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED)]
    assert team.crm.owners() == {"1": "h-A"}


def test_all_leads_without_a_pool_go_out_at_once_however_many_wait(team, monkeypatch) -> None:
    monkeypatch.setattr("connector.held.AT_ONCE", 2)
    ids = ["1", "2", "3", "4", "5"]
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()
    pool = team.pool("A")
    team.work()
    assert [row.record.id for row in team.history(pool)] == ids


def test_a_lead_that_waits_without_a_pool_though_a_pool_has_it_leaves_the_queue(team) -> None:
    pool = team.pool("A", name="Other")
    lead = Lead(id="L1")
    with team.database.write() as session:
        (given,) = dispatch.assign(session, pool, [lead], now=team.now)
        dispatch.assign_routed(session, [lead], default_pool=None, now=team.now)
    team.territories(Territory(name="All", when={}, pool_id=pool))
    team.work()
    with team.database.read() as session:
        assert assignments.all_held(session, after="", limit=9) == []
    assert [row.id for row in team.history(pool)] == [given.id]


def test_a_lead_that_nobody_can_take_is_held_with_every_reason(team) -> None:
    pool = team.pool("AB")
    team.put_user("A", active=False)
    team.put_user("B", owners={})
    team.crm.create("1")
    team.tell("1")
    team.work()
    (row,) = team.history(pool)
    assert (row.status, row.reason) == (Status.HELD, Reason.NO_MEMBER_AVAILABLE)
    assert [(skip.user_id, skip.reason) for skip in row.skipped] == [
        ("A", "inactive"),
        ("B", "no_owner"),
    ]


def test_held_leads_go_out_by_themselves_oldest_first_and_before_newer_ones(team) -> None:
    pool = team.pool("AB")
    team.put_user("A", active=False)
    team.put_user("B", active=False)
    team.crm.create("1", "2", "3")
    team.tell("1", "2")
    team.work()
    team.put_user("A")
    team.put_user("B")
    team.tell("3")
    team.work()
    assigned = [row for row in team.history(pool) if row.status is Status.ASSIGNED]
    assert [(row.record.id, row.user_id) for row in assigned] == [
        ("1", "A"),
        ("2", "B"),
        ("3", "A"),
    ]
    assert [row.sequence for row in assigned] == [3, 4, 5]


def test_an_owner_that_was_cleared_routes_the_lead_anew_and_uses_a_turn(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.rows["1"].owner_id = None
    team.tell("1", kind=EventKind.OWNER_CHANGED, owner="")
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED), ("B", Status.ASSIGNED)]
    assert team.crm.owners() == {"1": "h-B"}


def test_an_owner_that_vanished_without_such_an_event_is_written_again(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.rows["1"].owner_id = None
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED)]
    assert team.crm.owners() == {"1": "h-A"}


def test_an_owner_whom_a_person_sets_is_followed(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.rows["1"].owner_id = "h-B"
    team.tell("1", kind=EventKind.OWNER_CHANGED, owner="h-B")
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED), ("B", Status.REASSIGNED)]
    assert team.history(pool)[-1].reason is Reason.MANUAL
    assert team.crm.owners() == {"1": "h-B"}


def test_a_lead_whose_user_left_is_decided_anew(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.put_user("A", active=False)
    team.crm.inactive.add("h-A")
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED), ("B", Status.ASSIGNED)]
    assert team.crm.owners() == {"1": "h-B"}


def test_a_record_that_is_gone_is_left_alone(team) -> None:
    pool = team.pool("A")
    team.tell("404")
    assert team.work().events == 1
    assert list(team.history(pool)) == []


def test_a_merged_record_is_worked_under_its_survivor(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", "9")
    team.crm.rows["1"].survivor_id = "9"
    team.tell("1", "9")
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["9"]


def test_events_of_another_account_are_ignored(team) -> None:
    pool = team.pool("A")
    team.crm.account = "4242"
    team.crm.create("1", "2")
    team.tell("1", account="4242")
    team.tell("2", account="6666")
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["1"]


def test_a_crm_that_is_down_keeps_its_events_until_it_is_back(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", "2")
    team.crm.read_errors = [CrmUnreachable("connection refused")] * 3
    team.tell("1", "2")
    for _ in range(4):
        team.work()
        team.later(minutes=15)
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED), ("B", Status.ASSIGNED)]
    assert len(team.crm.reads) == 3 + 2


def test_a_pause_is_kept_to_the_second_and_does_not_count_as_a_failure(team) -> None:
    team.pool("A")
    team.crm.create("1")
    team.crm.read_errors = [CrmPaced("slow down", pause_seconds=10)]
    team.tell("1")
    team.work()
    team.later(seconds=9)
    team.work()
    assert len(team.crm.reads) == 1
    team.later(seconds=1)
    team.work()
    assert team.crm.owners() == {"1": "h-A"}


def test_a_failed_read_is_tried_again_within_two_seconds(team) -> None:
    team.pool("A")
    team.crm.create("1")
    team.crm.read_errors = [CrmAgain("502")]
    team.tell("1")
    team.work()
    team.later(seconds=2)
    team.work()
    assert team.crm.owners() == {"1": "h-A"}


def test_one_record_that_cannot_be_read_does_not_cost_the_others(team) -> None:
    pool = team.pool("A")
    team.crm.create("1", "2", "3")
    team.crm.bad_ids = {"2": CrmNever("malformed id")}
    team.tell("1", "2", "3")
    with capture_logs() as logged:
        team.work()
    assert [row.record.id for row in team.history(pool)] == ["1", "3"]
    (given_up,) = [one for one in logged if one["event"] == "record_not_read"]
    assert (given_up["record_id"], given_up["crm_message"]) == ("2", "malformed id")


def test_a_fault_of_our_own_puts_the_batch_off_and_does_not_stop_the_loop(team) -> None:
    team.pool("A")
    team.crm.create("1")
    team.crm.read_errors = [ValueError("a bug")]
    team.tell("1")
    assert team.work().postponed == 1
    team.later(seconds=2)
    team.work()
    assert team.crm.owners() == {"1": "h-A"}


def test_one_event_on_which_we_fail_does_not_cost_the_others_of_its_batch(team) -> None:
    pool = team.pool("A")
    team.crm.create("1", "2", "3")
    team.crm.bad_ids = {"2": ValueError("a bug")}
    team.tell("1", "2", "3")
    team.work()
    team.later(seconds=2)
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["1", "3"]
    team.crm.bad_ids = {}
    team.later(seconds=4)
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["1", "3", "2"]


def test_an_owner_whom_a_person_sets_may_be_no_user_of_ours(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1", "2")
    team.tell("1")
    team.work()
    team.crm.rows["1"].owner_id = "h-Manager"
    team.tell("1", kind=EventKind.OWNER_CHANGED, owner="h-Manager")
    team.tell("2")
    team.work()
    assert owners_of(team.history(pool)) == [
        ("A", Status.ASSIGNED),
        ("B", Status.ASSIGNED),
        (None, Status.REASSIGNED),
    ]
    assert team.history(pool)[-1].owner_id == "h-Manager"


def test_a_lead_that_is_routed_anew_says_why_its_earlier_user_does_not_get_it(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.rows["1"].owner_id = None
    team.tell("1", kind=EventKind.OWNER_CHANGED, owner="")
    team.work()
    check = team.history(pool)[-1].checks[-1]
    assert check.outcome == "A had this lead before; the owner was cleared in the CRM"


def test_a_user_of_a_refusing_crm_comes_back_when_put_again(team) -> None:
    team.pool("A")
    with team.database.write() as session:
        users.refuse(session, "A", "hubspot")
    team.crm.create("1")
    team.tell("1")
    team.work()
    assert team.crm.owners() == {"1": None}
    team.put_user("A")
    team.work()
    assert team.crm.owners() == {"1": "h-A"}


def test_an_object_type_without_permission_waits_and_does_not_hold_up_the_others(team) -> None:
    pool = team.pool("A")
    team.crm.create("1", "2")
    team.crm.closed = {"leads"}
    team.tell("1", object_type="leads")
    team.tell("2")
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["2"]
    assert team.crm.owners()["2"] == "h-A"
    team.later(days=2)
    team.work()
    team.crm.closed = set()
    team.later(minutes=15)
    team.work()
    assert [row.record.id for row in team.history(pool)] == ["2", "1"]


def test_a_change_of_a_record_that_somebody_owns_does_nothing(team) -> None:
    pool = team.pool("A")
    team.crm.create("1", owner="h-Manager")
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert list(team.history(pool)) == []


def test_any_change_of_a_record_that_nobody_owns_routes_it(team) -> None:
    pool = team.pool("A")
    team.crm.create("1")
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert owners_of(team.history(pool)) == [("A", Status.ASSIGNED)]
