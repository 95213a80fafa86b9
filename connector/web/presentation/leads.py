"""How decisions become answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connector import model
from connector.dispatch import Refused
from connector.store.outbox import OutboxItem
from connector.web import answers


def assigned(row: model.Assignment, lead_id: str | None = None) -> answers.Assigned:
    """What became of a lead, as answered.

    ``lead_id`` is the one asked for: a record may have been assigned under another.
    """
    return answers.Assigned(
        lead_id=row.lead_id if lead_id is None else lead_id,
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
        skipped=_skipped(row.skipped),
    )


def batch(lead_ids: Sequence[str], found: Sequence[model.Assignment | Refused]) -> answers.Batch:
    """What became of the leads of a batch, as answered."""
    return answers.Batch(
        results=[
            _refused(one, lead_id) if isinstance(one, Refused) else assigned(one, lead_id)
            for lead_id, one in zip(lead_ids, found, strict=True)
        ]
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
        actor=row.actor,
        note=row.note,
    )


def lead_history(rows: Sequence[model.Assignment]) -> answers.LeadHistory:
    """A lead's history rows as answered."""
    return answers.LeadHistory(
        [
            answers.LeadHistoryRow(**history_row(row).model_dump(), pool_id=row.pool_id)
            for row in rows
        ]
    )


def whole_decision(
    row: model.Assignment,
    *,
    write: OutboxItem | None,
    names: Mapping[str, str],
    later: Sequence[model.Assignment],
) -> answers.WholeDecision:
    """An assignment with every reason, as answered.

    ``write`` is its owner write, if any; ``names`` are by user id; ``later`` are the newer rows of
    the lead in the pool.
    """
    return answers.WholeDecision(
        **assigned(row).model_dump(),
        kind=row.kind,
        starts_at=row.slot.starts_at if row.slot else None,
        ends_at=row.slot.ends_at if row.slot else None,
        email=row.email,
        company=row.company,
        attributes=dict(row.attributes),
        current=row.current,
        counted=row.counted,
        turn=_turn(row.turn),
        owner_id=row.owner_id,
        stands_in_for=row.stands_in_for,
        actor=row.actor,
        note=row.note,
        route=_route(row.route),
        checks=[
            answers.Check(step=check.step, user_id=check.user_id, outcome=check.outcome)
            for check in row.checks
        ],
        members=_verdicts(row, names),
        order=list(row.order),
        order_after=list(row.order_after),
        later=[history_row(one) for one in later],
        write_back=_write_back(row.write_back, write),
    )


def _refused(found: Refused, lead_id: str) -> answers.BatchItem:
    return answers.BatchItem(
        lead_id=lead_id,
        assigned_user_id=None,
        assigned_user_name=None,
        assignment_id=None,
        sequence=None,
        assigned_at=None,
        pool_id=found.pool_id,
        territory=None,
        status="refused",
        reason=found.reason,
        sticky_step=None,
        record=_record(found.lead.record),
        skipped=_skipped(found.skipped),
    )


def _skipped(found: Sequence[model.Skip]) -> list[answers.Skipped]:
    return [answers.Skipped(user_id=s.user_id, reason=s.reason, detail=s.detail) for s in found]


def _verdicts(row: model.Assignment, names: Mapping[str, str]) -> list[answers.Verdict]:
    """Who could take the lead; no member is asked when its owner stays or a person decides."""
    asked = row.status is not model.Status.KEPT and row.reason is not model.Reason.MANUAL
    skips = {skip.user_id: skip for skip in row.skipped}
    verdicts = []
    for user_id in row.order:
        skip = skips.get(user_id)
        verdicts.append(
            answers.Verdict(
                user_id=user_id,
                name=names.get(user_id, user_id),
                verdict=skip.reason if skip else "able" if asked else "not_asked",
                detail=skip.detail if skip else None,
                until=skip.until if skip else None,
            )
        )
    return verdicts


def _record(found: model.Record | None) -> answers.Record | None:
    if found is None:
        return None
    return answers.Record(connection=found.connection, object_type=found.object_type, id=found.id)


def _turn(used: model.Turn | None) -> answers.Turn | None:
    return answers.Turn(user_id=used.user_id, sequence=used.sequence) if used else None


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
