"""Tables of who may call the API, and of calls that may come again."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from connector.store.columns import Moment, Words
from connector.store.tables.rules import index, metadata, one_of

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("scope", Words, nullable=False),
    Column("hash", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    UniqueConstraint("hash"),
    one_of("scope", ("assign", "read", "admin")),
    index("uq_api_tokens_live_name", "name", where="revoked_at IS NULL", unique=True),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("token", Words, nullable=False),
    Column("key", Words, nullable=False),
    Column("path", Words, nullable=False),
    Column("body_hash", Words, nullable=False),
    Column("status", Integer),  # null: the first request is still running
    Column("body", LargeBinary),
    Column("headers", JSON(none_as_null=True)),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("token", "key"),
    CheckConstraint("status BETWEEN 100 AND 599", name="status"),
)
