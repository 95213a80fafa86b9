"""What CRMs tell besides new leads: merges, availability, limits; tokens, and waiting workflows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

OLD_KINDS = ("created", "changed", "owner_changed", "other")
NEW_KINDS = ("created", "changed", "owner_changed", "linked", "merged", "deleted", "other")
WAITING = "status = 'waiting'"


def upgrade() -> None:
    """Widen the inbox, the lanes and the users' owner ids, and make the new tables."""
    op.add_column("inbox", sa.Column("merged_ids", sa.JSON()))
    op.add_column("inbox", sa.Column("pool", sa.Text()))
    _set_kinds(NEW_KINDS)
    op.add_column("lanes", sa.Column("directory_due_at", moment))
    op.add_column(
        "user_owners",
        sa.Column("unlisted", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    _user_availability()
    _calls()
    _callbacks()


def downgrade() -> None:
    """Go back: events that the older program has no word for mean nothing to it."""
    for table in ("callbacks", "crm_tokens", "call_limits", "call_buckets", "user_availability"):
        op.drop_table(table)
    with op.batch_alter_table("user_owners") as owners:
        owners.drop_column("unlisted")
    op.drop_column("lanes", "directory_due_at")
    newer = ", ".join(f"'{kind}'" for kind in NEW_KINDS if kind not in OLD_KINDS)
    op.execute(f"UPDATE inbox SET kind = 'changed' WHERE kind IN ({newer})")  # noqa: S608
    _set_kinds(OLD_KINDS)
    op.drop_column("inbox", "pool")
    op.drop_column("inbox", "merged_ids")


def _set_kinds(kinds: tuple[str, ...]) -> None:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    with op.batch_alter_table("inbox", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.drop_constraint(op.f("ck_inbox_kind"), type_="check")
        table.create_check_constraint(op.f("ck_inbox_kind"), f"kind IN ({listed})")


def _user_availability() -> None:
    op.create_table(
        "user_availability",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text()),
        sa.Column("working_hours", sa.JSON()),
        sa.Column("out_of_office", sa.JSON()),
        sa.Column("read_at", moment, nullable=False),
        sa.CheckConstraint(
            "status IN ('available', 'away')", name=op.f("ck_user_availability_status")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_availability_user_id")
        ),
        sa.PrimaryKeyConstraint("user_id", "connection", name=op.f("pk_user_availability")),
    )


def _calls() -> None:
    op.create_table(
        "call_buckets",
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Float(), nullable=False),
        sa.Column("filled_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("connection", "name", name=op.f("pk_call_buckets")),
    )
    op.create_table(
        "call_limits",
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("left", sa.Integer(), nullable=False),
        sa.Column("told_at", moment, nullable=False),
        sa.CheckConstraint("most >= 0", name=op.f("ck_call_limits_most")),
        sa.PrimaryKeyConstraint("connection", "name", name=op.f("pk_call_limits")),
    )
    op.create_table(
        "crm_tokens",
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("access_token", sa.Text()),
        sa.Column("refresh_token", sa.Text()),
        sa.Column("given_hash", sa.Text()),
        sa.Column("expires_at", moment),
        sa.Column("lease_until", moment),
        sa.Column("leased_by", sa.Text()),
        sa.CheckConstraint(
            "(lease_until IS NULL) = (leased_by IS NULL)", name=op.f("ck_crm_tokens_lease_is_whole")
        ),
        sa.CheckConstraint(
            "(access_token IS NULL) = (expires_at IS NULL)",
            name=op.f("ck_crm_tokens_access_is_whole"),
        ),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_crm_tokens")),
    )


def _callbacks() -> None:
    op.create_table(
        "callbacks",
        sa.Column("id", number, nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("callback_id", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON()),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failing_since", moment),
        sa.Column("due_at", moment, nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.CheckConstraint(
            "status IN ('waiting', 'answered', 'dead', 'expired')",
            name=op.f("ck_callbacks_status"),
        ),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_callbacks_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_callbacks")),
        sa.UniqueConstraint(
            "connection", "callback_id", name=op.f("uq_callbacks_connection_callback_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_callbacks_waiting",
        "callbacks",
        ["connection", "id"],
        postgresql_where=sa.text(WAITING),
        sqlite_where=sa.text(WAITING),
    )
