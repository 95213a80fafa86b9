"""A board's images hold all of it, and a difference of two holds all that an edit changed."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime, time, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from connector.model import (
    Absence,
    Availability,
    Board,
    Member,
    Policies,
    Pool,
    Slot,
    Standing,
    StickyStep,
    Turn,
    User,
    WorkingHours,
)
from connector.store import images
from tests import builders
from tests.builders import NOON

quick = settings(max_examples=40, derandomize=True, deadline=None, database=None)

ids = st.sampled_from("abcdef")
words = st.text(max_size=5)
maybe_words = st.none() | words
moments = st.timedeltas(timedelta(-9_999), timedelta(99_999)).map(lambda gap: NOON + gap)
quotas = st.none() | st.integers(0, 20)
hours = st.builds(
    WorkingHours,
    days=st.lists(st.integers(0, 6), unique=True, max_size=3).map(tuple),
    start=st.times(),
    end=st.times(),
)
absences = st.builds(Absence, id=words, starts_at=moments, ends_at=moments, reason=maybe_words)
reports = st.builds(
    Availability,
    status=...,
    time_zone=st.none() | st.just("Asia/Tokyo"),
    working_hours=st.lists(hours, max_size=2).map(tuple),
    absences=st.lists(absences, max_size=2).map(tuple),
)
standings = st.builds(
    Standing,
    **{
        f.name: st.booleans() if f.name == "away" else st.integers(-5, 10**13)
        for f in fields(Standing)
    },
)
policies = st.builds(
    Policies,
    **dict.fromkeys(
        (
            "skip",
            "returning",
            "none_available",
            "sticky",
            "sticky_turn",
            "manual",
            "reject",
            "quota_window",
        ),
        ...,
    ),
    leave_buffer_hours=st.integers(0, 99),
    sticky_steps=st.lists(st.sampled_from(StickyStep), unique=True, max_size=3).map(tuple),
    accrue_max=st.integers(1, 9),
    fallback_pool_id=maybe_words,
)


def users(user_id: str) -> st.SearchStrategy[User]:
    return st.builds(
        User,
        id=st.just(user_id),
        name=words,
        email=maybe_words,
        active=...,
        status=...,
        time_zone=st.none() | st.just("Europe/Berlin"),
        working_hours=st.lists(hours, max_size=2).map(tuple),
        holidays=st.none() | st.just("DE-BY"),
        absences=st.lists(absences, max_size=2).map(tuple),
        daily_quota=quotas,
        owners=st.dictionaries(words, words, max_size=3),
        refused_by=st.frozensets(words, max_size=3),
        reported=st.dictionaries(words, reports, max_size=2),
    )


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Any board of one pool; two of them share some members and users."""
    people = {user_id: draw(users(user_id)) for user_id in draw(st.sets(ids))}
    numbers = {user_id: number for number, user_id in enumerate("abcdef", 9)}  # 9 and 10: as text
    members = tuple(
        Member(
            id=numbers[user_id],
            user=people[user_id],
            position=position,
            weight=draw(st.integers(0, 1000)),
            active=draw(st.booleans()),
            daily_quota=draw(quotas),
            standing=draw(standings),
        )
        for position, user_id in enumerate(draw(st.permutations(sorted(people))), 1)
    )
    fallback = draw(st.none() | st.sampled_from([*people.values(), draw(users("z"))]))
    rules = replace(draw(policies), fallback_user_id=fallback.id if fallback else None)
    pool = draw(
        st.builds(
            Pool,
            id=st.just("pool"),
            name=words,
            strategy=...,
            period=...,
            created_at=moments,
            members=st.just(members),
            daily_quota=quotas,
            time_zone=st.none() | st.just("UTC"),
            policies=st.just(rules),
            archived_at=st.none() | moments,
        )
    )
    return Board(
        pool=pool,
        last_assigned_member_id=draw(st.none() | st.integers(1, 20)),
        last_sequence=draw(st.integers(0, 10**6)),
        turns=draw(st.integers(0, 99)),
        period_start=draw(st.none() | moments),
        fallback_user=fallback,
    )


def through_json(image: Any) -> Any:
    return json.loads(json.dumps(image))


@quick
@given(boards())
def test_a_board_comes_back_from_its_images(board: Board) -> None:
    config, state = through_json([images.config(board), images.state(board)])
    assert images.board_of(config, state) == board


@quick
@given(boards(), boards())
def test_a_difference_turns_one_config_into_the_other(one: Board, other: Board) -> None:
    before, after = images.config(one), images.config(other)
    told = through_json(images.difference(before, after))
    untouched = json.dumps(before)
    assert json.dumps(images.patched(before, told)) == json.dumps(after)
    assert json.dumps(before) == untouched


@quick
@given(boards())
def test_equal_boards_give_equal_text(board: Board) -> None:
    def turned(user: User) -> User:
        return replace(
            user,
            owners=dict(reversed(user.owners.items())),
            refused_by=frozenset(sorted(user.refused_by, reverse=True)),
            reported=dict(reversed(user.reported.items())),
        )

    members = tuple(replace(member, user=turned(member.user)) for member in board.pool.members)
    again = replace(board, pool=replace(board.pool, members=members))
    assert json.dumps(images.config(again)) == json.dumps(images.config(board))
    assert json.dumps(images.state(again)) == json.dumps(images.state(board))
    assert images.difference(images.config(board), images.config(again)) == {}


def test_a_difference_tells_only_the_fields_that_changed() -> None:
    before = builders.strict("AB")
    first, _ = before.pool.members
    third = builders.member(3, "C")
    pool = replace(before.pool, name="New", members=(replace(first, weight=4), third))
    told = images.difference(images.config(before), images.config(replace(before, pool=pool)))
    assert told["pool"] == {"name": "New"}
    assert told["members"]["1"] == {"weight": 4}
    assert told["members"]["2"] is None
    assert told["members"]["3"]["user_id"] == "C"
    assert (told["users"].keys(), told["users"]["B"]) == ({"B", "C"}, None)
    assert told["users"]["C"] == images.user(third.user)


def test_the_image_of_a_user_from_before_crms_told_of_availability_is_read() -> None:
    old = images.user(builders.user("a"))
    del old["reported"]
    assert images.user_of(old) == builders.user("a")


def test_a_policy_has_the_name_it_has_outside_of_python() -> None:
    pool = images.config(builders.strict("A"))["pool"]
    assert (pool["return"], pool["skip"], pool["sticky_turn"]) == ("level", "lose", "free")
    assert "returning" not in pool


def test_turns_and_slots_come_back() -> None:
    summer = timezone(timedelta(hours=2))
    at = datetime(2026, 7, 1, 12, 30, 0, 5, tzinfo=summer)
    turn = Turn(member_id=7, user_id="a", sequence=3, at=at, shares={10: 2, 9: 5})
    slot = Slot(starts_at=at, ends_at=at + timedelta(hours=1))
    assert images.turn_of(through_json(images.turn(turn))) == turn
    assert images.slot_of(through_json(images.slot(slot))) == slot
    assert images.slot(slot)["starts_at"] == "2026-07-01T10:30:00.000005+00:00"
    assert list(images.turn(turn)["shares"]) == ["9", "10"]


def test_hours_keep_their_clock() -> None:
    late = WorkingHours(days=(4, 5), start=time(22), end=time(2))
    person = User(id="a", name="A", working_hours=(late,))
    assert images.user(person)["working_hours"] == [
        {"days": [4, 5], "start": "22:00:00", "end": "02:00:00"}
    ]
