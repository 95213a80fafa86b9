"""Which pool a lead goes to: territories, the default pool, and what keeps a lead where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector import sticky
from connector.engine.territories import default_route, route
from connector.model import Lead, Route, Status, Territory
from connector.store import assignments, pools, territories
from connector.store.database import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The territories and the default pool as they are now."""

    rules: tuple[Territory, ...]
    fallback: Route

    def route(self, lead: Lead) -> Route:
        """Which pool the lead goes to."""
        return route(lead, self.rules, self.fallback)


def read(session: Session, default_pool: str | None) -> Routing:
    """Read how leads are routed. ``default_pool`` is a name or an id.

    A territory whose pool is archived claims nothing.
    """
    pool = pools.named(session, default_pool) if default_pool else None
    fallback = default_route(pool.id if pool else None, named=bool(default_pool))
    return Routing(rules=tuple(territories.listed(session)), fallback=fallback)


def bound(session: Session, leads: Sequence[Lead]) -> dict[str, Route]:
    """Leads that wait in a pool or were given back there stay there: their routes by lead id."""
    rows = assignments.current_anywhere(session, [lead.id for lead in leads if not lead.anew])
    return {
        row.lead_id: row.route or Route(pool_id=row.pool_id)
        for row in rows
        if row.pool_id and (row.status is Status.HELD or sticky.gave_back(row))
    }
