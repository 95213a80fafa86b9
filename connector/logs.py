"""One line for each event on standard error, from our code and the libraries alike, no secrets.

Take a logger with ``structlog.get_logger(__name__)`` and pass facts as keywords. Standard output
stays free for the results of commands.
"""

from __future__ import annotations

import logging.config
import re
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

HIDDEN = "***"

# Matched against whole words of a key: "access_token" is hidden, "event_key" and "monkey" are not.
_SECRET = re.compile(
    r"(^|[_\-.])(token|secret|password|passwd|authorization|cookie|signature|assertion|credentials"
    r"|database_url|(api|private|webhook|encryption|secret|x-leadrota)[_-]key)s?($|[_\-.])",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(?P<url>(?:[a-z][a-z0-9+.\-]*:/)?/[^\s?\"'<>]*)\?[^\s\"'<>]+", re.IGNORECASE)
_USER = re.compile(r"(?P<scheme>[a-z][a-z0-9+.\-]*://)[^\s/@\"']+@", re.IGNORECASE)
_BEARER = re.compile(r"\b(?P<kind>bearer|basic)\s+[a-z0-9._~+/=\-]{8,}", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u2029]")


def configure(log_format: str) -> None:
    """Send all logs of this process through one formatter: ``logfmt``, ``json`` or ``console``."""
    logging.config.dictConfig(dict_config(log_format))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def dict_config(log_format: str) -> dict[str, Any]:
    """The same as configuration for ``logging.config``, as gunicorn takes it."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*_shared(), structlog.stdlib.ExtraAdder(), clean],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_renderers(log_format),
                ],
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"level": "INFO", "handlers": ["stderr"]},
        # gunicorn gives these handlers of their own; here they have none and pass lines up.
        "loggers": {
            "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
            "gunicorn.access": {"level": "INFO", "handlers": [], "propagate": True},
            "alembic": {"level": "WARNING"},  # it tells each start of itself
        },
    }


def clean(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide secrets by the name of their key, and query strings and credentials within texts."""
    return {key: _clean_value(key, value) for key, value in event.items()}


def clean_text(text: str) -> str:
    """A text without query strings, credentials and characters that would break its line."""
    text = _QUERY.sub(r"\g<url>", text)
    text = _USER.sub(rf"\g<scheme>{HIDDEN}@", text)
    text = _BEARER.sub(rf"\g<kind> {HIDDEN}", text)
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        clean,
    ]


def _renderers(log_format: str) -> list[Processor]:
    order = ["timestamp", "level", "event", "logger"]
    match log_format:
        case "json":
            return [structlog.processors.JSONRenderer(default=str, ensure_ascii=False)]
        case "console":
            return [structlog.dev.ConsoleRenderer(colors=False)]
        case _:
            return [_one_word_keys, structlog.processors.LogfmtRenderer(key_order=order)]


def _one_word_keys(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {re.sub(r"[\s=\"]+", "_", key): value for key, value in event.items()}


def _clean_value(key: str, value: Any) -> Any:
    if key.startswith("_"):  # structlog's own
        return value
    if _SECRET.search(key) and value is not None:
        return HIDDEN
    match value:
        case str():
            return clean_text(value)
        case bool() | int() | float() | None:
            return value
        case Mapping():
            return {str(name): _clean_value(str(name), item) for name, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_clean_value("", item) for item in value]
        case _:
            return clean_text(str(value))
