"""Ask the CRM who owns the person and the company of leads that are about to be decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from connector.errors import CrmAgain, CrmForbidden, CrmNever
from connector.model import EventKind, Lead, Status, StickyPolicy, StickyStep, WriteBack
from connector.ports import Crm, CrmRecord
from connector.routing import Routing
from connector.sorting import Seen, asked_pool
from connector.store import assignments, pools
from connector.store.database import Database, Session
from connector.store.inbox import InboxItem

_STEPS = {StickyStep.PERSON, StickyStep.COMPANY}

ENOUGH_TRIES = 4  # some ten seconds; leads do not wait longer for stickiness

log = structlog.get_logger()


def look_up(
    database: Database, items: Sequence[InboxItem], seen: Seen, rules: Routing, crm: Crm
) -> Seen:
    """What was seen, with what the CRM links to the leads that may come to be decided.

    Nothing is asked for a lead that has its owner, nor for a pool that has no use for it. A CRM
    that does not let us look, or fails at it again and again, costs stickiness, not the lead.
    Raises any other ``CrmError``.
    """
    if not crm.capabilities.related:
        return seen
    with database.read() as session:
        wanted = _wanted(session, items, seen, rules)
    if not wanted:
        return seen
    try:
        return replace(seen, related=crm.related(seen.object_type, wanted))
    except (CrmForbidden, CrmNever, CrmAgain) as refusal:
        tries = max(item.attempts for item in items)
        if isinstance(refusal, CrmAgain) and tries < ENOUGH_TRIES:
            raise
        log.warning(
            "company_not_looked_up",
            connection=seen.connection,
            object_type=seen.object_type,
            code=refusal.code,
            why=refusal.message,
        )
        return seen


def _wanted(
    session: Session, items: Sequence[InboxItem], seen: Seen, rules: Routing
) -> dict[str, CrmRecord]:
    """The living records without an owner whose pool goes by person or company."""
    linked = {i.event.record_id for i in items if i.event.kind is EventKind.LINKED}
    free = {
        one.survivor_id or one.id: one
        for one in seen.records.values()
        if not (one.owner_stays or one.closed)
    }
    rows = assignments.current_of_records(session, seen.connection, seen.object_type, free)
    places: dict[str, str | None] = {}
    for record_id, one in free.items():
        row = rows.get(record_id)
        if row and row.write_back is WriteBack.PENDING:
            continue
        if row and row.status is Status.HELD and row.pool_id:
            if record_id in linked:
                places[record_id] = row.pool_id
            continue
        events = [item for item in items if item.event.record_id == one.id]
        lead = Lead(
            id="",
            record=seen.record(record_id),
            email=one.email,
            company=one.company,
            attributes=one.attributes,
            asked_pool=asked_pool(events),
        )
        places[record_id] = rules.route(lead).pool_id
    asking = _pools_that_ask(session, {pool_id for pool_id in places.values() if pool_id})
    return {
        record_id: free[record_id] for record_id, pool_id in places.items() if pool_id in asking
    }


def _pools_that_ask(session: Session, pool_ids: set[str]) -> set[str]:
    found = [pools.get(session, pool_id) for pool_id in sorted(pool_ids)]
    return {
        pool.id
        for pool in found
        if pool
        and pool.policies.sticky is not StickyPolicy.OFF
        and _STEPS & set(pool.policies.sticky_steps)
    }
