"""A HubSpot portal on loopback that keeps HubSpot's rules and forgets none of its traps.

It serves what Lead Rota calls: records one by one, in batches, in lists and by search, their
associations, owners, users, account details, OAuth tokens and callbacks of workflows, under
numbered (``v3``) and dated paths. ``RULES`` names each rule that it keeps; ``without`` drops some
of them. Beside ``control``'s paths, people working by hand have:

- ``GET /_sandbox/records``, ``POST /_sandbox/records`` ``{"object_type", "properties"}``
- ``PATCH /_sandbox/records/{type}/{id}`` ``{"hubspot_owner_id": ...}``: a person edits the record
- ``DELETE /_sandbox/records/{type}/{id}``
- ``POST /_sandbox/merges`` ``{"object_type", "primary", "others", "new_id"}``
- ``GET /_sandbox/owners``, ``POST /_sandbox/owners`` ``{"email", "first_name", "last_name"}``
- ``PATCH /_sandbox/owners/{id}`` ``{"archived": true}``, or any of ``status``, ``time_zone``,
  ``working_hours`` ``[["MONDAY_TO_FRIDAY", 540, 1020]]``, ``out_of_office`` ``[[start, end]]``
- ``POST`` and ``DELETE /_sandbox/links`` ``{"from_type", "from_id", "to_type", "to_id"}``, with
  ``"primary": true`` for a company that is the primary one
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers
from adapters.sandbox.hubspot_callbacks import Callbacks
from adapters.sandbox.hubspot_changes import Change
from adapters.sandbox.hubspot_control import add_control_routes
from adapters.sandbox.hubspot_limits import Limits, Pool, Sizes, pool_of
from adapters.sandbox.hubspot_links import Links
from adapters.sandbox.hubspot_oauth import Tokens
from adapters.sandbox.hubspot_portal import Portal
from adapters.sandbox.hubspot_routes import DATE_VERSIONS, add_routes
from adapters.sandbox.hubspot_rules import RULES
from adapters.sandbox.hubspot_screen import Screen
from adapters.sandbox.server import Handler, Sandbox, json_response, real_clock

_SCOPES = {
    "owners": "crm.objects.owners.read",
    "tickets": "tickets",
    "automation": "automation",
    "tasks": "crm.objects.contacts.{access}",
    "meetings": "crm.objects.contacts.{access}",
}
BeforeWrite = Callable[[str, str, Mapping[str, Any]], None]


class HubSpotSandbox(Screen):
    """One portal with one app in it, reached by a static token, by OAuth as well if told so.

    Switches: ``accept_archived_owner`` (nobody knows whether HubSpot does), ``whole_batch_400``
    (False: a bad owner fails its own record only), ``admin_rule`` (a property that writes from
    2026-09 on must leave filled), ``empty_as`` (how a property without value is answered),
    ``batch_read_follows_merges``, ``retry_after`` (429 tells how long), ``missing_scopes``,
    ``unlinked_as`` (a record without associations is left out of a batch, or an ``error`` in it),
    ``out_of_office_unit`` (of timestamps in users' availability), ``takes_static_token``,
    ``rotate_refresh_token`` (each refresh token is good once), and the limits.
    """

    RULES: ClassVar[frozenset[str]] = frozenset(RULES)
    SWITCHES: ClassVar[frozenset[str]] = Sandbox.SWITCHES | {
        "accept_archived_owner",
        "whole_batch_400",
        "admin_rule",
        "empty_as",
        "batch_read_follows_merges",
        "retry_after",
        "missing_scopes",
        "ten_secondly_limit",
        "oauth_ten_secondly_limit",
        "search_limit",
        "association_limit",
        "daily_limit",
        "unlinked_as",
        "out_of_office_unit",
        "index_lag",
        "takes_static_token",
        "rotate_refresh_token",
    }

    def __init__(
        self,
        *,
        port: int = 0,
        portal_id: str = "4242",
        access_token: str = "sandbox-token",  # noqa: S107
        client_secret: str = "sandbox-client-secret",  # noqa: S107
        app_id: str = "9001",
        time_zone: str = "America/New_York",
        clock: Callable[[], datetime] = real_clock,
        seed: int = 0,
        without: Iterable[str] = (),
    ) -> None:
        super().__init__(port=port, clock=clock, without=without, presets=hubspot_answers.PRESETS)
        self.portal_id = portal_id
        self.access_token = access_token
        self.client_secret = client_secret
        self.app_id = app_id
        self.time_zone = time_zone
        self.seed = seed
        self.accept_archived_owner = False
        self.whole_batch_400 = True
        self.admin_rule: str | None = None
        self.empty_as: Literal["null", "missing", "blank"] = "null"
        self.batch_read_follows_merges = True
        self.retry_after = False
        self.missing_scopes: list[str] = []
        self.portal = Portal(lambda: self.clock(), self.rules)
        self.links = Links(self.portal)
        self.tokens = Tokens(lambda: self.clock(), self.rules)
        self.callbacks = Callbacks(lambda: self.clock(), self.rules)
        self.unlinked_as: Literal["absent", "error"] = "absent"
        self.index_lag = 0.0  # seconds until a search knows of a change
        self.takes_static_token = True
        self.rotate_refresh_token = False
        self.ten_secondly_limit: int | None = 190  # of a private app, Professional
        self.oauth_ten_secondly_limit: int | None = 110
        self.search_limit: int | None = 5  # a second
        self.association_limit: int | None = 150  # in ten seconds
        self.daily_limit: int | None = 625_000
        self._limits = Limits(time_zone)
        self._before_write: list[BeforeWrite] = []
        add_routes(self)
        add_control_routes(self)

    # -- hooks

    def before_write(self, callback: BeforeWrite) -> None:
        """Call back with (object type, id, properties) after a write arrived, before it acts.

        This is where a concurrent actor gets in between the caller's read and its write.
        """
        self._before_write.append(callback)

    def on_change(self, callback: Callable[[Change], None]) -> None:
        """Call back for everything that happens to a record, whoever did it."""
        self.portal.listeners.append(callback)

    def tell_before_write(
        self, object_type: str, record_id: str, properties: Mapping[str, Any]
    ) -> None:
        """Let the concurrent actors act."""
        for callback in list(self._before_write):
            callback(object_type, record_id, properties)

    def need_scope(self, kind: str, access: str) -> None:
        """Refuse the call when the token lacks the scope for it."""
        scope = _SCOPES.get(kind, f"crm.objects.{kind}.{{access}}").format(access=access)
        if scope in self.missing_scopes:
            raise hubspot_answers.scope_missing(scope)

    # -- OAuth and callbacks

    def use_oauth(self, *, client_id: str = "sandbox-client-id") -> str:
        """The account lets the app in by OAuth; return the refresh token for it."""
        with self.lock:
            return self.tokens.install(client_id)

    def expire_tokens(self) -> None:
        """End every OAuth access token now."""
        with self.lock:
            self.tokens.expire()

    def revoke(self) -> None:
        """The account removes the app: no OAuth token is good any more."""
        with self.lock:
            self.tokens.revoke()

    @property
    def completed(self) -> dict[str, dict[str, Any]]:
        """The output fields of every callback that was completed, by its id."""
        with self.lock:
            return dict(self.callbacks.completed)

    # -- serving

    def serve(self, request: Request, handler: Handler, parts: Mapping[str, Any]) -> Response:
        """Check token, limits and version, then answer."""
        if request.path.startswith("/_sandbox/"):
            return handler(request, **parts)
        if request.path.startswith("/oauth/"):
            return self._answer(request, handler, parts)
        pool = pool_of(request.path) if "own_counters" in self.rules else "account"
        sizes = self._sizes(request)
        response = self._answer(request, handler, parts, count=(pool, sizes))
        if pool == "account" and "rate_headers" in self.rules:
            response.headers.update(self._limits.headers(sizes))
        return response

    def refuse(self, request: Request, error: HTTPException) -> Response:  # noqa: ARG002
        """Unknown paths and methods in HubSpot's envelope."""
        message = "resource not found" if error.code == 404 else str(error.description)
        return json_response(
            hubspot_answers.error_body(message, "OBJECT_NOT_FOUND"), error.code or 500
        )

    def _answer(
        self,
        request: Request,
        handler: Handler,
        parts: Mapping[str, Any],
        *,
        count: tuple[Pool, Sizes] | None = None,
    ) -> Response:
        try:
            if count:
                self._check_token(request)
            refused = self._refused_by_limit(*count) if count else None
            return refused or self._answer_version(request, handler, parts)
        except hubspot_answers.Refusal as refusal:
            return refusal.response()

    def _check_token(self, request: Request) -> None:
        given = _bearer(request)
        with self.lock:
            known = self.tokens.check(given) or (
                given == self.access_token and self.takes_static_token
            )
        if not known and "token" in self.rules:
            raise hubspot_answers.bad_token()

    def _sizes(self, request: Request) -> Sizes:
        is_oauth = _bearer(request) != self.access_token and "oauth_limits" in self.rules
        return Sizes(
            account=self.oauth_ten_secondly_limit if is_oauth else self.ten_secondly_limit,
            search=self.search_limit,
            associations=self.association_limit,
            daily=None if is_oauth else self.daily_limit,
        )

    def _refused_by_limit(self, pool: Pool, sizes: Sizes) -> Response | None:
        now = self.clock()
        with self.lock:
            policy = self._limits.count(now, pool, sizes)
            rule = "search_pace" if policy == "SECONDLY" else "rate_limit"
            if policy is None or rule not in self.rules:
                return None
            wait = self._limits.seconds_to_wait(policy, pool, now)
        headers = {"Retry-After": str(wait)} if self.retry_after else {}
        return json_response(hubspot_answers.limit_body(policy), 429, headers)

    def _answer_version(
        self, request: Request, handler: Handler, parts: Mapping[str, Any]
    ) -> Response:
        version = parts.get("version", "v3")
        if version != "v3" and version not in DATE_VERSIONS and "versions" in self.rules:
            message = f"resource not found: no API version {version}"
            raise hubspot_answers.Refusal(
                404, hubspot_answers.error_body(message, "OBJECT_NOT_FOUND")
            )
        return handler(request, **parts)


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""
