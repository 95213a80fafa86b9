"""A pool keeps its order and whose turn is next, whoever comes or goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from connector.errors import BadInput, Conflict, NotFound
from connector.model import User
from connector.store import pools
from connector.store.database import Database, Session
from connector.store.pools import MemberChange, NewMember, PoolChange
from tests.store.builders import NOW, pool_of, put, run_all, turn, user


def members(session: Session, pool_id: str) -> list[str]:
    pool = pools.get(session, pool_id)
    assert pool is not None
    assert [member.position for member in pool.members] == list(range(1, len(pool.members) + 1))
    return [member.user.id for member in pool.members]


def turns(session: Session, pool_id: str, count: int, first: int = 1) -> list[str]:
    return [turn(session, pool_id, f"L{number}") for number in range(first, first + count)]


def change(session: Session, pool_id: str, **what: object) -> None:
    pools.change(session, pool_id, PoolChange(**what), NOW)  # type: ignore[arg-type]


def new(*user_ids: str) -> list[NewMember]:
    return [NewMember(user_id=user_id) for user_id in user_ids]


def test_a_pool_is_made_with_members_in_order_and_unknown_users(database: Database) -> None:
    with database.write() as session:
        put(session, user("a", hubspot="1"))
        made = pools.create(
            session,
            "SDR",
            [NewMember(user_id="b", name="Bob", weight=3, active=False), NewMember(user_id="a")],
            NOW,
        )
    with database.read() as session:
        assert pools.get(session, made.id) == made
    bob, alice = made.members
    assert (bob.user, bob.weight, bob.active) == (User(id="b", name="Bob"), 3, False)
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
        young = pools.create(session, "X", [], NOW + timedelta(hours=1))
        old = pools.create(session, "X", [], NOW)
        trap = pools.create(session, young.id, [], NOW - timedelta(days=1))
        assert pools.named(session, "X") == old
        assert pools.named(session, young.id) == young
        assert pools.named(session, trap.id) == trap
        assert pools.named(session, "Y") is None


def test_pools_are_listed_oldest_first_in_pages(database: Database) -> None:
    with database.write() as session:
        made = [
            pools.create(session, "P", new("a", "b"), NOW + timedelta(seconds=age // 2))
            for age in range(5)
        ]
        wanted = sorted(made, key=lambda pool: (pool.created_at, pool.id))
        page = pools.listed(session, None, 2)
        rest = pools.listed(session, (page[-1].created_at, page[-1].id), 10)
        assert page + rest == wanted


def test_adding_a_member_at_the_end_leaves_the_next_turn(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        assert turns(session, pool_id, 2) == ["A", "B"]
        change(session, pool_id, add_members=new("D"))
        assert turns(session, pool_id, 3, first=3) == ["C", "D", "A"]


def test_removing_a_member_ahead_leaves_the_next_turn(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C", "D", "E")
        turns(session, pool_id, 3)
        change(session, pool_id, remove_members=["A"])
        assert members(session, pool_id) == ["B", "C", "D", "E"]
        assert turns(session, pool_id, 1, first=4) == ["D"]


def test_inserting_a_member_in_front_leaves_the_next_turn(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C", "D", "E")
        turns(session, pool_id, 3)
        change(session, pool_id, add_members=new("Z"), order=["Z", "A", "B", "C", "D", "E"])
        assert members(session, pool_id) == ["Z", "A", "B", "C", "D", "E"]
        assert turns(session, pool_id, 1, first=4) == ["D"]


@pytest.mark.parametrize(
    ("had_a_turn", "removed", "next_ones"),
    [(2, ["B"], "CDA"), (3, ["B", "C"], "DAD"), (1, ["A"], "BCD"), (4, ["D"], "ABC")],
)
def test_removing_the_last_assigned_goes_on_behind_the_gap(
    database: Database, had_a_turn: int, removed: list[str], next_ones: str
) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C", "D")
        turns(session, pool_id, had_a_turn)
        change(session, pool_id, remove_members=removed)
        assert turns(session, pool_id, 3, first=10) == list(next_ones)


def test_removing_everybody_and_adding_anew_works(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        turns(session, pool_id, 1)
        change(session, pool_id, remove_members=["A", "B"])
        assert members(session, pool_id) == []
        change(session, pool_id, add_members=new("C", "A"))
        assert turns(session, pool_id, 3, first=5) == ["C", "A", "C"]


def test_a_removed_and_added_member_goes_to_the_end(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        change(session, pool_id, remove_members=["A"], add_members=new("A"))
        assert members(session, pool_id) == ["B", "C", "A"]


def test_name_weight_and_activity_change_in_place(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        update = [MemberChange(user_id="A", weight=0), MemberChange(user_id="B", active=False)]
        changed = pools.change(session, pool_id, PoolChange(name="New", update_members=update), NOW)
    assert changed.name == "New"
    assert [(m.weight, m.active) for m in changed.members] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("what", "kind", "code"),
    [
        ({"remove_members": ["X"]}, NotFound, "member_not_found"),
        ({"remove_members": ["A", "A"]}, NotFound, "member_not_found"),
        ({"add_members": new("A")}, Conflict, "member_exists"),
        ({"add_members": new("X", "X")}, Conflict, "member_exists"),
        ({"update_members": [MemberChange(user_id="X")]}, NotFound, "member_not_found"),
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
            change(session, pool_id, name="New", **what)
        assert caught.value.code == code
    with database.read() as session:  # although the transaction was committed
        assert pools.get(session, pool_id) == before


def test_a_pool_that_is_not_there_has_no_board_and_cannot_be_changed(database: Database) -> None:
    with database.write() as session:
        assert pools.board(session, "x", lock=True) is None
        with pytest.raises(NotFound) as caught:
            change(session, "x", name="New")
        assert caught.value.code == "pool_not_found"


def test_state_is_saved_with_the_owed_turns_that_differ(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B", "C")
        pools.owe(session, pool_id, "B")
        pools.owe(session, pool_id, "B")
        pools.owe(session, pool_id, "nobody")
        board = pools.board(session, pool_id, lock=True)
        assert board is not None
        a, b, c = board.pool.members
        assert (a.owed, b.owed, c.owed) == (0, 2, 0)
        saved = replace(
            board,
            pool=replace(board.pool, members=(replace(a, owed=5), replace(b, owed=1), c)),
            last_assigned_member_id=c.id,
            last_sequence=7,
        )
        pools.save_state(session, saved)
        assert pools.board(session, pool_id, lock=False) == saved


def test_counts_are_of_assigned_leads(database: Database) -> None:
    with database.write() as session:
        pool_id = pool_of(session, "A", "B")
        turns(session, pool_id, 3)
        assert pools.counts(session, pool_id) == {"A": 2, "B": 1}
        assert pools.counts(session, pool_of(session, "A")) == {}


def test_pools_are_locked_in_one_order_whatever_the_caller_says(postgresql: Database) -> None:
    with postgresql.write() as session:
        ids = [pool_of(session, "A", name=str(number)) for number in range(6)]

    def lock_all(order: list[str]) -> None:
        for _ in range(20):
            with postgresql.write() as session:
                pools.lock(session, order)

    run_all([lambda order=order: lock_all(order) for order in (ids, ids[::-1], ids[3:] + ids[:3])])
