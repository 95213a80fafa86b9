"""POST requests that are safe to send again under the same ``Idempotency-Key``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from flask import Response, g, request

from connector.errors import BadInput, Conflict, StoreUnavailable
from connector.store import idempotency
from connector.store.database import Session
from connector.web import problems
from connector.web.context import current, writing
from connector.web.schemas import IdempotencyHeader

KEPT_HEADERS = ("Location",)


def once(view: Callable[..., Response]) -> Callable[..., Response]:
    """Give a POST view its transaction, and its first answer again to a key that was seen.

    The answer is stored in the transaction of the work, so both are there or neither.
    """

    @wraps(view)
    def run(*, header: IdempotencyHeader, **given: Any) -> Response:
        if header.key is None:
            with writing() as session:
                return view(session, **given)
        return _replay(header.key) or _first(header.key, lambda session: view(session, **given))

    # flask-openapi reads what a view takes from its annotations.
    run.__annotations__ = {**view.__annotations__, "header": IdempotencyHeader}
    return run


def _replay(key: str) -> Response | None:
    """The answer that this key got before; None when the key is ours to use now."""
    body_hash = hashlib.sha256(request.get_data()).hexdigest()
    context = current()
    with context.database.write() as session:
        stored = idempotency.begin(session, g.token, key, request.path, body_hash, context.clock())
    if stored is None:
        return None
    if (stored.path, stored.body_hash) != (request.path, body_hash):
        raise BadInput(
            "This Idempotency-Key came with another path or body before. Use a new key.",
            code="idempotency_key_reused",
        )
    if stored.status is None:
        raise Conflict(
            "The first request with this Idempotency-Key is still running. Try again shortly.",
            code="idempotency_key_running",
        )
    kind = problems.MEDIA_TYPE if stored.status >= 400 else "application/json"
    response = Response(stored.body, stored.status, stored.headers, mimetype=kind)
    response.headers["Idempotency-Replayed"] = "true"
    return response


def _first(key: str, work: Callable[[Session], Response]) -> Response:
    try:
        with writing() as session:
            response = work(session)
            _finish(session, key, response)
            return response
    except BadInput as error:
        response = problems.answer(error)
        with current().database.write() as session:
            _finish(session, key, response)
        return response
    except Exception:
        with suppress(StoreUnavailable), current().database.write() as session:
            idempotency.drop(session, g.token, key)
        raise


def _finish(session: Session, key: str, response: Response) -> None:
    headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
    idempotency.finish(
        session,
        g.token,
        key,
        status=response.status_code,
        body=response.get_data(),
        headers=headers,
    )
