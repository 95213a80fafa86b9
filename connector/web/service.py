"""Is it alive, is it ready."""

from __future__ import annotations

from flask import Response
from flask_openapi.blueprint import APIBlueprint

from connector.store import schema
from connector.web import answers
from connector.web.context import current
from connector.web.documented import refusals

api = APIBlueprint("service", __name__, abp_tags=[{"name": "service"}])


@api.get("/healthz", responses={200: answers.Health, **refusals(405)})
def healthz() -> Response:
    """Say that the process is alive."""
    return answers.answer(answers.Health())


@api.get("/readyz", responses={200: answers.Health, **refusals(405, 503)})
def readyz() -> Response:
    """Say that the database is reachable and its schema fits."""
    schema.check(current().database)
    return answers.answer(answers.Health())
