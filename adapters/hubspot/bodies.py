"""What HubSpot sends, read so that nothing in it can break us: JSON, ids, texts, times."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from connector.errors import WebhookRefused
from connector.ports import Delivery

MOST_CHARACTERS = 200  # of a text that is a key of ours

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(delivery: Delivery) -> Any:
    """The body as JSON that every database stores.

    Raises ``WebhookRefused``: 415 unless it is ``application/json``, 400 unless it is JSON as the
    standard has it, without ``NaN``.
    """
    content_type = delivery.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise WebhookRefused(
            "HubSpot's webhooks are application/json.", code="unsupported_media_type", status=415
        )
    try:
        return storable(
            json.loads(delivery.body.decode(), parse_constant=_no_number, parse_float=_finite)
        )
    except (ValueError, RecursionError):
        raise broken("The body is not valid JSON.") from None


def storable(value: Any) -> Any:
    """The same JSON without characters that no database stores; they are replaced."""
    # One NUL or half a surrogate pair, legal in JSON, makes PostgreSQL refuse the whole delivery.
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return value


def broken(message: str) -> WebhookRefused:
    """The refusal of a body that cannot be what it claims to be."""
    return WebhookRefused(message, code="bad_body", status=400)


def whole_id(value: Any) -> str | None:
    """The id when it is a positive whole number of at most 20 digits, as number or text."""
    text = str(value) if isinstance(value, int | str) else ""
    return text if re.fullmatch("[1-9][0-9]{0,19}", text) else None


def text(value: Any) -> str | None:
    """The text without outer blanks; None when there is none."""
    return (value.strip() or None) if isinstance(value, str) else None


def wording(value: Any) -> str | None:
    """The same, and anything else as JSON, so that whoever sent it finds it again."""
    return text(value if isinstance(value, str) or value is None else json.dumps(value)[:200])


def fields(value: Any) -> Mapping[str, Any]:
    """The object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> Sequence[Any]:
    """The array; an empty one for anything else."""
    return value if isinstance(value, list) else ()


def moment(value: Any) -> datetime | None:
    """The time that many milliseconds after 1970, None when it is no such number."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return None


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("number out of range")
    return number
