"""Edits of pools, users and absences: whose turn it is stays, and the journal tells of each."""

import pytest

from connector.errors import BadInput, Conflict, NotFound
from connector.model import EntryKind, Lead, Reason, Status, WriteBack
from connector.store.tables import pool_state
from tests.builders import owned_by, user
from tests.flow.conftest import Team


def turns(team: Team, pool: str, count: int = 4) -> str:
    """Who gets the next leads."""
    before = len(team.history(pool))
    team.leads(pool, *(f"T{before + number}" for number in range(count)))
    return team.given(pool)[before:]


def entries(team: Team, pool: str) -> list[tuple[str, str | None, dict[str, object]]]:
    """The journal of a pool behind its beginning, shortly."""
    return [
        (entry.kind, entry.actor, entry.body.get("config", {})) for entry in team.journal(pool)[1:]
    ]


@pytest.mark.parametrize(
    ("change", "then"),
    [
        ({"add": "E"}, "CDEABCDE"),
        ({"remove": "A"}, "CDBCDBCD"),
        ({"remove": "B"}, "CDACDACD"),
        ({"remove": "C"}, "DABDABDA"),
        ({"remove": "BC"}, "DADADADA"),
        ({"remove": "AB", "add": "E"}, "CDECDECD"),
        ({"order": "DCBA"}, "ADCBADCB"),
        ({"members": {"C": {"active": False}}}, "DABDABDA"),
        ({"members": {"A": {"weight": 5}}}, "CDABCDAB"),
        ({"name": "Renamed", "skip": "hold"}, "CDABCDAB"),
    ],
    ids=str,
)
def test_whose_turn_it_is_among_those_who_stay_does_not_move(team, change, then) -> None:
    pool = team.pool("ABCD")
    assert turns(team, pool, 2) == "AB"
    team.change(pool, **change)
    assert turns(team, pool, 8) == then


def test_a_removed_member_who_comes_back_is_new(team) -> None:
    pool = team.pool("ABC")
    turns(team, pool, 1)
    team.change(pool, remove="A")
    team.change(pool, add="A")
    assert turns(team, pool) == "BCAB"


def test_each_edit_is_a_row_of_the_journal_with_who_made_it_and_what_changed(team) -> None:
    pool = team.pool("AB")
    team.leads(pool, "L1", "L2", "L3")
    team.change(pool, members={"B": {"weight": 3}}, skip="hold")
    (_, entry) = team.journal(pool)
    assert (entry.number, entry.after_sequence, entry.kind) == (2, 3, EntryKind.EDITED)
    assert (entry.actor, entry.at) == ("boss", team.now)
    member_id = str(team.board(pool).pool.members[1].id)
    assert entry.body["config"] == {
        "pool": {"skip": "hold"},
        "members": {member_id: {"weight": 3}},
    }


def test_the_journal_begins_with_the_pool_as_it_was_made(team) -> None:
    pool = team.pool("AB", daily_quota=5)
    (entry,) = team.journal(pool)
    assert (entry.kind, entry.actor, entry.after_sequence) == (EntryKind.SNAPSHOT, "boss", 0)
    assert entry.body["config"]["pool"]["daily_quota"] == 5


def test_what_changes_nothing_leaves_no_trace(team) -> None:
    pool = team.pool("AB")
    team.change(pool, name="Sales", skip="lose", order="AB")
    team.put_user("A")
    team.change(pool)
    assert entries(team, pool) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"remove": "X"}, NotFound),
        ({"add": "A"}, Conflict),
        ({"members": {"X": {"weight": 2}}}, NotFound),
        ({"order": "AB"}, BadInput),
        ({"fallback_pool_id": "nowhere"}, BadInput),
        ({"fallback_user_id": "nobody"}, BadInput),
    ],
    ids=str,
)
def test_a_change_happens_as_a_whole_or_not_at_all(team, change, error) -> None:
    pool = team.pool("ABC")
    turns(team, pool, 1)
    before = team.board(pool)
    values = {"name": "Other", "strategy": "weighted", "add": "D", "remove": "C"} | change
    with pytest.raises(error):
        team.change(pool, **values)
    assert (team.board(pool), entries(team, pool)) == (before, [])


def test_a_user_in_many_pools_is_told_of_in_the_journal_of_each(team) -> None:
    first, second = team.pool("AB", name="First"), team.pool("AC", name="Second")
    third = team.pool("B", name="Third", none_available="fallback", fallback_user_id="A")
    other = team.pool("B", name="Fourth")
    team.put_user("A", time_zone="Asia/Tokyo")
    told = (EntryKind.EDITED, "boss", {"users": {"A": {"time_zone": "Asia/Tokyo"}}})
    for pool in (first, second, third):
        assert entries(team, pool) == [told]
    assert entries(team, other) == []


def test_absences_are_edits_too(team) -> None:
    pool = team.pool("AB")
    off = team.absent("A", hours=1)
    team.back("A", off)
    assert [(kind, actor) for kind, actor, _ in entries(team, pool)] == [("edited", "boss")] * 2
    assert entries(team, pool)[1][2] == {"users": {"A": {"absences": []}}}


def test_an_absence_of_nobody_is_refused(team) -> None:
    with pytest.raises(NotFound):
        team.absent("A", hours=1)


def test_a_refusal_by_the_crm_is_an_edit_with_its_reason(team) -> None:
    pool = team.pool("AB")
    team.crm.inactive.add("h-A")
    team.crm.create("1")
    team.tell("1")
    team.work()
    edited, amended = team.journal(pool)[1:]
    assert (edited.kind, edited.actor) == (EntryKind.EDITED, "system")
    assert edited.body["config"] == {"users": {"A": {"refused_by": ["hubspot"]}}}
    assert edited.body["why"] == "hubspot calls the owner inactive"
    assert amended.kind is EntryKind.AMENDED


def test_the_leads_of_a_removed_member_go_to_the_next_ones_in_turn(team) -> None:
    pool = team.pool("ABC")
    turns(team, pool, 7)
    team.change(pool, remove="A", redistribute=True)
    rows = team.history(pool)[7:]
    assert [row.user_id for row in rows] == ["B", "C", "B"]
    assert [row.lead_id for row in rows] == ["T0", "T3", "T6"]
    assert {row.actor for row in rows} == {"system"}
    assert {row.note for row in rows} == {"A was removed from the pool by boss"}
    assert [entry.actor for entry in team.journal(pool)] == ["boss", "boss"]


def test_what_an_owner_in_the_crm_keeps_is_not_redistributed(team) -> None:
    pool = team.pool("ABC")
    team.lead(pool, "L1", existing_owner=owned_by(user("A")))
    team.change(pool, remove="A", redistribute=True)
    assert [row.status for row in team.history(pool)] == [Status.KEPT]


def test_redistributed_records_get_their_new_owner_in_the_crm(team) -> None:
    pool = team.pool("AB")
    team.crm.create("1")
    team.tell("1")
    team.work()
    team.change(pool, remove="A", redistribute=True)
    team.work()
    assert team.crm.owners() == {"1": "h-B"}
    assert team.history(pool)[-1].write_back is WriteBack.DONE


def test_leads_of_a_removed_member_that_nobody_can_take_wait(team) -> None:
    pool = team.pool("AB")
    team.leads(pool, "L1")
    off = team.absent("B", hours=1)
    team.change(pool, remove="A", redistribute=True)
    assert team.given(pool) == "A-"
    team.back("B", off)
    team.work()
    assert team.given(pool) == "A-B"


def test_without_redistribute_a_removed_member_keeps_the_leads(team) -> None:
    pool = team.pool("AB")
    turns(team, pool, 2)
    team.change(pool, remove="A")
    assert team.given(pool) == "AB"
    assert team.lead(pool, "T0").user_id == "A"


def test_the_held_leads_of_an_archived_pool_are_routed_anew(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", name="Sales")
    team.absent("A", hours=1)
    team.leads(pool, "L1", "L2")
    team.archive(pool, default_pool="Other")
    assert [(row.lead_id, row.user_id) for row in team.history(other)] == [
        ("L1", "B"),
        ("L2", "B"),
    ]
    team.later(hours=2)
    team.work()
    assert team.given(pool) == "--"


def test_without_another_pool_they_wait_without_one_and_go_out_when_there_is(team) -> None:
    pool = team.pool("A", name="Old")
    team.absent("A", hours=1)
    team.leads(pool, "L1", "L2")
    team.archive(pool)
    other = team.pool("B", name="Sales")
    team.work()
    assert team.given(other) == "BB"


def test_archiving_twice_is_told_once(team) -> None:
    pool = team.pool("A")
    team.archive(pool)
    team.later(hours=1)
    team.archive(pool)
    assert len(entries(team, pool)) == 1


def test_an_archived_pool_takes_no_leads_and_no_changes(team) -> None:
    pool = team.pool("A")
    team.archive(pool)
    for attempt in (lambda: team.lead(pool, "L1"), lambda: team.change(pool, name="New")):
        with pytest.raises(Conflict) as refused:
            attempt()
        assert refused.value.code == "pool_archived"


def test_nobody_falls_back_to_an_archived_pool(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", none_available="fallback", fallback_pool_id=other)
    team.archive(other)
    team.absent("A", hours=1)
    row = team.lead(pool, "L1")
    assert (row.status, row.route.passed) == (Status.HELD, ("Other: the pool is archived",))


def test_a_held_lead_tells_why_the_pools_it_falls_back_to_could_not_take_it(team) -> None:
    other = team.pool("B", name="Other")
    pool = team.pool("A", none_available="fallback", fallback_pool_id=other)
    team.absent("A", hours=1)
    team.absent("B", hours=1)
    assert team.lead(pool, "L1").route.passed == ("Other: B absent",)


def test_fallbacks_in_a_circle_are_refused(team) -> None:
    first = team.pool("A", name="First")
    second = team.pool("B", name="Second", none_available="fallback", fallback_pool_id=first)
    third = team.pool("C", name="Third", none_available="fallback", fallback_pool_id=second)
    with pytest.raises(BadInput, match="circle"):
        team.change(first, none_available="fallback", fallback_pool_id=third)


def test_a_user_in_the_turn_of_an_edit_stays_next_under_weights_too(team) -> None:
    pool = team.pool("ABC", strategy="weighted", weights="321")
    expected = turns(team, pool, 12)
    assert sorted(expected) == sorted("AAABBC" * 2)
    team.change(pool, name="Renamed")
    team.change(pool, add="D")
    team.change(pool, remove="D")
    assert sorted(turns(team, pool, 12)) == sorted(expected)


def test_a_lead_that_waits_without_the_edit_goes_out_after_it(team) -> None:
    pool = team.pool("AB")
    team.change(pool, members={"A": {"active": False}, "B": {"active": False}})
    team.leads(pool, Lead(id="L1"))
    team.work()
    assert team.opens_at(pool) is None
    team.change(pool, members={"B": {"active": True}})
    team.work()
    last = team.history(pool)[-1]
    assert (last.user_id, last.reason) == ("B", Reason.ROTATION)


def test_the_number_of_the_last_entry_is_kept_with_the_state(team) -> None:
    pool = team.pool("AB")
    team.change(pool, name="New")
    with team.database.read() as session:
        (row,) = session.execute(pool_state.select()).all()
    assert row.entries == 2
