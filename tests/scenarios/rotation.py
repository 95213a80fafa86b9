"""Rotation, order, evenness."""

from __future__ import annotations

from tests.scenarios.script import (
    Scenario,
    Step,
    away,
    back,
    batch,
    edit,
    fewest,
    leads,
    person,
    preview,
    restart,
    routed,
    scenario,
    share,
    step,
    strict,
    territories,
    totals,
    worker,
)
from tests.scenarios.stage import Stage


@step
def twice_in_the_list(stage: Stage, name: str) -> None:
    """Adding a member again is refused, with the right way told."""
    answer = stage.call("PATCH", f"/pools/{stage.pool_id()}", {"add_members": [name]})
    assert (answer.status, answer.body["code"]) == (409, "member_exists")
    assert "weight" in answer.body["detail"]


@step
def days_of(stage: Stage, count: int, *names: str, days: int) -> None:
    """So many leads a day; after every day nobody has more than one lead more than another."""
    for day in range(days):
        first = day * count + 1
        wanted = " ".join(names[(first + n - 1) % len(names)] for n in range(count))
        batch(f"L{first}-L{first + count - 1} -> {wanted}")(stage)
        counts = [one["count"] for one in stage.pool()["members"]]
        assert max(counts) - min(counts) <= 1
        stage.later(days=1)


def _nine_leads(between: Step) -> list[Step]:
    """A, B, C three times over, with something else after each lead."""
    told = [f"L{number} -> {'ABC'[(number - 1) % 3]}" for number in range(1, 10)]
    return [one for text in told for one in (leads(text), between)]


SCENARIOS: list[Scenario] = [
    scenario(
        "S03",
        "A new batch goes on behind the last one, also after a restart",
        strict("A B C"),
        batch("L1-L4 -> A B C A"),
        restart(),
        batch("L5-L6 -> B C"),
    ),
    scenario(
        "S05",
        "Thirty leads in one call are spread like thirty single ones",
        strict("A B C"),
        batch("L1-L30 -> A B C ..."),
        strict("D E F", name="Single"),
        leads("K1-K30 -> D E F ...", pool="Single"),
    ),
    scenario(
        "S08",
        "The same person cannot be in the list twice",
        strict("A B"),
        twice_in_the_list("A"),
        leads("L1-L4 -> A B A B"),
    ),
    scenario(
        "S09",
        "An empty pool holds its leads and says why",
        strict(""),
        leads("L1 -> held (no_member_available)"),
        preview("- -"),
        edit(add_members=["A", "B"]),
        worker("L1 -> A"),
        leads("L2 -> B"),
    ),
    scenario(
        "S09",
        "A pool whose only member is inactive holds its leads, and nobody's turn is lost",
        strict("A"),
        person("A", active=False),
        leads("L1-L2 -> held held (no_member_available)"),
        person("A", active=True),
        worker("L1-L2 -> A A (rotation)"),
    ),
    scenario(
        "S11",
        "Small batches do not favour the oldest member",
        strict("A B C"),
        days_of(4, "A", "B", "C", days=15),
        totals(A=20, B=20, C=20),
    ),
    scenario(
        "S13",
        "The first user of all is a member like the others",
        strict("Admin A B"),
        leads("L1-L6 -> Admin A B ..."),
    ),
    scenario(
        "S16",
        "Changing something else of the pool does not start the rotation again",
        strict("A B C"),
        *_nine_leads(edit(name="Inbound")),
    ),
    scenario(
        "S16",
        "Starting the service again does not start the rotation again",
        strict("A B C"),
        *_nine_leads(restart()),
    ),
    scenario(
        "S17",
        "Who has no leads yet is chosen like everybody",
        fewest("A B"),
        leads("L1-L10 -> A B ..."),
        edit(add_members=["C"]),
        leads("L11-L13 -> A B C"),
    ),
    scenario(
        "S20",
        "Two rules that lead to one team share its rotation",
        strict("A B"),
        territories(DE="Sales", AT="Sales"),
        routed("L1 -> A", country="DE", into="Sales"),
        routed("L2 -> B", country="AT", into="Sales"),
        routed("L3 -> A", country="DE", into="Sales"),
        routed("L4 -> B", country="AT", into="Sales"),
    ),
    scenario(
        "S23",
        "Leads that never come do not skew the rotation, whatever their numbers",
        strict("A B C"),
        leads("L1 -> A", "L2 -> B", "L4 -> C", "L5 -> A", "L7 -> B", "L8 -> C"),
        totals(A=2, B=2, C=2),
    ),
    scenario(
        "S26",
        "The rotation rests on a stored place, not on who looks idle",
        strict("G1 G2 G3 G4 G5"),
        leads("L1-L12 -> G1 G2 G3 G4 G5 ..."),
        preview("G3 G4 G5 G1 G2 G3"),
    ),
    scenario(
        "S41",
        "Who comes back takes the old place and gets no more than the others",
        strict("A B C"),
        leads("L1-L3 -> A B C"),
        away("C"),
        leads("L4-L9 -> A B A B A B"),
        back("C"),
        leads("L10-L12 -> C A B"),
        totals(A=5, B=5, C=2),
    ),
    scenario(
        "S42",
        "A new member does not start the rotation again",
        strict("A B C"),
        leads("L1-L2 -> A B"),
        edit(add_members=["D"]),
        leads("L3-L5 -> C D A"),
    ),
    scenario(
        "S44",
        "Who comes back from leave enters at the level of the others, behind them",
        fewest("A B C", quotas={"B": 8}),
        leads("L1-L9 -> A B C ..."),
        away("C"),
        leads("L10-L19 -> A B ...", "L20-L21 -> A A"),
        edit(update_members=[{"user_id": "B", "daily_quota": None}]),
        totals(A=10, B=8, C=3),
        back("C"),
        leads("L22-L23 -> B C"),
    ),
    scenario(
        "S45",
        "Two who were away at the same time come back at the same level",
        fewest("A B C D"),
        leads("L1-L20 -> A B C D ..."),
        away("A", "B"),
        leads("L21-L32 -> C D ..."),
        back("A", "B"),
        share(8, A=2, B=2, C=2, D=2),
    ),
    scenario(
        "S38",
        "Who has fewer leads is served first",
        fewest("A B C", **{"return": "none"}),
        leads("L1-L12 -> A B C ..."),
        away("A"),
        leads("L13-L22 -> B C ..."),
        back("A"),
        leads("L23-L24 -> A A"),
    ),
    scenario(
        "S47",
        "Turns of an absent person are lost, unless the pool says otherwise",
        strict("A B C"),
        leads("L1 -> A"),
        away("B"),
        leads("L2-L5 -> C A C A"),
        back("B"),
        leads("L6-L12 -> B C A B C A B (rotation)"),
    ),
    scenario(
        "S47",
        "One turn of an absent person is held",
        strict("A B C", skip="hold"),
        leads("L1 -> A"),
        away("B"),
        leads("L2-L5 -> C A C A"),
        back("B"),
        leads("L6 -> B (owed)", "L7-L12 -> B C A B C A (rotation)"),
    ),
    scenario(
        "S47",
        "Two turns of an absent person are kept",
        strict("A B C", skip="accrue", accrue_max=2),
        leads("L1 -> A"),
        away("B"),
        leads("L2-L5 -> C A C A"),
        back("B"),
        preview("B B B C A B C"),
        leads("L6-L7 -> B B (owed)", "L8-L12 -> B C A B C (rotation)"),
        totals(A=4, B=4, C=4),
    ),
]
