"""A Salesforce org on loopback: faithful where Lead Rota calls it, scriptable where orgs differ.

    with SalesforceSandbox() as org:
        ann = org.add_user("Ann", "ann@example.com")
        lead = org.create("Lead", {"LastName": "Example"})

Each rule of the org has a name (see ``salesforce_rules``) and can be left out, so that a test can
show that its check would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from werkzeug import Request, Response
from werkzeug.exceptions import HTTPException

from adapters.sandbox import salesforce_ids as ids
from adapters.sandbox.salesforce_answers import show_refusal
from adapters.sandbox.salesforce_control import add_control_routes
from adapters.sandbox.salesforce_presets import PRESETS
from adapters.sandbox.salesforce_records import Clock, Listener, Records
from adapters.sandbox.salesforce_refusals import not_found
from adapters.sandbox.salesforce_rest import Rest
from adapters.sandbox.salesforce_rules import RULES
from adapters.sandbox.salesforce_token import Tokens
from adapters.sandbox.salesforce_writes import Switches
from adapters.sandbox.server import Handler, Sandbox, real_clock


class SalesforceSandbox(Sandbox, Switches):
    """One org, served inside ``with`` or between ``start`` and ``stop``.

    Behaves as ``Switches`` says, all of which may be set at any time; ``tokens`` has those of the
    log-in. ``public_key`` is the PEM certificate or key of the JWT flow.
    """

    RULES = frozenset(RULES)
    SWITCHES = Sandbox.SWITCHES | {
        "accept_inactive_owner",
        "edit_converted_leads",
        "page_size",
        "daily_limit",
        "trailing_slash",
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
        super().__init__(port=port, clock=clock, without=without, presets=PRESETS)
        self.org_id = ids.widen(org_id)
        self.row_locks = {}
        self.records = Records(clock, seed=seed, rules=self.rules)
        self.tokens = Tokens(
            clock=clock,
            rules=self.rules,
            org_id=self.org_id,
            client_id=client_id,
            client_secret=client_secret,
            username=username or "integration@sandbox.example",
            public_key=public_key,
        )
        rest = Rest(self.records, self, self.tokens)
        self.route("POST", "/services/oauth2/token", self._grant)
        for path in ("/services/data", "/services/data/", "/services/data/<path:_>"):
            for method in ("GET", "POST", "PATCH", "PUT", "DELETE"):
                self.route(method, path, lambda request, **_: rest.answer(request))
        add_control_routes(self)

    def serve(self, request: Request, handler: Handler, parts: Mapping[str, Any]) -> Response:
        """Answer a request at its exact address: werkzeug alone would forgive ``//services``."""
        if str(request.environ.get("REQUEST_URI", "")).startswith("//"):
            return show_refusal(not_found())
        return super().serve(request, handler, parts)

    def refuse(self, request: Request, error: HTTPException) -> Response:  # noqa: ARG002
        """Salesforce's words for an address that is none of its own."""
        return show_refusal(not_found())

    # The org's people and records, changed as its own users would, past every API rule.

    def add_user(
        self, name: str, email: str, *, active: bool = True, user_id: str | None = None
    ) -> str:
        """Add a user and return the id."""
        values = {
            "Name": name,
            "Email": email,
            "Username": email,
            "IsActive": active,
            "UserType": "Standard",
            "TimeZoneSidKey": "UTC",
        }
        return self.records.add("User", values, user_id)

    def add_queue(self, name: str, *, queue_id: str | None = None) -> str:
        """Add a queue, which may own leads, cases and tasks, and return the id."""
        values = {"Name": name, "DeveloperName": name.replace(" ", "_"), "Type": "Queue"}
        return self.records.add("Group", values, queue_id)

    def add_field(self, object_type: str, name: str) -> None:
        """Give an object a field that a plain org does not have."""
        self.records.fields[object_type].append(name)

    def create(
        self, object_type: str, fields: Mapping[str, object], *, record_id: str | None = None
    ) -> str:
        """Create a record and return its id of 18 characters.

        The owner, unless named, is ``default_owner``: the integration user until it is set.
        """
        return self.records.add(object_type, fields, record_id)

    def get(self, record_id: str) -> dict[str, object]:
        """All fields of a record, deleted or not; raises ``KeyError``."""
        with self.records.lock:
            row = self.records.find(record_id)
            return {name: row.read(name) for name in self.records.fields[row.type]}

    def read_fields(
        self, record_id: str, names: Sequence[str], *, even_deleted: bool = False
    ) -> dict[str, object] | None:
        """Those of the named fields that the record's object has; None once it is deleted.

        Date-times are ``datetime``.
        """
        with self.records.lock:
            row = self.records.find(record_id)
            if row.is_deleted and not even_deleted:
                return None
            values = {n: row.read(n) for n in names if n in self.records.fields[row.type]}
            stamps = {
                "CreatedDate": row.created_at,
                "LastModifiedDate": row.modified_at,
                "SystemModstamp": row.modified_at,
            }
            return values | {name: stamps[name] for name in values if name in stamps}

    def owner_of(self, record_id: str) -> str:
        """The id of a record's owner."""
        return str(self.get(record_id)["OwnerId"])

    def set_owner(self, record_id: str, owner_id: str, *, by: str | None = None) -> None:
        """Give a record to another owner by hand, as user ``by``, the new owner by default."""
        wide = ids.widen(owner_id)
        self.records.change(record_id, {"OwnerId": wide}, by=by or wide)

    def change(self, record_id: str, fields: Mapping[str, object]) -> None:
        """Change fields of a record by hand."""
        self.records.change(record_id, fields)

    def deactivate(self, user_id: str) -> None:
        """Make a user inactive; what they own stays theirs."""
        self.records.change(user_id, {"IsActive": False})

    def delete(self, record_id: str) -> None:
        """Put a record into the recycle bin."""
        with self.records.lock:
            row = self.records.find(record_id)
            row.is_deleted = True
            row.modified_at = max(self.clock(), row.modified_at)

    def convert(self, lead_id: str) -> str:
        """Convert a lead, as its owner would, and return the id of the new contact."""
        lead = self.get(lead_id)
        owner = str(lead["OwnerId"])
        if ids.type_of(owner) != "User":
            owner = self.records.integration_user
        account = self.create("Account", {"Name": lead["Company"], "OwnerId": owner})
        person = {name: lead[name] for name in ("FirstName", "LastName", "Email", "Phone")}
        contact = self.create("Contact", person | {"AccountId": account, "OwnerId": owner})
        self.records.change(
            lead_id,
            {
                "IsConverted": True,
                "ConvertedDate": f"{self.clock():%Y-%m-%d}",
                "ConvertedAccountId": account,
                "ConvertedContactId": contact,
            },
        )
        return contact

    def merge(self, winner_id: str, loser_id: str) -> None:
        """Merge two records: the loser is deleted and points at the winner."""
        winner = self.records.find(winner_id).id
        with self.records.lock:
            self.records.find(loser_id).values["MasterRecordId"] = winner
        self.delete(loser_id)
        self.records.change(winner, {})

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
        """Call ``listener(object_type, record_id, over_api)`` after each create and change."""
        self.records.listeners.append(listener)

    def before_write(self, callback: Callable[[str, str, Mapping[str, object]], None]) -> None:
        """Call ``callback(object_type, record_id, fields)`` just before an API write is checked."""
        self.write_hook = callback

    def lock_row(self, record_id: str, *, tries: int) -> None:
        """Fail the next API writes to a record as locked."""
        self.row_locks[ids.widen(record_id)] = tries

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
