"""Assign leads, and see who would get the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, NoReturn

from flask import Response

from connector import dispatch
from connector.dispatch import Refused
from connector.errors import BadInput, Conflict, Pointer
from connector.model import Assignment, Lead, Record, Scope, Slot, Status, User
from connector.store import users
from connector.store.database import Session
from connector.web import answers, auth, presentation, schemas
from connector.web.context import actor, current, reading
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("assign")
OUTCOMES: dict[str | int | HTTPStatus, Any] = {200: answers.Assigned, 202: answers.Assigned}


@api.post("/pools/<pool_id>/assign", responses=OUTCOMES)
@auth.needs(Scope.ASSIGN)
@once
def assign_in_pool(session: Session, path: schemas.PoolPath, body: schemas.NewLead) -> Response:
    """Assign a lead within a pool; 202 when it is held."""
    leads = _leads(session, [body], at="")
    (made,) = dispatch.assign(session, path.pool_id, leads, now=current().clock(), actor=actor())
    return _outcome(body, made)


@api.post("/pools/<pool_id>/assign/batch", responses={200: answers.Batch})
@auth.needs(Scope.ASSIGN)
@once
def assign_batch(session: Session, path: schemas.PoolPath, body: schemas.NewLeads) -> Response:
    """Assign leads within a pool, one after the other in one transaction."""
    leads = _leads(session, body.leads, at="/leads/{}")
    made = dispatch.assign(session, path.pool_id, leads, now=current().clock(), actor=actor())
    return answers.answer(presentation.batch([lead.id for lead in leads], made))


@api.post("/assign", responses=OUTCOMES)
@auth.needs(Scope.ASSIGN)
@once
def assign_routed(session: Session, body: schemas.NewLead) -> Response:
    """Assign a lead; territories or the default pool choose the pool. 202 when it is held."""
    context = current()
    (made,) = dispatch.assign_routed(
        session,
        _leads(session, [body], at=""),
        default_pool=context.default_pool,
        now=context.clock(),
        actor=actor(),
        may_refuse=True,
    )
    return _outcome(body, made)


@api.get("/pools/<pool_id>/preview", responses={200: answers.Preview})
def preview(path: schemas.PoolPath, query: schemas.PreviewQuery) -> Response:
    """Show who would get the next leads now. Changes nothing."""
    with reading() as session:
        found = dispatch.next_users(session, path.pool_id, query.count, now=current().clock())
    return answers.answer(presentation.preview(found))


def _outcome(body: schemas.NewLead, made: Assignment | Refused) -> Response:
    if isinstance(made, Refused):
        raise Conflict(
            f"Nobody in the pool can take lead {body.lead_id} now, and the pool holds none. "
            f"{_why(made)}.",
            code="no_member_available",
        )
    shown = presentation.assigned(made, body.lead_id)
    return answers.answer(shown, 202 if made.status is Status.HELD else 200)


def _why(refused: Refused) -> str:
    """Up to three members with their reasons."""
    if not refused.skipped:
        return "The pool has no members"
    named = [f"{skip.user_id}: {skip.detail or skip.reason}" for skip in refused.skipped[:3]]
    rest = len(refused.skipped) - len(named)
    return "; ".join([*named, f"and {rest} more"] if rest else named)


def _leads(session: Session, bodies: Sequence[schemas.NewLead], *, at: str) -> list[Lead]:
    """The leads as the engine takes them; ``at`` points to one, {} stands for its number."""
    wished = {body.preferred_user_id for body in bodies if body.preferred_user_id}
    people = users.find(session, wished)
    return [
        _lead(body, people.get(body.preferred_user_id or ""), at=at.format(number))
        for number, body in enumerate(bodies)
    ]


def _lead(body: schemas.NewLead, preferred: User | None, *, at: str) -> Lead:
    if body.preferred_user_id and preferred is None:
        _bad(f"{at}/preferred_user_id", f"there is no user {body.preferred_user_id!r}")
    slot = None
    if body.starts_at and body.ends_at:
        slot = Slot(starts_at=body.starts_at, ends_at=body.ends_at)
    return Lead(
        id=body.lead_id,
        kind=body.kind,
        record=_record(body.record, at=f"{at}/record") if body.record else None,
        email=body.email,
        company=body.company,
        attributes=body.attributes,
        slot=slot,
        preferred=preferred,
    )


def _record(given: schemas.LeadRecord, *, at: str) -> Record:
    receiver = current().receivers.get(given.connection)
    if receiver is None:
        _bad(f"{at}/connection", f"there is no connection {given.connection!r}")
    object_type = receiver.object_type(given.object_type)
    record_id = receiver.record_id(object_type, given.id)
    if record_id is None:
        _bad(f"{at}/id", f"cannot be the id of a record of {given.connection}")
    return Record(connection=given.connection, object_type=object_type, id=record_id)


def _bad(pointer: str, detail: str) -> NoReturn:
    raise BadInput(f"{pointer}: {detail}", errors=[Pointer(pointer, detail)])
