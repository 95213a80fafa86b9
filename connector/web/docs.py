"""The OpenAPI document and a page to read it, which loads nothing from elsewhere.

The page is Swagger UI out of the package ``flask-openapi-swagger``; only its static files are used,
since the page of that package is made for another address and has scripts inside.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from flask import Blueprint, Response
from flask_openapi.openapi import OpenAPI

from connector.web import auth

STATIC = files("flask_openapi_swagger") / "templates" / "swagger"
# Swagger UI sets style attributes and draws its icons as data: images.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Lead Rota: REST API</title>
<link rel="icon" href="/docs/assets/images/swagger.svg">
<link rel="stylesheet" href="/docs/assets/css/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/assets/js/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
});
"""


def install(app: OpenAPI) -> None:
    """Serve ``/openapi.json`` and ``/docs``."""
    blueprint = Blueprint(
        "docs", __name__, static_folder=str(STATIC), static_url_path="/docs/assets"
    )
    blueprint.add_url_rule("/docs", view_func=_page)
    blueprint.add_url_rule("/docs/start.js", view_func=_start)
    app.register_blueprint(blueprint)
    app.add_url_rule("/openapi.json", "openapi", lambda: _document(app))


def _document(app: OpenAPI) -> dict[str, Any]:
    found: dict[str, Any] = app.api_doc
    for path in ("/healthz", "/readyz", "/metrics"):
        # The library promises a 422 everywhere, but these look at no input.
        found["paths"][path]["get"]["responses"].pop("422", None)
    for rule in app.url_map.iter_rules():
        path = re.sub("<(.+?)>", r"{\1}", rule.rule)
        for method, operation in found["paths"].get(path, {}).items():
            if method.upper() in (rule.methods or ()) and "security" in operation:
                scope = auth.needed(app.view_functions[rule.endpoint], method.upper())
                operation["security"] = [{"token": [scope]}]
    return found


def _page() -> Response:
    return Response(PAGE, mimetype="text/html", headers={"Content-Security-Policy": POLICY})


def _start() -> Response:
    return Response(START, mimetype="text/javascript")
