"""Leads that are given back, moved and taken back."""

from __future__ import annotations

from tests.scenarios.script import (
    Scenario,
    fewest,
    gives,
    leads,
    passes_on,
    rejects,
    scenario,
    skipped,
    strict,
    totals,
    undoes,
)

SCENARIOS: list[Scenario] = [
    scenario(
        "S104",
        "A rejected lead goes to the next one, and the turn comes back",
        strict("A B C"),
        leads("L1 -> A"),
        rejects("L1 -> B"),
        leads("L2 -> A (owed)", "L3-L5 -> C A B (rotation)"),
    ),
    scenario(
        "S104",
        "A rejected lead costs the turn where the pool wants it",
        strict("A B C", reject="no_credit"),
        leads("L1 -> A"),
        rejects("L1 -> B"),
        leads("L2-L4 -> C A B (rotation)"),
    ),
    scenario(
        "S104",
        "A rejected lead never comes back to somebody who rejected it",
        strict("A B C"),
        leads("L1 -> A"),
        rejects("L1 -> B", "L1 -> C", "L1 -> held"),
        skipped("L1", A="excluded", B="excluded", C="excluded"),
        leads("L2-L4 -> A B C (owed)", "L5 -> A (rotation)"),
    ),
    scenario(
        "S111",
        "A lead that is moved by hand moves its turn",
        fewest("A B"),
        leads("L1-L3 -> A B A"),
        gives("L3 -> B (manual)"),
        leads("L4 -> A"),
        totals(A=2, B=2),
    ),
    scenario(
        "S111",
        "A lead that is moved by hand leaves the turns as they were where the pool wants it",
        fewest("A B", manual="ignore"),
        leads("L1-L3 -> A B A"),
        gives("L3 -> B (manual)"),
        leads("L4 -> B"),
    ),
    scenario(
        "S111",
        "Under strict, who lost a lead by hand is owed one, and who got it is passed over once",
        strict("A B C"),
        leads("L1 -> A"),
        gives("L1 -> B (manual)"),
        leads("L2 -> A (owed)", "L3-L6 -> C A B C"),
    ),
    scenario(
        "S111",
        "The rotation passes a lead on, never to the same user",
        strict("A B C"),
        leads("L1-L3 -> A B C"),
        passes_on("L3 -> A"),
        undoes("L2"),
        leads("L4-L5 -> B C (owed)", "L6-L7 -> B C (rotation)"),
    ),
]
