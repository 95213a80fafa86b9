"""The words in which scenarios are told. Each call makes one step; a scenario is a list of them.

``leads("L1 -> A", "L2-L4 -> B C A")`` sends new leads one by one and says who gets them. ``...``
repeats the users before it, and what stands in brackets must be part of the answer:
``"L5 -> held (pool_quota_reached)"``, ``"L6 -> C (sticky, person)"``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from itertools import cycle, islice
from typing import Any

from tests.scenarios.stage import Row, Stage, users

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Step:
    """One thing that happens, with what must come of it."""

    play: Callable[..., None]
    given: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self, stage: Stage) -> None:
        self.play(stage, *self.given, **self.options)

    def __str__(self) -> str:
        named = (f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.play.__name__}({', '.join([*map(repr, self.given), *named])})"


@dataclass(frozen=True)
class Scenario:
    """A fault of some other product, told as steps in which it does not happen here."""

    id: str
    title: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.id}-{re.sub(r'[^A-Za-z0-9]+', '-', self.title).strip('-')}"

    def play(self, stage: Stage) -> None:
        """All steps in order; a failure says in which one."""
        for number, each in enumerate(self.steps, 1):
            try:
                each(stage)
            except BaseException as error:
                error.add_note(f"{self.id} ({self.title}), step {number}: {each}")
                raise


def scenario(scenario_id: str, title: str, *steps: Step) -> Scenario:
    """A row of the table."""
    return Scenario(scenario_id, title, steps)


def step(play: Callable[..., None]) -> Callable[..., Step]:
    """Make a word of the script out of a function that takes the stage first."""

    @wraps(play)
    def word(*given: Any, **options: Any) -> Step:
        return Step(play, given, options)

    return word


def _make_pool(stage: Stage, strategy: str, members: str, quotas: Row, fields: Row) -> None:
    body = {"name": "Sales", "strategy": strategy} | fields
    body["members"] = []
    for text in members.split():
        user_id, _, weight = text.partition(":")
        member: Row = {"user_id": user_id}
        if weight:
            member["weight"] = int(weight)
        if user_id in quotas:
            member["daily_quota"] = quotas[user_id]
        body["members"].append(member)
    stage.pools[body["name"]] = stage.ask("POST", "/pools", _resolved(stage, body))["id"]


def _resolved(stage: Stage, fields: Row) -> Row:
    """Fields that name a pool say its id to the API."""
    if isinstance(fields.get("fallback_pool_id"), str):
        return fields | {"fallback_pool_id": stage.pool_id(fields["fallback_pool_id"])}
    return fields


@step
def strict(stage: Stage, members: str, quotas: Row | None = None, **fields: Any) -> None:
    """A pool that goes round in order. ``quotas`` by user are a day's most leads here."""
    _make_pool(stage, "strict", members, quotas or {}, fields)


@step
def weighted(stage: Stage, members: str, quotas: Row | None = None, **fields: Any) -> None:
    """A pool by weights: ``weighted("A:5 B:1")``."""
    _make_pool(stage, "weighted", members, quotas or {}, fields)


@step
def fewest(stage: Stage, members: str, quotas: Row | None = None, **fields: Any) -> None:
    """A pool where whoever has the fewest in the period is next."""
    _make_pool(stage, "least_assigned", members, quotas or {}, fields)


@step
def person(stage: Stage, user_id: str, **fields: Any) -> None:
    """A user with these fields; those that are not named stay as they are."""
    body = _with_hours(fields)
    if stage.call("GET", f"/users/{user_id}").status == 404:
        stage.ask("PUT", f"/users/{user_id}", body)
    else:
        stage.ask("PATCH", f"/users/{user_id}", body)


def _with_hours(fields: Row) -> Row:
    """``hours="mon-fri 09:00-17:00"`` as working hours."""
    if "hours" not in fields:
        return fields
    rest = {name: value for name, value in fields.items() if name != "hours"}
    rows = []
    for text in filter(None, fields["hours"].split(", ")):
        days, clock = text.split()
        first, _, last = days.partition("-")
        worked = DAYS[DAYS.index(first) : DAYS.index(last or first) + 1]
        start, end = clock.split("-")
        rows.append({"days": list(worked), "start": start, "end": end})
    return rest | {"working_hours": rows}


@step
def away(stage: Stage, *names: str) -> None:
    """They say that they are away."""
    for name in names:
        stage.ask("PATCH", f"/users/{name}", {"status": "away"})


@step
def back(stage: Stage, *names: str) -> None:
    """They say that they are available."""
    for name in names:
        stage.ask("PATCH", f"/users/{name}", {"status": "available"})


@step
def absent(stage: Stage, name: str, starts: str, ends: str, reason: str = "vacation") -> None:
    """An absence from one moment to before another."""
    body = {"starts_at": starts, "ends_at": ends, "reason": reason}
    assert stage.call("POST", f"/users/{name}/absences", body).status == 201


@step
def administrator(stage: Stage, name: str) -> None:
    """Somebody with a token of their own."""
    stage.tokens[name] = stage.command("token", "create", name, "--scope", "admin")


@step
def edit(stage: Stage, pool: str | None = None, by: str | None = None, **fields: Any) -> None:
    """Change a pool, in the words of the API. ``by`` names whose token is used."""
    options = {"token": stage.tokens[by]} if by else {}
    stage.ask("PATCH", f"/pools/{stage.pool_id(pool)}", _resolved(stage, fields), **options)


@step
def territories(stage: Stage, **pools: str) -> None:
    """Leads of this country go to that pool: ``territories(DE="North", AT="South")``."""
    rules = [
        {
            "name": country,
            "when": {"field": "country", "op": "eq", "value": country},
            "pool_id": stage.pool_id(pool),
        }
        for country, pool in pools.items()
    ]
    stage.ask("PUT", "/territories", rules)


@step
def at(stage: Stage, moment: str) -> None:
    """It is now so late."""
    now = datetime.fromisoformat(moment)
    assert now >= stage.now or not any(map(stage.history, stage.pools)), "time runs forward only"
    stage.now = now


@step
def later(stage: Stage, **delta: float) -> None:
    """Time passes."""
    stage.now += timedelta(**delta)


@step
def server_in(stage: Stage, zone: str) -> None:
    """The machine that runs all this stands elsewhere."""
    stage.stand_in(zone)


@step
def restart(stage: Stage, **environment: str) -> None:
    """The service stops and starts again."""
    stage.restart(**environment)


@step
def worker(stage: Stage, *outcomes: str) -> None:
    """The worker runs and gives out exactly these leads, in this order: ``worker("L1 -> A")``."""
    given = stage.work()
    assert all(row["status"] == "assigned" for row in given), given
    expected = [pair for text in outcomes for pair in _expected(text)]
    assert [(row["lead_id"], row["assigned_user_id"]) for row in given] == [
        (lead_id, who) for lead_id, who, _ in expected
    ]
    for row, (_, _, words) in zip(given, expected, strict=True):
        _check_words(row, words)


def _expected(text: str) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """``"L1-L3 -> A B ... (rotation)"`` as lead, user (None: held), words of the answer."""
    told = re.fullmatch(r"(\S+) -> ([^()]+?)(?: \(([^)]+)\))?", text.strip())
    assert told, f"cannot read {text!r}"
    names, who = _leads(told[1]), told[2].split()
    if who[-1] == "...":
        who = list(islice(cycle(who[:-1]), len(names)))
    assert len(who) == len(names), f"{text!r} names {len(names)} leads and {len(who)} users"
    words = tuple(told[3].split(", ")) if told[3] else ()
    pairs = zip(names, who, strict=True)
    return [(lead, None if one == "held" else one, words) for lead, one in pairs]


def _leads(text: str) -> list[str]:
    """``"L3-L5"`` as L3, L4, L5."""
    first, _, last = text.partition("-")
    if not last:
        return [first]
    kind = first.rstrip("0123456789")
    numbers = range(int(first[len(kind) :]), int(last[len(kind) :]) + 1)
    return [f"{kind}{number}" for number in numbers]


def _check(row: Row, status: int, who: str | None, words: Sequence[str]) -> None:
    lead_id = row["lead_id"]
    assert row["assigned_user_id"] == who, f"{lead_id}: {row}"
    assert status == (200 if who else 202), f"{lead_id}: {status} {row}"
    assert row["status"] in ({"held"} if who is None else {"assigned", "kept"}), row
    _check_words(row, words)


def _check_words(row: Row, words: Sequence[str]) -> None:
    told = {row["status"], row["reason"], row["sticky_step"]}
    assert told.issuperset(words), f"{row['lead_id']}: {row}"


@step
def leads(stage: Stage, *outcomes: str, pool: str | None = None, **fields: Any) -> None:
    """New leads come one by one; each is assigned as told. ``fields`` are sent with each."""
    for text in outcomes:
        for lead_id, who, words in _expected(text):
            answer = stage.assign(lead_id, pool, **fields)
            assert answer.status in (200, 202), answer
            _check(answer.body, answer.status, who, words)


@step
def batch(stage: Stage, *outcomes: str, pool: str | None = None, **fields: Any) -> None:
    """Leads come in one call and are assigned as told."""
    expected = [pair for text in outcomes for pair in _expected(text)]
    body = {"leads": [{"lead_id": lead_id, **fields} for lead_id, _, _ in expected]}
    results = stage.ask("POST", f"/pools/{stage.pool_id(pool)}/assign/batch", body)["results"]
    assert len(results) == len(expected)
    for row, (lead_id, who, words) in zip(results, expected, strict=True):
        assert row["lead_id"] == lead_id
        _check(row, 200 if who else 202, who, words)


@step
def routed(stage: Stage, *outcomes: str, into: str | None = None, **attributes: Any) -> None:
    """Leads come without a pool; territories choose it: ``into`` names the right one."""
    for text in outcomes:
        for lead_id, who, words in _expected(text):
            body = {"lead_id": lead_id, "attributes": attributes}
            answer = stage.call("POST", "/assign", body)
            _check(answer.body, answer.status, who, words)
            assert answer.body["pool_id"] == (stage.pool_id(into) if into else None)


@step
def share(stage: Stage, count: int, pool: str | None = None, **each: int | tuple[int, int]) -> None:
    """So many new leads come in one call; each user gets so many of them (or from, to)."""
    before = len(stage.history(pool))
    body = {"leads": [{"lead_id": f"S{before + n}"} for n in range(1, count + 1)]}
    results = stage.ask("POST", f"/pools/{stage.pool_id(pool)}/assign/batch", body)["results"]
    got = Counter(users(results))
    for name, wanted in each.items():
        low, high = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        assert low <= got.pop(name, 0) <= high, f"{name} of {Counter(users(results))}"
    assert not got, f"nobody spoke of {got}"


@step
def refused(stage: Stage, lead_id: str, code: str, pool: str | None = None, **fields: Any) -> None:
    """The lead is not taken; the caller is told why by a word."""
    answer = stage.assign(lead_id, pool, **fields)
    assert (answer.status // 100, answer.body["code"]) == (4, code), answer


@step
def rejects(stage: Stage, *outcomes: str) -> None:
    """Whoever has the lead gives it back: ``rejects("L1 -> B")`` says who gets it then."""
    for text in outcomes:
        for lead_id, who, words in _expected(text):
            _act(stage, lead_id, "reject", {}, "rejected" if who else "held", who, words)


@step
def gives(stage: Stage, *outcomes: str, **more: Any) -> None:
    """A person gives the lead to somebody: ``gives("L3 -> B")``."""
    for text in outcomes:
        for lead_id, who, words in _expected(text):
            _act(stage, lead_id, "reassign", {"user_id": who} | more, "reassigned", who, words)


@step
def passes_on(stage: Stage, *outcomes: str) -> None:
    """A person lets the rotation choose somebody else."""
    for text in outcomes:
        for lead_id, who, words in _expected(text):
            _act(stage, lead_id, "reassign", {}, "reassigned" if who else "held", who, words)


@step
def undoes(stage: Stage, *lead_ids: str) -> None:
    """A person takes the assignment back."""
    for lead_id in lead_ids:
        _act(stage, lead_id, "undo", {}, "undone", None, ())


def _act(
    stage: Stage,
    lead_id: str,
    what: str,
    body: Row,
    status: str,
    who: str | None,
    words: Sequence[str],
) -> None:
    before = stage.last_row(lead_id)
    row = stage.ask("POST", f"/assignments/{before['assignment_id']}/{what}", body)
    assert (row["lead_id"], row["status"], row["assigned_user_id"]) == (lead_id, status, who), row
    assert row["sequence"] > before["sequence"]
    _check_words(row, words)


@step
def preview(stage: Stage, names: str) -> None:
    """The preview shows these users next; ``-`` is nobody."""
    wanted = [None if name == "-" else name for name in names.split()]
    shown = stage.get(f"/pools/{stage.pool_id()}/preview", count=len(wanted))
    assert [one["user_id"] if one else None for one in shown] == wanted


@step
def totals(stage: Stage, pool: str | None = None, **each: int) -> None:
    """So many leads each has now; a lead counts for whoever had it last."""
    last = {row["lead_id"]: row["assigned_user_id"] for row in stage.history(pool)}
    got = Counter(last.values())
    assert {name: got[name] for name in each} == each, got


@step
def skipped(stage: Stage, lead_id: str, pool: str | None = None, **reasons: str) -> None:
    """Why others did not get it: ``skipped("L1", A="absent", B="quota_reached: 5/5 today")``."""
    shown = {one["user_id"]: one for one in stage.decision(lead_id, pool)["skipped"]}
    for name, text in reasons.items():
        reason, _, detail = text.partition(": ")
        assert shown[name]["reason"] == reason, shown
        assert detail in (shown[name]["detail"] or ""), shown
    assert shown.keys() == reasons.keys()


@step
def unavailable(stage: Stage, pool: str | None = None, **reasons: str | None) -> None:
    """Why members cannot take a lead now; None: they can."""
    shown = {
        one["user_id"]: (one["unavailable"] or {}).get("reason")
        for one in stage.pool(pool)["members"]
    }
    assert {name: shown[name] for name in reasons} == reasons
