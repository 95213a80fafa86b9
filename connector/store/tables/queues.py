"""Tables of the queues: what came in, what must go out, and one lane for each connection."""

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
)

from connector.model import EventKind
from connector.store.columns import Moment, Number, Words
from connector.store.tables.rules import in_range, index, metadata, one_of

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
    Column("merged_ids", JSON(none_as_null=True)),  # records that this one took over
    Column("pool", Words),  # name or id of the pool that a workflow asks for
    Column("payload", JSON, nullable=False),
    Column("received_at", Moment, nullable=False),
    Column("status", Words, nullable=False),
    Column("reason", Words),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("failing_since", Moment),
    Column("due_at", Moment, nullable=False),
    Column("finished_at", Moment),
    UniqueConstraint("connection", "event_key"),
    one_of("kind", EventKind),
    one_of("status", ("ready", "done", "ignored", "dead")),
    in_range("attempts", ">= 0"),
    index("ix_inbox_ready", "connection", "id", where="status = 'ready'"),
    index("ix_inbox_dead", "connection", "id", where="status = 'dead'"),
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
    Column("replaces", JSON(none_as_null=True)),  # owner ids that may be written over
    Column("version", Integer, nullable=False, server_default=text("1")),
    Column("status", Words, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("failing_since", Moment),
    Column("due_at", Moment, nullable=False),
    Column("last_error", Words),
    Column("crm_message", Words),
    Column("rewritten", Boolean, nullable=False, server_default=false()),  # the CRM lost it once
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    UniqueConstraint("connection", "object_type", "record_id"),
    one_of("status", ("ready", "done", "kept", "dead", "withdrawn")),
    in_range("version", ">= 1"),
    in_range("attempts", ">= 0"),
    index("ix_outbox_ready", "connection", "id", where="status = 'ready'"),
    index("ix_outbox_dead", "connection", "id", where="status = 'dead'"),
    index("ix_outbox_assignment_id", "assignment_id"),
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
    Column("directory_due_at", Moment),  # null: the CRM's users were never read
    CheckConstraint("(lease_until IS NULL) = (leased_by IS NULL)", name="lease_is_whole"),
    in_range("fence", ">= 0"),
    in_range("probes", ">= 0"),
)

poll_marks = Table(
    "poll_marks",
    metadata,
    Column("connection", Words, nullable=False),
    Column("object_type", Words, nullable=False),
    Column("read_until", Moment, nullable=False),
    Column("record_id", Words, nullable=False),  # of that moment, the last that was read
    Column("again_from", Moment),  # while a reading goes on: where the next one begins
    Column("due_at", Moment, nullable=False),
    PrimaryKeyConstraint("connection", "object_type"),
)

callbacks = Table(
    "callbacks",
    metadata,
    Column("id", Number, primary_key=True),
    Column("connection", Words, nullable=False),
    Column("callback_id", Words, nullable=False),
    Column("object_type", Words, nullable=False),
    Column("record_id", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("answer", JSON(none_as_null=True)),  # what the workflow was told, once it was told
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("failing_since", Moment),
    Column("due_at", Moment, nullable=False),
    Column("last_error", Words),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    UniqueConstraint("connection", "callback_id"),
    one_of("status", ("waiting", "answered", "dead", "expired")),
    in_range("attempts", ">= 0"),
    index("ix_callbacks_waiting", "connection", "id", where="status = 'waiting'"),
    sqlite_autoincrement=True,
)
