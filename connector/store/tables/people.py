"""Tables of users: who they are, when they are away, and their owner ids in each CRM."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from connector.model import Presence
from connector.store.columns import Moment, Words
from connector.store.tables.rules import in_range, index, metadata, one_of

users = Table(
    "users",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("email", Words),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("time_zone", Words),
    Column("created_at", Moment, nullable=False),
    Column("status", Words, nullable=False, server_default=text("'available'")),
    Column("working_hours", JSON(none_as_null=True)),  # null: always
    Column("holidays", Words),
    Column("daily_quota", Integer),
    one_of("status", Presence),
    in_range("daily_quota", ">= 0"),
)

absences = Table(
    "absences",
    metadata,
    Column("id", Words, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("starts_at", Moment, nullable=False),
    Column("ends_at", Moment, nullable=False),
    Column("reason", Words),
    CheckConstraint("ends_at > starts_at", name="ends_after_start"),
    index("ix_absences_user_id_ends_at", "user_id", "ends_at"),
)

user_owners = Table(
    "user_owners",
    metadata,
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("connection", Words, nullable=False),
    Column("owner_id", Words, nullable=False),
    Column("refused", Boolean, nullable=False, server_default=false()),  # by the answer to a write
    Column("unlisted", Boolean, nullable=False, server_default=false()),  # by the CRM's directory
    PrimaryKeyConstraint("user_id", "connection"),
    UniqueConstraint("connection", "owner_id"),
)

user_availability = Table(
    "user_availability",
    metadata,
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("connection", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("time_zone", Words),
    Column("working_hours", JSON(none_as_null=True)),  # null: not told
    Column("out_of_office", JSON(none_as_null=True)),  # null: never
    Column("read_at", Moment, nullable=False),
    PrimaryKeyConstraint("user_id", "connection"),
    one_of("status", Presence),
)
