"""Who may call the REST API, and what a token must be good for.

A view asks for the scope that its method suggests (GET: read, all else: admin), or for the one that
``needs`` gives it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from flask import current_app, g, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from connector.errors import BadInput, StoreUnavailable
from connector.model import Scope
from connector.store import access
from connector.web.context import current, reading

View = TypeVar("View", bound=Callable[..., Any])

SETTING = "LEADROTA_API_TOKEN"  # the one token that stands in no table
READING = ("GET", "HEAD", "OPTIONS")


def needs(scope: Scope) -> Callable[[View], View]:
    """Ask callers of this view for another scope than its method suggests."""

    def mark(view: View) -> View:
        vars(view)["needed_scope"] = scope  # functools.wraps carries it on
        return view

    return mark


def needed(view: Callable[..., Any], method: str) -> Scope:
    """The scope that callers of a view need."""
    by_method = Scope.READ if method in READING else Scope.ADMIN
    found: Scope = vars(view).get("needed_scope", by_method)
    return found


def require() -> None:
    """Let a request pass whose token is known and good for what it asks.

    ``g.token`` is then a hash of the token, so that it can be stored, and ``g.actor`` its name.
    """
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    token = rest.strip()
    if scheme.lower() != "bearer" or not token:
        _refuse("Send the header Authorization: Bearer TOKEN.")
    name, scope = _owner(token)
    asked = needed(current_app.view_functions[str(request.endpoint)], request.method)
    if not scope.covers(asked):
        raise BadInput(
            f"This needs a token with the scope {asked}; the token {name!r} has the scope {scope}.",
            code="scope_missing",
        )
    g.token = access.hash_of(token)
    g.actor = name


def _owner(token: str) -> tuple[str, Scope]:
    """Name and scope of a token. Unknown and revoked ones are refused in the same words."""
    expected = current().api_token
    if expected and hmac.compare_digest(token.encode(), expected.encode()):
        return SETTING, Scope.ADMIN
    with reading() as session:
        found = access.find(session, token)
    if found is None:
        _refuse(f"This token is not known. {SETTING} or `leadrota token create` sets one up.")
    _note_use(found)
    return found.name, found.scope


def _note_use(token: access.Token) -> None:
    """Write down at most once a minute that a token is in use; no request fails for that."""
    context = current()
    now = context.clock()
    if token.use_is_worth_noting(now):
        with suppress(StoreUnavailable), context.database.write() as session:
            access.note_use(session, token.id, now=now)


def _refuse(detail: str) -> NoReturn:
    raise Unauthorized(detail, www_authenticate=WWWAuthenticate("bearer", {"realm": "Lead Rota"}))
