"""The one address of each connection at which its CRM delivers events.

Raw body first, then signature, then parse, then stored, then answered. The CRM is called only when
a workflow waits for the answer, and then too what it asks is stored first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote, urlsplit

import structlog
from flask import Response, request
from flask_openapi.blueprint import APIBlueprint
from werkzeug.exceptions import HTTPException

from connector import questions
from connector.errors import NotFound, StoreBehind, StoreUnavailable, WebhookRefused
from connector.model import LeadEvent
from connector.ports import Answer, Choice, Delivery, Question, Receiver
from connector.store import inbox, pools
from connector.store.database import Session
from connector.web import bodies, problems
from connector.web.context import current, reading, writing
from connector.web.documented import refusals
from connector.web.schemas import ConnectionPath
from connector.web.waiting import WaitingRoom

MOST_POOLS = 1000

log = structlog.get_logger()
_waiting = WaitingRoom()

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
    return _answered(path.connection, _take_in)


@api.post(
    "/webhooks/<connection>/options",
    request_body={"content": ANYTHING, "required": True},
    responses={200: {"description": "The pools", "content": ANYTHING}, **REFUSALS},
)
def list_pools(path: ConnectionPath) -> Response:
    """List the pools for a workflow's drop-down. Signed by the CRM; no token."""
    return _answered(path.connection, _pools)


def _answered(connection: str, work: Callable[[str, Receiver, Delivery], Answer]) -> Response:
    """What the work answers to a delivery whose sender is who it claims to be."""
    receiver = current().receivers.get(connection)
    if receiver is None:
        raise NotFound(f"There is no connection {connection!r}.", code="connection_not_found")
    now = current().clock()
    delivery = Delivery(
        method=request.method,
        target=target(),
        headers={name.lower(): value for name, value in request.headers},
        body=b"",
        received_at=now,
    )
    try:
        delivery = replace(delivery, body=_body())
        receiver.verify(delivery, now)
        return _response(work(connection, receiver, delivery))
    except WebhookRefused as refusal:
        log.warning(
            "webhook_refused",
            connection=connection,
            code=refusal.code,
            status=refusal.status,
            detail=refusal.message,
        )
        return _refusal(receiver, refusal, delivery)


def _pools(connection: str, receiver: Receiver, delivery: Delivery) -> Answer:
    with reading() as session:
        found = pools.listed(session, None, MOST_POOLS)
    told = [
        Choice(id=pool.id, name=pool.name, note=f"{pool.strategy}, members: {len(pool.members)}")
        for pool in sorted(found, key=lambda pool: pool.name.casefold())
    ]
    choices = receiver.choices(delivery, told)
    if choices is None:
        raise NotFound(f"The CRM of {connection!r} asks for no pools.")
    return choices


def _take_in(connection: str, receiver: Receiver, delivery: Delivery) -> Answer:
    now = current().clock()
    received = receiver.parse(delivery)
    if isinstance(received, Question):
        return _answer(connection, received)
    with _storing() as session:
        new = inbox.add(session, connection, received.events, now)
    log.info(
        "webhook_stored",
        connection=connection,
        events=len(received.events),
        new=new,
        ignored=_reasons(received.events),
    )
    return received.answer


def _reasons(events: Iterable[LeadEvent]) -> str | None:
    """Why events of a delivery mean nothing to us, with how many: "other_portal: 2"."""
    counts = Counter(event.ignored for event in events if event.ignored)
    return ", ".join(f"{reason}: {counts[reason]}" for reason in sorted(counts)) or None


def _answer(connection: str, question: Question) -> Answer:
    """Who gets the lead, if that is known in time; else the workflow waits for the worker."""
    context = current()
    now = context.clock()
    with _storing() as session:
        asked = questions.note(session, connection, question, now)
    verdict = asked.verdict or _waiting.ask(
        lambda: questions.decide(
            context.database,
            asked,
            context.crm(connection),
            default_pool=context.default_pool,
            now=now,
        )
    )
    with _storing() as session:
        questions.answer(session, asked, verdict, now)
    log.info("workflow_answered", connection=connection, waits=verdict is None)
    return question.answer(verdict)


@contextmanager
def _storing() -> Iterator[Session]:
    """A transaction without which the CRM must send its delivery again."""
    try:
        with writing() as session:
            yield session
    except (StoreUnavailable, StoreBehind) as error:
        log.error(error.code, detail=error.message)
        raise WebhookRefused(problems.STORE_LOST, code=error.code, status=503) from error


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


def _refusal(receiver: Receiver, refusal: WebhookRefused, delivery: Delivery) -> Response:
    own = receiver.refused(refusal, delivery)
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
