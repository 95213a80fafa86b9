"""What must hold while anything may happen: looked at after each step, by what the test knows."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from connector.store.database import connect
from tests.scenarios import invariants
from tests.scenarios.model import World
from tests.scenarios.stage import Answer, Row, Stage

WINTER = datetime.fromisoformat("2026-12-21T09:00Z")  # a Monday, with holidays soon
POOLS = ("One", "Two")


class Watched(RuleBasedStateMachine):
    """Two pools over a database of their own, and a world that says what is right."""

    world: World

    def __init__(self, folder: Path, template: Path) -> None:
        super().__init__()
        shutil.copy(template, folder / "machine.db")
        self.database = connect(f"sqlite:///{folder / 'machine.db'}")
        self.stage = Stage(self.database)
        self.stage.now = WINTER
        self.keys = 0
        self.plain_turn: dict[str, tuple[int, str]] = {}  # pool -> the last turn, if it was plain

    def plain(self) -> Row:
        return {"lead_id": f"L{len(self.world.sent) + 1}"}

    def pick(self, choices: list[Any], number: int) -> Any:
        return choices[number % len(choices)]

    def last(self, lead_id: str) -> tuple[str, Row | None]:
        found = [
            (pool, row)
            for pool in POOLS
            if (row := self.world.last_rows(pool).get(lead_id)) is not None
        ]
        return found[-1] if found else ("One", None)

    def some_lead(self, number: int, *, with_user: bool = False) -> Row | None:
        rows = [
            row
            for pool in POOLS
            for row in self.world.last_rows(pool).values()
            if (row["assigned_user_id"] or not with_user) and row["status"] != "undone"
        ]
        return self.pick(rows, number) if rows else None

    def send(self, pool: str, body: Row, **options: str) -> Answer:
        """Assign a lead, whatever comes of it, and look."""
        self.world.sent[body["lead_id"]] = body
        path = f"/pools/{self.stage.pool_id(pool)}/assign"
        answer = self.stage.call("POST", path, body, **options)
        if answer.status == 409:
            assert answer.body["code"] == "no_member_available", answer
            assert self.world.teams[pool]["none_available"] == "refuse"
        else:
            assert answer.status == (200 if answer.body["assigned_user_id"] else 202), answer
        self.look()
        return answer

    def act(self, row: Row, what: str, body: Row) -> Answer:
        answer = self.stage.call("POST", f"/assignments/{row['assignment_id']}/{what}", body)
        assert answer.status < 500, answer
        self.look()
        return answer

    def edit(self, pool: str, body: Row, others: Any = ()) -> None:
        """Change a pool. The turns of the others stay in their order."""
        team = self.world.teams[pool]
        before = self.turns(pool)
        changed = self.stage.ask("PATCH", f"/pools/{self.stage.pool_id(pool)}", body)
        self.plain_turn.pop(pool, None)
        team.fields = changed
        team.members = {
            one["user_id"]: {name: one[name] for name in ("weight", "active", "daily_quota")}
            for one in changed["members"]
        }
        assert [one["position"] for one in changed["members"]] == list(
            range(1, len(changed["members"]) + 1)
        )
        if others and team["strategy"] == "strict":
            kept = [name for name in before if name in others]
            now = [name for name in self.turns(pool) if name in others]
            assert all(one == other for one, other in zip(kept, now, strict=False)), (kept, now)
        self.look()

    def turns(self, pool: str) -> list[str]:
        """Members in the order of their next turns."""
        path = f"/pools/{self.stage.pool_id(pool)}/preview"
        shown = [one["user_id"] for one in self.stage.get(path, count=15) if one]
        return list(dict.fromkeys(shown))

    def drain(self) -> None:
        """The worker leaves nothing behind that somebody could take."""
        self.stage.drain()
        self.look()
        for pool in POOLS:
            if not self.world.pool_has_room(pool, self.stage.now):
                continue
            for row in self.world.waiting(pool):
                for name, member in self.world.teams[pool].members.items():
                    assert member["weight"] == 0 or not self.world.can_take(
                        name, pool, row["lead_id"], self.stage.now
                    ), f"{name} could take {row}"

    def look(self) -> None:
        """Whatever is new in the histories came about rightly; what was there has not changed."""
        for pool in POOLS:
            shown = self.stage.history(pool)
            known = self.world.rows[pool]
            assert shown[: len(known)] == known
            invariants.sequence_has_no_gap(shown)
            invariants.words_fit(shown)
            for row in shown[len(known) :]:
                self.check(pool, row)
                known.append(row)

    def check(self, pool: str, row: Row) -> None:
        """One new row, before it counts."""
        name, lead_id = row["assigned_user_id"], row["lead_id"]
        world, team, now = self.world, self.world.teams[pool], self.stage.now
        if row["reason"] == "sticky" and team["sticky_turn"] == "counted":
            world.sticky_counts.add(row["assignment_id"])
        if name is None or row["reason"] == "manual":
            return
        assert world.people[name].active, row
        assert name not in world.refusers.get(lead_id, ()), row
        match row["reason"]:
            case "rotation" | "owed":
                assert team.members[name]["weight"] > 0, row
                assert world.can_take(name, pool, lead_id, now), row
                assert world.pool_has_room(pool, now, lead_id), row
                self.overtakes_nobody(pool, row)
                self.follows(pool, row)
            case "preferred":
                assert world.sent[lead_id]["preferred_user_id"] == name, row
                assert world.can_take(name, pool, lead_id, now), row
            case "sticky" if team["sticky"] == "available":
                assert world.can_take(name, pool, lead_id, now), row

    def follows(self, pool: str, row: Row) -> None:
        """Under strict, of two turns in a row that all could take the second goes to the next."""
        order = list(self.world.teams[pool].members)
        before = self.plain_turn.pop(pool, None)
        if self.world.teams[pool]["strategy"] != "strict" or row["reason"] != "rotation":
            return
        if self.stage.get(f"/assignments/{row['assignment_id']}")["skipped"]:
            return
        if before and before[0] + 1 == row["sequence"]:
            assert row["assigned_user_id"] == order[(order.index(before[1]) + 1) % len(order)], row
        self.plain_turn[pool] = row["sequence"], row["assigned_user_id"]

    def overtakes_nobody(self, pool: str, row: Row) -> None:
        """No lead that waited longer could have gone to the same user."""
        sequences = [
            held["sequence"]
            for held in self.world.waiting(pool)
            if self.world.can_take(row["assigned_user_id"], pool, held["lead_id"], self.stage.now)
        ]
        mine = self.world.last_rows(pool).get(row["lead_id"])
        held_since = mine["sequence"] if mine and mine["status"] == "held" else row["sequence"]
        assert row["status"] != "assigned" or not sequences or min(sequences) >= held_since, row
