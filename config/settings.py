"""All settings of one installation, read once at start."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from config import connections, names, values
from config.connections import Connection
from config.sources import Sources, read_toml
from connector.errors import BadSettings

T = TypeVar("T")

LOG_FORMATS = ("logfmt", "json", "console")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One installation. Secrets stay out of ``repr``."""

    database_url: str = field(default="sqlite:///leadrota.db", repr=False)  # may hold a password
    host: str = "127.0.0.1"  # all addresses when PORT is set, as platforms expect
    port: int = 8000
    web_concurrency: int = 1  # web processes; always 1 with SQLite
    public_url: str | None = None  # the https origin that CRMs call, without a path
    api_token: str | None = field(default=None, repr=False)
    default_pool: str | None = None  # name or id
    encryption_key: str | None = field(default=None, repr=False)  # of stored CRM tokens
    log_format: str = "logfmt"
    connections: tuple[Connection, ...] = ()
    warnings: tuple[str, ...] = ()  # to be logged at start

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a file, so that one web process also runs the worker."""
        return _is_sqlite(self.database_url)


def load(env: Mapping[str, str] | None = None) -> Settings:
    """Read the settings, or raise ``BadSettings`` that names every problem, one a line.

    ``env`` stands for the environment; None takes the process's own. The TOML file that
    ``LEADROTA_CONFIG`` names (default ``config/leadrota.toml``, if it is there) fills the gaps.
    """
    env = dict(os.environ if env is None else env)
    unread: list[str] = []
    sources = Sources(env, read_toml(env, unread))
    sources.problems += unread
    settings = _read(sources)
    strangers = _judge_names(sources)
    if sources.problems:
        # A misspelt name is often why another setting is missing.
        raise BadSettings("\n".join(dict.fromkeys([*sources.problems, *strangers])))
    return replace(settings, warnings=(*sources.warnings, *strangers))


def _read(sources: Sources) -> Settings:
    url = sources.get("DATABASE_URL") or "sqlite:///leadrota.db"
    port = _checked(sources, "PORT", lambda text: values.whole_number(text, low=0, high=65535))
    public_url = _checked(sources, "LEADROTA_PUBLIC_URL", values.origin)
    log_format = _checked(
        sources, "LEADROTA_LOG_FORMAT", lambda text: values.one_of(text, LOG_FORMATS)
    )
    _judge_database(sources, url)
    return Settings(
        database_url=url,
        host="127.0.0.1" if port is None else "0.0.0.0",  # noqa: S104 a platform's router calls us
        port=8000 if port is None else port,
        web_concurrency=_web_concurrency(sources, url),
        public_url=public_url,
        api_token=_checked(sources, "LEADROTA_API_TOKEN", values.api_token),
        default_pool=sources.get("LEADROTA_DEFAULT_POOL"),
        encryption_key=_checked(sources, "LEADROTA_ENCRYPTION_KEY", values.encryption_keys),
        log_format=log_format or "logfmt",
        connections=connections.read(sources, public_url),
    )


def _checked(sources: Sources, name: str, check: Callable[[str], T]) -> T | None:
    text = sources.get(name)
    if text is None:
        return None
    try:
        return check(text)
    except ValueError as error:
        sources.problems.append(f"{name} {error}")
        return None


def _is_sqlite(url: str) -> bool:
    return url.startswith("sqlite")


def _web_concurrency(sources: Sources, url: str) -> int:
    wanted = _checked(
        sources, "WEB_CONCURRENCY", lambda text: values.whole_number(text, low=1, high=256)
    )
    if not _is_sqlite(url):
        return wanted or 2
    if wanted and wanted > 1:
        sources.warnings.append(
            "WEB_CONCURRENCY counts as 1 with SQLite, whose one web process also runs the worker."
        )
    return 1


def _judge_database(sources: Sources, url: str) -> None:
    if not url.startswith(("sqlite:", "postgres:", "postgresql:", "postgresql+psycopg:")):
        sources.problems.append(
            "DATABASE_URL must begin with sqlite:///, postgres:// or postgresql://."
        )
    allowed = _checked(sources, "LEADROTA_ALLOW_EPHEMERAL_SQLITE", values.switch)
    if not sources.env.get("DYNO") or not _is_sqlite(url):
        return
    if allowed:
        sources.warnings.append(
            "The SQLite database on this dyno is lost at each restart, with every lead in it "
            "(LEADROTA_ALLOW_EPHEMERAL_SQLITE is set)."
        )
        return
    sources.problems.append(
        "DATABASE_URL is SQLite on a dyno: web and worker share no disk and lose it at each "
        "restart. Add a PostgreSQL database, or set LEADROTA_ALLOW_EPHEMERAL_SQLITE=1."
    )


def _judge_names(sources: Sources) -> list[str]:
    """Add names that stop the start to the problems; return what to say of those that do not."""
    given = [name for name in sources.env if name not in sources.referenced]
    for name in names.unknown(given, ("LEADROTA_",)):
        near = names.hint(name, names.KNOWN)
        sources.problems.append(f"{name} is no setting; correct or unset it.{near}")
    in_file = {name.lower() for name in (*names.GENERAL, *names.HUBSPOT, *names.SALESFORCE)}
    for key in sorted(sources.table.keys() - in_file - {"connections"}):
        near = names.hint(key, in_file)
        sources.problems.append(
            f"{key} in the TOML file is no setting; correct or remove it.{near}"
        )
    return [
        f"{name} is no setting and has no effect.{names.hint(name, names.KNOWN)}"
        for name in names.unknown(given, ("HUBSPOT_", "SALESFORCE_"))
    ]
