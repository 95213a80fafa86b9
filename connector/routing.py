"""Which pool a lead goes to: territories, the default pool, and what keeps a lead where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connector import sticky
from connector.engine.territories import default_route, fields_of, route
from connector.model import Lead, Reason, Route, Status, Territory
from connector.store import assignments, pools, territories
from connector.store.database import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The territories and the default pool as they are now."""

    rules: tuple[Territory, ...]
    fallback: Route
    pools: Mapping[str, str]  # id by id, and by folded name

    def route(self, lead: Lead) -> Route:
        """Which pool the lead goes to: the one that a workflow asks for, else by the rules."""
        if lead.asked_pool is None:
            return route(lead, self.rules, self.fallback)
        asked = lead.asked_pool.strip()
        pool_id = self.pools.get(asked) or self.pools.get(asked.casefold())
        if pool_id:
            return Route(pool_id=pool_id, passed=("the workflow asked for this pool",))
        passed = (f"the workflow asked for the pool {asked!r}, which does not exist",)
        return Route(pool_id=None, reason=Reason.NO_POOL, passed=passed)

    @property
    def fields(self) -> frozenset[str]:
        """The fields that the rules look at, in their own spelling."""
        return frozenset(name for rule in self.rules for name in fields_of(rule.when))


def read(session: Session, default_pool: str | None) -> Routing:
    """Read how leads are routed. ``default_pool`` is a name or an id.

    A territory whose pool is archived claims nothing.
    """
    known = pools.names(session)
    pool_id = known.get(default_pool or "") or known.get((default_pool or "").casefold())
    return Routing(
        rules=tuple(territories.listed(session)),
        fallback=default_route(pool_id, named=bool(default_pool)),
        pools=known,
    )


def bound(session: Session, leads: Sequence[Lead]) -> dict[str, Route]:
    """Leads that wait in a pool or were given back there stay there: their routes by lead id."""
    rows = assignments.current_anywhere(session, [lead.id for lead in leads if not lead.anew])
    return {
        row.lead_id: row.route or Route(pool_id=row.pool_id)
        for row in rows
        if row.pool_id and (row.status is Status.HELD or sticky.gave_back(row))
    }
