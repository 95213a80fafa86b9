"""Tables of the past: every decision, and what else ever changed a pool's board."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
)

from connector.model import EntryKind, LeadKind, Reason, Status, StickyStep, WriteBack
from connector.store.columns import Moment, Number, Words
from connector.store.tables.rules import in_range, index, metadata, one_of

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
    Column("starts_at", Moment),  # of a meeting
    Column("ends_at", Moment),
    Column("current", Boolean, nullable=False),
    Column("write_back", Words, nullable=False),
    Column("trace", JSON, nullable=False),
    Column("counted", Boolean, nullable=False, server_default=false()),  # towards quotas, still
    Column("email_key", Words),  # these three as sticky look-ups compare them
    Column("company_key", Words),
    Column("domain_key", Words),
    Column("sticky_user_id", ForeignKey("users.id")),  # whom they find
    Column("actor", Words),
    Column("note", Words),
    UniqueConstraint("pool_id", "sequence"),
    one_of("kind", LeadKind),
    one_of("status", Status),
    one_of("reason", Reason),
    one_of("sticky_step", StickyStep),
    one_of("write_back", WriteBack),
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
    CheckConstraint("status <> 'undone' OR user_id IS NULL", name="undone_has_no_user"),
    CheckConstraint("NOT counted OR user_id IS NOT NULL", name="counted_has_user"),
    CheckConstraint("(starts_at IS NULL) = (ends_at IS NULL)", name="slot_is_whole"),
    CheckConstraint("ends_at > starts_at", name="ends_after_start"),
    index("uq_assignments_current_lead", "pool_id", "lead_id", where="{current}", unique=True),
    index(
        "uq_assignments_current_lead_without_pool",
        "lead_id",
        where="{current} AND pool_id IS NULL",
        unique=True,
    ),
    index(
        "uq_assignments_current_record",
        "connection",
        "object_type",
        "record_id",
        where="{current} AND record_id IS NOT NULL",
        unique=True,
    ),
    index(
        "ix_assignments_held",
        "pool_id",
        "sequence",
        where="{current} AND status = 'held'",
    ),
    index("ix_assignments_waiting", "id", where="{current} AND status = 'held'"),
    index("ix_assignments_record", "connection", "object_type", "record_id"),
    index("ix_assignments_lead_id", "lead_id"),
    index("ix_assignments_user_id", "user_id"),
    index("ix_assignments_user_counted", "user_id", "assigned_at", where="{counted}"),
    index("ix_assignments_pool_time", "pool_id", "assigned_at"),
    index(
        "ix_assignments_meetings",
        "user_id",
        "ends_at",
        where="{current} AND starts_at IS NOT NULL",
    ),
    index(
        "ix_assignments_email_key",
        "email_key",
        "id",
        where="{current} AND sticky_user_id IS NOT NULL AND email_key IS NOT NULL",
    ),
    index(
        "ix_assignments_company_key",
        "company_key",
        "id",
        where="{current} AND sticky_user_id IS NOT NULL AND company_key IS NOT NULL",
    ),
    index(
        "ix_assignments_domain_key",
        "domain_key",
        "id",
        where="{current} AND sticky_user_id IS NOT NULL AND domain_key IS NOT NULL",
    ),
)

journal = Table(
    "journal",
    metadata,
    Column("pool_id", ForeignKey("round_robin_pools.id"), nullable=False),
    Column("number", Number, nullable=False),
    Column("after_sequence", Number, nullable=False),
    Column("at", Moment, nullable=False),
    Column("kind", Words, nullable=False),
    Column("actor", Words),
    Column("body", JSON, nullable=False),
    PrimaryKeyConstraint("pool_id", "number"),
    one_of("kind", EntryKind),
    in_range("number", ">= 1"),
    in_range("after_sequence", ">= 0"),
)
