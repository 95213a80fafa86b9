"""The bodies and headers that all answers of the sandbox org share."""

from __future__ import annotations

import json

from werkzeug import Response

from adapters.sandbox.salesforce_refusals import Refused


def show_json(body: object, *, status: int = 200) -> Response:
    """A JSON answer as Salesforce types it."""
    text = json.dumps(body, ensure_ascii=False)
    return Response(text, status=status, content_type="application/json;charset=UTF-8")


def show_refusal(refused: Refused) -> Response:
    """The list body of a refused request."""
    return show_json(refused.entries, status=refused.status)


def show_page(status: int, title: str) -> Response:
    """The HTML that a load balancer or the servlet container sends in front of the API."""
    page = f"<h1>Bad Message {status}</h1><pre>reason: {title}</pre>"
    return Response(page, status=status, content_type="text/html;charset=iso-8859-1")
