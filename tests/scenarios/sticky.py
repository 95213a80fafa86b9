"""Who already has the customer, whom the caller asks for, and which rule matches."""

from __future__ import annotations

from tests.scenarios.script import (
    Scenario,
    away,
    back,
    edit,
    later,
    leads,
    person,
    restart,
    routed,
    scenario,
    step,
    strict,
    territories,
    worker,
)
from tests.scenarios.stage import Stage

KIM = {"email": "kim@buyer.example"}
ACME = {"email": "lee@acme.example", "company": "Acme"}


@step
def check_says(stage: Stage, lead_id: str, name: str, *words: str) -> None:
    """The decision shows a sticky step that found the user, with why it did not answer."""
    checks = stage.decision(lead_id)["checks"]
    told = [one["outcome"] for one in checks if one["user_id"] == name]
    assert any(all(word in outcome for word in words) for outcome in told), checks


@step
def no_rule_matched(stage: Stage, lead_id: str, pool: str | None = None) -> None:
    """The decision says of every rule why it did not match."""
    route = stage.decision(lead_id, pool)["route"]
    assert route["territory"] is None
    assert len(route["passed"]) == 2, route


SCENARIOS: list[Scenario] = [
    scenario(
        "S79",
        "The person is looked for before the company",
        strict("B C", name="Before"),
        leads("L1 -> B", pool="Before", email="kim@acme.example"),
        leads("L2 -> C", pool="Before", preferred_user_id="C", email="lee@acme.example"),
        strict("A"),
        leads("L3 -> B (sticky, person)", pool="Sales", email=" Kim@ACME.example "),
    ),
    scenario(
        "S79",
        "A pool may look for the company only",
        strict("B C", name="Before"),
        leads("L1 -> B", pool="Before", email="kim@elsewhere.example"),
        leads("L2 -> C", pool="Before", **ACME),
        strict("A", sticky_steps=["company"]),
        leads(
            "L3 -> C (sticky, company)",
            pool="Sales",
            email="kim@elsewhere.example",
            company=" ACME ",
        ),
        edit(pool="Sales", sticky_steps=[]),
        leads("L4 -> A (rotation)", pool="Sales", **ACME),
    ),
    scenario(
        "S81",
        "A customer of somebody who left goes to the rotation",
        strict("A B X"),
        leads("L1 -> X", preferred_user_id="X", **KIM),
        person("X", active=False),
        leads("L2 -> A (rotation)", **KIM),
        check_says("L2", "X", "no longer active"),
    ),
    scenario(
        "S82",
        "A customer who comes back uses no turn",
        strict("C", name="Before"),
        leads("L0 -> C", pool="Before", **KIM),
        strict("A B C"),
        leads("L1 -> A", pool="Sales"),
        leads("L2 -> C (sticky, person)", pool="Sales", **KIM),
        leads("L3-L5 -> B C A", pool="Sales"),
    ),
    scenario(
        "S82",
        "A customer who comes back uses a turn where the pool wants it",
        strict("C", name="Before"),
        leads("L0 -> C", pool="Before", **KIM),
        strict("A B C", sticky_turn="counted"),
        leads("L1 -> A", pool="Sales"),
        leads("L2 -> C (sticky, person)", pool="Sales", **KIM),
        leads("L3-L5 -> B A B", pool="Sales"),
    ),
    scenario(
        "S85",
        "The caller names a person; the turn of the others stays",
        strict("A B C"),
        leads("L1 -> B (preferred)", preferred_user_id="B"),
        leads("L2-L3 -> A B (rotation)"),
    ),
    scenario(
        "S85",
        "The person whom the caller names is away: the rotation decides",
        strict("A B C"),
        away("B"),
        leads("L1 -> A (rotation)", preferred_user_id="B"),
    ),
    scenario(
        "S87",
        "A customer stays with a person who left the pool but not the company",
        strict("A B"),
        leads("L1 -> A", **ACME),
        later(days=31),
        edit(remove_members=["A"]),
        leads("L2 -> A (sticky, person)", **ACME),
        person("A", active=False),
        leads("L3 -> B (rotation)", **ACME),
    ),
    scenario(
        "S87",
        "A customer stays with a person who is absent, unless the pool wants an answer now",
        strict("A B"),
        leads("L1 -> A", **KIM),
        away("A"),
        leads("L2 -> A (sticky, person)", **KIM),
        edit(sticky="available"),
        leads("L3 -> B (rotation)", **KIM),
        back("A"),
        leads("L4 -> A (sticky, person)", **KIM),
    ),
    scenario(
        "S89",
        "A lead without the field that the rules ask for goes to the default pool",
        strict("A", name="North"),
        strict("B", name="South"),
        strict("C", name="Rest"),
        territories(DE="North", AT="South"),
        restart(LEADROTA_DEFAULT_POOL="Rest"),
        routed("L1 -> C (rotation)", into="Rest"),
        no_rule_matched("L1", pool="Rest"),
        routed("L2 -> C", country=None, into="Rest"),
        routed("L3 -> B", country="at", into="South"),
    ),
    scenario(
        "S89",
        "Without a default pool such a lead waits, and goes out once a rule matches",
        strict("A", name="North"),
        strict("B", name="South"),
        territories(DE="North", AT="South"),
        routed("L1 -> held (no_territory_match)", country="FR"),
        worker(),
        territories(DE="North", FR="South"),
        worker("L1 -> B"),
    ),
]
