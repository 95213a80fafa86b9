"""One assignment with every reason, and what a person may do with it."""

from __future__ import annotations

from flask import Response

from connector import changes
from connector.errors import NotFound
from connector.model import Assignment, Scope
from connector.store import assignments, history, outbox, users
from connector.store.database import Session
from connector.web import answers, auth, presentation, schemas
from connector.web.context import actor, current, reading
from connector.web.documented import blueprint, optional
from connector.web.idempotency import once

api = blueprint("assignments", body_is_optional=True)

LATER_ROWS = 100  # of one lead in one pool


@api.get("/assignments/<assignment_id>", responses={200: answers.WholeDecision})
def show_assignment(path: schemas.AssignmentPath) -> Response:
    """Show the whole decision, what happened to the write-back, and what came later."""
    with reading() as session:
        found = assignments.get(session, path.assignment_id)
        if found is None:
            raise NotFound(
                f"There is no assignment {path.assignment_id!r}.", code="assignment_not_found"
            )
        write = outbox.of_assignments(session, [found.id]).get(found.id)
        people = users.find(session, found.order)
        later = _later(session, found)
    names = {user_id: person.name for user_id, person in people.items()}
    shown = presentation.whole_decision(found, write=write, names=names, later=later)
    return answers.answer(shown)


@api.post(
    "/assignments/<assignment_id>/reassign",
    request_body=optional(schemas.Reassignment),
    responses={200: answers.Assigned},
)
@auth.needs(Scope.ASSIGN)
@once
def reassign(
    session: Session, path: schemas.AssignmentPath, body: schemas.Reassignment
) -> Response:
    """Give the lead to this user, or to the next one in turn."""
    made = changes.reassign(
        session,
        path.assignment_id,
        user_id=body.user_id,
        override=body.override,
        now=current().clock(),
        actor=actor(),
        note=body.note,
    )
    return answers.answer(presentation.assigned(made))


@api.post(
    "/assignments/<assignment_id>/reject",
    request_body=optional(schemas.Remark),
    responses={200: answers.Assigned},
)
@auth.needs(Scope.ASSIGN)
@once
def reject(session: Session, path: schemas.AssignmentPath, body: schemas.Remark) -> Response:
    """Take the lead from its user, who gives it back, and give it to the next one in turn."""
    now = current().clock()
    made = changes.reject(session, path.assignment_id, now=now, actor=actor(), note=body.note)
    return answers.answer(presentation.assigned(made))


@api.post(
    "/assignments/<assignment_id>/undo",
    request_body=optional(schemas.Remark),
    responses={200: answers.Assigned},
)
@auth.needs(Scope.ASSIGN)
@once
def undo(session: Session, path: schemas.AssignmentPath, body: schemas.Remark) -> Response:
    """Take the assignment back: nobody has the lead, turn and quota return."""
    now = current().clock()
    made = changes.undo(session, path.assignment_id, now=now, actor=actor(), note=body.note)
    return answers.answer(presentation.assigned(made))


def _later(session: Session, found: Assignment) -> list[Assignment]:
    """Newer rows of the same lead in the same pool, oldest first."""
    if found.pool_id is None or found.sequence is None:
        return []
    newest_first = history.history(session, found.pool_id, lead_id=found.lead_id, limit=LATER_ROWS)
    return [row for row in reversed(newest_first) if (row.sequence or 0) > found.sequence]
