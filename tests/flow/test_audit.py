"""What was recorded is what the rules say; whatever was changed by hand is found."""

import pytest

from tests.flow.life import Life


@pytest.mark.parametrize("seed", range(8))
def test_a_long_life_is_replayed_to_the_same_decisions_and_the_same_board(team, seed) -> None:
    life = Life(team, seed)
    life.go(120)
    assert [team.differs(pool) for pool in life.pools] == [None, None]
