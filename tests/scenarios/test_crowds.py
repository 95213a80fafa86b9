"""Many callers at the same time, at two web processes that share one database."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from connector.store.database import Database
from tests.scenarios import invariants
from tests.scenarios.marks import plays
from tests.scenarios.script import edit, leads, person, strict
from tests.scenarios.stage import Answer, Stage, users

Call = tuple[str, str, object]  # method, path, body


class Crowd:
    """Callers in threads of their own, half of them at each of two web parts."""

    def __init__(self, stage: Stage, second: Stage) -> None:
        self.stage = stage
        self.apps = (stage.app, second.app)

    def call(
        self, callers: int, calls: int, make: Callable[[int], Call], **options: str
    ) -> list[Answer]:
        """``make(n)`` is the n-th call; each caller makes some, one after the other."""
        start = threading.Barrier(callers)

        def caller(number: int) -> list[Answer]:
            client = self.apps[number % 2].test_client()
            start.wait()
            return [
                self.stage.call(*make(call), client=client, **options)
                for call in range(number, calls, callers)
            ]

        with ThreadPoolExecutor(callers) as threads:
            return [answer for some in threads.map(caller, range(callers)) for answer in some]

    def assign(self, callers: int, calls: int, lead_id: str = "L{}") -> list[Answer]:
        """Assign so many leads; all answers must be whole."""
        path = f"/pools/{self.stage.pool_id()}/assign"
        answers = self.call(
            callers, calls, lambda number: ("POST", path, {"lead_id": lead_id.format(number + 1)})
        )
        assert {answer.status for answer in answers} <= {200, 202}, answers
        return answers


@pytest.fixture
def crowd(stage: Stage, database: Database) -> Iterator[Crowd]:
    """Two web parts over one database."""
    second = Stage(database)
    yield Crowd(stage, second)
    second.close()


@plays("S02")
def test_two_hundred_leads_of_fifty_callers_go_round_exactly(crowd: Crowd) -> None:
    strict("A B C D")(crowd.stage)
    crowd.assign(callers=50, calls=200)
    rows = crowd.stage.history()
    assert users(rows) == list("ABCD") * 50
    invariants.check(crowd.stage)


@plays("S15")
def test_a_crowd_that_finds_half_the_team_full_is_spread_over_the_other_half(crowd: Crowd) -> None:
    full = {f"M{number}": 0 for number in range(1, 11, 2)}
    strict(" ".join(f"M{number}" for number in range(1, 11)), quotas=full)(crowd.stage)
    answers = crowd.assign(callers=32, calls=32)
    got = Counter(answer.body["assigned_user_id"] for answer in answers)
    assert not got.keys() & full.keys()
    assert sorted(got.values()) == [6, 6, 6, 7, 7]
    invariants.check(crowd.stage)


@plays("S66")
def test_a_quota_holds_against_fifty_callers_and_the_rest_waits_in_order(crowd: Crowd) -> None:
    stage = crowd.stage
    strict("A", quotas={"A": 5})(stage)
    answers = crowd.assign(callers=50, calls=50)
    assert Counter(answer.body["status"] for answer in answers) == {"assigned": 5, "held": 45}
    waiting = [row["lead_id"] for row in stage.history() if row["status"] == "held"]
    for day in range(9):
        stage.later(days=1)
        assert [row["lead_id"] for row in stage.work()] == waiting[day * 5 : day * 5 + 5]
    invariants.check(stage)


@plays("S113")
def test_one_lead_that_twenty_workers_assign_is_assigned_once(crowd: Crowd) -> None:
    strict("A B C")(crowd.stage)
    answers = crowd.assign(callers=20, calls=20, lead_id="L")
    assert len({answer.body["assignment_id"] for answer in answers}) == 1
    assert users(crowd.stage.history()) == ["A"]
    leads("L2 -> B")(crowd.stage)
    invariants.check(crowd.stage)


def test_edits_amid_a_crowd_pass_no_quota_and_lose_no_number(crowd: Crowd) -> None:
    stage = crowd.stage
    strict("A B C D", quotas={"A": 3, "B": 9})(stage)
    pool = f"/pools/{stage.pool_id()}"

    def call(number: int) -> Call:
        match number % 16:
            case 3:
                return "PATCH", pool, {"order": [*"BADC"] if number % 32 == 3 else [*"ABCD"]}
            case 7:
                return "PATCH", "/users/C", {"status": "away" if number % 32 == 7 else "available"}
            case 11:
                weight = {"user_id": "D", "weight": number % 3}
                return "PATCH", pool, {"update_members": [weight]}
            case 15:
                return "GET", f"{pool}/preview?count=5", None
            case _:
                return "POST", f"{pool}/assign", {"lead_id": f"L{number % 100}"}

    answers = crowd.call(32, 128, call)
    assert {answer.status for answer in answers} <= {200, 202}
    rows = stage.history()
    assigned = [row["lead_id"] for row in rows if row["status"] == "assigned"]
    assert len(assigned) == len(set(assigned))
    person("C", status="available")(stage)
    edit(update_members=[{"user_id": "D", "weight": 1}])(stage)
    invariants.check(stage)


@plays("S120")
def test_a_key_that_comes_again_gets_the_first_answer(stage: Stage) -> None:
    strict("A B C")(stage)
    path = f"/pools/{stage.pool_id()}/assign"
    first = stage.call("POST", path, {"lead_id": "L1"}, key="K1")
    again = stage.call("POST", path, {"lead_id": "L1"}, key="K1")
    assert (first.status, again.status, again.body) == (200, 200, first.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = stage.call("POST", path, {"lead_id": "L2"}, key="K1")
    assert (other.status, other.headers["Content-Type"]) == (422, "application/problem+json")
    leads("L2 -> B")(stage)
    invariants.check(stage)


@plays("S120")
def test_a_key_whose_first_request_still_runs_is_told_to_wait(crowd: Crowd) -> None:
    stage = crowd.stage
    strict("A B C")(stage)
    path = f"/pools/{stage.pool_id()}/assign"
    answers = crowd.call(20, 20, lambda _: ("POST", path, {"lead_id": "L1"}), key="K1")
    told = [answer for answer in answers if answer.status == 200]
    waiting = [answer for answer in answers if answer.status == 409]
    assert len(told) + len(waiting) == 20
    assert len({answer.body["assignment_id"] for answer in told}) == 1
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in waiting)
    assert users(stage.history()) == ["A"]
    invariants.check(stage)
