"""A history that is played again comes to the same board, and a row that was changed shows."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine.replay import Differs
from connector.model import (
    Candidate,
    ManualPolicy,
    Member,
    NoneAvailable,
    Presence,
    Reason,
    RejectPolicy,
    SkipPolicy,
    Slot,
    Status,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
)
from tests.builders import NOON, contact, lead, owned_by, under, user
from tests.engine.deals import pool_of
from tests.engine.histories import Event, History, play

quick = settings(derandomize=True, deadline=None, database=None, max_examples=150)


def begin(who="ABC", strategy=Strategy.STRICT, **policies) -> History:
    return History(pool_of(strategy, who, **policies))


def played(history: History):
    return play(history.begins, history.events)


def changed(history: History, row, **fields) -> list[Event]:
    """The history with one of its rows changed by hand."""
    return [
        replace(one, row=replace(one.row, **fields)) if one.row is row else one
        for one in history.events
    ]


def told_of(history: History, events) -> str:
    """What the replay says of a history that it cannot agree with."""
    with pytest.raises(Differs) as difference:
        play(history.begins, events)
    return str(difference.value)


def stood(board):
    """The board without meetings, which each decision is told anew."""
    return replace(board, meetings={})


def test_a_history_without_changes_comes_to_the_same_board():
    history = begin()
    for number in range(5):
        history.assign(lead(f"L{number}"))
    assert played(history) == history.board


def test_a_user_who_was_changed_by_hand_shows_with_sequence_and_both_names():
    history = begin()
    history.assign(lead("L1"))
    row = history.assign(lead("L2"))
    said = told_of(history, changed(history, row, user_id="C", user_name="C"))
    assert said == "sequence 2: user is recorded as C, the rules say B"


def test_a_row_that_was_deleted_shows():
    history = begin()
    for number in range(3):
        history.assign(lead(f"L{number}"))
    said = told_of(history, [history.events[0], history.events[2]])
    assert said == "the decision with sequence 2 is missing"


def test_a_row_that_came_in_by_hand_shows():
    history = begin()
    row = history.assign(lead("L1"))
    events = [*history.events, replace(history.events[0], row=replace(row, user_id="B"))]
    assert told_of(history, events) == "the decision with sequence 2 is missing"


def test_a_cursor_that_was_moved_by_hand_shows_at_the_next_decision():
    history = begin()
    history.assign(lead("L1"))
    history.board = replace(history.board, last_assigned_member_id=2)
    history.assign(lead("L2"))
    assert "user is recorded as C, the rules say B" in told_of(history, history.events)


@pytest.mark.parametrize("policy", list(ManualPolicy))
@pytest.mark.parametrize("chosen", ["B", "X"])
def test_whom_a_person_chose_cannot_be_changed_afterwards(policy, chosen):
    history = begin(manual=policy)
    row = history.move(history.assign(lead("L1")), user(chosen))
    said = told_of(history, changed(history, row, user_id="C"))
    assert said == f"sequence 2: user is recorded as C, the rules say {chosen}"


def test_a_turn_that_goes_on_standing_behind_a_moved_lead_cannot_be_changed():
    history = begin(manual=ManualPolicy.IGNORE)
    row = history.move(history.assign(lead("L1")), user("B"))
    assert played(history) == history.board
    said = told_of(history, changed(history, row, turn=replace(row.turn, member_id=3)))
    assert said.startswith("sequence 2: turn is recorded as Turn(member_id=3")


def test_an_owner_of_the_crm_who_is_no_user_plays_again():
    history = begin()
    history.move(history.assign(contact("1")), None)
    history.undo(history.assign(contact("2")), owned_by(None))
    assert played(history) == history.board


def test_an_amended_row_plays_as_it_was_and_then_as_it_is():
    history = begin("ABCD")
    row = history.reject(history.assign(contact("1")))
    history.assign(contact("2"))
    row = history.refuse(history.refuse(row))
    assert (row.status, row.user_id) == (Status.REJECTED, "D")
    assert played(history) == history.board


def test_an_amended_row_that_was_changed_by_hand_shows():
    history = begin("ABC")
    row = history.refuse(history.assign(contact("1")))
    assert "user is recorded as C" in told_of(history, changed(history, row, user_id="C"))


def test_a_turn_that_came_back_without_a_decision_plays_again():
    history = begin()
    history.give_back(history.assign(contact("1")))
    history.assign(contact("2"))
    assert history.last.reason is Reason.OWED
    assert played(history) == history.board


def test_an_edit_plays_again():
    history = begin("ABC")
    history.assign(lead("L1"))
    history.edit(without(history.board, "B"))
    history.assign(lead("L2"))
    assert history.last.user_id == "C"
    assert played(history) == history.board


def test_a_long_difference_is_told_in_short():
    history = begin()
    row = history.assign(lead("L1"))
    said = told_of(history, changed(history, row, order=("A",) * 200))
    assert len(said) < 300
    assert "…" in said


NAMES = "ABCDEFGH"
SLOT = Slot(starts_at=NOON + timedelta(days=1), ends_at=NOON + timedelta(days=1, hours=1))

policies = st.fixed_dictionaries(
    {
        "skip": st.sampled_from(SkipPolicy),
        "accrue_max": st.integers(1, 3),
        "sticky": st.sampled_from(StickyPolicy),
        "sticky_turn": st.sampled_from(StickyTurn),
        "manual": st.sampled_from(ManualPolicy),
        "reject": st.sampled_from(RejectPolicy),
        "none_available": st.sampled_from(NoneAvailable),
    }
)
steps = st.tuples(
    st.sampled_from(
        (
            *("assign", "assign", "assign", "prefer", "sticky", "meeting", "owned"),
            *("reject", "move", "move", "move_out", "undo", "keep", "refuse", "give_back"),
            *("add", "remove", "away", "back", "reweigh", "pause", "policy", "wait"),
        )
    ),
    st.integers(0, 99),
)


def without(board, name):
    left = [one for one in board.pool.members if one.user.id != name]
    return seated(board, left)


def seated(board, members):
    places = tuple(replace(one, position=place) for place, one in enumerate(members, 1))
    return replace(board, pool=replace(board.pool, members=places))


def with_member(board, name, **changes):
    """One member changed: ``status`` is of its user."""
    members = list(board.pool.members)
    for place, one in enumerate(members):
        if one.user.id == name:
            of_user = {key: changes[key] for key in changes if key == "status"}
            of_member = {key: changes[key] for key in changes if key != "status"}
            members[place] = replace(one, user=replace(one.user, **of_user), **of_member)
    return seated(board, members)


def work(history: History, step: str, number: int) -> None:
    """One thing that happens to the pool; nothing when it cannot."""
    board = history.board
    name = NAMES[number % len(NAMES)]
    lead_id = str(1000 + len(history.events))
    rows = [one for one in history.rows if one.current and one.status is not Status.UNDONE]
    row = rows[number % len(rows)] if rows else None
    has_it = row is not None and row.user_id is not None
    members = {one.user.id: one for one in board.pool.members}
    match step:
        case "assign":
            history.assign(contact(lead_id))
        case "prefer":
            history.assign(contact(lead_id, preferred=user(name)))
        case "sticky":
            found = Candidate(step=StickyStep.PERSON, user=user(name), found="has it")
            history.assign(contact(lead_id, candidates=(found,)))
        case "meeting":
            history.assign(lead(lead_id, slot=SLOT))
        case "owned":
            history.assign(contact(lead_id, existing_owner=owned_by(user(name))))
        case "reject" if has_it:
            history.reject(row)
        case "move" if row and row.user_id != name:
            history.move(row, user(name))
        case "move_out" if row:
            history.move(row, None)
        case "undo" if row:
            history.undo(row)
        case "keep" if row:
            history.undo(row, owned_by(user(name)))
        case "refuse" if has_it and row.status is not Status.KEPT:
            history.refuse(row)
        case "give_back" if row:
            history.give_back(row)
        case "add" if name not in members:
            joined = Member(id=1000 + len(history.events), user=user(name), position=0)
            history.edit(seated(board, [*board.pool.members, joined]))
        case "remove":
            history.edit(without(board, name))
        case "away":
            history.edit(with_member(board, name, status=Presence.AWAY))
        case "back":
            history.edit(with_member(board, name, status=Presence.AVAILABLE))
        case "reweigh":
            history.edit(with_member(board, name, weight=number % 4))
        case "pause":
            history.edit(with_member(board, name, active=number % 2 == 0))
        case "policy":
            history.edit(under(board, manual=list(ManualPolicy)[number % 2]))
        case "wait":
            history.wait(hours=number % 30)


@given(
    strategy=st.sampled_from(Strategy),
    how=policies,
    quotas=st.lists(st.sampled_from([None, None, 1, 3]), min_size=4, max_size=4),
    mix=st.lists(steps, min_size=10, max_size=40),
    data=st.data(),
)
@quick
def test_any_history_plays_again_and_any_change_of_a_row_shows(strategy, how, quotas, mix, data):
    board = under(pool_of(strategy, {"A": 1, "B": 3, "C": 1, "D": 2}), **how)
    limited = [
        replace(one, daily_quota=quota)
        for one, quota in zip(board.pool.members, quotas, strict=True)
    ]
    history = History(replace(seated(board, limited), fallback_user=user("H")))
    for step, number in mix:
        work(history, step, number)
    assert stood(played(history)) == stood(history.board)
    decided = [one.row for one in history.events if one.row is not None]
    if decided:
        row = data.draw(st.sampled_from(decided))
        change = data.draw(st.sampled_from(changes_of(row)))
        told_of(history, changed(history, row, **change))


def changes_of(row) -> list[dict]:
    """What somebody might do to a row by hand."""
    changes = [
        {"user_id": "Z" if row.user_id else "A"},
        {"order": (*row.order, "Z")},
        {"order_after": row.order_after[1:] if row.order_after else ("Z",)},
        {"skipped": row.skipped[1:]} if row.skipped else {"user_id": "Z"},
    ]
    if row.user_id:
        changes.append({"user_id": None})
    others = [one for one in Reason if one is not row.reason]
    changes += [{"reason": one} for one in others]
    if row.turn:
        changes.append({"turn": None})
        changes.append({"turn": replace(row.turn, member_id=row.turn.member_id + 1)})
    return changes
