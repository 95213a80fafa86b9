"""Seeing and explaining."""

from __future__ import annotations

from datetime import timedelta

from tests.scenarios.script import (
    Scenario,
    absent,
    edit,
    leads,
    scenario,
    skipped,
    step,
    strict,
)
from tests.scenarios.stage import Stage


@step
def whole_decision(stage: Stage, lead_id: str, **shown: object) -> None:
    """The decision as its page shows it."""
    whole = stage.decision(lead_id)
    assert {name: whole[name] for name in shown} == shown, whole
    assert whole["assigned_at"].startswith(f"{stage.now:%Y-%m-%dT%H:%M}")


@step
def audited(stage: Stage) -> None:
    """``leadrota audit`` finds that all is as the rules say."""
    stage.command("audit")


@step
def two_leads_a_day(stage: Stage, days: int) -> None:
    """Two leads come each day."""
    for _ in range(days):
        for _ in range(2):
            number = len(stage.history()) + 1
            assert stage.assign(f"L{number}").status == 200
        stage.now += timedelta(days=1)


@step
def nobody_looks_unfair(stage: Stage, since: str, until: str) -> None:
    """The report of that time: everybody got what they could get when they could take leads."""
    query = {"from": since, "to": until}
    report = stage.get(f"/pools/{stage.pool_id()}/fairness", **query)
    count = len(stage.history(**query))
    assert sum(one["received"] for one in report["members"]) == count
    assert abs(sum(one["fair_share"] for one in report["members"]) - count) < 0.001
    for one in report["members"]:
        assert abs(one["balance"] - (one["fair_share"] - one["received"])) < 0.001
        assert abs(one["balance"]) <= 1.5, one
        assert one["longest_wait"] <= 3, one
    away = next(one for one in report["members"] if one["user_id"] == "A")
    assert away["received"] < count / 3 - 3
    assert report["worst_distance"] <= 2


SCENARIOS: list[Scenario] = [
    scenario(
        "S131",
        "A decision says who got it, and of everybody else why not",
        strict("A B C", quotas={"B": 5}),
        absent("A", "2026-10-12T00:00:00Z", "2026-10-20T00:00:00Z"),
        edit(update_members=[{"user_id": "C", "active": False}]),
        leads("L1-L5 -> B ..."),
        edit(update_members=[{"user_id": "C", "active": True}]),
        leads("L6 -> C"),
        skipped("L6", A="absent: vacation until 2026-10-20", B="quota_reached: 5/5"),
        whole_decision(
            "L6",
            assigned_user_id="C",
            sequence=6,
            reason="rotation",
            order=["C", "A", "B"],
            order_after=["C", "A", "B"],
            current=True,
        ),
        audited(),
    ),
    scenario(
        "S133",
        "Who was away for half the month is not shown as unfair",
        strict("A B C"),
        absent("A", "2026-10-30T00:00:00Z", "2026-11-14T12:00:00Z"),
        two_leads_a_day(30),
        nobody_looks_unfair("2026-10-15T00:00:00Z", "2026-11-15T00:00:00Z"),
    ),
]
