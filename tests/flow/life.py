"""A seeded random life of a team: everything that people, time and CRMs do to pools."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import time, timedelta
from random import Random
from typing import Any

from connector.errors import BadInput, Conflict, NotFound
from connector.model import (
    Absence,
    Assignment,
    EventKind,
    Lead,
    Record,
    Slot,
    Strategy,
    User,
    WorkingHours,
)
from connector.store import users
from tests.flow.conftest import Team
from tests.flow.crm import Row

PEOPLE = "ABCDE"
OFFICE = (WorkingHours(days=(0, 1, 2, 3, 4), start=time(9), end=time(17)),)
REFUSALS = (BadInput, Conflict, NotFound)  # what a person is told who asks for the impossible


class Life:
    """Takes random steps; the same seed takes the same steps."""

    def __init__(self, team: Team, seed: int) -> None:
        self.team = team
        self.random = Random(seed)
        self.leads = 0
        self.absences: list[tuple[str, str]] = []
        one = team.pool("ABC", name="Sales", strategy=self._any(list(Strategy)))
        other = team.pool("CD", name="Other", none_available="fallback", fallback_pool_id=one)
        self.pools = [one, other]
        team.crm.hire(*(f"h-{who}" for who in PEOPLE))
        self.steps: list[tuple[int, Callable[[], Any]]] = [
            (10, self.assign),
            (4, self.assign_batch),
            (3, self.tell_of_records),
            (2, self.crm_misbehaves),
            (5, self.change_lead),
            (3, self.change_members),
            (3, self.change_policies),
            (3, self.change_user),
            (3, self.go_away),
            (3, self.go_away_in_the_crm),
            (2, self.come_back),
            (5, self.let_time_pass),
            (3, lambda: team.work()),
        ]

    def go(self, steps: int) -> None:
        weights = [weight for weight, _ in self.steps]
        for _ in range(steps):
            ((_, step),) = self.random.choices(self.steps, weights)
            with suppress(*REFUSALS):
                step()

    def assign(self) -> None:
        self.team.leads(self._any(self.pools), self._lead())

    def assign_batch(self) -> None:
        leads = [self._lead() for _ in range(self.random.randint(2, 8))]
        self.team.leads(self._any(self.pools), *leads)

    def tell_of_records(self) -> None:
        ids = [str(self.random.randint(1, 30)) for _ in range(3)]
        for one in ids:
            if one not in self.team.crm.rows:
                self.team.crm.create(one)
        kind = self._any([EventKind.CREATED, EventKind.CHANGED, EventKind.OWNER_CHANGED])
        owner = "" if kind is EventKind.OWNER_CHANGED else None
        if owner == "":
            for one in ids:
                self.team.crm.rows[one].owner_id = self._any([None, f"h-{self._person()}", "9"])
        self.leads += 1
        self.team.tell(*ids, kind=kind, key=f"k{self.leads}", owner=owner)

    def crm_misbehaves(self) -> None:
        crm = self.team.crm
        match self.random.randint(0, 3):
            case 0:
                crm.inactive ^= {f"h-{self._person()}"}
            case 1 if crm.rows:
                del crm.rows[self._any(sorted(crm.rows))]
            case 2 if crm.rows:
                crm.rows[self._any(sorted(crm.rows))].owner_id = f"h-{self._person()}"
            case _:
                crm.lose_replies = 1

    def change_lead(self) -> None:
        row = self._row()
        if row is None:
            return
        match self.random.randint(0, 3):
            case 0:
                self.team.reassign(row)
            case 1:
                self.team.reassign(row, self._person(), override=self.random.random() < 0.7)
            case 2:
                self.team.reject(row)
            case 3:
                self.team.undo(row)

    def change_members(self) -> None:
        pool, who = self._any(self.pools), self._person()
        there = [one.user.id for one in self.team.board(pool).pool.members]
        if who not in there:
            self.team.change(pool, add=who)
            return
        match self.random.randint(0, 3):
            case 0 if len(there) > 1:
                self.team.change(pool, remove=who, redistribute=self.random.random() < 0.5)
            case 1:
                self.random.shuffle(there)
                self.team.change(pool, order="".join(there))
            case _:
                values: dict[str, Any] = self._any(
                    [
                        {"weight": self.random.randint(0, 5)},
                        {"active": self.random.random() < 0.7},
                        {"daily_quota": self._any([None, 0, 1, 3, 8])},
                    ]
                )
                self.team.change(pool, members={who: values})

    def change_policies(self) -> None:
        some = [
            {"strategy": self._any(list(Strategy))},
            {"skip": "accrue", "accrue_max": self.random.randint(1, 3)},
            {"skip": self._any(["lose", "hold"])},
            {"return": self._any(["level", "none"])},
            {"none_available": "fallback", "fallback_user_id": self._person()},
            {"none_available": self._any(["hold", "refuse"])},
            {"sticky": self._any(["active", "available", "off"])},
            {"sticky_turn": self._any(["free", "counted"])},
            {"manual": self._any(["move", "ignore"])},
            {"reject": self._any(["credit", "no_credit"])},
            {"quota_window": self._any(["day", "rolling24h"])},
            {"daily_quota": self._any([None, 5, 20])},
            {"period": self._any(["day", "week", "ever"])},
            {"leave_buffer_hours": self._any([0, 4])},
            {"time_zone": self._any([None, "Asia/Tokyo"])},
        ]
        self.team.change(self._any(self.pools), **self._any(some))

    def change_user(self) -> None:
        hours = WorkingHours(
            days=(0, 1, 2, 3, 4), start=time(8), end=self._any([time(18), time(2)])
        )
        self.team.put_user(
            self._person(),
            active=self.random.random() < 0.85,
            status=self._any(["available", "available", "away"]),
            daily_quota=self._any([None, None, 2, 6]),
            working_hours=self._any([(), (hours,)]),
            time_zone=self._any([None, "Europe/Berlin", "America/New_York"]),
            holidays=self._any([None, "DE"]),
        )

    def go_away(self) -> None:
        who = self._person()
        self.absences.append((who, self.team.absent(who, hours=self.random.choice([1, 6, 30]))))

    def go_away_in_the_crm(self) -> None:
        ends_at = self.team.now + timedelta(hours=self.random.randint(-2, 8))
        off = Absence(id=f"{ends_at}", starts_at=ends_at - timedelta(hours=3), ends_at=ends_at)
        self.team.crm.say(
            f"h-{self._person()}",
            away=self.random.random() < 0.2,
            absences=self._any([(), (off,)]),
            time_zone=self._any([None, "Asia/Tokyo"]),
            working_hours=self._any([(), OFFICE]),
        )

    def come_back(self) -> None:
        if self.absences:
            self.team.back(*self.absences.pop())

    def let_time_pass(self) -> None:
        self.team.later(minutes=self.random.choice([1, 20, 300, 1500]))

    def _lead(self) -> Lead:
        self.leads += 1
        some: dict[str, Any] = {}
        if self.random.random() < 0.3:
            some["email"] = f"x{self.random.randint(1, 9)}@firm{self.random.randint(1, 5)}.com"
        if self.random.random() < 0.2:
            some["company"] = f"Firm {self.random.randint(1, 5)}"
        if self.random.random() < 0.2:
            some["preferred"] = self._user(self._person())
        if self.random.random() < 0.2:
            start = self.team.now + timedelta(hours=self.random.randint(-40, 60))
            some["slot"] = Slot(starts_at=start, ends_at=start + timedelta(hours=1))
        if self.random.random() < 0.2:
            record_id = str(self.random.randint(1, 30))
            self.team.crm.rows.setdefault(record_id, Row())
            some["record"] = Record(connection="hubspot", object_type="contacts", id=record_id)
        number = self.leads if self.random.random() < 0.8 else self.random.randint(1, self.leads)
        return Lead(id=f"L{number}", **some)

    def _user(self, user_id: str) -> User | None:
        with self.team.database.read() as session:
            return users.get(session, user_id)

    def _row(self) -> Assignment | None:
        rows = [row for row in self.team.history(self._any(self.pools)) if row.current]
        return self.random.choice(rows[-20:]) if rows else None

    def _person(self) -> str:
        return self.random.choice(PEOPLE)

    def _any(self, choices: Any) -> Any:
        return self.random.choice(choices)
