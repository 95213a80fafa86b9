"""How model objects become answers."""

from connector.web.presentation.leads import (
    assigned,
    batch,
    history_row,
    lead_history,
    whole_decision,
)
from connector.web.presentation.pools import fairness, pool, pool_now, preview
from connector.web.presentation.territories import territories, trialled
from connector.web.presentation.users import absence, absences, user

__all__ = [
    "absence",
    "absences",
    "assigned",
    "batch",
    "fairness",
    "history_row",
    "lead_history",
    "pool",
    "pool_now",
    "preview",
    "territories",
    "trialled",
    "user",
    "whole_decision",
]
