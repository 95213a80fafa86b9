"""The settings of each connected CRM account, from the environment or a table of the TOML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.hubspot.settings import HubSpotSettings
from adapters.salesforce.settings import SalesforceSettings
from config import names, values
from config.sources import Sources, is_set

Connection = HubSpotSettings | SalesforceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What is given for one connection; ``label`` tells how messages call a key."""

    name: str
    label: Callable[[str], str]
    given: Mapping[str, str | None]  # None: given, but its source could not be read
    problems: list[str]

    def text(self, key: str) -> str | None:
        """The value as it was given."""
        return self.given.get(key)

    def need(self, keys: Sequence[str], because: str) -> None:
        """Report each key that is not given at all."""
        self.problems.extend(
            f"{self.label(key)} is missing; {because}" for key in keys if key not in self.given
        )

    def refuse(self, keys: Sequence[str], because: str) -> None:
        """Report each key that is given and must not be."""
        self.problems.extend(
            f"{self.label(key)} cannot be set here; {because}" for key in keys if key in self.given
        )

    def checked(self, checks: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
        """The values of the given keys as the adapter wants them; bad ones are reported."""
        good: dict[str, Any] = {}
        for key, check in checks.items():
            if (text := self.given.get(key)) is None:
                continue
            try:
                good[key] = check(text)
            except ValueError as error:
                self.problems.append(f"{self.label(key)} {error}")
        return good


def read(sources: Sources, public_url: str | None) -> tuple[Connection, ...]:
    """Every connection that is set up; what is wrong or half set up is reported in ``sources``."""
    found = [
        _from_environment(sources, "hubspot", names.HUBSPOT_KEYS, _HUBSPOT_MARKS),
        _from_environment(sources, "salesforce", names.SALESFORCE_KEYS, _SALESFORCE_MARKS),
    ]
    taken = {keys.name for _, keys in found if keys}
    for name, table in _tables(sources):
        if name in taken:
            sources.problems.append(
                f"connections.{name} in the TOML file is also set up by environment variables; "
                "rename the table or unset the variables."
            )
        else:
            found.append(_from_table(sources, name, table))
    wanted = [(kind, keys) for kind, keys in found if keys]
    if any(kind == "hubspot" for kind, _ in wanted) and not sources.is_given("LEADROTA_PUBLIC_URL"):
        sources.problems.append(
            "LEADROTA_PUBLIC_URL is missing; set it to the https address that HubSpot calls, since "
            "its signatures are computed from it."
        )
    if any(_uses_oauth(kind, keys) for kind, keys in wanted) and not sources.is_given(
        "LEADROTA_ENCRYPTION_KEY"
    ):
        sources.problems.append(
            "LEADROTA_ENCRYPTION_KEY is missing; set it to a text of at least 32 characters, since "
            "the tokens of a HubSpot app with a client id are stored encrypted."
        )
    built = [_build(kind, keys, public_url) for kind, keys in wanted]
    return tuple(connection for connection in built if connection)


def _from_environment(
    sources: Sources, kind: str, keys: Sequence[str], marks: Sequence[str]
) -> tuple[str, Keys | None]:
    """The connection that plain variables describe; it exists when one of ``marks`` is given."""
    prefix = f"{kind.upper()}_"
    given = {
        key: sources.get(name) for key in keys if sources.is_given(name := prefix + key.upper())
    }
    if not any(mark in given for mark in marks):
        idle = ", ".join(prefix + key.upper() for key in given)
        if idle:
            needed = " and ".join(prefix + mark.upper() for mark in marks[:2])
            sources.warnings.append(f"{idle} has no effect without {needed}.")
        return kind, None
    return kind, Keys(
        name=kind,
        label=lambda key: prefix + key.upper(),
        given=given,
        problems=sources.problems,
    )


def _tables(sources: Sources) -> list[tuple[str, Mapping[str, Any]]]:
    tables = sources.table.get("connections", {})
    if not isinstance(tables, dict):
        tables = {"": None}
    good: list[tuple[str, Mapping[str, Any]]] = []
    for name, table in tables.items():
        if not isinstance(table, dict):
            sources.problems.append("connections in the TOML file must be tables.")
        elif not re.fullmatch(r"[a-z0-9_-]{1,64}", name):
            sources.problems.append(
                f"connections.{name} in the TOML file: a connection's name is made of lower-case "
                "letters, digits, - and _."
            )
        else:
            good.append((name, table))
    return good


def _from_table(sources: Sources, name: str, table: Mapping[str, Any]) -> tuple[str, Keys | None]:
    where = f"connections.{name}."
    kind = table.get("kind")
    if kind not in ("hubspot", "salesforce"):
        sources.problems.append(f'{where}kind must be "hubspot" or "salesforce".')
        return "", None
    known = names.HUBSPOT_KEYS if kind == "hubspot" else names.SALESFORCE_KEYS
    for key in table:
        if key not in known and key != "kind":
            near = names.hint(key, known)
            sources.problems.append(f"{where}{key} is no setting of {kind}.{near}")
    given = {
        key: sources.from_toml(key, table, where=where, secret=key in names.SECRET_KEYS)
        for key in known
        if is_set(table, key)
    }
    return kind, Keys(
        name=name, label=lambda key: where + key, given=given, problems=sources.problems
    )


def _build(kind: str, keys: Keys, public_url: str | None) -> Connection | None:
    before = len(keys.problems)
    build = _hubspot if kind == "hubspot" else _salesforce
    arguments = build(keys, public_url)
    if len(keys.problems) > before or any(value is None for value in keys.given.values()):
        return None
    if kind == "hubspot":
        return HubSpotSettings(name=keys.name, **arguments)
    return SalesforceSettings(name=keys.name, **arguments)


# With the secret and one of the other two a connection exists; any of them means it is wanted.
_HUBSPOT_MARKS = ("access_token", "client_secret", "client_id")


def _uses_oauth(kind: str, keys: Keys) -> bool:
    return kind == "hubspot" and "client_id" in keys.given


def _hubspot(keys: Keys, public_url: str | None) -> dict[str, Any]:
    if "client_id" in keys.given:
        keys.need(("client_secret",), "HubSpot needs the client secret of the app.")
        keys.refuse(
            ("access_token",),
            "an app with a client id fetches its tokens by OAuth; keep one of the two.",
        )
    else:
        keys.need(
            ("access_token", "client_secret"),
            "HubSpot needs the access token and the client secret of the app.",
        )
        keys.refuse(
            ("refresh_token",), "only an app that uses OAuth has one; set its client id too."
        )
    arguments = keys.checked(
        {
            "access_token": _header_word,
            "client_id": _header_word,
            "refresh_token": _header_word,
            "webhook_key": lambda text: values.matching(
                text, r"[!-~]{16,}", "must be at least 16 printable characters without blanks."
            ),
            "availability": values.switch,
            "client_secret": _header_word,
            "portal_id": lambda text: values.matching(
                text, r"[0-9]{1,20}", "must be the number of the portal."
            ),
            "objects": values.object_types,
            "api_version": lambda text: values.matching(
                text, r"v3|20[0-9]{2}-[0-9]{2}", "must be v3 or a date version such as 2026-03."
            ),
            "base_url": values.origin,
        }
    )
    return {"public_url": public_url, **arguments}


# Any of these means that a connection is wanted; then the needed ones are asked for.
_SALESFORCE_MARKS = (
    "login_url",
    "client_id",
    "client_secret",
    "private_key",
    "username",
    "org_id",
    "webhook_key",
)


def _salesforce(keys: Keys, _public_url: str | None) -> dict[str, Any]:
    keys.need(
        ("login_url", "client_id", "org_id"),
        "Salesforce needs the My Domain address, the client id and the id of the org.",
    )
    if {"private_key", "username"} & keys.given.keys():
        keys.need(
            ("private_key", "username"), "the JWT flow needs the private key and the user name."
        )
    elif "client_secret" not in keys.given:
        keys.need(
            ("client_secret",), "set it, or the private key and the user name of the JWT flow."
        )
    arguments = keys.checked(
        {
            "login_url": values.origin,
            "client_id": _header_word,
            "client_secret": _header_word,
            "private_key": values.private_key,
            "username": str,
            "org_id": lambda text: values.salesforce_id(text, "00D", "an org"),
            "webhook_key": _header_word,
            "objects": values.object_types,
            "api_version": lambda text: values.matching(
                text, r"v[0-9]{2,3}\.0", "must be a version such as v64.0."
            ),
            "unassigned_owners": lambda text: frozenset(
                values.salesforce_id(word, "005", "a user") for word in values.listed(text)
            ),
            "guarded_objects": values.object_types,
            "availability": values.switch,
            "omni_channel": values.switch,
            "poll_every": values.interval,
        }
    )
    login_url = arguments.get("login_url")
    if login_url and not values.is_loopback(login_url):
        keys.need(
            ("webhook_key",),
            "an org id is no secret, so outbound messages must carry a key of yours as ?key=.",
        )
    return arguments


def _header_word(text: str) -> str:
    return values.matching(text, r"[!-~]+", "must be printable characters without blanks.")
