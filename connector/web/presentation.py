"""How model objects become answers."""

from __future__ import annotations

from collections.abc import Sequence

from connector import model
from connector.store.outbox import OutboxItem
from connector.web import answers


def member(place: model.Member) -> answers.Member:
    """A member as answered."""
    return answers.Member(
        user_id=place.user.id,
        name=place.user.name,
        position=place.position,
        weight=place.weight,
        active=place.active,
    )


def pool(found: model.Pool) -> answers.Pool:
    """A pool as answered."""
    return answers.Pool(
        id=found.id,
        name=found.name,
        strategy=found.strategy,
        created_at=found.created_at,
        members=[member(place) for place in found.members],
    )


def user(found: model.User) -> answers.User:
    """A user as answered."""
    return answers.User(
        user_id=found.id,
        name=found.name,
        email=found.email,
        active=found.active,
        time_zone=found.time_zone,
        owners=dict(found.owners),
    )


def territories(found: Sequence[model.Territory]) -> answers.Territories:
    """Territories as answered."""
    return answers.Territories(
        [
            answers.Territory(name=rule.name, when=dict(rule.when), pool_id=rule.pool_id)
            for rule in found
        ]
    )


def assigned(row: model.Assignment) -> answers.Assigned:
    """What became of a lead, as answered."""
    return answers.Assigned(
        lead_id=row.lead_id,
        assigned_user_id=row.user_id,
        assigned_user_name=row.user_name,
        assignment_id=row.id,
        sequence=row.sequence,
        assigned_at=row.assigned_at,
        pool_id=row.pool_id,
        territory=row.route.territory if row.route else None,
        status=row.status,
        reason=row.reason,
        sticky_step=row.sticky_step,
        record=_record(row.record),
        skipped=[
            answers.Skipped(user_id=s.user_id, reason=s.reason, detail=s.detail)
            for s in row.skipped
        ],
    )


def history_row(row: model.Assignment) -> answers.HistoryRow:
    """A history row as answered."""
    return answers.HistoryRow(
        lead_id=row.lead_id,
        assigned_user_id=row.user_id,
        assigned_user_name=row.user_name,
        assigned_at=row.assigned_at,
        assignment_id=row.id,
        sequence=row.sequence,
        status=row.status,
        reason=row.reason,
        sticky_step=row.sticky_step,
        record=_record(row.record),
        write_back=row.write_back,
    )


def whole_decision(row: model.Assignment, write: OutboxItem | None) -> answers.WholeDecision:
    """An assignment with every reason, as answered. ``write`` is its owner write, if any."""
    return answers.WholeDecision(
        **assigned(row).model_dump(),
        kind=row.kind,
        email=row.email,
        company=row.company,
        attributes=dict(row.attributes),
        current=row.current,
        owner_id=row.owner_id,
        route=_route(row.route),
        checks=[
            answers.Check(step=check.step, user_id=check.user_id, outcome=check.outcome)
            for check in row.checks
        ],
        order=list(row.order),
        write_back=_write_back(row.write_back, write),
    )


def _record(found: model.Record | None) -> answers.Record | None:
    if found is None:
        return None
    return answers.Record(connection=found.connection, object_type=found.object_type, id=found.id)


def _route(found: model.Route | None) -> answers.Route | None:
    if found is None:
        return None
    return answers.Route(
        pool_id=found.pool_id,
        territory=found.territory,
        reason=found.reason,
        passed=list(found.passed),
    )


def _write_back(state: model.WriteBack, write: OutboxItem | None) -> answers.WriteBack:
    if write is None:
        return answers.WriteBack(
            state=state, attempts=0, last_error=None, crm_message=None, next_try_at=None
        )
    return answers.WriteBack(
        state=state,
        attempts=write.attempts,
        last_error=write.last_error,
        crm_message=write.crm_message,
        next_try_at=write.due_at if state is model.WriteBack.PENDING else None,
    )
