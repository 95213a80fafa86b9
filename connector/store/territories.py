"""The ordered rules that send a lead to a pool."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, text

from connector.errors import Conflict, NotFound
from connector.model import Territory
from connector.store.database import Session, is_postgres
from connector.store.tables import round_robin_pools, territories


def listed(session: Session) -> list[Territory]:
    """Read all rules, the first to be tried first."""
    rows = session.execute(
        select(territories, round_robin_pools.c.archived_at)
        .join(round_robin_pools, round_robin_pools.c.id == territories.c.pool_id)
        .order_by(territories.c.position)
    )
    return [
        Territory(
            name=row.name,
            when=row.when,
            pool_id=row.pool_id,
            is_closed=row.archived_at is not None,
        )
        for row in rows
    ]


def replace(session: Session, rules: Sequence[Territory]) -> None:
    """Put this ordered list in the place of all rules.

    Raises ``NotFound`` (``pool_not_found``) when a rule names a pool that does not exist,
    ``Conflict`` (``pool_archived``) for one that is archived.
    """
    if is_postgres(session):
        session.execute(text("LOCK TABLE territories IN SHARE ROW EXCLUSIVE MODE"))
    columns = round_robin_pools.c
    archived = {
        row.id: row.archived_at for row in session.execute(select(columns.id, columns.archived_at))
    }
    for rule in rules:
        if rule.pool_id not in archived:
            raise NotFound(
                f"Territory {rule.name} names pool {rule.pool_id}, which does not exist. "
                "Give the pool's id; GET /round-robin/pools lists them.",
                code="pool_not_found",
            )
        if archived[rule.pool_id]:
            raise Conflict(
                f"Territory {rule.name} names pool {rule.pool_id}, which is archived.",
                code="pool_archived",
            )
    session.execute(delete(territories))
    if rules:
        session.execute(
            insert(territories),
            [
                {
                    "position": position,
                    "name": rule.name,
                    "when": dict(rule.when),
                    "pool_id": rule.pool_id,
                }
                for position, rule in enumerate(rules, start=1)
            ],
        )
