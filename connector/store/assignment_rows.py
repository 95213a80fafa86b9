"""A decision as a history row, and back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from connector.model import (
    Assignment,
    Decision,
    LeadKind,
    Reason,
    Record,
    Route,
    Skip,
    SkipReason,
    Status,
    StickyCheck,
    StickyStep,
    WriteBack,
)


def _new_id(moment: datetime, number: int) -> str:
    """Make a UUID version 7: rows of one moment sort in the order of ``number``."""
    milliseconds = int(moment.timestamp() * 1000)
    value = milliseconds << 80 | 0x7 << 76 | (number & 0xFFF) << 64 | 0b10 << 62
    return str(UUID(int=value | secrets.randbits(62)))


def row_of(decision: Decision, number: int) -> dict[str, Any]:
    """Turn the ``number``-th decision of a call into a row, without a sequence yet."""
    lead, owner_id = decision.lead, _owner_id(decision)
    return {
        "id": _new_id(decision.decided_at, number),
        "pool_id": decision.pool_id,
        "sequence": None,
        "lead_id": lead.id,
        "kind": lead.kind,
        "status": decision.status,
        "reason": decision.reason,
        "sticky_step": decision.sticky_step,
        "user_id": decision.user.id if decision.user else None,
        "owner_id": owner_id,
        "member_id": decision.member_id,
        "assigned_at": decision.decided_at,
        "connection": lead.record.connection if lead.record else None,
        "object_type": lead.record.object_type if lead.record else None,
        "record_id": lead.record.id if lead.record else None,
        "email": lead.email,
        "company": lead.company,
        "attributes": dict(lead.attributes),
        "current": True,
        "write_back": _write_back(decision, owner_id),
        "trace": _trace(decision),
    }


def _owner_id(decision: Decision) -> str | None:
    lead = decision.lead
    if lead.existing_owner:
        return lead.existing_owner.owner_id
    if decision.user and lead.record:
        return decision.user.owners.get(lead.record.connection)
    return None


def _write_back(decision: Decision, owner_id: str | None) -> WriteBack:
    ours = decision.status in (Status.ASSIGNED, Status.REASSIGNED)
    if ours and decision.reason is not Reason.MANUAL and decision.lead.record and owner_id:
        return WriteBack.PENDING
    return WriteBack.NONE


def _trace(decision: Decision) -> dict[str, Any]:
    route = decision.route
    return {
        "skipped": [[skip.user_id, skip.reason, skip.detail] for skip in decision.skipped],
        "checks": [[check.step, check.user_id, check.outcome] for check in decision.checks],
        "order": list(decision.order),
        "route": route
        and {
            "pool_id": route.pool_id,
            "territory": route.territory,
            "reason": route.reason,
            "passed": list(route.passed),
        },
    }


def _route(kept: Mapping[str, Any] | None) -> Route | None:
    if kept is None:
        return None
    return Route(
        pool_id=kept["pool_id"],
        territory=kept["territory"],
        reason=Reason(kept["reason"]) if kept["reason"] else None,
        passed=tuple(kept["passed"]),
    )


def assignment_of(row: Mapping[Any, Any], user_name: str | None) -> Assignment:
    """Turn a row into the model's assignment."""
    record = row["record_id"] and Record(
        connection=row["connection"], object_type=row["object_type"], id=row["record_id"]
    )
    trace = row["trace"]
    return Assignment(
        id=row["id"],
        pool_id=row["pool_id"],
        sequence=row["sequence"],
        lead_id=row["lead_id"],
        kind=LeadKind(row["kind"]),
        status=Status(row["status"]),
        reason=Reason(row["reason"]),
        sticky_step=StickyStep(row["sticky_step"]) if row["sticky_step"] else None,
        user_id=row["user_id"],
        user_name=user_name,
        assigned_at=row["assigned_at"],
        record=record or None,
        email=row["email"],
        company=row["company"],
        attributes=row["attributes"],
        owner_id=row["owner_id"],
        member_id=row["member_id"],
        current=row["current"],
        write_back=WriteBack(row["write_back"]),
        skipped=tuple(
            Skip(user_id=user_id, reason=SkipReason(reason), detail=detail)
            for user_id, reason, detail in trace["skipped"]
        ),
        checks=tuple(
            StickyCheck(step=StickyStep(step), user_id=user_id, outcome=outcome)
            for step, user_id, outcome in trace["checks"]
        ),
        order=tuple(trace["order"]),
        route=_route(trace["route"]),
    )
