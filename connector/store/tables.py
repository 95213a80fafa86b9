"""Every table, with all the invariants that a database can hold."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from connector.model import EventKind, LeadKind, Reason, Status, StickyStep, Strategy, WriteBack
from connector.store.columns import Moment, Number, Words

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _one_of(column: str, words: type[StrEnum] | tuple[str, ...]) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _range(column: str, condition: str) -> CheckConstraint:
    return CheckConstraint(f"{column} {condition}", name=column)


def _index(name: str, *columns: Any, where: str | None = None, unique: bool = False) -> Index:
    condition = text(where) if where else None
    return Index(name, *columns, unique=unique, postgresql_where=condition, sqlite_where=condition)


users = Table(
    "users",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("email", Words),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("time_zone", Words),
    Column("created_at", Moment, nullable=False),
)

user_owners = Table(
    "user_owners",
    metadata,
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("connection", Words, nullable=False),
    Column("owner_id", Words, nullable=False),
    Column("refused", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("user_id", "connection"),
    UniqueConstraint("connection", "owner_id"),
)

round_robin_pools = Table(
    "round_robin_pools",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("strategy", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    _one_of("strategy", Strategy),
    _index("ix_round_robin_pools_name", "name", "created_at"),
)

pool_members = Table(
    "pool_members",
    metadata,
    Column("id", Number, primary_key=True),
    Column("pool_id", ForeignKey("round_robin_pools.id"), nullable=False),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("weight", Integer, nullable=False, server_default=text("1")),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("owed", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("pool_id", "user_id"),
    UniqueConstraint("pool_id", "position"),
    _range("position", ">= 1"),
    _range("weight", "BETWEEN 0 AND 1000"),
    _range("owed", ">= 0"),
    _index("ix_pool_members_user_id", "user_id"),
    sqlite_autoincrement=True,  # the id of a removed member is never given to another
)

pool_state = Table(
    "pool_state",
    metadata,
    Column("pool_id", ForeignKey("round_robin_pools.id"), primary_key=True),
    Column("last_assigned_member_id", ForeignKey("pool_members.id", ondelete="SET NULL")),
    Column("last_sequence", Number, nullable=False, server_default=text("0")),
    _range("last_sequence", ">= 0"),
)

territories = Table(
    "territories",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Words, nullable=False, unique=True),
    Column("when", JSON, nullable=False),
    Column("pool_id", ForeignKey("round_robin_pools.id"), nullable=False),
    _range("position", ">= 1"),
)

assignments = Table(
    "assignments",
    metadata,
    Column("id", Words, primary_key=True),
    Column("pool_id", ForeignKey("round_robin_pools.id")),
    Column("sequence", Number),
    Column("lead_id", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("sticky_step", Words),
    Column("user_id", ForeignKey("users.id")),
    Column("owner_id", Words),
    Column("member_id", Number),  # no foreign key: history outlives members
    Column("assigned_at", Moment, nullable=False),
    Column("connection", Words),
    Column("object_type", Words),
    Column("record_id", Words),
    Column("email", Words),
    Column("company", Words),
    Column("attributes", JSON, nullable=False),
    Column("current", Boolean, nullable=False),
    Column("write_back", Words, nullable=False),
    Column("trace", JSON, nullable=False),
    UniqueConstraint("pool_id", "sequence"),
    _one_of("kind", LeadKind),
    _one_of("status", Status),
    _one_of("reason", Reason),
    _one_of("sticky_step", StickyStep),
    _one_of("write_back", WriteBack),
    CheckConstraint("(pool_id IS NULL) = (sequence IS NULL)", name="sequence_of_pool"),
    CheckConstraint("sequence >= 1", name="sequence"),
    CheckConstraint(
        "(record_id IS NULL) = (connection IS NULL)"
        " AND (record_id IS NULL) = (object_type IS NULL)",
        name="record_is_whole",
    ),
    CheckConstraint("status <> 'held' OR user_id IS NULL", name="held_has_no_user"),
    CheckConstraint(
        # A person may give the record to somebody who is no user here: then reassigned has none.
        "status <> 'assigned' OR user_id IS NOT NULL",
        name="assigned_has_user",
    ),
    _index("uq_assignments_current_lead", "pool_id", "lead_id", where='"current"', unique=True),
    _index(
        "uq_assignments_current_lead_without_pool",
        "lead_id",
        where='"current" AND pool_id IS NULL',
        unique=True,
    ),
    _index(
        "uq_assignments_current_record",
        "connection",
        "object_type",
        "record_id",
        where='"current" AND record_id IS NOT NULL',
        unique=True,
    ),
    _index(
        "ix_assignments_held",
        "pool_id",
        "sequence",
        where="\"current\" AND status = 'held'",
    ),
    _index("ix_assignments_record", "connection", "object_type", "record_id"),
    _index("ix_assignments_lead_id", "lead_id"),
    _index("ix_assignments_user_id", "user_id"),
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", Number, primary_key=True),
    Column("connection", Words, nullable=False),
    Column("event_key", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("object_type", Words, nullable=False),
    Column("record_id", Words, nullable=False),
    Column("occurred_at", Moment),
    Column("owner_id", Words),
    Column("account", Words),
    Column("payload", JSON, nullable=False),
    Column("received_at", Moment, nullable=False),
    Column("status", Words, nullable=False),
    Column("reason", Words),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("failing_since", Moment),
    Column("due_at", Moment, nullable=False),
    Column("finished_at", Moment),
    UniqueConstraint("connection", "event_key"),
    _one_of("kind", EventKind),
    _one_of("status", ("ready", "done", "ignored", "dead")),
    _range("attempts", ">= 0"),
    _index("ix_inbox_ready", "connection", "id", where="status = 'ready'"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Number, primary_key=True),
    Column("connection", Words, nullable=False),
    Column("object_type", Words, nullable=False),
    Column("record_id", Words, nullable=False),
    Column("assignment_id", ForeignKey("assignments.id"), nullable=False),
    Column("owner_id", Words, nullable=False),
    Column("version", Integer, nullable=False, server_default=text("1")),
    Column("status", Words, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("failing_since", Moment),
    Column("due_at", Moment, nullable=False),
    Column("last_error", Words),
    Column("crm_message", Words),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    UniqueConstraint("connection", "object_type", "record_id"),
    _one_of("status", ("ready", "done", "kept", "dead", "withdrawn")),
    _range("version", ">= 1"),
    _range("attempts", ">= 0"),
    _index("ix_outbox_ready", "connection", "id", where="status = 'ready'"),
    _index("ix_outbox_assignment_id", "assignment_id"),
    sqlite_autoincrement=True,
)

lanes = Table(
    "lanes",
    metadata,
    Column("connection", Words, primary_key=True),
    Column("lease_until", Moment),
    Column("leased_by", Words),
    Column("fence", Number, nullable=False, server_default=text("0")),
    Column("served_at", Moment),
    Column("paused_until", Moment),
    Column("pause_reason", Words),
    Column("probes", Integer, nullable=False, server_default=text("0")),
    CheckConstraint("(lease_until IS NULL) = (leased_by IS NULL)", name="lease_is_whole"),
    _range("fence", ">= 0"),
    _range("probes", ">= 0"),
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
