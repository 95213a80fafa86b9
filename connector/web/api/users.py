"""Users and the owner ids under which CRMs know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import time
from typing import Any

from flask import Response

from connector import edits
from connector.errors import BadInput, Pointer, unknown_user
from connector.model import User, WorkingHours
from connector.store import users
from connector.web import answers, presentation, schemas
from connector.web.context import actor, current, reading, writing
from connector.web.documented import blueprint
from connector.web.fields import DAYS

api = blueprint("users")


@api.get("/users", responses={200: answers.Users})
def list_users(query: schemas.Page) -> Response:
    """List users by id."""
    with reading() as session:
        found = users.listed(session, query.cursor, query.limit + 1)
    page = found[: query.limit]
    cursor = page[-1].id if len(found) > len(page) else None
    body = answers.Users([presentation.user(user) for user in page])
    return answers.answer(body, headers=answers.next_page(cursor))


@api.get("/users/<user_id>", responses={200: answers.User})
def show_user(path: schemas.UserPath) -> Response:
    """Show a user."""
    with reading() as session:
        found = users.get(session, path.user_id)
    if found is None:
        raise unknown_user(path.user_id)
    return answers.answer(presentation.user(found))


@api.put("/users/<user_id>", responses={200: answers.User, 201: answers.User})
def put_user(path: schemas.UserPath, body: schemas.NewUser) -> Response:
    """Make a user or replace one; what is left out takes its default. Absences stay."""
    user = User(
        id=path.user_id,
        name=body.name or path.user_id,
        email=body.email,
        active=body.active,
        status=body.status,
        time_zone=body.time_zone,
        working_hours=_working_hours(body.working_hours),
        holidays=body.holidays,
        owners=_owners(body.owners),
        daily_quota=body.daily_quota,
    )
    with writing() as session:
        made = edits.put_user(session, user, now=current().clock(), actor=actor())
        kept = users.find(session, [user.id])[user.id]  # with what CRMs tell
    return answers.answer(presentation.user(kept), 201 if made else 200)


@api.patch("/users/<user_id>", responses={200: answers.User})
def change_user(path: schemas.UserPath, body: schemas.UserPatch) -> Response:
    """Change the given fields of a user."""
    given: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "working_hours" in given:
        given["working_hours"] = _working_hours(body.working_hours)
    owners: Mapping[str, str | None] = given.pop("owners", {})
    added = _owners({name: raw for name, raw in owners.items() if raw is not None})

    def revise(user: User) -> User:
        kept = {name: raw for name, raw in user.owners.items() if name not in owners}
        return replace(user, owners=kept | added, **given)

    with writing() as session:
        changed = edits.change_user(
            session, path.user_id, revise, now=current().clock(), actor=actor()
        )
    return answers.answer(presentation.user(changed))


def _working_hours(given: Sequence[schemas.Hours]) -> tuple[WorkingHours, ...]:
    return tuple(
        WorkingHours(
            days=tuple(sorted(DAYS.index(day) for day in row.days)),
            start=time.fromisoformat(row.start),
            end=time(0) if row.end == "24:00" else time.fromisoformat(row.end),
        )
        for row in given
    )


def _owners(given: Mapping[str, str]) -> dict[str, str]:
    """Owner ids in the form that their CRM's records show; other connections' as given."""
    owners = {}
    for connection, raw in given.items():
        receiver = current().receivers.get(connection)
        owner_id = receiver.owner_id(raw) if receiver else raw
        if owner_id is None:
            pointer = "/owners/" + connection.replace("~", "~0").replace("/", "~1")
            detail = f"{raw!r} cannot be the id of an owner of {connection}"
            raise BadInput(f"{pointer}: {detail}", errors=[Pointer(pointer, detail)])
        owners[connection] = owner_id
    return owners
