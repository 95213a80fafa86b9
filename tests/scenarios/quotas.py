"""Quotas, holding, and the way out of the queue."""

from __future__ import annotations

from tests.scenarios.script import (
    Scenario,
    at,
    away,
    back,
    batch,
    later,
    leads,
    person,
    scenario,
    skipped,
    step,
    strict,
    totals,
    worker,
)
from tests.scenarios.stage import Stage

AUCKLAND = {"time_zone": "Pacific/Auckland"}


@step
def worker_all_through_the_day(stage: Stage, gives: int, runs: int = 10) -> None:
    """The worker runs many times within an hour; in all it gives out so many leads."""
    given = 0
    for _ in range(runs):
        given += stage.drain().released
        stage.later(minutes=6)
    assert given == gives


SCENARIOS: list[Scenario] = [
    scenario(
        "S63",
        "A lead that waits is assigned, once, when somebody comes",
        strict("A"),
        away("A"),
        leads("L1 -> held"),
        worker(),
        back("A"),
        worker("L1 -> A (rotation)"),
        worker(),
    ),
    scenario(
        "S65",
        "Different people, different limits: only who is full is passed over",
        strict("A B C", quotas={"A": 10, "B": 5, "C": 3}),
        batch("L1-L9 -> A B C ...", "L10-L13 -> A B A B", "L14-L18 -> A ...", "L19 -> held"),
        skipped("L19", A="quota_reached: 10/10", B="quota_reached: 5/5", C="quota_reached: 3/3"),
        later(days=1),
        worker("L19 -> B"),
    ),
    scenario(
        "S67",
        "However often the worker runs, a day's quota is a day's quota",
        strict("A", quotas={"A": 2}),
        away("A"),
        batch("L1-L20 -> held ..."),
        back("A"),
        worker_all_through_the_day(gives=2),
        at("2026-10-16T00:00Z"),
        worker_all_through_the_day(gives=2),
        totals(A=4),
    ),
    scenario(
        "S70",
        "A quota of a day begins anew at midnight where the user lives",
        person("A", **AUCKLAND),
        strict("A", quotas={"A": 1}),
        at("2026-10-20T10:59Z"),  # 23:59 in Auckland
        leads("L1 -> A"),
        at("2026-10-20T11:01Z"),
        leads("L2 -> A"),
        at("2026-10-20T11:02Z"),
        leads("L3 -> held"),
        skipped("L3", A="quota_reached"),
    ),
    scenario(
        "S70",
        "A quota of 24 hours does not begin anew at midnight",
        person("A", **AUCKLAND),
        strict("A", quotas={"A": 1}, quota_window="rolling24h"),
        at("2026-10-20T10:59Z"),
        leads("L1 -> A"),
        at("2026-10-20T11:01Z"),
        leads("L2 -> held"),
        at("2026-10-20T11:02Z"),
        leads("L3 -> held"),
        at("2026-10-21T10:58Z"),
        worker(),
        at("2026-10-21T10:59Z"),
        worker("L2 -> A"),
    ),
    scenario(
        "S72",
        "The team's quota and a person's quota both hold",
        strict("A B C", daily_quota=6, quotas={"A": 1}),
        leads("L1-L6 -> A B C B C B", "L7-L10 -> held ... (pool_quota_reached)"),
        totals(A=1, B=3, C=2),
        at("2026-10-16T00:00Z"),
        worker("L7-L10 -> C A B C"),
    ),
    scenario(
        "S75",
        "Leads that waited for ten days all go out, oldest first",
        strict("A B"),
        away("A", "B"),
        leads("L1-L5 -> held ..."),
        later(days=10),
        worker(),
        back("A", "B"),
        worker("L1-L5 -> A B A B A"),
    ),
    scenario(
        "S77",
        "Leads that came while all were away are spread like new ones",
        strict("A B"),
        away("A", "B"),
        batch("L1-L20 -> held ..."),
        back("A", "B"),
        worker("L1-L20 -> A B ..."),
        totals(A=10, B=10),
    ),
    scenario(
        "S77",
        "Leads that came while all were away go out only as far as quotas allow",
        strict("A B", quotas={"A": 3, "B": 4}),
        away("A", "B"),
        batch("L1-L20 -> held ..."),
        back("A", "B"),
        worker("L1-L7 -> A B A B A B B"),
        leads("L21 -> held"),
        later(days=1),
        worker("L8-L14 -> A B A B A B B"),
    ),
]
