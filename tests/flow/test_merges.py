"""Records that are merged, deleted or restored in the CRM: nothing is written to a dead one."""

from __future__ import annotations

import pytest

from connector.model import EventKind, Reason, Status, StickyStep, WriteBack
from connector.ports import Outcome, Result

MERGED, DELETED = EventKind.MERGED, EventKind.DELETED


def merge(team, *dead: str, into: str, owner: str | None = None) -> None:
    """The CRM merges records, and tells of it: the survivor may be a new one."""
    for one in dead:
        team.crm.rows.pop(one, None)
    team.crm.create(into, owner=owner)
    team.tell(into, kind=MERGED, merged=dead)


def delete(team, *ids: str) -> None:
    for one in ids:
        team.crm.rows.pop(one, None)
    team.tell(*ids, kind=DELETED)


def decide_only(team, *ids: str) -> None:
    """Decided, while the CRM takes no owner yet."""
    again = Outcome(record_id="", result=Result.AGAIN, code="BUSY", message="later")
    team.crm.refuse = dict.fromkeys(ids, again)
    team.crm.create(*ids)
    team.tell(*ids)
    team.work()


def written_to(team) -> set[str]:
    return {write.record_id for batch in team.crm.writes for write in batch}


def test_an_unowned_survivor_goes_to_the_user_of_the_merged_record_and_uses_no_turn(team) -> None:
    pool = team.pool("ABC")
    team.crm.create("1")
    team.tell("1")
    team.work()
    merge(team, "1", into="9")
    team.work()
    row = team.history(pool)[-1]
    assert (row.record.id, row.user_id, row.turn) == ("9", "A", None)
    assert (row.reason, row.sticky_step) == (Reason.STICKY, StickyStep.EARLIER_ASSIGNMENT)
    assert "A had hubspot:contacts:1, which was merged into this one" in str(row.checks)
    assert team.crm.owners() == {"9": "h-A"}
    assert team.lead(pool, "next").user_id == "B"
    assert team.differs(pool) is None


@pytest.mark.parametrize(
    "policies",
    [{"sticky": "off"}, {"sticky_steps": ["person"]}, {"sticky_turn": "counted"}],
    ids=str,
)
def test_whatever_the_pools_sticky_policy(team, policies) -> None:
    pool = team.pool("ABC", **policies)
    team.crm.create("1")
    team.tell("1")
    team.work()
    merge(team, "1", into="9")
    team.work()
    row = team.history(pool)[-1]
    assert (row.user_id, row.turn, row.counted) == ("A", None, False)


def test_an_owned_survivor_keeps_its_owner(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    merge(team, "1", into="9", owner="h-B")
    team.work()
    assert team.given(pool) == "A"
    assert team.crm.owners() == {"9": "h-B"}


def test_a_survivor_of_records_that_had_nobody_is_routed(team) -> None:
    pool = team.pool("AB")
    merge(team, "1", "2", into="9")
    team.work()
    assert team.given(pool) == "A"
    assert team.history(pool)[-1].reason is Reason.ROTATION


def test_the_newest_active_user_of_the_merged_records_has_the_survivor(team) -> None:
    pool = team.pool("ABC")
    team.crm.create("1", "2", "3")
    for one in "123":
        team.tell(one)
        team.work()
        team.later(minutes=1)
    team.put_user("C", active=False)
    merge(team, "1", "2", "3", into="9")
    team.work()
    assert team.history(pool)[-1].user_id == "B"


def test_a_write_that_waits_is_never_sent_to_the_dead_record(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    sent = len(team.crm.writes)
    team.crm.refuse = {}
    merge(team, "1", into="9")
    team.work()
    team.later(hours=2)
    team.work()
    assert {write.record_id for batch in team.crm.writes[sent:] for write in batch} == {"9"}
    assert team.crm.owners() == {"9": "h-A"}
    first, survivor = team.history(pool)
    assert (first.write_back, survivor.write_back) == (WriteBack.NONE, WriteBack.DONE)
    assert team.lead(pool, "next").user_id == "B"
    assert team.differs(pool) is None


def test_an_owner_of_the_survivor_gives_the_turn_back_of_a_write_that_waited(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    merge(team, "1", into="9", owner="h-B")
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.ASSIGNED, Status.UNDONE]
    assert team.history(pool)[-1].note == "the record was merged into hubspot:contacts:9"
    assert team.lead(pool, "next").user_id == "A"
    assert team.differs(pool) is None


def test_a_held_lead_of_a_dead_record_waits_no_more(team) -> None:
    pool = team.pool("A")
    off = team.absent("A", days=1)
    team.crm.create("1")
    team.tell("1")
    team.work()
    merge(team, "1", into="9", owner="h-other")
    team.work()
    team.back("A", off)
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.HELD, Status.UNDONE]
    assert written_to(team) == set()


def test_a_merge_that_no_event_told_of_is_found_when_the_owner_is_to_be_written(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    team.crm.refuse = {}
    team.crm.create("9")
    team.crm.rows["1"].survivor_id = "9"
    team.later(hours=1)
    team.work()
    assert team.crm.owners()["9"] == "h-A"
    assert team.given(pool) == "AA"
    assert team.lead(pool, "next").user_id == "B"


def test_an_event_of_an_old_id_is_worked_under_the_survivor_and_its_user_stays(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.create("9")
    team.crm.rows["1"].survivor_id = "9"
    team.crm.rows["1"].owner_id = None
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert team.given(pool) == "AA"
    assert team.crm.owners()["9"] == "h-A"


@pytest.mark.parametrize("kind", [EventKind.CREATED, EventKind.CHANGED])
def test_a_survivor_that_is_seen_before_its_merge_is_told_has_its_user_too(team, kind) -> None:
    pool = team.pool("ABC")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.rows.pop("1")
    team.crm.create("9")
    team.crm.rows["9"].merged_ids = ("1", "2")
    team.tell("9", kind=kind)
    team.work()
    team.tell("9", kind=MERGED, merged=["1", "2"])
    team.work()
    assert team.given(pool) == "AA"
    assert team.crm.owners() == {"9": "h-A"}


def test_a_survivor_that_somebody_freed_here_or_in_the_crm_is_routed(team) -> None:
    pool = team.pool("ABC")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.crm.create("9")
    team.crm.rows["9"].merged_ids = ("1",)
    team.tell("9", kind=EventKind.OWNER_CHANGED, owner="")
    team.work()
    assert team.given(pool) == "AB"
    team.undo(team.history(pool)[-1])
    team.crm.rows["9"].owner_id = None
    team.tell("9", kind=EventKind.CHANGED)
    team.work()
    assert team.given(pool) == "AB-B"


def test_the_deletion_that_comes_before_its_merge_does_not_cost_the_user(team) -> None:
    pool = team.pool("ABC")
    decide_only(team, "1")
    team.crm.refuse = {}
    delete(team, "1")
    team.work()
    merge(team, "1", into="9")
    team.work()
    assert team.crm.owners() == {"9": "h-A"}
    assert team.given(pool) == "A-A"


def test_a_deleted_record_gives_turn_and_place_back(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    sent = len(team.crm.writes)
    delete(team, "1")
    team.work()
    team.later(hours=2)
    team.work()
    assert len(team.crm.writes) == sent
    assert [row.status for row in team.history(pool)] == [Status.ASSIGNED, Status.UNDONE]
    assert team.history(pool)[-1].note == "the record was deleted in the CRM"
    assert team.lead(pool, "next").user_id == "A"
    assert team.differs(pool) is None


def test_a_deleted_record_that_waits_for_a_user_waits_no_more(team) -> None:
    pool = team.pool("A")
    off = team.absent("A", days=1)
    team.crm.create("1", "2")
    team.tell("1", "2")
    team.work()
    delete(team, "1")
    team.work()
    team.back("A", off)
    team.work()
    assert [(row.record.id, row.status) for row in team.history(pool)] == [
        ("1", Status.HELD),
        ("2", Status.HELD),
        ("1", Status.UNDONE),
        ("2", Status.ASSIGNED),
    ]


def test_a_deleted_record_that_waits_for_a_pool_waits_no_more(team) -> None:
    team.crm.create("1")
    team.tell("1")
    team.work()
    delete(team, "1")
    team.work()
    pool = team.pool("A")
    team.work()
    assert list(team.history(pool)) == []


def test_a_lead_that_was_served_keeps_its_turn_when_its_record_is_deleted(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    delete(team, "1")
    team.work()
    assert team.given(pool) == "A"
    assert team.lead(pool, "next").user_id == "B"


def test_told_of_a_deletion_of_a_record_that_is_there_nothing_is_closed(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1", kind=DELETED)
    team.work()
    assert team.given(pool) == "A"


def test_a_restored_record_is_routed_anew(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    team.crm.refuse = {}
    delete(team, "1")
    team.work()
    team.crm.create("1")
    team.tell("1", kind=EventKind.CHANGED)
    team.work()
    assert [row.status for row in team.history(pool)][-1] is Status.ASSIGNED
    assert team.crm.owners()["1"] is not None


def test_both_events_of_an_erased_person_close_once(team) -> None:
    pool = team.pool("AB")
    decide_only(team, "1")
    delete(team, "1")
    team.tell("1", kind=DELETED, key="privacy")
    team.work()
    assert [row.status for row in team.history(pool)] == [Status.ASSIGNED, Status.UNDONE]
