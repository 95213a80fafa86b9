"""Users, pools, territories and what was decided."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of people and decisions."""
    _users()
    _user_owners()
    _round_robin_pools()
    _pool_members()
    _pool_state()
    _territories()
    _assignments()


def _where(condition: str) -> dict[str, Any]:
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text()),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("time_zone", sa.Text()),
        sa.Column("created_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )


def _user_owners() -> None:
    op.create_table(
        "user_owners",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("refused", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_owners_user_id")),
        sa.PrimaryKeyConstraint("user_id", "connection", name=op.f("pk_user_owners")),
        sa.UniqueConstraint(
            "connection", "owner_id", name=op.f("uq_user_owners_connection_owner_id")
        ),
    )


def _round_robin_pools() -> None:
    op.create_table(
        "round_robin_pools",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.CheckConstraint("strategy IN ('strict')", name=op.f("ck_round_robin_pools_strategy")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_robin_pools")),
    )
    op.create_index("ix_round_robin_pools_name", "round_robin_pools", ["name", "created_at"])


def _pool_members() -> None:
    op.create_table(
        "pool_members",
        sa.Column("id", number, nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("owed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("owed >= 0", name=op.f("ck_pool_members_owed")),
        sa.CheckConstraint("position >= 1", name=op.f("ck_pool_members_position")),
        sa.CheckConstraint("weight BETWEEN 0 AND 1000", name=op.f("ck_pool_members_weight")),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["round_robin_pools.id"], name=op.f("fk_pool_members_pool_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_pool_members_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool_members")),
        sa.UniqueConstraint("pool_id", "position", name=op.f("uq_pool_members_pool_id_position")),
        sa.UniqueConstraint("pool_id", "user_id", name=op.f("uq_pool_members_pool_id_user_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_pool_members_user_id", "pool_members", ["user_id"])


def _pool_state() -> None:
    op.create_table(
        "pool_state",
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("last_assigned_member_id", number),
        sa.Column("last_sequence", number, server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("last_sequence >= 0", name=op.f("ck_pool_state_last_sequence")),
        sa.ForeignKeyConstraint(
            ["last_assigned_member_id"],
            ["pool_members.id"],
            name=op.f("fk_pool_state_last_assigned_member_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["round_robin_pools.id"], name=op.f("fk_pool_state_pool_id")
        ),
        sa.PrimaryKeyConstraint("pool_id", name=op.f("pk_pool_state")),
    )


def _territories() -> None:
    op.create_table(
        "territories",
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("when", sa.JSON(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.CheckConstraint("position >= 1", name=op.f("ck_territories_position")),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["round_robin_pools.id"], name=op.f("fk_territories_pool_id")
        ),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_territories")),
        sa.UniqueConstraint("name", name=op.f("uq_territories_name")),
    )


def _assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text()),
        sa.Column("sequence", number),
        sa.Column("lead_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("sticky_step", sa.Text()),
        sa.Column("user_id", sa.Text()),
        sa.Column("owner_id", sa.Text()),
        sa.Column("member_id", number),
        sa.Column("assigned_at", moment, nullable=False),
        sa.Column("connection", sa.Text()),
        sa.Column("object_type", sa.Text()),
        sa.Column("record_id", sa.Text()),
        sa.Column("email", sa.Text()),
        sa.Column("company", sa.Text()),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("write_back", sa.Text(), nullable=False),
        sa.Column("trace", sa.JSON(), nullable=False),
        sa.CheckConstraint("kind IN ('lead', 'meeting', 'task')", name=op.f("ck_assignments_kind")),
        sa.CheckConstraint(
            "reason IN ('rotation', 'owed', 'sticky', 'manual',"
            " 'kept_existing_owner', 'no_member_available', 'no_territory_match', 'no_pool')",
            name=op.f("ck_assignments_reason"),
        ),
        sa.CheckConstraint(
            "status <> 'held' OR user_id IS NULL", name=op.f("ck_assignments_held_has_no_user")
        ),
        sa.CheckConstraint(
            "status IN ('assigned', 'held', 'kept', 'reassigned')",
            name=op.f("ck_assignments_status"),
        ),
        sa.CheckConstraint(
            "status <> 'assigned' OR user_id IS NOT NULL",
            name=op.f("ck_assignments_assigned_has_user"),
        ),
        sa.CheckConstraint(
            "sticky_step IN ('existing_owner', 'earlier_assignment')",
            name=op.f("ck_assignments_sticky_step"),
        ),
        sa.CheckConstraint(
            "write_back IN ('none', 'pending', 'done', 'kept', 'dead')",
            name=op.f("ck_assignments_write_back"),
        ),
        sa.CheckConstraint(
            "(pool_id IS NULL) = (sequence IS NULL)", name=op.f("ck_assignments_sequence_of_pool")
        ),
        sa.CheckConstraint(
            "(record_id IS NULL) = (connection IS NULL)"
            " AND (record_id IS NULL) = (object_type IS NULL)",
            name=op.f("ck_assignments_record_is_whole"),
        ),
        sa.CheckConstraint("sequence >= 1", name=op.f("ck_assignments_sequence")),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["round_robin_pools.id"], name=op.f("fk_assignments_pool_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_assignments_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("pool_id", "sequence", name=op.f("uq_assignments_pool_id_sequence")),
    )
    op.create_index(
        "ix_assignments_held",
        "assignments",
        ["pool_id", "sequence"],
        **_where("\"current\" AND status = 'held'"),
    )
    op.create_index("ix_assignments_lead_id", "assignments", ["lead_id"])
    op.create_index(
        "ix_assignments_record", "assignments", ["connection", "object_type", "record_id"]
    )
    op.create_index("ix_assignments_user_id", "assignments", ["user_id"])
    op.create_index(
        "uq_assignments_current_lead",
        "assignments",
        ["pool_id", "lead_id"],
        unique=True,
        **_where('"current"'),
    )
    op.create_index(
        "uq_assignments_current_lead_without_pool",
        "assignments",
        ["lead_id"],
        unique=True,
        **_where('"current" AND pool_id IS NULL'),
    )
    op.create_index(
        "uq_assignments_current_record",
        "assignments",
        ["connection", "object_type", "record_id"],
        unique=True,
        **_where('"current" AND record_id IS NOT NULL'),
    )
