"""Weights, newcomers, periods."""

from __future__ import annotations

from collections import Counter

from tests.scenarios.script import (
    Scenario,
    at,
    away,
    back,
    edit,
    fewest,
    gives,
    leads,
    scenario,
    share,
    step,
    totals,
    unavailable,
    weighted,
)
from tests.scenarios.stage import Stage, users


@step
def never_far_from_fair(stage: Stage, count: int, longest_run: int | None = None) -> None:
    """So many leads; at every one of them, everybody is less than one lead from the exact share."""
    weights = {one["user_id"]: one["weight"] for one in stage.pool()["members"]}
    whole = sum(weights.values())
    got: Counter[str] = Counter()
    run, last = 0, None
    for number, name in enumerate(_batches(stage, count), 1):
        got[name] += 1
        run = run + 1 if name == last else 1
        last = name
        assert longest_run is None or run <= longest_run
        for each, weight in weights.items():
            assert abs(got[each] * whole - number * weight) < whole, (number, each, got)


def _batches(stage: Stage, count: int, pool: str | None = None) -> list[str]:
    """So many new leads, a thousand a call at most, and who got them."""
    names: list[str] = []
    while len(names) < count:
        some = range(len(names), min(count, len(names) + 1000))
        body = {"leads": [{"lead_id": f"L{number + 1}"} for number in some]}
        path = f"/pools/{stage.pool_id(pool)}/assign/batch"
        names += users(stage.ask("POST", path, body)["results"])
    return names


@step
def every_block(stage: Stage, size: int, times: int, **each: int) -> None:
    """Block after block of leads, each block split exactly so."""
    names = _batches(stage, size * times)
    for start in range(0, size * times, size):
        assert Counter(names[start : start + size]) == each


@step
def the_same_row_of_users(stage: Stage, count: int, *pools: str) -> None:
    """The pools give so many leads to the same users in the same order."""
    first, *others = (_batches(stage, count, pool) for pool in pools)
    assert all(names == first for names in others)


@step
def first_lead_within(stage: Stage, name: str, count: int, of: int) -> None:
    """Of the newest leads, the user gets one among the first few."""
    assert name in users(stage.history()[-of:][:count])


@step
def received(stage: Stage, since: str, until: str, **each: int) -> None:
    """The report of that time shows so many leads for each."""
    query = {"from": since, "to": until}
    report = stage.get(f"/pools/{stage.pool_id()}/fairness", **query)
    shown = {one["user_id"]: one["received"] for one in report["members"]}
    assert {name: shown[name] for name in each} == each


SCENARIOS: list[Scenario] = [
    scenario(
        "S27",
        "Weights hold, and are not made up for once they are off",
        weighted("A:100 B:50 C:50"),
        share(40, A=20, B=10, C=10),
        edit(strategy="strict"),
        share(30, A=10, B=10, C=10),
    ),
    scenario(
        "S28",
        "A heavy weight is served often, not in a row",
        weighted("A:5 B:1 C:1"),
        never_far_from_fair(700, longest_run=4),
        totals(A=500, B=100, C=100),
    ),
    scenario(
        "S28",
        "Eight very different weights are served evenly at every moment",
        weighted("A:5 B:50 C:1 D:50 E:1 F:50 G:7 H:1"),
        never_far_from_fair(1650),
        totals(A=50, B=500, C=10, D=500, E=10, F=500, G=70, H=10),
    ),
    scenario(
        "S29",
        "Every block of eight leads is split exactly by weight",
        weighted("A:1 B:2 C:5"),
        every_block(8, times=20, A=1, B=2, C=5),
    ),
    scenario(
        "S30",
        "A new month counts anew, in the pool's own zone",
        fewest("A B", time_zone="Europe/Berlin", **{"return": "none"}),
        at("2027-01-01T08:00Z"),
        away("B"),
        at("2027-01-31T22:30Z"),
        leads("L1-L20 -> A ..."),
        at("2027-01-31T23:00Z"),
        back("B"),
        leads("L21-L24 -> B A B A"),
        received("2026-12-31T23:00Z", "2027-01-31T23:00Z", A=20, B=0),
        received("2027-01-31T23:00Z", "2027-02-28T23:00Z", A=2, B=2),
    ),
    scenario(
        "S32",
        "A newcomer of half the weight gets half as many, and does not starve",
        weighted("A:100 B:100"),
        share(20, A=10, B=10),
        edit(add_members=[{"user_id": "C", "weight": 50}]),
        share(25, A=(9, 11), B=(9, 11), C=(4, 6)),
        first_lead_within("C", 5, of=25),
    ),
    scenario(
        "S34",
        "A new weight does not rewrite the past",
        weighted("A:1 B:1"),
        share(20, A=10, B=10),
        edit(update_members=[{"user_id": "A", "weight": 3}]),
        share(8, A=6, B=2),
    ),
    scenario(
        "S35",
        "Weights are ratios: half of all weights is the same rotation",
        weighted("A:50 B:50 C:25", name="Halves"),
        weighted("A:100 B:100 C:50", name="Wholes"),
        the_same_row_of_users(50, "Halves", "Wholes"),
    ),
    scenario(
        "S36",
        "Weight 0 gets no leads by turn, but may be given some by hand",
        weighted("A:0 B:1"),
        leads("L1-L4 -> B B B B"),
        unavailable(A="weight_zero", B=None),
        away("B"),
        leads("L5 -> held (no_member_available)"),
        unavailable(A="weight_zero", B="away"),
        gives("L1 -> A"),
    ),
    scenario(
        "S36",
        "Weight 0 keeps the customers whom the member has",
        weighted("A:1 B:1"),
        leads("L1 -> A", email="kim@buyer.example"),
        edit(update_members=[{"user_id": "A", "weight": 0}]),
        leads("L2 -> A (sticky, person)", email="kim@buyer.example"),
        leads("L3 -> B"),
    ),
]
