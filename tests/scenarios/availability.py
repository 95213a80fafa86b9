"""Availability, leave, working hours, time zones."""

from __future__ import annotations

from tests.scenarios.script import (
    Scenario,
    absent,
    at,
    away,
    back,
    later,
    leads,
    person,
    refused,
    scenario,
    server_in,
    skipped,
    step,
    strict,
    unavailable,
    worker,
)
from tests.scenarios.stage import Stage

NEW_YORK = {"hours": "mon-fri 09:00-17:00", "time_zone": "America/New_York"}
BERLIN = {"hours": "mon-fri 09:00-17:00", "time_zone": "Europe/Berlin"}


@step
def no_such_status(stage: Stage, *words: str) -> None:
    """These words are refused: whoever is not available is away."""
    for word in words:
        answer = stage.call("PATCH", "/users/A", {"status": word})
        assert answer.status == 422, answer
        assert answer.body["errors"][0]["pointer"] == "/status", answer


SCENARIOS: list[Scenario] = [
    scenario(
        "S49",
        "Nobody gets a lead outside working hours, and the end of a day is exclusive",
        at("2026-01-14T15:00Z"),  # a Wednesday in winter
        strict("A B"),
        person("B", **NEW_YORK),
        leads("L1 -> A"),
        at("2026-01-14T21:00Z"),  # 16:00 in New York
        leads("L2-L3 -> B A"),
        at("2026-01-14T22:00Z"),  # 17:00
        leads("L4 -> A"),
        skipped("L4", B="outside_hours"),
        at("2026-01-17T15:00Z"),  # Saturday
        leads("L5 -> A"),
        at("2026-01-19T14:00Z"),  # Monday, 09:00: the start belongs to the hours
        leads("L6 -> B"),
    ),
    scenario(
        "S50",
        "Hours follow the summer time of the user's own zone",
        at("2026-03-27T07:30Z"),  # Friday, 08:30 in Berlin
        strict("B A"),
        person("B", **BERLIN),
        leads("L1 -> A"),
        at("2026-03-30T07:30Z"),  # Monday, 09:30
        leads("L2-L3 -> B A"),
        at("2026-10-23T07:30Z"),  # Friday, 09:30
        leads("L4-L5 -> B A"),
        at("2026-10-26T07:30Z"),  # Monday, 08:30
        leads("L6 -> A"),
    ),
    scenario(
        "S52",
        "Where the server stands changes no answer",
        at("2026-01-14T21:00Z"),
        strict("B A"),
        person("B", **NEW_YORK),
        server_in("UTC"),
        leads("L1-L2 -> B A"),
        server_in("Pacific/Auckland"),
        leads("L3-L4 -> B A"),
        at("2026-01-14T22:00Z"),
        leads("L5 -> A"),
        server_in("UTC"),
        leads("L6 -> A"),
    ),
    scenario(
        "S54",
        "All are away: the leads wait",
        strict("A B"),
        away("A", "B"),
        leads("L1-L4 -> held ... (no_member_available)"),
        skipped("L4", A="away", B="away"),
        back("A", "B"),
        worker("L1-L4 -> A B A B"),
    ),
    scenario(
        "S54",
        "All are away: one person takes what nobody can take",
        person("Boss", hours="mon 09:00-10:00"),
        strict("A B", none_available="fallback", fallback_user_id="Boss"),
        away("A", "B"),
        leads("L1-L4 -> Boss ... (fallback)"),
        back("A", "B"),
        leads("L5-L6 -> A B (rotation)"),
    ),
    scenario(
        "S54",
        "All are away: another team takes what nobody can take",
        strict("C D", name="Others"),
        strict("A B", name="First", none_available="fallback", fallback_pool_id="Others"),
        away("A", "B"),
        leads("L1-L2 -> C D (fallback)", pool="First"),
        leads("L3 -> C (rotation)", pool="Others"),
        back("A", "B"),
        leads("L4-L5 -> A B (rotation)", pool="First"),
    ),
    scenario(
        "S54",
        "All are away: the caller is told that nobody takes it",
        strict("A B", none_available="refuse"),
        away("A", "B"),
        refused("L1", code="no_member_available"),
        back("A"),
        leads("L1-L2 -> A A"),
    ),
    scenario(
        "S55",
        "Only who is available gets leads; other words for it are not accepted",
        strict("A B"),
        away("A"),
        leads("L1-L2 -> B B"),
        no_such_status("busy", "offline", "idle", "Available", ""),
        leads("L3 -> B"),
        back("A"),
        leads("L4 -> A"),
    ),
    scenario(
        "S56",
        "Out of everybody's hours a lead waits until the first one begins",
        at("2026-01-14T05:00Z"),
        strict("A B"),
        person("A", **NEW_YORK),
        person("B", **BERLIN),
        leads("L1-L2 -> held held (no_member_available)"),
        skipped("L2", A="outside_hours", B="outside_hours"),
        worker(),
        at("2026-01-14T08:00Z"),
        worker("L1-L2 -> B B"),
    ),
    scenario(
        "S57",
        "No leads in the last hours before a leave",
        strict("B A", leave_buffer_hours=48),
        person("B", time_zone="Europe/Berlin"),
        absent("B", "2026-11-05T08:00:00Z", "2026-11-19T23:00:00Z"),  # from Thursday, 09:00 there
        at("2026-11-03T07:59Z"),
        leads("L1-L2 -> B A"),
        at("2026-11-03T08:01Z"),
        leads("L3 -> A"),
        skipped("L3", B="absent"),
        at("2026-11-19T22:59Z"),
        leads("L4 -> A"),
        at("2026-11-19T23:00Z"),
        leads("L5 -> B"),
    ),
    scenario(
        "S59",
        "A day off needs no change of the rotation, on the day or after",
        strict("A B C"),
        absent("B", "2026-10-15T00:00:00Z", "2026-10-16T00:00:00Z", "day off"),
        leads("L1-L4 -> A C A C"),
        unavailable(A=None, B="absent", C=None),
        later(days=1),
        unavailable(A=None, B=None, C=None),
        leads("L5-L7 -> A B C"),
    ),
]
