"""The one address of each connection at which its CRM delivers events.

Raw body first, then signature, then parse, then stored, then answered. No CRM is ever called here.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import structlog
from flask import Response, request
from flask_openapi.blueprint import APIBlueprint
from werkzeug.exceptions import HTTPException

from connector.errors import NotFound, StoreBehind, StoreUnavailable, WebhookRefused
from connector.ports import Answer, Delivery, Receiver
from connector.store import inbox
from connector.web import bodies, problems
from connector.web.context import current, writing
from connector.web.documented import refusals
from connector.web.schemas import ConnectionPath

log = structlog.get_logger()

api = APIBlueprint("webhooks", __name__, abp_tags=[{"name": "webhooks"}])
ANYTHING = {"application/json": {"schema": {}}, "text/xml": {"schema": {"type": "string"}}}
REFUSALS = refusals(400, 401, 403, 404, 405, 413, 415, 422, 503)
for _refusal_format in REFUSALS.values():
    # A refusal of an outbound message is a SOAP fault.
    _refusal_format["content"]["text/xml"] = ANYTHING["text/xml"]


@api.post(
    "/webhooks/<connection>",
    request_body={"content": ANYTHING, "required": True},
    responses={
        200: {"description": "Stored (SOAP: the Ack envelope)", "content": ANYTHING},
        202: {"description": "Stored", "content": {"application/json": {"schema": {}}}},
        204: {"description": "Stored"},
        **REFUSALS,
    },
)
def receive(path: ConnectionPath) -> Response:
    """Take in what a CRM delivers. Signed or keyed by the CRM; no token."""
    receiver = current().receivers.get(path.connection)
    if receiver is None:
        raise NotFound(f"There is no connection {path.connection!r}.", code="connection_not_found")
    try:
        return _response(_take_in(path.connection, receiver))
    except WebhookRefused as refusal:
        log.warning(
            "webhook_refused", connection=path.connection, code=refusal.code, status=refusal.status
        )
        return _refusal(receiver, refusal)


def _take_in(connection: str, receiver: Receiver) -> Answer:
    delivery = Delivery(
        method=request.method,
        target=target(),
        headers={name.lower(): value for name, value in request.headers},
        body=_body(),
    )
    now = current().clock()
    receiver.verify(delivery, now)
    received = receiver.parse(delivery)
    events = received.events
    try:
        with writing() as session:
            new = inbox.add(session, connection, events, now)
    except (StoreUnavailable, StoreBehind) as error:
        log.error(error.code, detail=error.message)
        raise WebhookRefused(problems.STORE_LOST, code=error.code, status=503) from error
    log.info("webhook_stored", connection=connection, events=len(events), new=new)
    return received.answer


def target() -> str:
    """Path and query exactly as on the request line; signatures are computed over them."""
    raw = request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI")
    if not raw:
        # WSGI keeps only the decoded path; a server without the raw one gets the usual encoding.
        path = quote(request.environ["PATH_INFO"].encode("latin-1"), safe="/!$&'()*+,;=:@-._~")
        query = request.environ.get("QUERY_STRING", "")
        return f"{path}?{query}" if query else path
    if raw.startswith("/"):
        return str(raw)
    parts = urlsplit(raw)  # a proxy may send the absolute form
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _body() -> bytes:
    try:
        return bodies.read()
    except HTTPException as error:
        status = error.code or 400
        code = problems.http_word(status)
        raise WebhookRefused(error.description or code, code=code, status=status) from error


def _refusal(receiver: Receiver, refusal: WebhookRefused) -> Response:
    own = receiver.refused(refusal)
    response = problems.answer(refusal) if own is None else _response(own)
    if refusal.code in problems.RETRY_AFTER:
        response.headers["Retry-After"] = problems.RETRY_AFTER[refusal.code]
    return response


def _response(answer: Answer) -> Response:
    response = Response(answer.body, answer.status)
    if answer.content_type is None:
        del response.headers["Content-Type"]
    else:
        response.headers["Content-Type"] = answer.content_type
    return response
