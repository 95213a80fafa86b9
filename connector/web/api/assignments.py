"""One assignment with every reason."""

from __future__ import annotations

from flask import Response

from connector.errors import NotFound
from connector.store import assignments, outbox
from connector.web import answers, presentation, schemas
from connector.web.context import reading
from connector.web.documented import blueprint

api = blueprint("assignments")


@api.get("/assignments/<assignment_id>", responses={200: answers.WholeDecision})
def show_assignment(path: schemas.AssignmentPath) -> Response:
    """Show the whole decision and what happened to the write-back."""
    with reading() as session:
        found = assignments.get(session, path.assignment_id)
        if found is None:
            raise NotFound(
                f"There is no assignment {path.assignment_id!r}.", code="assignment_not_found"
            )
        write = outbox.of_assignment(session, found.id)
    return answers.answer(presentation.whole_decision(found, write))
