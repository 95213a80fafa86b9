"""Answers as HTTP responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlencode

from flask import Response, request
from pydantic import BaseModel


class Health(BaseModel):
    """The process or the database is well."""

    status: Literal["ok"] = "ok"


def answer(
    body: BaseModel, status: int = 200, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response."""
    text = body.model_dump_json(by_alias=True)
    return Response(text, status, headers, mimetype="application/json")


def nothing() -> Response:
    """A 204: it is done, and there is nothing to say."""
    response = Response(status=204)
    response.headers.remove("Content-Type")
    return response


def next_page(cursor: str | None) -> dict[str, str]:
    """The Link header that leads to the next page of the list asked for; none at the end."""
    if cursor is None:
        return {}
    query: dict[str, Any] = {**request.args.to_dict(), "cursor": cursor}
    return {"Link": f'<{request.path}?{urlencode(query)}>; rel="next"'}
