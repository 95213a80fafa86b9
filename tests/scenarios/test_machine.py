"""Everything at once, in any order: what must always hold is looked at after each step.

Runs a few rounds, the same ones each time. ``MACHINE=1000 pytest tests/scenarios/test_machine.py``
plays so many, each time others.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as some
from hypothesis.stateful import (
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.scenarios import invariants
from tests.scenarios.model import DAYS, Person, Team, World
from tests.scenarios.stage import Row
from tests.scenarios.watch import POOLS, Watched

ROUNDS = int(os.environ.get("MACHINE", 0))
NAMES = ("A", "B", "C", "D", "E")
STRATEGIES = some.sampled_from(["strict", "weighted", "least_assigned"])
POLICIES = {
    "skip": some.sampled_from(["lose", "hold", "accrue"]),
    "accrue_max": some.integers(1, 3),
    "return": some.sampled_from(["level", "none"]),
    "none_available": some.sampled_from(["hold", "hold", "refuse"]),
    "sticky": some.sampled_from(["active", "available", "off"]),
    "sticky_steps": some.sampled_from([["person", "company", "earlier_assignment"], ["company"]]),
    "sticky_turn": some.sampled_from(["free", "counted"]),
    "manual": some.sampled_from(["move", "ignore"]),
    "reject": some.sampled_from(["credit", "no_credit"]),
    "quota_window": some.sampled_from(["day", "rolling24h"]),
    "leave_buffer_hours": some.sampled_from([0, 24]),
    "time_zone": some.sampled_from([None, "Asia/Tokyo"]),
    "period": some.sampled_from(["day", "week", "month", "ever"]),
    "daily_quota": some.sampled_from([None, None, 4]),
}
HOURS = [
    [],
    [{"days": list(DAYS[:5]), "start": "08:00", "end": "18:00"}],
    [{"days": list(DAYS), "start": "20:00", "end": "03:30"}],
]
PERSON = {
    "active": some.sampled_from([True, True, False]),
    "status": some.sampled_from(["available", "available", "away"]),
    "time_zone": some.sampled_from([None, "America/New_York", "Pacific/Auckland"]),
    "working_hours": some.sampled_from(HOURS),
    "holidays": some.sampled_from([None, "DE"]),
    "daily_quota": some.sampled_from([None, None, 0, 3]),
}
names = some.sampled_from(NAMES)
pools = some.sampled_from(POOLS)
numbers = some.integers(0, 10_000)


class Machine(Watched):
    """Two pools that share people, and all that can be done with them."""

    def teardown(self) -> None:
        """Everything must replay and be at rest."""
        try:
            self.drain()
            invariants.history_replays(self.stage)
        finally:
            self.stage.leave()
            self.database.close()

    @initialize(strategies=some.tuples(STRATEGIES, STRATEGIES))
    def open(self, strategies: tuple[str, str]) -> None:
        """Three members each, one of them in both."""
        self.world = World(people={name: Person() for name in NAMES}, teams={})
        for pool, strategy, members in zip(POOLS, strategies, ("ABC", "CDE"), strict=True):
            body = {"name": pool, "strategy": strategy}
            made = self.stage.ask(
                "POST", "/pools", body | {"members": [{"user_id": one} for one in members]}
            )
            self.stage.pools[pool] = made["id"]
            team = {one: {"weight": 1, "active": True, "daily_quota": None} for one in members}
            self.world.teams[pool] = Team(fields=made, members=team)
        for name in NAMES:
            if self.stage.call("GET", f"/users/{name}").status == 404:
                self.stage.ask("PUT", f"/users/{name}", {})
        self.world.rows = {pool: [] for pool in POOLS}

    @rule(
        pool=pools,
        email=some.sampled_from([None, None, "kim@one.example", "lee@two.example"]),
        company=some.sampled_from([None, None, "Acme"]),
        preferred=some.none() | names,
        meeting=some.none() | some.tuples(some.integers(0, 60), some.sampled_from([30, 60])),
    )
    def a_lead_comes(
        self,
        pool: str,
        email: str | None,
        company: str | None,
        preferred: str | None,
        meeting: tuple[int, int] | None,
    ) -> None:
        body: Row = {"lead_id": f"L{len(self.world.sent) + 1}"}
        if email:
            body["email"] = email
        if company:
            body["company"] = company
        if preferred:
            body["preferred_user_id"] = preferred
        if meeting:
            hours, minutes = meeting
            starts = self.stage.now + timedelta(hours=hours)
            body |= {"kind": "meeting"} | between(starts, starts + timedelta(minutes=minutes))
        self.send(pool, body)

    @rule(pool=pools, count=some.integers(1, 7))
    def plain_leads_come(self, pool: str, count: int) -> None:
        for _ in range(count):
            self.send(pool, self.plain())

    @rule(pool=pools, count=some.integers(1, 7))
    def a_batch_comes(self, pool: str, count: int) -> None:
        leads = []
        for _ in range(count):
            leads.append(self.plain())
            self.world.sent[leads[-1]["lead_id"]] = leads[-1]
        path = f"/pools/{self.stage.pool_id(pool)}/assign/batch"
        results = self.stage.ask("POST", path, {"leads": leads})["results"]
        assert [one["lead_id"] for one in results] == [one["lead_id"] for one in leads]
        self.look()

    @rule(pool=pools, count=some.integers(1, 6))
    def the_preview_tells_what_comes(self, pool: str, count: int) -> None:
        before = self.stage.tables()
        path = f"/pools/{self.stage.pool_id(pool)}/preview"
        shown = [one and one["user_id"] for one in self.stage.get(path, count=count)]
        assert self.stage.tables() == before
        assert len(shown) == count
        if self.world.waiting(pool):
            return
        for name in shown:
            answer = self.send(pool, self.plain()).body
            assert answer.get("assigned_user_id") == name or answer["reason"] == "fallback", shown

    @rule(pool=pools)
    def the_pool_tells_how_it_stands(self, pool: str) -> None:
        members = self.stage.pool(pool)["members"]
        self.world.sent["any"] = {}
        for one in members:
            able = self.world.can_take(one["user_id"], pool, "any", self.stage.now)
            assert (one["unavailable"] is None) == (able and one["weight"] > 0), one
            assert abs(one["fair_share"] - one["received"] - one["balance"]) < 0.001, one
        del self.world.sent["any"]
        (first,) = self.stage.get(f"/pools/{self.stage.pool_id(pool)}/preview", count=1)
        if first:
            assert [one["user_id"] for one in members if one["next_up"] == 1] == [first["user_id"]]

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers)
    def the_same_lead_comes_again(self, number: int) -> None:
        lead_id = self.pick(sorted(self.world.sent), number)
        pool, row = self.last(lead_id)
        if row is None:
            return
        before = {name: len(rows) for name, rows in self.world.rows.items()}
        answer = self.stage.assign(pool=pool, **self.world.sent[lead_id])
        self.look()
        mine = [
            one
            for name, count in before.items()
            for one in self.world.rows[name][count:]
            if one["lead_id"] == lead_id
        ]
        user_id = row["assigned_user_id"]
        if user_id and self.world.people[user_id].active and row["status"] != "rejected":
            assert mine == []
            assert answer.body["assigned_user_id"] == user_id
            assert answer.body["assignment_id"] == row["assignment_id"]

    @rule(pool=pools)
    def a_request_is_repeated(self, pool: str) -> None:
        self.keys += 1
        body, key = self.plain(), f"K{self.keys}"
        first = self.send(pool, body, key=key)
        again = self.send(pool, body, key=key)
        assert (again.status, again.body) == (first.status, first.body)
        assert first.status == 409 or again.headers["Idempotency-Replayed"] == "true"

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers)
    def somebody_rejects(self, number: int) -> None:
        if row := self.some_lead(number, with_user=True):
            lead_id = row["lead_id"]
            self.world.refusers.setdefault(lead_id, set()).add(row["assigned_user_id"])
            answer = self.act(row, "reject", {})
            assert answer.status == 200, answer
            assert answer.body["assigned_user_id"] not in self.world.refusers[lead_id]

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers)
    def somebody_takes_it_back(self, number: int) -> None:
        if row := self.some_lead(number, with_user=True):
            answer = self.act(row, "undo", {})
            assert answer.status == 200, answer
            assert (answer.body["status"], answer.body["assigned_user_id"]) == ("undone", None)

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers)
    def somebody_passes_it_on(self, number: int) -> None:
        if row := self.some_lead(number, with_user=True):
            answer = self.act(row, "reassign", {})
            assert answer.status in (200, 409), answer
            if answer.status == 200:
                assert answer.body["assigned_user_id"] != row["assigned_user_id"]

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers, name=names, override=some.booleans())
    def somebody_gives_it(self, number: int, name: str, override: bool) -> None:
        row = self.some_lead(number)
        if not row or row["assigned_user_id"] == name or not self.world.people[name].active:
            return
        pool, _ = self.last(row["lead_id"])
        room = self.world.has_room(name, pool, self.stage.now)
        body = {"user_id": name, "note": "by hand"} | ({"override": True} if override else {})
        answer = self.act(row, "reassign", body)
        if room or override:
            assert answer.status == 200, answer
            assert answer.body["assigned_user_id"] == name
        else:
            assert (answer.status, answer.body["code"]) == (409, "quota_reached"), answer

    @precondition(lambda self: self.world.sent)
    @rule(number=numbers, what=some.sampled_from(["reassign", "reject", "undo"]))
    def somebody_acts_too_late(self, number: int, what: str) -> None:
        old = [
            row
            for pool in POOLS
            for row in self.world.rows[pool]
            if self.world.last_rows(pool)[row["lead_id"]] != row
        ]
        if old:
            answer = self.act(self.pick(old, number), what, {})
            assert (answer.status, answer.body["code"]) == (409, "superseded"), answer

    @rule(pool=pools, name=names, weight=some.sampled_from([1, 2, 5]))
    def a_member_joins_or_leaves(self, pool: str, name: str, weight: int) -> None:
        members = self.world.teams[pool].members
        if name in members:
            self.edit(pool, {"remove_members": [name]}, others=members.keys() - {name})
            return
        body = {"add_members": [{"user_id": name, "weight": weight}]}
        self.edit(pool, body, others=members.keys() - {name})

    @rule(pool=pools, name=names)
    def a_member_leaves_and_leads_go_to_the_others(self, pool: str, name: str) -> None:
        members = self.world.teams[pool].members
        if name in members and len(members) > 1:
            mine = [
                lead_id
                for lead_id, row in self.world.last_rows(pool).items()
                if row["assigned_user_id"] == name
            ]
            self.edit(pool, {"remove_members": [name], "redistribute": True})
            last = self.world.last_rows(pool)
            assert all(last[lead_id]["assigned_user_id"] != name for lead_id in mine)

    @rule(
        pool=pools,
        number=numbers,
        change=some.fixed_dictionaries(
            {},
            optional={
                "weight": some.sampled_from([0, 1, 3, 1000]),
                "active": some.booleans(),
                "daily_quota": some.sampled_from([None, 0, 2]),
            },
        ),
    )
    def a_member_changes(self, pool: str, number: int, change: Row) -> None:
        members = self.world.teams[pool].members
        if members:
            name = self.pick(list(members), number)
            body = {"update_members": [{"user_id": name} | change]}
            self.edit(pool, body, others=members.keys() - {name})

    @rule(pool=pools, data=some.data())
    def the_order_changes(self, pool: str, data: Any) -> None:
        order = data.draw(some.permutations(list(self.world.teams[pool].members)))
        self.edit(pool, {"order": order})

    @rule(pool=pools, strategy=STRATEGIES)
    def the_strategy_changes(self, pool: str, strategy: str) -> None:
        self.edit(pool, {"strategy": strategy})

    @rule(pool=pools, change=some.fixed_dictionaries({}, optional=POLICIES))
    def policies_change(self, pool: str, change: Row) -> None:
        self.edit(pool, change)

    @rule(to=some.sampled_from(["E", "Two"]))
    def the_first_pool_falls_back(self, to: str) -> None:
        body: Row = {"none_available": "fallback"}
        if to == "Two":
            body |= {"fallback_pool_id": self.stage.pool_id("Two"), "fallback_user_id": None}
        else:
            body |= {"fallback_user_id": to, "fallback_pool_id": None}
        self.edit("One", body)

    @rule(name=names, change=some.fixed_dictionaries({}, optional=PERSON))
    def a_user_changes(self, name: str, change: Row) -> None:
        self.stage.ask("PATCH", f"/users/{name}", change)
        for field, value in change.items():
            setattr(self.world.people[name], field, value)
        self.look()

    @rule(name=names, starts=some.integers(-5, 40), hours=some.integers(1, 50))
    def somebody_plans_a_leave(self, name: str, starts: int, hours: int) -> None:
        start = self.stage.now + timedelta(hours=starts)
        span = start, start + timedelta(hours=hours)
        body = {
            "starts_at": f"{span[0]:%Y-%m-%dT%H:%M:%SZ}",
            "ends_at": f"{span[1]:%Y-%m-%dT%H:%M:%SZ}",
        }
        made = self.stage.call("POST", f"/users/{name}/absences", body)
        assert made.status == 201, made
        self.world.people[name].absences[made.body["id"]] = span
        self.look()

    @precondition(lambda self: any(one.absences for one in self.world.people.values()))
    @rule(number=numbers)
    def somebody_comes_back_early(self, number: int) -> None:
        planned = [
            (name, absence_id)
            for name, person in self.world.people.items()
            for absence_id in person.absences
        ]
        name, absence_id = self.pick(planned, number)
        assert self.stage.call("DELETE", f"/users/{name}/absences/{absence_id}").status == 204
        del self.world.people[name].absences[absence_id]
        self.look()

    @rule(minutes=some.sampled_from([1, 30, 90, 300, 720, 1440, 2880]))
    def time_passes(self, minutes: int) -> None:
        self.stage.later(minutes=minutes)

    @rule()
    def the_worker_runs(self) -> None:
        self.drain()


def between(start: datetime, end: datetime) -> Row:
    """A span of time in the words of the API."""
    return {"starts_at": f"{start:%Y-%m-%dT%H:%M:%SZ}", "ends_at": f"{end:%Y-%m-%dT%H:%M:%SZ}"}


def test_whatever_happens_the_promises_hold(tmp_path: Path, migrated_sqlite: Path) -> None:
    made = iter(range(10**9))

    def machine() -> Machine:
        folder = tmp_path / str(next(made))
        folder.mkdir()
        return Machine(folder, migrated_sqlite)

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=ROUNDS or 12,
            stateful_step_count=60 if ROUNDS else 30,
            derandomize=not ROUNDS,
            deadline=None,
            database=None,
            print_blob=True,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )
