"""Territories: the ordered rules that choose a pool."""

from __future__ import annotations

from flask import Response

from connector import routing
from connector.model import Lead, Scope, Territory
from connector.store import territories
from connector.store.database import Session
from connector.web import answers, auth, presentation, schemas
from connector.web.context import current, reading, writing
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("territories")


@api.get("/territories", responses={200: answers.Territories})
def list_territories() -> Response:
    """List the territories in order."""
    with reading() as session:
        found = territories.listed(session)
    return answers.answer(presentation.territories(found))


@api.put("/territories", responses={200: answers.Territories})
def replace_territories(body: schemas.NewTerritories) -> Response:
    """Replace all territories at once."""
    wanted = [
        Territory(
            name=rule.name,
            when=rule.when.model_dump(mode="json", by_alias=True),
            pool_id=rule.pool_id,
        )
        for rule in body.root
    ]
    with writing() as session:
        territories.replace(session, wanted)
    return answers.answer(presentation.territories(wanted))


@api.post("/territories/test", responses={200: answers.Trialled})
@auth.needs(Scope.READ)
@once
def try_territories(session: Session, body: schemas.Trial) -> Response:
    """Say which territory a lead with these fields would match, and why earlier ones do not."""
    rules = routing.read(session, current().default_pool)
    found = rules.route(Lead(id="trial", attributes=body.attributes))
    return answers.answer(presentation.trialled(found))
