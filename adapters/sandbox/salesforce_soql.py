"""SOQL read into a tree: SELECT fields FROM one object, WHERE, ORDER BY, LIMIT.

Aggregates, sub-queries and date literals are not understood and refused as malformed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

Literal = str | bool | float | datetime | None


class Malformed(ValueError):
    """The text is no SOQL that the sandbox understands; ``at`` is the character it stopped at."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field op values``; ``op`` is one of = != < <= > >= LIKE IN NOT IN."""

    field: str
    op: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by AND or OR; NOT has one part."""

    op: str
    parts: tuple[Condition, ...]


Condition = Comparison | Junction


@dataclass(frozen=True, slots=True)
class Order:
    """One column of ORDER BY."""

    field: str
    descending: bool
    nulls_last: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was written; names are not checked yet."""

    text: str
    fields: tuple[str, ...]
    object_type: str
    where: Condition | None
    order: tuple[Order, ...]
    limit: int | None


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>'(?:[^'\\]|\\.)*')
    | (?P<when>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))
    | (?P<number>-?\d+(?:\.\d+)?)
    | (?P<name>[A-Za-z_][\w.]*)
    | (?P<op><=|>=|!=|<>|[=<>(),])
    )""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"} | {c: c for c in "\\'\""}
_COMPARISONS = ("=", "!=", "<>", "<", "<=", ">", ">=", "LIKE")


def parse(text: str) -> Query:
    """Read a query; raises ``Malformed``."""
    return _Reader(text).query()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = 0

    def query(self) -> Query:
        self.word("SELECT")
        fields = [self.name()]
        while self.took(","):
            fields.append(self.name())
        self.word("FROM")
        object_type = self.name()
        where = self.condition() if self.took("WHERE") else None
        order = self.order() if self.took("ORDER") else ()
        limit = self.whole_number() if self.took("LIMIT") else None
        if self.kind() != "end":
            raise self.unexpected()
        return Query(self.text, tuple(fields), object_type, where, order, limit)

    def condition(self) -> Condition:
        parts = [self.term()]
        joiner = None
        while (word := self.upper()) in ("AND", "OR"):
            # Salesforce refuses AND and OR side by side without brackets.
            if joiner not in (None, word):
                raise self.unexpected()
            joiner = word
            self.place += 1
            parts.append(self.term())
        return Junction(joiner, tuple(parts)) if joiner else parts[0]

    def term(self) -> Condition:
        if self.took("NOT"):
            return Junction("NOT", (self.term(),))
        if self.took("("):
            inner = self.condition()
            self.word(")")
            return inner
        field = self.name()
        op = self.upper()
        if op in ("IN", "NOT"):
            negated = self.took("NOT")
            self.word("IN")
            return Comparison(field, "NOT IN" if negated else "IN", self.literals())
        if op not in _COMPARISONS:
            raise self.unexpected()
        self.place += 1
        value = self.literal(pattern=op == "LIKE")
        return Comparison(field, "!=" if op == "<>" else op, (value,))

    def literals(self) -> tuple[Literal, ...]:
        self.word("(")
        values = [self.literal()]
        while self.took(","):
            values.append(self.literal())
        self.word(")")
        return tuple(values)

    def literal(self, *, pattern: bool = False) -> Literal:
        kind, text, at = self.tokens[self.place]
        value: Literal
        match kind:
            case "string":
                value = _unescape(text[1:-1], at, pattern=pattern)
            case "when":
                value = datetime.fromisoformat(text)
            case "number":
                value = float(text)
            case "name" if text.upper() in ("TRUE", "FALSE", "NULL"):
                value = {"TRUE": True, "FALSE": False, "NULL": None}[text.upper()]
            case _:
                raise self.unexpected()
        self.place += 1
        return value

    def order(self) -> tuple[Order, ...]:
        self.word("BY")
        columns = [self.column()]
        while self.took(","):
            columns.append(self.column())
        return tuple(columns)

    def column(self) -> Order:
        field = self.name()
        descending = self.took("DESC")
        if not descending:
            self.took("ASC")
        nulls_last = False
        if self.took("NULLS"):
            nulls_last = self.took("LAST")
            if not nulls_last:
                self.word("FIRST")
        return Order(field, descending, nulls_last)

    def whole_number(self) -> int:
        kind, text, _ = self.tokens[self.place]
        if kind != "number" or not text.isdigit():
            raise self.unexpected()
        self.place += 1
        return int(text)

    def name(self) -> str:
        kind, text, _ = self.tokens[self.place]
        if kind != "name":
            raise self.unexpected()
        self.place += 1
        return text

    def word(self, wanted: str) -> None:
        if not self.took(wanted):
            raise self.unexpected()

    def took(self, wanted: str) -> bool:
        if self.upper() != wanted:
            return False
        self.place += 1
        return True

    def upper(self) -> str:
        kind, text, _ = self.tokens[self.place]
        return text.upper() if kind in ("name", "op") else ""

    def kind(self) -> str:
        return self.tokens[self.place][0]

    def unexpected(self) -> Malformed:
        _, text, at = self.tokens[self.place]
        return Malformed(f"unexpected token: '{text or '<EOF>'}'", at)


def _unescape(body: str, at: int, *, pattern: bool) -> str:
    """The text between two quotes; in a LIKE pattern escaped wildcards stay escaped."""

    def plain(escape: re.Match[str]) -> str:
        if pattern and escape[1] in "%_\\":
            return escape[0]
        if escape[1] not in _ESCAPES:
            raise Malformed(f"Illegal string literal: Invalid string escape '{escape[0]}'", at)
        return _ESCAPES[escape[1]]

    return re.sub(r"\\(.)", plain, body, flags=re.DOTALL)


def _tokens(text: str) -> list[tuple[str, str, int]]:
    tokens = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if not found or not found.lastgroup:
            raise Malformed(f"line 1:{at} no viable alternative at character '{text[at]}'", at)
        tokens.append((found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)))
        at = found.end()
    return [*tokens, ("end", "", end)]
