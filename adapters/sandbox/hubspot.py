"""A HubSpot portal on loopback that keeps HubSpot's rules and forgets none of its traps.

It serves what Lead Rota calls: records one by one and in batches, owners, account details, under
numbered (``v3``) and dated paths. ``RULES`` names each rule that it keeps; ``without`` drops some
of them. Beside ``control``'s paths, people working by hand have:

- ``GET /_sandbox/records``, ``POST /_sandbox/records`` ``{"object_type", "properties"}``
- ``PATCH /_sandbox/records/{type}/{id}`` ``{"hubspot_owner_id": ...}``: a person edits the record
- ``DELETE /_sandbox/records/{type}/{id}``
- ``POST /_sandbox/merges`` ``{"object_type", "primary", "others", "new_id"}``
- ``GET /_sandbox/owners``, ``POST /_sandbox/owners`` ``{"email", "first_name", "last_name"}``
- ``PATCH /_sandbox/owners/{id}`` ``{"archived": true}``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from adapters.sandbox import hubspot_answers
from adapters.sandbox.hubspot_control import add_control_routes
from adapters.sandbox.hubspot_limits import Limits
from adapters.sandbox.hubspot_portal import Change, OwnerType, Portal, Record, Source
from adapters.sandbox.hubspot_routes import add_routes
from adapters.sandbox.hubspot_rules import RULES
from adapters.sandbox.server import Handler, Sandbox, json_response, real_clock

DATE_VERSIONS = frozenset({"2025-09", "2026-03", "2026-09", "2027-03-beta"})
_SCOPES = {
    "owners": "crm.objects.owners.read",
    "tickets": "tickets",
}
BeforeWrite = Callable[[str, str, Mapping[str, Any]], None]


class HubSpotSandbox(Sandbox):
    """One portal with one app in it, reached by one static token.

    Switches: ``accept_archived_owner`` (nobody knows whether HubSpot does), ``whole_batch_400``
    (False: a bad owner fails its own record only), ``admin_rule`` (a property that writes from
    2026-09 on must leave filled), ``empty_as`` (how a property without value is answered),
    ``batch_read_follows_merges``, ``retry_after`` (429 tells how long), ``missing_scopes``.
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
        "daily_limit",
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
        self.ten_secondly_limit: int | None = 190  # of a private app, Professional
        self.daily_limit: int | None = 625_000
        self._limits = Limits(time_zone)
        self._before_write: list[BeforeWrite] = []
        add_routes(self)
        add_control_routes(self)

    # -- what a person does in HubSpot

    def add_owner(
        self,
        email: str,
        first_name: str = "",
        last_name: str = "",
        *,
        archived: bool = False,
        type: OwnerType = "PERSON",  # noqa: A002 - HubSpot's word for it
        owner_id: str | None = None,
    ) -> str:
        """Add somebody who can own records; return the owner id."""
        with self.lock:
            owner = self.portal.add_owner(
                email,
                owner_id=owner_id,
                first_name=first_name,
                last_name=last_name,
                archived=archived,
                type=type,
            )
        return owner.id

    def archive_owner(self, owner_id: str, *, archived: bool = True) -> None:
        """Deactivate the user behind an owner, or take him back; he keeps his records."""
        with self.lock:
            self.portal.owners[owner_id].archived = archived

    def user_id_of(self, owner_id: str) -> str:
        """The user id of an owner, which is never right in ``hubspot_owner_id``."""
        return str(self.portal.owners[owner_id].user_id)

    def create(
        self,
        object_type: str,
        properties: Mapping[str, str | None],
        *,
        record_id: str | None = None,
        source: str = "FORM",
    ) -> str:
        """Add a record; return its id. ``source`` as events tell it: FORM, IMPORT, CRM_UI, ..."""
        with self.lock:
            record = self.portal.create(
                object_type, properties, record_id=record_id, source=Source(kind=source)
            )
        return record.id

    def get(self, object_type: str, record_id: str) -> dict[str, str | None] | None:
        """The properties of a living record under exactly this id, or None."""
        with self.lock:
            record = self.portal.find(object_type, record_id, follow_merges=False)
            return dict(record.properties) if record else None

    def owner_of(self, object_type: str, record_id: str) -> str | None:
        """The owner id that a record, or the survivor of its merge, holds now; None if none."""
        with self.lock:
            return self._record(object_type, record_id).properties.get("hubspot_owner_id") or None

    def set_owner(
        self, object_type: str, record_id: str, owner_id: str | None, *, user_id: int = 7
    ) -> None:
        """A person sets or clears (None) the owner at the screen."""
        self.edit(object_type, record_id, {"hubspot_owner_id": owner_id}, user_id=user_id)

    def edit(
        self,
        object_type: str,
        record_id: str,
        properties: Mapping[str, str | None],
        *,
        user_id: int = 7,
    ) -> None:
        """A person changes properties at the screen."""
        with self.lock:
            self.portal.properties |= set(properties)
            record = self._record(object_type, record_id)
            self.portal.write(record, properties, Source.person(user_id))

    def history_of(self, object_type: str, record_id: str, name: str) -> list[str]:
        """Every value that a property has had, newest first."""
        with self.lock:
            record = self._record(object_type, record_id)
            return [value for value, _, _ in record.history.get(name, [])]

    def delete(self, object_type: str, record_id: str) -> None:
        """Move a record to the bin."""
        with self.lock:
            self.portal.delete(self._record(object_type, record_id), Source.person(7))

    def restore(self, object_type: str, record_id: str) -> None:
        """Take a record out of the bin."""
        with self.lock:
            record = self.portal.find(object_type, record_id, archived=True)
            if record is None:
                raise LookupError(f"no deleted {object_type} {record_id}")
            self.portal.restore(record, Source.person(7))

    def merge(
        self,
        primary: str,
        others: Iterable[str],
        *,
        new_id: bool = False,
        object_type: str = "contacts",
    ) -> str:
        """Merge records into ``primary``; return the survivor's id, a fresh one if ``new_id``."""
        with self.lock:
            first = self._record(object_type, primary)
            rest = [self._record(object_type, other) for other in others]
            return self.portal.merge(first, rest, new_id=new_id, source=Source.person(7)).id

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
        scope = _SCOPES.get(kind, f"crm.objects.{kind}.{access}")
        if scope in self.missing_scopes:
            raise hubspot_answers.scope_missing(scope)

    # -- serving

    def serve(self, request: Request, handler: Handler, parts: Mapping[str, Any]) -> Response:
        """Check token, limits and version, then answer."""
        if request.path.startswith("/_sandbox/"):
            return handler(request, **parts)
        try:
            self._check_token(request)
            response = self._refused_by_limit() or self._answer_version(request, handler, parts)
        except hubspot_answers.Refusal as refusal:
            response = refusal.response()
        if "rate_headers" in self.rules:
            response.headers.update(self._limits.headers(**self._limit_sizes()))
        return response

    def refuse(self, request: Request, error: HTTPException) -> Response:  # noqa: ARG002
        """Unknown paths and methods in HubSpot's envelope."""
        message = "resource not found" if error.code == 404 else str(error.description)
        return json_response(
            hubspot_answers.error_body(message, "OBJECT_NOT_FOUND"), error.code or 500
        )

    def _check_token(self, request: Request) -> None:
        given = request.headers.get("Authorization", "")
        if given != f"Bearer {self.access_token}" and "token" in self.rules:
            raise hubspot_answers.bad_token()

    def _limit_sizes(self) -> dict[str, int | None]:
        return {"ten_secondly": self.ten_secondly_limit, "daily": self.daily_limit}

    def _refused_by_limit(self) -> Response | None:
        now = self.clock()
        with self.lock:
            policy = self._limits.count(now, **self._limit_sizes())
            if policy is None or "rate_limit" not in self.rules:
                return None
            wait = self._limits.seconds_to_wait(policy, now)
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

    def _record(self, object_type: str, record_id: str) -> Record:
        record = self.portal.find(object_type, record_id)
        if record is None:
            raise LookupError(f"no {object_type} {record_id} in this portal")
        return record
