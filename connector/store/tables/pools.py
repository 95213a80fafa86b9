"""Tables of pools: their policies, members, whose turn is next, and the territories."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from connector.model import (
    ManualPolicy,
    NoneAvailable,
    Period,
    QuotaWindow,
    RejectPolicy,
    ReturnPolicy,
    SkipPolicy,
    StickyPolicy,
    StickyTurn,
    Strategy,
)
from connector.store.columns import Moment, Number, Words
from connector.store.tables.rules import in_range, index, metadata, one_of

round_robin_pools = Table(
    "round_robin_pools",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("strategy", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Column("daily_quota", Integer),
    Column("period", Words, nullable=False, server_default=text("'month'")),
    Column("time_zone", Words),
    Column("skip", Words, nullable=False, server_default=text("'lose'")),
    Column("accrue_max", Integer, nullable=False, server_default=text("1")),
    Column("return", Words, nullable=False, server_default=text("'level'")),
    Column("none_available", Words, nullable=False, server_default=text("'hold'")),
    Column("fallback_user_id", ForeignKey("users.id")),
    Column("fallback_pool_id", ForeignKey("round_robin_pools.id")),
    Column("sticky", Words, nullable=False, server_default=text("'active'")),
    Column("sticky_steps", JSON(none_as_null=True)),  # null: all, in their order
    Column("sticky_turn", Words, nullable=False, server_default=text("'free'")),
    Column("manual", Words, nullable=False, server_default=text("'move'")),
    Column("reject", Words, nullable=False, server_default=text("'credit'")),
    Column("quota_window", Words, nullable=False, server_default=text("'day'")),
    Column("leave_buffer_hours", Integer, nullable=False, server_default=text("0")),
    one_of("strategy", Strategy),
    in_range("daily_quota", ">= 0"),
    one_of("period", Period),
    one_of("skip", SkipPolicy),
    in_range("accrue_max", ">= 1"),
    one_of("return", ReturnPolicy),
    one_of("none_available", NoneAvailable),
    CheckConstraint(
        "none_available <> 'fallback'"
        " OR fallback_user_id IS NOT NULL OR fallback_pool_id IS NOT NULL",
        name="fallback_is_named",
    ),
    CheckConstraint("fallback_pool_id <> id", name="fallback_is_another"),
    one_of("sticky", StickyPolicy),
    one_of("sticky_turn", StickyTurn),
    one_of("manual", ManualPolicy),
    one_of("reject", RejectPolicy),
    one_of("quota_window", QuotaWindow),
    in_range("leave_buffer_hours", ">= 0"),
    index("ix_round_robin_pools_name", "name", "created_at"),
    index(
        "ix_round_robin_pools_fallback_user_id",
        "fallback_user_id",
        where="fallback_user_id IS NOT NULL",
    ),
    index(
        "ix_round_robin_pools_fallback_pool_id",
        "fallback_pool_id",
        where="fallback_pool_id IS NOT NULL",
    ),
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
    Column("daily_quota", Integer),
    Column("received", Number, nullable=False, server_default=text("0")),
    Column("owed", Integer, nullable=False, server_default=text("0")),
    Column("balance", Number, nullable=False, server_default=text("0")),
    Column("taken", Number, nullable=False, server_default=text("0")),
    Column("share", Integer, nullable=False, server_default=text("0")),
    Column("in_period", Number, nullable=False, server_default=text("0")),
    Column("last_turn", Number, nullable=False, server_default=text("0")),
    Column("away", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("pool_id", "user_id"),
    UniqueConstraint("pool_id", "position"),
    in_range("position", ">= 1"),
    in_range("weight", "BETWEEN 0 AND 1000"),
    in_range("daily_quota", ">= 0"),
    in_range("received", ">= 0"),
    in_range("share", "BETWEEN 0 AND 1000"),
    in_range("last_turn", ">= 0"),
    index("ix_pool_members_user_id", "user_id"),
    sqlite_autoincrement=True,  # the id of a removed member is never given to another
)

pool_state = Table(
    "pool_state",
    metadata,
    Column("pool_id", ForeignKey("round_robin_pools.id"), primary_key=True),
    Column("last_assigned_member_id", ForeignKey("pool_members.id", ondelete="SET NULL")),
    Column("last_sequence", Number, nullable=False, server_default=text("0")),
    Column("turns", Number, nullable=False, server_default=text("0")),
    Column("period_start", Moment),
    Column("opens_at", Moment),  # when a held lead may find somebody; null: not by time
    Column("entries", Number, nullable=False, server_default=text("0")),  # of the journal
    in_range("last_sequence", ">= 0"),
    in_range("turns", ">= 0"),
    in_range("entries", ">= 0"),
    index("ix_pool_state_opens_at", "opens_at", where="opens_at IS NOT NULL"),
)

territories = Table(
    "territories",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Words, nullable=False, unique=True),
    Column("when", JSON, nullable=False),
    Column("pool_id", ForeignKey("round_robin_pools.id"), nullable=False),
    in_range("position", ">= 1"),
)
