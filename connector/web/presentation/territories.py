"""How territories become answers."""

from __future__ import annotations

from collections.abc import Sequence

from connector import model
from connector.web import answers


def territories(found: Sequence[model.Territory]) -> answers.Territories:
    """Territories as answered."""
    return answers.Territories(
        [
            answers.Territory(name=rule.name, when=dict(rule.when), pool_id=rule.pool_id)
            for rule in found
        ]
    )


def trialled(found: model.Route) -> answers.Trialled:
    """A trial of the territories as answered."""
    return answers.Trialled(
        territory=found.territory,
        pool_id=found.pool_id,
        reason=found.reason,
        passed=list(found.passed),
    )
