"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Text, TypeDecorator

# SQLite counts up by itself only in a column of exactly the type INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")


class Moment(TypeDecorator[datetime]):
    """An aware UTC moment; a naive one is refused. SQLite keeps it as text without a zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn any zone into UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; give an aware UTC datetime")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give back aware UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text from anywhere. What PostgreSQL cannot hold (NUL, lone surrogates) becomes U+FFFD.

    A CRM's error message or company name must never be able to block its lane.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        """Replace what cannot be stored."""
        return None if value is None else clean(value)


def clean(value: str) -> str:
    """Text as ``Words`` keeps it."""
    kept = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return kept.replace("\x00", "\ufffd")
