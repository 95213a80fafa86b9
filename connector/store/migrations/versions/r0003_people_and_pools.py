"""When users can take leads, what a pool does where pools differ, and all its strategies."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

AUTOINCREMENT = {"sqlite_autoincrement": True}  # SQLite makes a table anew and would forget it

# The default of each policy, and all its words.
POLICIES = {
    "period": ("month", "'day', 'week', 'month', 'ever'"),
    "skip": ("lose", "'lose', 'hold', 'accrue'"),
    "return": ("level", "'level', 'none'"),
    "none_available": ("hold", "'hold', 'fallback', 'refuse'"),
    "sticky": ("active", "'active', 'available', 'off'"),
    "sticky_turn": ("free", "'free', 'counted'"),
    "manual": ("move", "'move', 'ignore'"),
    "reject": ("credit", "'credit', 'no_credit'"),
    "quota_window": ("day", "'day', 'rolling24h'"),
}


def upgrade() -> None:
    """Add the columns and the absences; count what members received so far."""
    _users()
    _absences()
    _pools()
    _members()
    _state()
    op.execute(
        "UPDATE pool_members SET received = had.leads, last_turn = had.last FROM (SELECT member_id,"
        " count(*) AS leads, max(sequence) AS last FROM assignments GROUP BY member_id) AS had"
        " WHERE had.member_id = pool_members.id"
    )
    # Nobody knows yet when the leads that wait can go out: let the worker look at once.
    op.execute(
        "UPDATE pool_state SET opens_at = (SELECT min(assigned_at) FROM assignments"
        " WHERE assignments.pool_id = pool_state.pool_id"
        " AND \"current\" AND status = 'held')"
    )


def downgrade() -> None:
    """Go back: every pool is strict and open again, and nobody owes a turn."""
    op.execute("UPDATE round_robin_pools SET strategy = 'strict'")
    op.execute("UPDATE pool_members SET owed = 0 WHERE owed < 0")
    op.drop_table("absences")
    op.drop_index("ix_pool_state_opens_at", "pool_state")
    _drop("pool_state", "turns", "period_start", "opens_at", "entries")
    standing = ("received", "balance", "taken", "share", "in_period", "last_turn", "away")
    _drop("pool_members", "daily_quota", *standing, **AUTOINCREMENT)
    with op.batch_alter_table("pool_members", table_kwargs=AUTOINCREMENT) as table:
        _check(table, "pool_members", "owed", "owed >= 0")
    _old_pools()
    _drop("users", "status", "working_hours", "holidays", "daily_quota")


def _drop(table: str, *columns: str, **kept: Any) -> None:
    """Drop columns with the checks on them."""
    checks = {one["name"] for one in sa.inspect(op.get_bind()).get_check_constraints(table)}
    with op.batch_alter_table(table, table_kwargs=kept) as altered:
        for column in columns:
            if (check := f"ck_{table}_{column}") in checks:
                altered.drop_constraint(op.f(check), type_="check")
            altered.drop_column(column)


def _check(altered: BatchOperations, table: str, name: str, condition: str) -> None:
    altered.create_check_constraint(op.f(f"ck_{table}_{name}"), condition)


def _where(condition: str) -> dict[str, Any]:
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}


def _word(name: str, default: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=sa.text(f"'{default}'"), nullable=False)


def _count(name: str, start: int, kind: Any = number) -> sa.Column[int]:
    return sa.Column(name, kind, server_default=sa.text(str(start)), nullable=False)


def _users() -> None:
    with op.batch_alter_table("users") as table:
        table.add_column(_word("status", "available"))
        table.add_column(sa.Column("working_hours", sa.JSON(none_as_null=True)))
        table.add_column(sa.Column("holidays", sa.Text()))
        table.add_column(sa.Column("daily_quota", sa.Integer()))
        _check(table, "users", "status", "status IN ('available', 'away')")
        _check(table, "users", "daily_quota", "daily_quota >= 0")


def _pools() -> None:
    name = "round_robin_pools"
    with op.batch_alter_table(name) as table:
        table.drop_constraint(op.f(f"ck_{name}_strategy"), type_="check")
        _check(table, name, "strategy", "strategy IN ('strict', 'weighted', 'least_assigned')")
        for policy, (default, words) in POLICIES.items():
            table.add_column(_word(policy, default))
            quoted = '"return"' if policy == "return" else policy
            _check(table, name, policy, f"{quoted} IN ({words})")
        table.add_column(sa.Column("archived_at", moment))
        table.add_column(sa.Column("daily_quota", sa.Integer()))
        table.add_column(sa.Column("time_zone", sa.Text()))
        table.add_column(sa.Column("sticky_steps", sa.JSON(none_as_null=True)))
        table.add_column(_count("accrue_max", 1, sa.Integer()))
        table.add_column(_count("leave_buffer_hours", 0, sa.Integer()))
        for column, condition in (
            ("daily_quota", ">= 0"),
            ("accrue_max", ">= 1"),
            ("leave_buffer_hours", ">= 0"),
        ):
            _check(table, name, column, f"{column} {condition}")
        for column, other in (("fallback_user_id", "users"), ("fallback_pool_id", name)):
            table.add_column(sa.Column(column, sa.Text()))
            table.create_foreign_key(op.f(f"fk_{name}_{column}"), other, [column], ["id"])
        _check(table, name, "fallback_is_another", "fallback_pool_id <> id")
        named = "fallback_user_id IS NOT NULL OR fallback_pool_id IS NOT NULL"
        _check(table, name, "fallback_is_named", f"none_available <> 'fallback' OR {named}")
    for column in ("fallback_user_id", "fallback_pool_id"):
        op.create_index(f"ix_{name}_{column}", name, [column], **_where(f"{column} IS NOT NULL"))


def _members() -> None:
    name = "pool_members"
    with op.batch_alter_table(name, table_kwargs=AUTOINCREMENT) as table:
        table.drop_constraint(op.f(f"ck_{name}_owed"), type_="check")
        table.add_column(sa.Column("daily_quota", sa.Integer()))
        for column in ("received", "balance", "taken", "in_period", "last_turn"):
            table.add_column(_count(column, 0))
        table.add_column(_count("share", 0, sa.Integer()))
        table.add_column(sa.Column("away", sa.Boolean(), server_default=sa.false(), nullable=False))
        for column, condition in (
            ("daily_quota", ">= 0"),
            ("received", ">= 0"),
            ("share", "BETWEEN 0 AND 1000"),
            ("last_turn", ">= 0"),
        ):
            _check(table, name, column, f"{column} {condition}")


def _state() -> None:
    name = "pool_state"
    with op.batch_alter_table(name) as table:
        table.add_column(_count("turns", 0))
        table.add_column(sa.Column("period_start", moment))
        table.add_column(sa.Column("opens_at", moment))
        table.add_column(_count("entries", 0))
        _check(table, name, "turns", "turns >= 0")
        _check(table, name, "entries", "entries >= 0")
    op.create_index(f"ix_{name}_opens_at", name, ["opens_at"], **_where("opens_at IS NOT NULL"))


def _absences() -> None:
    op.create_table(
        "absences",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("starts_at", moment, nullable=False),
        sa.Column("ends_at", moment, nullable=False),
        sa.Column("reason", sa.Text()),
        sa.CheckConstraint("ends_at > starts_at", name=op.f("ck_absences_ends_after_start")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_absences_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_absences")),
    )
    op.create_index("ix_absences_user_id_ends_at", "absences", ["user_id", "ends_at"])


def _old_pools() -> None:
    name = "round_robin_pools"
    fallbacks = ("fallback_user_id", "fallback_pool_id")
    for column in fallbacks:
        op.drop_index(f"ix_{name}_{column}", name)
    with op.batch_alter_table(name) as table:
        for check in ("strategy", "fallback_is_another", "fallback_is_named"):
            table.drop_constraint(op.f(f"ck_{name}_{check}"), type_="check")
        _check(table, name, "strategy", "strategy IN ('strict')")
        for column in fallbacks:
            table.drop_constraint(op.f(f"fk_{name}_{column}"), type_="foreignkey")
            table.drop_column(column)
    rest = ("archived_at", "daily_quota", "time_zone", "sticky_steps", "accrue_max")
    _drop(name, *POLICIES, *rest, "leave_buffer_hours")
