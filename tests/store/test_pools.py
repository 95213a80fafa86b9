"""Pools keep what they are told, and edits touch nothing but what they name."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from connector.errors import BadInput, Conflict, NotFound
from connector.model import (
    Absence,
    Board,
    ManualPolicy,
    NoneAvailable,
    Period,
    Pool,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    Standing,
    StickyPolicy,
    StickyStep,
    StickyTurn,
    Strategy,
    User,
)
from connector.store import pools, users
from connector.store.database import Database, Session
from connector.store.pools import MemberChange, NewMember, NewPool, PoolChange
from tests.store.builders import NOW, board_of, pool_of, put, run_all, statements, user


def members(session: Session, pool_id: str) -> list[str]:
    pool = pools.get(session, pool_id)
    assert pool is not None
    assert [member.position for member in pool.members] == list(range(1, len(pool.members) + 1))
    return [member.user.id for member in pool.members]


def change(session: Session, pool_id: str, **what: object) -> None:
    pools.change(session, pool_id, PoolChange(**what), NOW)  # type: ignore[arg-type]


def named(session: Session, name: str, at: datetime, *user_ids: str) -> Pool:
    return pools.create(session, NewPool(values={"name": name}, members=new(*user_ids)), at)


def new(*user_ids: str) -> list[NewMember]:
    return [NewMember(user_id=user_id) for user_id in user_ids]


def test_a_pool_is_made_with_members_in_order_and_unknown_users(database: Database) -> None:
    with database.write() as session:
        put(session, user("a", hubspot="1"))
        bob = NewMember(user_id="b", name="Bob", weight=3, active=False, daily_quota=5)
        wanted = NewPool(values={"name": "SDR"}, members=[bob, NewMember(user_id="a")])
        made = pools.create(session, wanted, NOW)
    with database.read() as session:
        assert pools.get(session, made.id) == made
    first, alice = made.members
    assert first.user == User(id="b", name="Bob")
    assert (first.weight, first.active, first.daily_quota) == (3, False, 5)
    assert (alice.user, alice.position) == (user("a", hubspot="1"), 2)


def test_the_same_user_twice_makes_no_pool(database: Database) -> None:
    with pytest.raises(Conflict) as caught, database.write() as session:
        pool_of(session, "a", "a")
    assert caught.value.code == "member_exists"
    with database.read() as session:
        assert pools.listed(session, None, 10) == []


def test_a_name_means_the_oldest_pool_of_that_name_and_an_id_comes_first(
    database: Database,
) -> None:
    with database.write() as session:
        young = named(session, "X", hours(1))
        old = named(session, "X", NOW)
        trap = named(session, young.id, hours(-24))
        assert pools.named(session, "X") == old
        assert pools.named(session, young.id) == young
        assert pools.named(session, trap.id) == trap
        assert pools.named(session, "Y") is None


def test_pools_are_listed_oldest_first_in_pages(database: Database) -> None:
    with database.write() as session:
        made = [
            named(session, "P", NOW + timedelta(seconds=age // 2), "a", "b") for age in range(5)
        ]
        wanted = sorted(made, key=lambda pool: (pool.created_at, pool.id))
        page = pools.listed(session, None, 2)
        rest = pools.listed(session, (page[-1].created_at, page[-1].id), 10)
        assert page + rest == wanted


@pytest.mark.parametrize(
    ("what", "order"),
    [
        ({"add_members": ["D"]}, "ABCD"),
        ({"remove_members": ["A"]}, "BC"),
        ({"remove_members": ["A", "C"], "add_members": ["C", "D"]}, "BCD"),
        ({"add_members": ["Z"], "order": list("ZCAB")}, "ZCAB"),
        ({"order": list("CBA")}, "CBA"),
        ({"remove_members": ["A", "B", "C"], "add_members": ["A"]}, "A"),
        ({"remove_members": ["A", "B", "C"]}, ""),
    ],
)
def test_members_stand_in_the_order_that_is_asked_for(
    database: Database, what: dict[str, list[str]], order: str
) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        joining = new(*what.get("add_members", ()))
        change(session, pool_id, **(what | {"add_members": joining}))
        assert members(session, pool_id) == list(order)


def test_an_edit_leaves_the_state_and_standings_of_those_who_stay(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        board = board_of(session, pool_id)
        b = board.pool.members[1]
        pools.save(session, board, standing(board, b.id, owed=1, balance=-7, last_turn=3))
        change(
            session,
            pool_id,
            remove_members=["A"],
            add_members=new("D"),
            order=["D", "C", "B"],
            update_members=[MemberChange(user_id="B", values={"weight": 4})],
        )
        stays = board_of(session, pool_id).pool.members[2]
        assert (stays.id, stays.weight) == (b.id, 4)
        assert stays.standing == Standing(owed=1, balance=-7, last_turn=3)


def test_a_member_who_comes_again_is_a_new_one(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        first = board_of(session, pool_id).pool.members[1]
        change(session, pool_id, remove_members=["B"])
        change(session, pool_id, add_members=new("B"))
        assert board_of(session, pool_id).pool.members[1].id > first.id


def test_removing_the_last_assigned_forgets_who_that_was(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        board = board_of(session, pool_id)
        last = board.pool.members[0].id
        pools.save(session, board, replace(board, last_assigned_member_id=last))
        change(session, pool_id, remove_members=["A"])
        assert board_of(session, pool_id).last_assigned_member_id is None


def test_a_removed_and_added_member_goes_to_the_end(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        change(session, pool_id, remove_members=["A"], add_members=new("A"))
        assert members(session, pool_id) == ["B", "C", "A"]


def test_the_values_that_are_given_change_and_no_others(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        updates = [
            MemberChange(user_id="A", values={"weight": 0, "daily_quota": 0}),
            MemberChange(user_id="B", values={"active": False}),
        ]
        change(session, pool_id, values={"name": "New"}, update_members=updates)
        changed = pools.get(session, pool_id)
    assert changed is not None
    assert changed.name == "New"
    assert [(m.weight, m.active, m.daily_quota) for m in changed.members] == [
        (0, True, 0),
        (1, False, None),
    ]


def test_every_policy_comes_back_as_it_was_set(database: Database) -> None:
    with database.write() as session:
        put(session, user("f"))
        other = pool_of(session, name="Other")
        values = {
            "name": "All",
            "strategy": Strategy.WEIGHTED,
            "daily_quota": 7,
            "period": Period.WEEK,
            "time_zone": "Asia/Tokyo",
            "skip": SkipPolicy.ACCRUE,
            "accrue_max": 3,
            "return": ReturnPolicy.NONE,
            "none_available": NoneAvailable.FALLBACK,
            "fallback_user_id": "f",
            "fallback_pool_id": other,
            "sticky": StickyPolicy.AVAILABLE,
            "sticky_steps": (StickyStep.COMPANY,),
            "sticky_turn": StickyTurn.COUNTED,
            "manual": ManualPolicy.IGNORE,
            "reject": RejectPolicy.NO_CREDIT,
            "quota_window": QuotaWindow.ROLLING24H,
            "leave_buffer_hours": 4,
        }
        made = pools.create(session, NewPool(values=values), NOW)
        plain = pools.create(session, NewPool(values={"name": "Plain"}), NOW)
        assert pools.get(session, made.id) == made
        assert board_of(session, made.id).fallback_user == user("f")
        of_pool = {name: values.pop(name) for name in list(values) if hasattr(made, name)}
        assert {name: getattr(made, name) for name in of_pool} == of_pool
        values["returning"] = values.pop("return")
        assert asdict(made.policies) == values
        assert plain == Pool(id=plain.id, name="Plain", created_at=NOW)

        nothing = dict.fromkeys([*of_pool.keys() - {"name", "strategy"}, *values.keys()])
        nothing["return"] = nothing.pop("returning")
        change(session, made.id, values={**nothing, "strategy": Strategy.STRICT, "name": "Plain"})
        assert pools.get(session, made.id) == replace(plain, id=made.id)


def test_a_pool_without_any_sticky_step_keeps_none(database: Database) -> None:
    with database.write() as session:
        made = pools.create(session, NewPool(values={"name": "X", "sticky_steps": ()}), NOW)
        assert made.policies.sticky_steps == ()


def test_a_fallback_that_leads_nowhere_is_refused_where_it_stands(database: Database) -> None:
    with database.write() as session:
        first, second, third, old = (pool_of(session, name=name) for name in "1234")
        pools.archive(session, old, NOW)
        change(session, first, values={"fallback_pool_id": second})
        change(session, second, values={"fallback_pool_id": third})
        before = pools.get(session, third)
        for values, pointer in (
            ({"fallback_user_id": "nobody"}, "/fallback_user_id"),
            ({"fallback_pool_id": "nowhere"}, "/fallback_pool_id"),
            ({"fallback_pool_id": old}, "/fallback_pool_id"),
            ({"fallback_pool_id": third}, "/fallback_pool_id"),
            ({"fallback_pool_id": first}, "/fallback_pool_id"),
            ({"none_available": "fallback"}, "/none_available"),
        ):
            with pytest.raises(BadInput) as caught:
                change(session, third, values={"name": "New", **values})
            assert [error.pointer for error in caught.value.errors] == [pointer]
        assert pools.get(session, third) == before


def test_a_new_pool_cannot_fall_back_to_nowhere(database: Database) -> None:
    values = {"name": "New", "none_available": NoneAvailable.FALLBACK}
    with database.write() as session:
        for more in ({}, {"fallback_user_id": "nobody"}, {"fallback_pool_id": "nowhere"}):
            with pytest.raises(BadInput):
                pools.create(session, NewPool(values=values | more), NOW)
        assert pools.listed(session, None, 10) == []


def test_a_pool_that_falls_back_cannot_lose_where_to(database: Database) -> None:
    with database.write() as session:
        put(session, user("f"))
        pool_id = pool_of(session)
        falls_back = {"none_available": NoneAvailable.FALLBACK, "fallback_user_id": "f"}
        change(session, pool_id, values=falls_back)
        with pytest.raises(BadInput, match="none_available"):
            change(session, pool_id, values={"fallback_user_id": None})
        change(session, pool_id, values={"fallback_user_id": None, "none_available": None})


@pytest.mark.parametrize(
    ("what", "kind", "code"),
    [
        ({"remove_members": ["X"]}, NotFound, "member_not_found"),
        ({"remove_members": ["A", "A"]}, NotFound, "member_not_found"),
        ({"add_members": new("A")}, Conflict, "member_exists"),
        ({"add_members": new("X", "X")}, Conflict, "member_exists"),
        ({"update_members": [MemberChange(user_id="X", values={})]}, NotFound, "member_not_found"),
        ({"order": ["A"]}, BadInput, "order_incomplete"),
        ({"order": ["A", "B", "B"]}, BadInput, "order_incomplete"),
        ({"remove_members": ["B"], "order": ["A", "B"]}, BadInput, "order_incomplete"),
    ],
)
def test_a_change_that_cannot_be_made_changes_nothing(
    database: Database, what: dict[str, object], kind: type[BadInput], code: str
) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        before = pools.get(session, pool_id)
    with database.write() as session:
        with pytest.raises(kind) as caught:
            change(session, pool_id, values={"name": "New"}, **what)
        assert caught.value.code == code
    with database.read() as session:  # although the transaction was committed
        assert pools.get(session, pool_id) == before


def test_a_pool_that_is_not_there_has_no_board_and_cannot_be_changed(database: Database) -> None:
    with database.write() as session:
        assert pools.board(session, "x", now=NOW) is None
        with pytest.raises(NotFound) as caught:
            change(session, "x", values={"name": "New"})
        assert caught.value.code == "pool_not_found"


def test_a_board_comes_back_as_it_was_saved(database: Database) -> None:
    with database.write() as session:
        put(session, user("B", hubspot="1"))
        pool_id = pool_of(session, "A", "B", "C")
        board = board_of(session, pool_id)
        a, b, c = board.pool.members
        wanted = standing(board, a.id, received=2, owed=-1, in_period=5, last_turn=9, away=True)
        wanted = standing(wanted, c.id, balance=-(10**12), taken=3, share=7)
        wanted = replace(
            wanted, last_assigned_member_id=b.id, last_sequence=9, turns=4, period_start=NOW
        )
        pools.save(session, board, wanted)
        assert board_of(session, pool_id) == wanted


def test_saving_writes_only_what_differs(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        board = board_of(session, pool_id)
        b = board.pool.members[1].id
        with statements(database) as sent:
            pools.save(session, board, board)
        assert sent == []
        with statements(database) as sent:
            pools.save(session, board, standing(board, b, owed=1))
        assert len(sent) == 1
        with statements(database) as sent:
            pools.save(session, standing(board, b, owed=1), replace(board, last_sequence=1))
        assert len(sent) == 2
        assert board_of(session, pool_id) == replace(board, last_sequence=1)


def test_a_board_holds_absences_until_a_day_after_their_end(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A")
        for name, end in (("over", -25), ("just over", -23), ("later", 48)):
            users.add_absence(
                session,
                "A",
                Absence(id=name, starts_at=hours(end - 1), ends_at=hours(end), reason="x"),
            )
        (member,) = board_of(session, pool_id).pool.members
        assert [absence.id for absence in member.user.absences] == ["just over", "later"]
        shown = pools.get(session, pool_id)
        assert shown is not None
        assert len(shown.members[0].user.absences) == 3


def test_an_archived_pool_is_no_longer_found_by_name_but_can_be_read(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", name="X")
        younger = pool_of(session, "A", name="X")
        pools.archive(session, pool_id, NOW)
        pools.archive(session, pool_id, NOW + timedelta(days=1))
        assert [pool.id for pool in pools.listed(session, None, 10)] == [younger]
        found = pools.named(session, "X")
        assert found is not None
        assert found.id == younger
        assert pools.named(session, pool_id) is None
        shown = pools.get(session, pool_id)
        assert shown is not None
        assert shown.archived_at == board_of(session, pool_id).pool.archived_at == NOW


def test_openings_are_due_at_their_moment_the_oldest_first(database: Database) -> None:
    with database.write() as session:
        ids = [pool_of(session, name=name) for name in "1234"]
        for pool_id, at in zip(ids, (hours(0), hours(-1), hours(1), None), strict=True):
            pools.set_opening(session, pool_id, at)
        assert pools.due_openings(session, NOW) == [ids[1], ids[0]]
        pools.set_opening(session, ids[1], None)
        assert pools.due_openings(session, NOW) == [ids[0]]


def test_a_family_is_all_pools_that_fallbacks_connect(database: Database) -> None:
    with database.write() as session:
        a, b, c, d, alone = (pool_of(session, name=name) for name in "abcde")
        for pool_id, other in ((a, b), (c, b), (b, d)):
            change(session, pool_id, values={"fallback_pool_id": other})
        assert pools.family(session, [a]) == pools.family(session, [d, a]) == {a, b, c, d}
        assert pools.family(session, [alone]) == {alone}
        assert pools.family(session, []) == set()


def test_pools_of_a_user_are_those_of_members_and_of_the_fallback_user(
    database: Database,
) -> None:
    with database.write() as session:
        one, two = pool_of(session, "A", "B", name="1"), pool_of(session, "B", name="2")
        change(session, two, values={"fallback_user_id": "A"})
        pool_of(session, "C", name="3")
        assert pools.of_users(session, ["A"]) == {one, two}
        assert pools.of_users(session, ["B", "nobody"]) == {one, two}
        assert pools.of_users(session, []) == set()


def test_pools_are_locked_in_one_order_whatever_the_caller_says(postgresql: Database) -> None:
    with postgresql.write() as session:
        ids = [pool_of(session, "A", name=str(number)) for number in range(6)]

    def lock_all(order: list[str]) -> None:
        for _ in range(20):
            with postgresql.write() as session:
                pools.lock(session, order)

    run_all([lambda order=order: lock_all(order) for order in (ids, ids[::-1], ids[3:] + ids[:3])])


def test_users_share_a_bounded_number_of_locks(postgresql: Database) -> None:
    everybody = [f"u{number}" for number in range(2000)]

    def lock_all(order: list[str]) -> None:
        for _ in range(20):
            with postgresql.write() as session:
                pools.lock_users(session, order)

    run_all([lambda order=order: lock_all(order) for order in (everybody, everybody[::-1])])
    with postgresql.write() as session:
        pools.lock_users(session, everybody)
        ours = "locktype = 'advisory' AND pid = pg_backend_pid()"
        held = session.scalar(text(f"SELECT count(*) FROM pg_locks WHERE {ours}"))
        assert held == pools.USER_LOCKS == 64


def test_two_pools_that_share_a_user_wait_for_each_other(postgresql: Database) -> None:
    order: list[str] = []
    first_is_in = threading.Event()

    def first() -> None:
        with postgresql.write() as session:
            pools.lock_users(session, ["A", "B"])
            first_is_in.set()
            time.sleep(0.2)
            order.append("first")

    def second() -> None:
        first_is_in.wait(10)
        with postgresql.write() as session:
            pools.lock_users(session, ["B", "C"])
            order.append("second")

    run_all([first, second])
    assert order == ["first", "second"]


def hours(number: int) -> datetime:
    return NOW + timedelta(hours=number)


def standing(board: Board, member_id: int, **changes: Any) -> Board:
    """The same board with another standing of one member."""
    members = tuple(
        replace(member, standing=replace(member.standing, **changes))
        if member.id == member_id
        else member
        for member in board.pool.members
    )
    return replace(board, pool=replace(board.pool, members=members))
