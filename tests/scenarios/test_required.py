"""Every scenario that must run does."""

from __future__ import annotations

from tests.scenarios import (  # noqa: F401 - they say what they play
    test_crms,
    test_crowds,
    test_portal,
)
from tests.scenarios.marks import PLAYED
from tests.scenarios.required import LEFT_OUT, REQUIRED
from tests.scenarios.test_scenarios import SCENARIOS


def test_every_required_scenario_runs() -> None:
    assert {row.id for row in SCENARIOS} | PLAYED == REQUIRED


def test_every_variant_that_is_left_out_belongs_to_a_scenario_and_says_why() -> None:
    assert {scenario_id for scenario_id, _ in LEFT_OUT} <= REQUIRED
    assert all(reason.endswith(".") for reason in LEFT_OUT.values())
