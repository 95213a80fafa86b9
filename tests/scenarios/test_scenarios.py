"""What other products get wrong, as scenarios in which this one does not.

Each row is a pool, what happens, and what must come of it, on SQLite and on PostgreSQL; the tables
are in the modules beside this one, by chapter. What must always be true is looked at after each.
"""

from __future__ import annotations

import pytest

from tests.scenarios import (
    availability,
    changes,
    explaining,
    invariants,
    members,
    quotas,
    rotation,
    sticky,
    weights,
)
from tests.scenarios.script import Scenario
from tests.scenarios.stage import Stage

CHAPTERS = (rotation, weights, availability, quotas, sticky, members, changes, explaining)
SCENARIOS = [row for chapter in CHAPTERS for row in chapter.SCENARIOS]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_scenario_comes_out_as_told(scenario: Scenario, stage: Stage) -> None:
    scenario.play(stage)
    invariants.check(stage)
