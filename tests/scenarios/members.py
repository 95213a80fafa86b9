"""Changes of members and users."""

from __future__ import annotations

from alembic import command

from connector.store import schema
from tests.scenarios.script import (
    Scenario,
    administrator,
    edit,
    leads,
    person,
    preview,
    scenario,
    share,
    step,
    strict,
    totals,
)
from tests.scenarios.stage import Stage


@step
def tables_down_and_up(stage: Stage) -> None:
    """The tables go back to what they were before policies and journals, and forward again."""
    stage.close()
    with stage.database.rebuild() as session:
        configuration = schema._configuration()
        configuration.attributes["connection"] = session.connection()
        command.downgrade(configuration, "0002")
    schema.upgrade(stage.database)
    stage.open()


@step
def given_by_the_system(stage: Stage, *outcomes: str, note: list[str]) -> None:
    """The newest rows: leads that found another user by themselves, each with this in its note."""
    rows = stage.history()[-len(outcomes) :]
    assert [f"{row['lead_id']} -> {row['assigned_user_id']}" for row in rows] == list(outcomes)
    for row in rows:
        whole = stage.get(f"/assignments/{row['assignment_id']}")
        assert whole["actor"] == "system", whole
        assert all(words in whole["note"] for words in note), whole


SCENARIOS: list[Scenario] = [
    scenario(
        "S94",
        "An inactive user gets nothing",
        strict("A B C"),
        person("B", active=False),
        leads("L1-L3 -> A C A"),
    ),
    scenario(
        "S96",
        "Removing an earlier member does not move the turn",
        strict("A B C D E"),
        leads("L1-L3 -> A B C"),
        edit(remove_members=["A"]),
        leads("L4-L6 -> D E B"),
    ),
    scenario(
        "S96",
        "Putting a member in front does not move the turn",
        strict("A B C D E"),
        leads("L1-L3 -> A B C"),
        edit(add_members=["Z"], order=["Z", "A", "B", "C", "D", "E"]),
        leads("L4-L6 -> D E Z"),
    ),
    scenario(
        "S97",
        "Removing whoever had the last lead does not move the turn",
        strict("A B C D"),
        leads("L1-L2 -> A B"),
        edit(remove_members=["B"]),
        preview("C D A"),
        leads("L3-L5 -> C D A"),
    ),
    scenario(
        "S99",
        "The leads of a removed member go to the others in turn",
        strict("A B C"),
        leads("L1-L7 -> A B C ..."),
        edit(remove_members=["A"], redistribute=True),
        given_by_the_system("L1 -> B", "L4 -> C", "L7 -> B", note=["A was removed"]),
        totals(A=0, B=4, C=3),
        leads("L8 -> C"),
    ),
    scenario(
        "S100",
        "Somebody who was removed and made again is a member like the others",
        strict("A B"),
        person("B", email="b@sales.example"),
        leads("L1-L2 -> A B"),
        edit(remove_members=["B"]),
        person("B2", email="b@sales.example"),
        edit(add_members=["B2"]),
        share(4, A=2, B2=2),
    ),
    scenario(
        "S101",
        "Taking the tables back and forward again keeps members and whose turn it is",
        strict("A B C"),
        leads("L1 -> A"),
        tables_down_and_up(),
        leads("L2-L4 -> B C A"),
        strict("D E", name="New"),
        leads("K1-K2 -> D E", pool="New"),
    ),
    scenario(
        "S134",
        "The log names the system, and who set it off as no more than that",
        strict("A B C"),
        administrator("anna"),
        leads("L1-L3 -> A B C"),
        edit(by="anna", remove_members=["C"], redistribute=True),
        given_by_the_system("L3 -> A", note=["C was removed", "anna"]),
        leads("L4-L5 -> B A"),
    ),
]
