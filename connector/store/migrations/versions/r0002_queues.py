"""The inbox, the outbox, their lanes, and the keys of repeated requests."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of the queues."""
    _inbox()
    _outbox()
    _lanes()
    _idempotency_keys()
    if op.get_context().dialect.name == "postgresql":
        _clean_up_queues_early()


def _clean_up_queues_early() -> None:
    """Most rows of these tables die young, and a claim reads through the dead ones."""
    for table in ("inbox", "outbox", "lanes"):
        op.execute(
            f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0,"
            " autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0,"
            " autovacuum_analyze_threshold = 1000)"
        )


def _where(condition: str) -> dict[str, Any]:
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}


def _inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", number, nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("event_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("occurred_at", moment),
        sa.Column("owner_id", sa.Text()),
        sa.Column("account", sa.Text()),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("received_at", moment, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failing_since", moment),
        sa.Column("due_at", moment, nullable=False),
        sa.Column("finished_at", moment),
        sa.CheckConstraint(
            "kind IN ('created', 'changed', 'owner_changed', 'other')", name=op.f("ck_inbox_kind")
        ),
        sa.CheckConstraint(
            "status IN ('ready', 'done', 'ignored', 'dead')", name=op.f("ck_inbox_status")
        ),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_inbox_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sa.UniqueConstraint("connection", "event_key", name=op.f("uq_inbox_connection_event_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_inbox_ready", "inbox", ["connection", "id"], **_where("status = 'ready'"))


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", number, nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("assignment_id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failing_since", moment),
        sa.Column("due_at", moment, nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.Column("crm_message", sa.Text()),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("finished_at", moment),
        sa.CheckConstraint(
            "status IN ('ready', 'done', 'kept', 'dead', 'withdrawn')",
            name=op.f("ck_outbox_status"),
        ),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_outbox_attempts")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_outbox_version")),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name=op.f("fk_outbox_assignment_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint(
            "connection",
            "object_type",
            "record_id",
            name=op.f("uq_outbox_connection_object_type_record_id"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_assignment_id", "outbox", ["assignment_id"])
    op.create_index("ix_outbox_ready", "outbox", ["connection", "id"], **_where("status = 'ready'"))


def _lanes() -> None:
    op.create_table(
        "lanes",
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("lease_until", moment),
        sa.Column("leased_by", sa.Text()),
        sa.Column("fence", number, server_default=sa.text("0"), nullable=False),
        sa.Column("served_at", moment),
        sa.Column("paused_until", moment),
        sa.Column("pause_reason", sa.Text()),
        sa.Column("probes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint(
            "(lease_until IS NULL) = (leased_by IS NULL)", name=op.f("ck_lanes_lease_is_whole")
        ),
        sa.CheckConstraint("fence >= 0", name=op.f("ck_lanes_fence")),
        sa.CheckConstraint("probes >= 0", name=op.f("ck_lanes_probes")),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_lanes")),
    )


def _idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("body_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("body", sa.LargeBinary()),
        sa.Column("headers", sa.JSON(none_as_null=True)),
        sa.Column("created_at", moment, nullable=False),
        sa.CheckConstraint("status BETWEEN 100 AND 599", name=op.f("ck_idempotency_keys_status")),
        sa.PrimaryKeyConstraint("token", "key", name=op.f("pk_idempotency_keys")),
    )
