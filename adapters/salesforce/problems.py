"""What the bodies of failed calls say, in any of the shapes that Salesforce's APIs use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Problem:
    """One error of a reply: ``("STRING_TOO_LONG", "Company: data value too large", ("Company",))``.

    ``code`` is empty where the body has none.
    """

    code: str
    text: str
    fields: tuple[str, ...] = ()


def problems(body: bytes | str) -> list[Problem] | None:
    """Read any of the four shapes of an error body; None if it is no JSON (a page of a proxy)."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    entries = document if isinstance(document, list) else [document]
    return [problem(entry) for entry in entries if isinstance(entry, dict)]


def problem(entry: Mapping[str, object]) -> Problem:
    """Read one error, whichever of the APIs it is from."""
    codes = ("errorCode", "statusCode", "exceptionCode", "error")  # REST, collections, bulk, OAuth
    texts = ("message", "exceptionMessage", "error_description")
    fields = entry.get("fields")
    return Problem(
        code=_first_text(entry, codes),
        text=_first_text(entry, texts) + _rule_of(entry),
        fields=tuple(str(name) for name in fields) if isinstance(fields, list) else (),
    )


def words(found: Iterable[Problem]) -> str | None:
    """All errors as one text, in Salesforce's words."""
    told = "; ".join(
        (p.text or p.code) + (f" ({', '.join(p.fields)})" if p.fields else "") for p in found
    )
    return told[:_LONGEST_TEXT] or None


def _first_text(entry: Mapping[str, object], names: Iterable[str]) -> str:
    return next((str(entry[name]) for name in names if entry.get(name)), "")


def _rule_of(entry: Mapping[str, object]) -> str:
    """Name the duplicate rule that was broken, which the text does not."""
    # The key has been seen misspelt in replies about a single record.
    result = entry.get("duplicateResult") or entry.get("duplicateResut")
    rule = result.get("duplicateRule") if isinstance(result, dict) else None
    return f" [duplicate rule {rule}]" if rule else ""
