"""Puts the web part together."""

from __future__ import annotations

from flask import Response, request
from flask_openapi.openapi import OpenAPI
from pydantic import ValidationError

from connector import __version__
from connector.web import docs, metrics, problems, service, webhooks
from connector.web.api import (
    absences,
    assign,
    assignments,
    history,
    pools,
    territories,
    users,
)
from connector.web.bodies import FLASK_LIMIT, StrictJson
from connector.web.context import EXTENSION, WebContext
from connector.web.documented import SECURITY_SCHEMES

PARTS = (
    pools.api,
    assign.api,
    history.api,
    assignments.api,
    users.api,
    absences.api,
    territories.api,
    webhooks.api,
    service.api,
    metrics.api,
)


def build(context: WebContext) -> OpenAPI:
    """The Flask app over what ``context`` gives. Opens and migrates nothing."""
    app = OpenAPI(
        "connector.web",
        info={"title": "Lead Rota", "version": __version__},
        security_schemes=SECURITY_SCHEMES,
        validation_error_model=problems.Problem,
        validation_error_callback=_not_valid,
        doc_ui=False,
        static_folder=None,
    )
    # The document uses nothing that 3.1 does not have, and more tools read 3.1.
    app.openapi_version = "3.1.0"
    app.json = StrictJson(app)
    app.config["MAX_CONTENT_LENGTH"] = FLASK_LIMIT
    app.url_map.merge_slashes = False
    app.extensions[EXTENSION] = context
    problems.install(app)
    for part in PARTS:
        app.register_api(part)
    docs.install(app)
    return app


def _not_valid(error: ValidationError) -> Response:
    """What was refused may stand in the body, the query, the path or a header."""
    body = request.get_json(silent=True)  # None too when a GET calls its empty body JSON
    around = {**request.args, **(request.view_args or {}), **request.headers}
    fields = body if isinstance(body, dict) else {}
    document = body if isinstance(body, list) else {**around, **fields}
    return problems.answer(problems.not_valid(error, document))
