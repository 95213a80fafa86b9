"""How tables name their constraints and say what a column may hold."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, Index, MetaData, text

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# SQLite takes a partial index only for a query with the same words, and compares flags with 1.
_FLAGS = {
    "postgresql": {"current": '"current"', "counted": "counted"},
    "sqlite": {"current": '"current" = 1', "counted": "counted = 1"},
}


def one_of(column: str, words: type[StrEnum] | tuple[str, ...]) -> CheckConstraint:
    """Let a column hold these words only."""
    listed = ", ".join(f"'{word}'" for word in words)
    name = '"return"' if column == "return" else column  # SQL has that word for itself
    return CheckConstraint(f"{name} IN ({listed})", name=column)


def in_range(column: str, condition: str) -> CheckConstraint:
    """Let a column hold only what the condition says: ``">= 0"``."""
    return CheckConstraint(f"{column} {condition}", name=column)


def index(name: str, *columns: str, where: str | None = None, unique: bool = False) -> Index:
    """Index columns, for some rows only with ``where``; ``{current}`` in it stands for the flag."""
    conditions: dict[str, Any] = {}
    if where:
        for dialect, flags in _FLAGS.items():
            conditions[f"{dialect}_where"] = text(where.format(**flags))
    return Index(name, *columns, unique=unique, **conditions)
