"""Queries: how values are put into them, and how much of one fits into an address.

https://developer.salesforce.com/docs/atlas.en-us.soql_sosl.meta/soql_sosl/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote_plus

from adapters.salesforce.client import literal, pattern

# Salesforce takes 16,384 bytes of address and headers; a token may be 2,000 of them.
MOST_BYTES = 13_000


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A field has this value or, by a pattern, has it somewhere within. Case does not matter."""

    field: str
    value: str
    is_pattern: bool = False

    @property
    def literal(self) -> str:
        """As it stands in a query, whatever is in it."""
        return pattern(self.value) if self.is_pattern else literal(self.value)


def any_of(terms: Sequence[Term]) -> str:
    """The condition that one of these holds."""
    listed: dict[str, list[str]] = {}
    for term in terms:
        if not term.is_pattern:
            listed.setdefault(term.field, []).append(term.literal)
    parts = [f"{field} IN ({','.join(values)})" for field, values in listed.items()]
    parts += [f"{term.field} LIKE {term.literal}" for term in terms if term.is_pattern]
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def groups(terms: Sequence[Term], *, around: str) -> Iterator[list[Term]]:
    """As few groups of terms as fit into an address each, with the rest of the query ``around``.

    A term that fits no address is left out.
    """
    room = MOST_BYTES - size(around)
    group: list[Term] = []
    left = room
    for term in terms:
        need = size(term.literal) + size(f" OR {term.field} LIKE " if term.is_pattern else ",")
        if need > room:
            continue
        if need > left:
            yield group
            group, left = [], room
        group.append(term)
        left -= need
    if group:
        yield group


def size(text: str) -> int:
    """How many bytes of an address this text takes."""
    return len(quote_plus(text))
