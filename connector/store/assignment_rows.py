"""A decision as a history row, and back."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select

from connector.model import (
    Assignment,
    Board,
    Decision,
    LeadKind,
    Reason,
    Record,
    Route,
    Slot,
    Status,
    StickyCheck,
    StickyStep,
    Turn,
    WriteBack,
)
from connector.model.keys import company_key, domain_key, email_key
from connector.store import images
from connector.store.database import Session
from connector.store.facts import facts_of
from connector.store.images import Image
from connector.store.seals import seal
from connector.store.tables import assignments, users

PAGE = 500  # rows that a stream reads at once
_GIVEN = (Status.ASSIGNED, Status.REASSIGNED, Status.REJECTED)
_made = count()


def _new_id(moment: datetime) -> str:
    """Make a UUID version 7: ids that one process makes at one moment sort as they were made."""
    milliseconds = int(moment.timestamp() * 1000)
    number = next(_made) & 0xFF_FFFF_FFFF
    high, low = number >> 28, number & 0xFFF_FFFF
    value = milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low << 34
    return str(UUID(int=value | secrets.randbits(34)))


def row_of(decision: Decision, *, board: Board | None) -> dict[str, Any]:
    """Turn a decision into a row, without a sequence yet.

    ``board`` is what it was decided from: the row keeps of it what the journal does not tell.
    """
    lead, owner_id = decision.lead, _owner_id(decision)
    row: dict[str, Any] = {
        "id": _new_id(decision.decided_at),
        "pool_id": decision.pool_id,
        "sequence": None,
        "lead_id": lead.id,
        "kind": lead.kind,
        "status": decision.status,
        "reason": decision.reason,
        "sticky_step": decision.sticky_step,
        "user_id": decision.user.id if decision.user else None,
        "owner_id": owner_id,
        "member_id": decision.turn.member_id if decision.turn else None,
        "assigned_at": decision.decided_at,
        "starts_at": lead.slot.starts_at if lead.slot else None,
        "ends_at": lead.slot.ends_at if lead.slot else None,
        "connection": lead.record.connection if lead.record else None,
        "object_type": lead.record.object_type if lead.record else None,
        "record_id": lead.record.id if lead.record else None,
        "email": lead.email,
        "company": lead.company,
        "email_key": email_key(lead.email),
        "company_key": company_key(lead.company),
        "domain_key": domain_key(lead.email),
        "sticky_user_id": _sticky_user_id(decision),
        "attributes": dict(lead.attributes),
        "counted": decision.counted,
        "current": True,
        "write_back": _write_back(decision, owner_id),
        "actor": decision.actor,
        "note": decision.note,
        "trace": _trace(decision, facts_of(lead, board)),
    }
    row["trace"] |= {"seal": seal(row)}
    return row


def assignment_of(row: Mapping[Any, Any], user_name: str | None) -> Assignment:
    """Turn a row into the model's assignment."""
    record = row["record_id"] and Record(
        connection=row["connection"], object_type=row["object_type"], id=row["record_id"]
    )
    slot = row["starts_at"] and Slot(starts_at=row["starts_at"], ends_at=row["ends_at"])
    told = _told(row["trace"])
    if "turn" not in row["trace"]:  # written before turns were kept whole
        told["turn"] = _turn_of_columns(row)
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
        slot=slot or None,
        owner_id=row["owner_id"],
        counted=row["counted"],
        current=row["current"],
        write_back=WriteBack(row["write_back"]),
        actor=row["actor"],
        note=row["note"],
        **told,
    )


def outcome(row: Assignment) -> Image:
    """Picture what a row says of its lead, for the journal, before an amendment replaces it."""
    return {
        "status": row.status,
        "reason": row.reason,
        "sticky_step": row.sticky_step,
        "user_id": row.user_id,
        "owner_id": row.owner_id,
        "counted": row.counted,
        **_trace(row, row.facts),
    }


def with_outcome(row: Assignment, was: Image) -> Assignment:
    """Give a row the outcome back that it had before it was amended, without the user's name."""
    return replace(
        row,
        status=Status(was["status"]),
        reason=Reason(was["reason"]),
        sticky_step=StickyStep(was["sticky_step"]) if was["sticky_step"] else None,
        user_id=was["user_id"],
        user_name=None,
        owner_id=was["owner_id"],
        counted=was["counted"],
        **_told(was),
    )


def select_rows() -> Select[Any]:
    """Begin a query of history rows, each with its user's name, for ``read`` or ``streamed``."""
    return select(assignments, users.c.name.label("user_name")).join_from(
        assignments, users, users.c.id == assignments.c.user_id, isouter=True
    )


def read(session: Session, query: Select[Any]) -> list[Assignment]:
    """Read the rows of a query at once."""
    return [assignment_of(row._mapping, row.user_name) for row in session.execute(query)]


def streamed(session: Session, query: Select[Any]) -> Generator[Assignment]:
    """Read the rows of a query page by page, however many; within the transaction."""
    with session.execute(query, execution_options={"yield_per": PAGE}) as rows:
        for row in rows:
            yield assignment_of(row._mapping, row.user_name)


def _owner_id(decision: Decision) -> str | None:
    if decision.lead.existing_owner and _owner_stays(decision):
        return decision.lead.existing_owner.owner_id
    if decision.user and decision.lead.record:
        return decision.user.owners.get(decision.lead.record.connection)
    return None


def _write_back(decision: Decision, owner_id: str | None) -> WriteBack:
    given = decision.status in _GIVEN and decision.lead.record and owner_id
    return WriteBack.PENDING if given and not _owner_stays(decision) else WriteBack.NONE


def _owner_stays(decision: Decision) -> bool:
    """Tell whether the CRM has this owner already, perhaps because a person set it there."""
    owner = decision.lead.existing_owner
    if owner is None:
        return False
    theirs = owner.user.id if owner.user else None
    return theirs == (decision.user.id if decision.user else None)


def _sticky_user_id(decision: Decision) -> str | None:
    """Whom look-ups find: someone who stood in does not replace the earlier user."""
    if decision.user is None:
        return None  # held or undone: nobody has it
    return decision.stands_in_for or decision.user.id


def _trace(made: Decision | Assignment, facts: Mapping[str, Any]) -> Image:
    route = made.route
    return {
        "skipped": images.skips(made.skipped),
        "checks": [[check.step, check.user_id, check.outcome] for check in made.checks],
        "order": list(made.order),
        "order_after": list(made.order_after),
        "route": route
        and {
            "pool_id": route.pool_id,
            "territory": route.territory,
            "reason": route.reason,
            "passed": list(route.passed),
        },
        "turn": images.turn(made.turn) if made.turn else None,
        "stands_in_for": made.stands_in_for,
        "gives_back": images.given_back(made.gives_back) if made.gives_back else None,
        "facts": dict(facts),
    }


def _told(trace: Image) -> dict[str, Any]:
    """Build what a trace tells. Rows that were written by an earlier version tell less."""
    turn, given = trace.get("turn"), trace.get("gives_back")
    return {
        "skipped": images.skips_of(trace["skipped"]),
        "checks": tuple(
            StickyCheck(step=StickyStep(step), user_id=user_id, outcome=outcome)
            for step, user_id, outcome in trace["checks"]
        ),
        "order": tuple(trace["order"]),
        "order_after": tuple(trace.get("order_after", ())),
        "route": _route_of(trace["route"]),
        "turn": images.turn_of(turn) if turn else None,
        "stands_in_for": trace.get("stands_in_for"),
        "gives_back": images.given_back_of(given) if given else None,
        "facts": trace.get("facts", {}),
    }


def _turn_of_columns(row: Mapping[Any, Any]) -> Turn | None:
    if row["member_id"] is None or row["user_id"] is None or row["sequence"] is None:
        return None
    return Turn(
        member_id=row["member_id"],
        user_id=row["user_id"],
        sequence=row["sequence"],
        at=row["assigned_at"],
    )


def _route_of(kept: Image | None) -> Route | None:
    if kept is None:
        return None
    return Route(
        pool_id=kept["pool_id"],
        territory=kept["territory"],
        reason=Reason(kept["reason"]) if kept["reason"] else None,
        passed=tuple(kept["passed"]),
    )
