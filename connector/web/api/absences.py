"""When users are away."""

from __future__ import annotations

from urllib.parse import quote
from uuid import uuid4

from flask import Response

from connector import edits
from connector.errors import NotFound, unknown_user
from connector.model import Absence
from connector.store import users
from connector.store.database import Session
from connector.web import answers, presentation, schemas
from connector.web.context import actor, current, reading, writing
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("absences")


@api.post("/users/<user_id>/absences", responses={201: answers.Absence})
@once
def add_absence(session: Session, path: schemas.UserPath, body: schemas.NewAbsence) -> Response:
    """Say that a user will be away."""
    wanted = Absence(
        id=str(uuid4()), starts_at=body.starts_at, ends_at=body.ends_at, reason=body.reason
    )
    now = current().clock()
    made = edits.add_absence(session, path.user_id, wanted, now=now, actor=actor())
    place = f"/round-robin/users/{quote(path.user_id, safe='')}/absences/{made.id}"
    return answers.answer(presentation.absence(made), 201, headers={"Location": place})


@api.get("/users/<user_id>/absences", responses={200: answers.Absences})
def list_absences(path: schemas.UserPath, query: schemas.Page) -> Response:
    """List a user's absences, those of the past too, by start."""
    with reading() as session:
        if users.get(session, path.user_id) is None:
            raise unknown_user(path.user_id)
        found = users.absences(session, path.user_id, query.cursor, query.limit + 1)
    page = found[: query.limit]
    cursor = page[-1].id if len(found) > len(page) else None
    return answers.answer(presentation.absences(page), headers=answers.next_page(cursor))


@api.delete("/users/<user_id>/absences/<absence_id>", responses={204: None})
def remove_absence(path: schemas.AbsencePath) -> Response:
    """Say that a user will not be away after all, or is back."""
    now = current().clock()
    with writing() as session:
        if users.get(session, path.user_id) is None:
            raise unknown_user(path.user_id)
        gone = edits.remove_absence(session, path.user_id, path.absence_id, now=now, actor=actor())
        if not gone:
            raise NotFound(
                f"User {path.user_id} has no absence {path.absence_id!r}.",
                code="absence_not_found",
            )
    return answers.nothing()
