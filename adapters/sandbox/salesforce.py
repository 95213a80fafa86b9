"""A Salesforce org on loopback: faithful where Lead Rota calls it, scriptable where orgs differ.

    with SalesforceSandbox() as org:
        ann = org.add_user("Ann", "ann@example.com")
        lead = org.create("Lead", {"LastName": "Example"})

Each rule of the org has a name (see ``salesforce_rules``) and can be left out, so that a test can
show that its check would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from werkzeug import Request, Response
from werkzeug.exceptions import HTTPException

from adapters.sandbox import salesforce_ids as ids
from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox.salesforce_answers import show_json, show_refusal
from adapters.sandbox.salesforce_control import add_control_routes
from adapters.sandbox.salesforce_limits import Running
from adapters.sandbox.salesforce_lives import Lives
from adapters.sandbox.salesforce_people import People
from adapters.sandbox.salesforce_presets import PRESETS
from adapters.sandbox.salesforce_records import Clock, Listener, Records
from adapters.sandbox.salesforce_rest import CROWDED, Rest
from adapters.sandbox.salesforce_rules import RULES
from adapters.sandbox.salesforce_switches import Switches
from adapters.sandbox.salesforce_token import Tokens
from adapters.sandbox.server import Handler, Sandbox, real_clock


class SalesforceSandbox(Sandbox, Switches, People, Lives):
    """One org, served inside ``with`` or between ``start`` and ``stop``.

    Behaves as ``Switches`` says, all of which may be set at any time; ``tokens`` has those of the
    log-in. ``public_key`` is the PEM certificate or key of the JWT flow.
    """

    RULES = frozenset(RULES)
    SWITCHES = Sandbox.SWITCHES | {
        "accept_inactive_owner",
        "edit_converted_leads",
        "may_transfer",
        "page_size",
        "daily_limit",
        "usage_extra",
        "long_calls",
        "long_call_seconds",
        "is_read_only",
        "is_down",
        "trailing_slash",
        "features",
        "clock_ahead",
    }

    def __init__(
        self,
        *,
        port: int = 0,
        org_id: str = "00D5g000000XyZ1EAK",
        client_id: str = "sandbox-client",
        client_secret: str = "sandbox-secret",  # noqa: S107 (opens nothing but the sandbox)
        public_key: str | None = None,
        username: str | None = None,
        clock: Clock = real_clock,
        seed: int = 0,
        without: Iterable[str] = (),
    ) -> None:
        self.clock_ahead = 0.0  # seconds that the org's clock is moved by hand

        def moved_clock() -> datetime:
            return clock() + timedelta(seconds=self.clock_ahead)

        Sandbox.__init__(self, port=port, clock=moved_clock, without=without, presets=PRESETS)
        Switches.__init__(self)
        self.org_id = ids.widen(org_id)
        self.records = Records(moved_clock, seed=seed, rules=self.rules)
        self.tokens = Tokens(
            clock=moved_clock,
            rules=self.rules,
            org_id=self.org_id,
            client_id=client_id,
            client_secret=client_secret,
            username=username or "integration@sandbox.example",
            public_key=public_key,
        )
        self._running = Running()
        rest = Rest(self.records, self, self.tokens)
        self.route("POST", "/services/oauth2/token", self._grant)
        self.route("GET", "/id/<org_id>/<user_id>", self._identity)
        for path in ("/services/data", "/services/data/", "/services/data/<path:_>"):
            for method in ("GET", "POST", "PATCH", "PUT", "DELETE"):
                self.route(method, path, lambda request, **_: rest.answer(request))
        add_control_routes(self)

    def answer(self, request: Request) -> Response:
        """Answer one request and count it as running meanwhile."""
        if not request.path.startswith("/services/data"):
            return super().answer(request)
        long_ones = self._running.long_ones(self.long_call_seconds)
        request.environ[CROWDED] = long_ones >= self.long_calls
        with self._running.call():
            return super().answer(request)

    def serve(self, request: Request, handler: Handler, parts: Mapping[str, Any]) -> Response:
        """Answer a request at its exact address: werkzeug alone would forgive ``//services``."""
        if str(request.environ.get("REQUEST_URI", "")).startswith("//"):
            return show_refusal(say.not_found())
        return super().serve(request, handler, parts)

    def refuse(self, request: Request, error: HTTPException) -> Response:  # noqa: ARG002
        """Salesforce's words for an address that is none of its own."""
        return show_refusal(say.not_found())

    # What the org has, and what of it the API client may see and do.

    def add_object(
        self,
        name: str,
        fields: Iterable[str] = (),
        *,
        is_owned: bool = True,
        by_queues: bool = True,
    ) -> None:
        """Add a custom object such as ``Site__c``, which has a name and may have an owner."""
        self.records.objects.add_object(name, fields, is_owned=is_owned, by_queues=by_queues)

    def add_field(
        self, object_type: str, name: str, kind: str = "string", *, target: str | None = None
    ) -> None:
        """Give an object a field that a plain org does not have."""
        kind = "reference" if target else kind
        self.records.objects.add_field(object_type, name, kind, target)

    def hide(self, object_type: str, *fields: str) -> None:
        """Hide fields from the API client, or the whole object when no field is named."""
        objects = self.records.objects
        objects.hidden_fields |= {(object_type, field) for field in fields}
        if not fields:
            objects.hidden_objects.add(object_type)

    def make_read_only(self, object_type: str, *fields: str) -> None:
        """Let the API client read but not write fields, or the whole object."""
        objects = self.records.objects
        objects.locked_fields |= {(object_type, field) for field in fields}
        if not fields:
            objects.locked_objects.add(object_type)

    def hide_from(self, user_id: str, object_type: str) -> None:
        """Take a user's right to read an object, without which nobody may own its records."""
        self.blind_users.add((ids.widen(user_id), object_type))

    @property
    def features(self) -> list[str]:
        """What the org has switched on: state_codes, person_accounts, omni_channel."""
        return self.records.objects.features

    @features.setter
    def features(self, names: Iterable[str]) -> None:
        """Switch on these and all others off; raises ``ValueError`` for an unknown one."""
        self.records.objects.features = names

    @property
    def integration_user(self) -> str:
        """The id of the user that API calls run as."""
        return self.records.integration_user

    @property
    def default_owner(self) -> str:
        """The owner of records that are created without one: a user or a queue."""
        return self.records.default_owner

    @default_owner.setter
    def default_owner(self, owner_id: str) -> None:
        """Let records created from now on belong to another user or queue."""
        self.records.default_owner = ids.widen(owner_id)

    # What a test scripts or wants to know.

    def on_change(self, listener: Listener) -> None:
        """Call ``listener(change)`` after each record is created, changed or deleted."""
        self.records.listeners.append(listener)

    def before_write(self, callback: Callable[[str, str, Mapping[str, object]], None]) -> None:
        """Call ``callback(object_type, record_id, fields)`` just before an API write is checked."""
        self.write_hook = callback

    def lock_row(self, record_id: str, *, tries: int) -> None:
        """Fail the next API writes to a record as locked."""
        wide = ids.widen(record_id)
        self.refuse_row(wide, say.row_locked(wide), tries)

    def fail_row(
        self,
        record_id: str,
        code: str,
        message: str = "refused by script",
        *,
        status: int = 400,
        fields: Sequence[str] = (),
        tries: int = 1,
    ) -> None:
        """Fail the next API writes to a record with any of Salesforce's error codes."""
        self.refuse_row(ids.widen(record_id), say.refuse(status, code, message, fields), tries)

    def expire_tokens(self) -> None:
        """End every session; the next call must log in again."""
        self.tokens.expire()

    @property
    def log_ins(self) -> int:
        """How many tokens were given out."""
        return self.tokens.log_ins

    def _grant(self, request: Request) -> Response:
        user = self.records.integration_user
        slash = "/" if self.trailing_slash else ""
        return self.tokens.grant(request, instance_url=self.url + slash, user_id=user)

    def _identity(self, request: Request, org_id: str, user_id: str) -> Response:
        is_own = (org_id, user_id) == (self.org_id, self.integration_user)
        if not self.tokens.is_live(request.headers.get("Authorization")) or not is_own:
            return Response("Bad_OAuth_Token", 403)
        return show_json({"user_id": user_id, "organization_id": org_id})
