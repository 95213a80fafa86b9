"""Polling what changed in a CRM; log-ins in vain and lost owner writes are counted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)

BOTH_OR_NEITHER = "(access_token IS NULL) = (expires_at IS NULL)"
AN_END_IS_OF_ONE = "expires_at IS NULL OR access_token IS NOT NULL"


def upgrade() -> None:
    """Make the marks, and let tokens be kept that do not say when they end."""
    op.create_table(
        "poll_marks",
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("read_until", moment, nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("again_from", moment),
        sa.Column("due_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("connection", "object_type", name=op.f("pk_poll_marks")),
    )
    op.add_column(
        "outbox", sa.Column("rewritten", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    with op.batch_alter_table("crm_tokens") as tokens:
        tokens.drop_constraint(op.f("ck_crm_tokens_access_is_whole"), type_="check")
        tokens.create_check_constraint(op.f("ck_crm_tokens_end_has_a_token"), AN_END_IS_OF_ONE)
        tokens.add_column(
            sa.Column("log_ins", sa.Integer(), server_default=sa.text("0"), nullable=False)
        )
        tokens.add_column(sa.Column("logged_in_at", moment))
        tokens.add_column(sa.Column("made_with_hash", sa.Text()))
        tokens.add_column(sa.Column("refused_hash", sa.Text()))
        tokens.add_column(sa.Column("log_in_error", sa.Text()))
        tokens.create_check_constraint(op.f("ck_crm_tokens_log_ins"), "log_ins >= 0")


def downgrade() -> None:
    """Go back: tokens without an end are fetched anew."""
    op.execute("UPDATE crm_tokens SET access_token = NULL WHERE expires_at IS NULL")
    with op.batch_alter_table("crm_tokens") as tokens:
        tokens.drop_constraint(op.f("ck_crm_tokens_log_ins"), type_="check")
        for column in ("log_in_error", "refused_hash", "made_with_hash", "logged_in_at", "log_ins"):
            tokens.drop_column(column)
        tokens.drop_constraint(op.f("ck_crm_tokens_end_has_a_token"), type_="check")
        tokens.create_check_constraint(op.f("ck_crm_tokens_access_is_whole"), BOTH_OR_NEITHER)
    with op.batch_alter_table("outbox", table_kwargs={"sqlite_autoincrement": True}) as outbox:
        outbox.drop_column("rewritten")
    op.drop_table("poll_marks")
