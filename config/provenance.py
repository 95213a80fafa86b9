"""Where each setting comes from, for people who look for a wrong one. Secrets are never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from config import names
from config.settings import Settings
from config.sources import DEFAULT_FILE, is_set, read_toml

HIDDEN = "••••"

# Scheme, host, port and name; whatever is written in another way may hide a password anywhere.
_POSTGRES = re.compile(
    r"(?P<scheme>postgres(?:ql)?(?:\+psycopg)?)://(?P<user>[^@/?#]*@)?"
    r"(?P<place>[A-Za-z0-9.\-_]*(?::[0-9]*)?/[A-Za-z0-9_.\-]*)(?P<query>\?[^@]*)?"
)


class Source(StrEnum):
    """Where the value of a setting stands."""

    ENVIRONMENT = "environment"
    FILE = "file"  # that a NAME_FILE variable names
    TOML = "toml"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A setting with its source. ``value`` is None where nothing, or nothing usable, is set."""

    name: str
    value: str | None
    source: Source
    place: str | None  # the variable, the path of the file


def origins(settings: Settings | None, env: Mapping[str, str] | None = None) -> list[Origin]:
    """Every setting that is in force or given. ``settings``: None when they cannot be used.

    Then no value is shown at all, since it may be a secret that stands in the wrong place.
    """
    return list(_Origins(settings, dict(os.environ if env is None else env)).all())


class _Origins:
    def __init__(self, settings: Settings | None, env: Mapping[str, str]) -> None:
        self._settings = settings
        self._env = env
        self._table = read_toml(env, [])
        self._toml = env.get("LEADROTA_CONFIG") or DEFAULT_FILE

    def all(self) -> Iterator[Origin]:
        given_only = ("LEADROTA_CONFIG", *names.RESERVED)
        for name in (*names.GENERAL, *given_only):
            found = self._origin(name, name, name.lower(), self._table, self._settings)
            if found.source is not Source.DEFAULT or name not in given_only:
                yield found
        made = {one.name: one for one in self._settings.connections} if self._settings else {}
        for kind, keys in (("hubspot", names.HUBSPOT_KEYS), ("salesforce", names.SALESFORCE_KEYS)):
            yield from self._of_variables(kind, keys, made.get(kind))
        tables = self._table.get("connections")
        for name, table in (tables if isinstance(tables, dict) else {}).items():
            if isinstance(table, dict):
                yield from self._of_table(name, table, made.get(name))

    def _of_variables(self, kind: str, keys: tuple[str, ...], made: object) -> Iterator[Origin]:
        found = [
            self._origin(name, name, name.lower(), self._table, made, key)
            for key in keys
            for name in [f"{kind}_{key}".upper()]
        ]
        if any(one.source is not Source.DEFAULT for one in found):
            yield from found

    def _of_table(self, name: str, table: Mapping[str, Any], made: object) -> Iterator[Origin]:
        keys = names.HUBSPOT_KEYS if table.get("kind") == "hubspot" else names.SALESFORCE_KEYS
        for key in keys:
            yield self._origin(f"connections.{name}.{key}", None, key, table, made, key)

    def _origin(
        self,
        name: str,
        variable: str | None,
        toml_key: str,
        table: Mapping[str, Any],
        made: object,
        key: str | None = None,
    ) -> Origin:
        """``variable`` may hold it, else ``toml_key`` of a table; ``made`` has what is in force."""
        is_secret = name in names.SECRETS or key in names.SECRET_KEYS
        source, place = self._source(variable, toml_key, table, is_secret)
        attribute = key or name.lower().removeprefix("leadrota_")
        value = getattr(made, attribute, None) if made else None
        return Origin(name=name, value=_shown(name, value, is_secret), source=source, place=place)

    def _source(
        self, variable: str | None, toml_key: str, table: Mapping[str, Any], is_secret: bool
    ) -> tuple[Source, str | None]:
        if variable and (found := self._variable(variable)):
            return found
        if not is_set(table, toml_key):
            return Source.DEFAULT, None
        if is_secret:  # the text names a variable, or is the secret itself by mistake
            return self._variable(str(table[toml_key])) or (Source.TOML, self._toml)
        return Source.TOML, self._toml

    def _variable(self, name: str) -> tuple[Source, str] | None:
        if self._env.get(name):
            return Source.ENVIRONMENT, name
        if path := self._env.get(f"{name}_FILE"):
            return Source.FILE, path
        return None


def _shown(name: str, value: Any, is_secret: bool) -> str | None:
    match value:
        case None:
            return None
        case str() if is_secret:
            return f"{HIDDEN} ({_length(value)})"
        case str() if name == "DATABASE_URL":
            return _address(value)
        case bool():
            return "1" if value else "0"
        case tuple() | frozenset():
            return ",".join(sorted(value) if isinstance(value, frozenset) else value) or None
        case _:
            return str(value)


def _length(secret: str) -> str:
    """So much that a cut-off or doubled value shows, and no more."""
    for most in (15, 31, 63, 127):
        if len(secret) <= most:
            return f"{(most + 1) // 2 if most > 15 else 1} to {most} characters"
    return "128 characters or more"


def _address(url: str) -> str:
    if url.startswith("sqlite:"):
        return url
    found = _POSTGRES.fullmatch(url)
    if not found:
        return HIDDEN
    user = f"{HIDDEN}@" if found["user"] else ""
    query = f"?{HIDDEN}" if found["query"] else ""
    return f"{found['scheme']}://{user}{found['place']}{query}"
