"""From a decision to the owner in the CRM: looked at before, never assumed after."""

from datetime import timedelta

import pytest

from connector.errors import CrmAgain, CrmNever, CrmPaced, CrmUnreachable, StoreUnavailable
from connector.model import Reason, Status, WriteBack
from connector.ports import Outcome, Result
from connector.store import lanes, outbox
from connector.worker import work_once
from tests.builders import NOON


def one_lead(team, names="AB") -> str:
    pool = team.pool(names)
    team.crm.create("1")
    team.tell("1")
    return pool


def test_a_reply_that_was_lost_is_found_by_reading(team) -> None:
    pool = one_lead(team)
    team.crm.lose_replies = 1
    team.work()
    team.later(seconds=2)
    team.work()
    assert len(team.crm.writes) == 1
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_a_write_that_keeps_failing_is_tried_for_a_day_and_then_a_dead_letter(team) -> None:
    pool = one_lead(team)
    team.crm.write_errors = [CrmAgain("503")] * 1000
    while team.now < NOON + timedelta(hours=26):
        team.work()
        team.later(hours=1)
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DEAD]
    assert len(team.crm.writes) == 25


def test_a_write_that_fails_uses_no_second_turn(team) -> None:
    pool = one_lead(team)
    team.crm.write_errors = [CrmAgain("503")] * 3
    for _ in range(4):
        team.work()
        team.later(minutes=1)
    assert [(row.user_id, row.write_back) for row in team.history(pool)] == [("A", WriteBack.DONE)]


def test_an_owner_who_appeared_meanwhile_stays_and_the_turn_goes_back(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, CrmPaced("wait", pause_seconds=1)]
    team.work()
    team.crm.rows["1"].owner_id = "h-B"
    team.later(seconds=1)
    team.work()
    first, second = team.history(pool)
    assert (first.user_id, first.write_back, first.current) == ("A", WriteBack.KEPT, False)
    assert (second.status, second.reason) == (Status.KEPT, Reason.KEPT_EXISTING_OWNER)
    assert (second.user_id, team.crm.owners()) == ("B", {"1": "h-B"})
    team.crm.create("2", "3")
    team.tell("2", "3")
    team.work()
    third, fourth = team.history(pool)[2:]
    assert (third.user_id, third.reason) == ("A", Reason.OWED)
    assert (fourth.user_id, fourth.reason) == ("B", Reason.ROTATION)


def test_a_user_whom_the_crm_refuses_is_passed_over_in_the_same_decision(team) -> None:
    pool = team.pool("ABC")
    team.crm.inactive.add("h-B")
    team.crm.create("1", "2", "3")
    team.tell("1", "2", "3")
    team.work()
    assert team.crm.owners() == {"1": "h-A", "2": "h-A", "3": "h-C"}
    rows = team.history(pool)
    assert [(row.sequence, row.user_id) for row in rows] == [(1, "A"), (2, "A"), (3, "C")]
    refused = rows[1].skipped[0]
    assert (refused.user_id, refused.reason, refused.detail) == (
        "B",
        "refused_by_crm",
        "that user is inactive",
    )


def test_a_lead_whose_every_user_is_refused_is_held(team) -> None:
    pool = one_lead(team, "A")
    team.crm.inactive.add("h-A")
    team.work()
    (row,) = team.history(pool)
    assert (row.status, row.user_id, row.write_back) == (Status.HELD, None, WriteBack.NONE)


def test_a_write_that_can_never_work_is_a_dead_letter_with_the_crms_words(team) -> None:
    pool = one_lead(team)
    team.crm.refuse["1"] = Outcome(
        record_id="1", result=Result.NEVER, code="VALIDATION", message="Region must be filled in"
    )
    team.work()
    (row,) = team.history(pool)
    assert row.write_back is WriteBack.DEAD
    with team.database.read() as session:
        item = outbox.of_assignments(session, [row.id])[row.id]
    assert (item.last_error, item.crm_message) == ("VALIDATION", "Region must be filled in")


def test_a_batch_that_is_refused_as_a_whole_is_cut_down_to_the_bad_record(team) -> None:
    pool = team.pool("A")
    ids = [str(number) for number in range(1, 101)]
    team.crm.create(*ids)
    reads = len(ids)
    team.tell(*ids)
    team.crm.before_write = lambda: setattr(team.crm, "bad_ids", {"42": CrmNever("a bad one")})
    team.work()
    states = {row.record.id: row.write_back for row in team.history(pool)}
    assert states.pop("42") is WriteBack.DEAD
    assert set(states.values()) == {WriteBack.DONE}
    assert len(states) == reads - 1


def test_a_record_that_went_away_is_a_dead_letter_and_is_not_written(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, CrmPaced("wait", pause_seconds=1)]
    team.work()
    del team.crm.rows["1"]
    team.later(seconds=1)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DEAD]
    assert team.crm.writes == []


def test_a_pause_in_the_middle_of_a_batch_counts_for_nobody(team) -> None:
    pool = one_lead(team)
    team.crm.write_errors = [CrmPaced("TEN_SECONDLY_ROLLING", pause_seconds=10)]
    team.work()
    team.later(seconds=10)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]
    with team.database.read() as session:
        (item,) = outbox.of_assignments(session, [team.history(pool)[0].id]).values()
        assert item.failing_since is None


def test_a_connection_that_does_not_work_is_probed_at_growing_gaps_and_never_given_up(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None] + [CrmUnreachable("401: token revoked")] * 200
    while team.now < NOON + timedelta(hours=4):
        team.work()
        team.later(minutes=5)
    tries = len(team.crm.reads) - 1
    assert 16 <= tries <= 20  # one every quarter of an hour, and a few more at first
    team.later(hours=30)
    team.work()
    team.crm.read_errors = []
    team.later(minutes=15)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_work_of_a_process_that_died_is_taken_over_within_a_minute(team) -> None:
    pool = one_lead(team)
    with team.database.write() as session:
        assert lanes.claim(
            session,
            holder="died",
            now=team.now,
            lease_seconds=50,
            limits={"hubspot": (100, 100)},
        )
    assert team.work().events == 0
    team.later(seconds=51)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_who_lost_the_claim_records_nothing(team) -> None:
    """A process that slept through its lease must not settle what another one has taken over."""
    pool = one_lead(team)

    def sleep_through_the_lease() -> None:
        team.crm.before_write = lambda: None
        team.later(seconds=51)
        team.work()

    team.crm.before_write = sleep_through_the_lease
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]
    assert team.crm.owners() == {"1": "h-A"}


def refusing(record_id: str, *, result: Result = Result.REFUSED_OWNER) -> Outcome:
    return Outcome(
        record_id=record_id, result=result, code="NO_ACCESS", message="cannot own this record"
    )


def test_a_record_that_refuses_two_users_is_a_dead_letter_and_costs_nobody_their_place(
    team,
) -> None:
    pool = team.pool("ABC")
    bad = [str(number) for number in range(1, 7)]
    team.crm.create(*bad, "7", "8", "9")
    team.crm.refuse = {one: refusing(one) for one in bad}
    team.tell(*bad)
    team.work()
    assert {row.write_back for row in team.history(pool)} == {WriteBack.DEAD}
    assert all(len(row.skipped) == 1 for row in team.history(pool))
    team.tell("7", "8", "9")
    team.work()
    assert sorted(team.crm.owners()[one] for one in "789") == ["h-A", "h-B", "h-C"]


def test_a_record_that_refuses_the_only_user_is_a_dead_letter_and_not_tried_for_ever(team) -> None:
    pool = one_lead(team, "A")
    team.crm.refuse = {"1": refusing("1")}
    for _ in range(20):
        work_once(team.shop)
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DEAD]
    assert len(team.crm.writes) == 1


def test_the_crms_word_that_a_user_is_inactive_counts_for_two_users_of_a_record(team) -> None:
    """A record whose automation fails says so of every user; it must not switch off the pool."""
    pool = team.pool("ABCD")
    team.crm.create("1", "2", "3")
    team.crm.refuse = {"1": refusing("1", result=Result.INACTIVE_OWNER)}
    team.tell("1")
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DEAD]
    team.tell("2", "3")
    team.work()
    assert sorted(team.crm.owners()[one] for one in "23") == ["h-C", "h-D"]


@pytest.mark.parametrize("refused", ["A", "AB", "ABC"])
def test_users_whom_the_crm_calls_inactive_are_passed_over_one_after_the_other(
    team, refused
) -> None:
    pool = team.pool("ABCD")
    team.crm.create("1")
    team.crm.deny = {f"h-{name}": refusing("1", result=Result.INACTIVE_OWNER) for name in refused}
    team.tell("1")
    team.work()
    (row,) = team.history(pool)
    assert row.user_id == "ABCD"[len(refused)]
    assert [skip.user_id for skip in row.skipped] == list(refused)
    assert team.crm.owners() == {"1": f"h-{row.user_id}"}


def test_a_lead_whose_pool_is_all_inactive_waits_for_somebody_new(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.crm.deny = {f"h-{one}": refusing("1", result=Result.INACTIVE_OWNER) for one in "AB"}
    team.tell("1")
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.HELD]
    team.put_user("C")
    team.change(pool, add="C")
    team.work()
    assert team.crm.owners() == {"1": "h-C"}


def test_our_user_who_owns_the_record_already_but_is_inactive_is_passed_over(team) -> None:
    team.pool("AB")
    team.crm.inactive.add("h-A")
    team.crm.create("1", owner="h-A")
    team.tell("1")
    team.work()
    assert team.crm.owners() == {"1": "h-B"}


def test_writes_without_permission_wait_for_it_and_are_not_given_up(team) -> None:
    pool = one_lead(team)
    team.crm.before_write = lambda: team.crm.closed.add("contacts")
    team.work()
    for _ in range(30):
        team.later(hours=1)
        team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.PENDING]
    team.crm.before_write = lambda: None
    team.crm.closed = set()
    team.later(minutes=15)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_a_user_who_is_switched_off_while_the_write_waits_does_not_get_the_lead(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, CrmUnreachable("connection refused")]
    team.work()
    team.put_user("A", active=False)
    team.later(seconds=30)
    team.work()
    (row,) = team.history(pool)
    assert (row.user_id, row.sequence, row.write_back) == ("B", 1, WriteBack.DONE)
    assert [(skip.user_id, skip.reason) for skip in row.skipped] == [("A", "inactive")]
    assert team.crm.owners() == {"1": "h-B"}
    assert [write.owner_id for write in team.crm.writes[0]] == ["h-B"]


def test_once_the_process_is_asked_to_stop_no_further_call_is_started(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, CrmPaced("wait", pause_seconds=1)]
    team.work()
    team.later(seconds=1)
    team.shop.is_stopping = lambda: True
    work_once(team.shop)
    assert team.crm.writes == []
    team.shop.is_stopping = lambda: False
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_trouble_with_the_database_does_not_cost_the_lease(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, StoreUnavailable("locked")]
    team.work()
    assert team.crm.owners() == {"1": None}
    team.later(seconds=1)
    team.work()
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_a_record_that_went_away_gives_the_turn_back(team) -> None:
    pool = one_lead(team)
    team.crm.read_errors = [None, CrmPaced("wait", pause_seconds=1)]
    team.work()
    del team.crm.rows["1"]
    team.later(seconds=1)
    team.work()
    team.crm.create("2")
    team.tell("2")
    team.work()
    assert [(row.user_id, row.reason) for row in team.history(pool)] == [
        ("A", Reason.ROTATION),
        ("A", Reason.OWED),
    ]


def test_a_write_says_when_the_record_it_is_for_was_last_changed(team) -> None:
    team.pool("A")
    team.crm.create("1", "2")
    team.crm.rows["1"].modified_at = NOON
    team.tell("1", "2")
    team.work()
    (batch,) = team.crm.writes
    assert {write.record_id: write.seen_at for write in batch} == {"1": NOON, "2": None}


def outcome(result: Result, code: str) -> Outcome:
    return Outcome(record_id="1", result=result, code=code, message="in the CRM's words")


def test_a_record_that_was_changed_meanwhile_is_read_anew_and_an_owner_kept(team) -> None:
    pool = one_lead(team)
    team.crm.refuse["1"] = outcome(Result.AGAIN, "changed_meanwhile")
    team.work()
    team.crm.rows["1"].owner_id = "h-B"
    team.later(seconds=2)
    team.work()
    assert team.history(pool)[0].write_back is WriteBack.KEPT
    assert len(team.crm.writes) == 1
    team.crm.refuse = {}
    team.crm.create("2")
    team.tell("2")
    team.work()
    assert team.history(pool)[-1].reason is Reason.OWED


def test_a_record_that_was_changed_meanwhile_is_written_with_what_was_read_then(team) -> None:
    pool = one_lead(team)
    team.crm.refuse["1"] = outcome(Result.AGAIN, "changed_meanwhile")
    team.work()
    team.crm.refuse = {}
    team.crm.rows["1"].modified_at = team.later(seconds=2)
    team.work()
    assert [batch[0].seen_at for batch in team.crm.writes] == [None, team.now]
    assert [row.write_back for row in team.history(pool)] == [WriteBack.DONE]


def test_only_a_write_that_automation_undid_before_says_so(team) -> None:
    one_lead(team)
    for code in ("UNABLE_TO_LOCK_ROW", "overridden", "UNABLE_TO_LOCK_ROW"):
        team.crm.refuse["1"] = outcome(Result.AGAIN, code)
        team.work()
        team.later(minutes=1)
    team.work()
    assert [batch[0].was_overridden for batch in team.crm.writes] == [False, False, True, False]


def test_a_record_that_the_write_finds_gone_gives_the_turn_back(team) -> None:
    pool = one_lead(team)
    team.crm.refuse["1"] = outcome(Result.NEVER, "record_gone")
    team.work()
    team.crm.create("2")
    team.tell("2")
    team.work()
    assert [(row.user_id, row.reason) for row in team.history(pool)] == [
        ("A", Reason.ROTATION),
        ("A", Reason.OWED),
    ]


def test_a_user_whom_only_one_record_refuses_stays_in_the_rotation(team) -> None:
    """Automation of the CRM can fail for a user who is active; the list of users knows better."""
    team.pool("AB")
    team.crm.create("1", "2", "3")
    team.crm.refuse["1"] = refusing("1")
    team.tell("1")
    team.work()
    team.crm.refuse = {}
    team.tell("2", "3")
    team.work()
    assert sorted(team.crm.owners()[one] for one in "23") == ["h-A", "h-B"]
