"""Assign a lead."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, NoReturn

from flask import Response

from connector import dispatch
from connector.errors import BadInput, Pointer
from connector.model import Assignment, Lead, LeadKind, Record, Scope, Status
from connector.store.database import Session
from connector.web import answers, auth, presentation, schemas
from connector.web.context import current
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("assign")
OUTCOMES: dict[str | int | HTTPStatus, Any] = {200: answers.Assigned, 202: answers.Assigned}


@api.post("/pools/<pool_id>/assign", responses=OUTCOMES)
@auth.needs(Scope.ASSIGN)
@once
def assign_in_pool(session: Session, path: schemas.PoolPath, body: schemas.NewLead) -> Response:
    """Assign a lead within a pool; 202 when it is held."""
    (made,) = dispatch.assign(session, path.pool_id, [_lead(body)], now=current().clock())
    return _outcome(body, made)


@api.post("/assign", responses=OUTCOMES)
@auth.needs(Scope.ASSIGN)
@once
def assign_routed(session: Session, body: schemas.NewLead) -> Response:
    """Assign a lead; territories or the default pool choose the pool. 202 when it is held."""
    context = current()
    (made,) = dispatch.assign_routed(
        session, [_lead(body)], default_pool=context.default_pool, now=context.clock()
    )
    return _outcome(body, made)


def _outcome(body: schemas.NewLead, made: Assignment) -> Response:
    # A record that was assigned under another lead id answers under the id asked for.
    shown = presentation.assigned(made).model_copy(update={"lead_id": body.lead_id})
    return answers.answer(shown, 202 if made.status is Status.HELD else 200)


def _lead(body: schemas.NewLead) -> Lead:
    return Lead(
        id=body.lead_id,
        kind=LeadKind(body.kind),
        record=_record(body.record) if body.record else None,
        email=body.email,
        company=body.company,
        attributes=body.attributes,
    )


def _record(given: schemas.LeadRecord) -> Record:
    receiver = current().receivers.get(given.connection)
    if receiver is None:
        _bad("/record/connection", f"there is no connection {given.connection!r}")
    object_type = receiver.object_type(given.object_type)
    record_id = receiver.record_id(object_type, given.id)
    if record_id is None:
        _bad("/record/id", f"cannot be the id of a record of {given.connection}")
    return Record(connection=given.connection, object_type=object_type, id=record_id)


def _bad(pointer: str, detail: str) -> NoReturn:
    raise BadInput(f"{pointer}: {detail}", errors=[Pointer(pointer, detail)])
