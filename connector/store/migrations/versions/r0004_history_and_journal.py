"""What sticky look-ups and quotas find in the history; the journal; tokens of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

moment = sa.DateTime(timezone=True)
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

OLD_WORDS = {
    "reason": "'rotation', 'owed', 'sticky', 'manual', 'kept_existing_owner',"
    " 'no_member_available', 'no_territory_match', 'no_pool'",
    "status": "'assigned', 'held', 'kept', 'reassigned'",
    "sticky_step": "'existing_owner', 'earlier_assignment'",
}
NEW_WORDS = {
    "reason": "'rotation', 'owed', 'sticky', 'preferred', 'fallback', 'manual',"
    " 'kept_existing_owner', 'no_member_available', 'pool_quota_reached',"
    " 'no_territory_match', 'no_pool'",
    "status": "'assigned', 'held', 'kept', 'reassigned', 'rejected', 'undone'",
    "sticky_step": "'existing_owner', 'person', 'company', 'earlier_assignment'",
}
NEAREST = {
    "reason": {
        "preferred": "manual",
        "fallback": "manual",
        "pool_quota_reached": "no_member_available",
    },
    "status": {"rejected": "reassigned", "undone": "reassigned"},
    "sticky_step": {"person": "earlier_assignment", "company": "earlier_assignment"},
}
CHECKS = {
    "undone_has_no_user": "status <> 'undone' OR user_id IS NULL",
    "counted_has_user": "NOT counted OR user_id IS NOT NULL",
    "slot_is_whole": "(starts_at IS NULL) = (ends_at IS NULL)",
    "ends_after_start": "ends_at > starts_at",
}
KEYS = ("email_key", "company_key", "domain_key")
COLUMNS = ("starts_at", "ends_at", "counted", *KEYS, "sticky_user_id", "actor", "note")
# Columns, and the rows that the index is for.
FLAGGED = {
    "uq_assignments_current_lead": (["pool_id", "lead_id"], "{current}"),
    "uq_assignments_current_lead_without_pool": (["lead_id"], "{current} AND pool_id IS NULL"),
    "uq_assignments_current_record": (
        ["connection", "object_type", "record_id"],
        "{current} AND record_id IS NOT NULL",
    ),
    "ix_assignments_held": (["pool_id", "sequence"], "{current} AND status = 'held'"),
}
ADDED = {
    "ix_assignments_pool_time": (["pool_id", "assigned_at"], None),
    "ix_assignments_user_counted": (["user_id", "assigned_at"], "{counted}"),
    "ix_assignments_meetings": (["user_id", "ends_at"], "{current} AND starts_at IS NOT NULL"),
} | {
    f"ix_assignments_{key}": (
        [key, "id"],
        f"{{current}} AND sticky_user_id IS NOT NULL AND {key} IS NOT NULL",
    )
    for key in KEYS
}
FREE_MAIL = """
    gmail.com googlemail.com outlook.com outlook.de outlook.fr hotmail.com hotmail.co.uk hotmail.de
    hotmail.fr hotmail.it hotmail.es live.com live.co.uk live.nl live.fr msn.com yahoo.com
    yahoo.co.uk yahoo.co.in yahoo.co.jp yahoo.de yahoo.fr yahoo.it yahoo.es yahoo.com.br yahoo.ca
    ymail.com rocketmail.com aol.com icloud.com me.com mac.com gmx.de gmx.net gmx.at gmx.ch gmx.com
    web.de freenet.de t-online.de arcor.de mail.com email.com proton.me protonmail.com pm.me
    tutanota.com tuta.io zoho.com fastmail.com hey.com yandex.ru yandex.com ya.ru mail.ru bk.ru
    list.ru inbox.ru rambler.ru qq.com 163.com 126.com sina.com foxmail.com naver.com daum.net
    hanmail.net orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it alice.it
    tiscali.it uol.com.br bol.com.br terra.com.br comcast.net verizon.net att.net sbcglobal.net
    bellsouth.net cox.net charter.net btinternet.com sky.com virginmedia.com bigpond.com rogers.com
    shaw.ca wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz rediffmail.com ziggo.nl kpnmail.nl
    telenet.be skynet.be bluewin.ch
"""


def upgrade() -> None:
    """Widen the history, fill in what it says already, and begin the journal."""
    _widen()
    _fill_in()
    for name, (columns, condition) in ADDED.items():
        op.create_index(name, "assignments", columns, **_where(condition))
    _journal()
    _api_tokens()
    op.add_column("outbox", sa.Column("replaces", sa.JSON()))
    for queue in ("inbox", "outbox"):
        dead = _where("status = 'dead'")
        op.create_index(f"ix_{queue}_dead", queue, ["connection", "id"], **dead)


def downgrade() -> None:
    """Go back: what the older history has no word for becomes the nearest that it has."""
    for queue in ("inbox", "outbox"):
        op.drop_index(f"ix_{queue}_dead", queue)
    op.drop_column("outbox", "replaces")
    op.drop_table("api_tokens")
    op.drop_table("journal")
    for name in ADDED:
        op.drop_index(name, "assignments")
    for column, nearest in NEAREST.items():
        for word, older in nearest.items():
            said: sa.ColumnClause[str] = sa.column(column)
            rows = sa.update(sa.table("assignments", said)).where(said == word)
            op.execute(rows.values({column: older}))
    with op.batch_alter_table("assignments") as table:
        for check in CHECKS:
            table.drop_constraint(op.f(f"ck_assignments_{check}"), type_="check")
        table.drop_constraint(op.f("fk_assignments_sticky_user_id"), type_="foreignkey")
        _set_words(table, OLD_WORDS)
        for column in COLUMNS:
            table.drop_column(column)


def _where(condition: str | None) -> dict[str, Any]:
    """Say for which rows an index is. SQLite wants a query's own words: a flag is 1 there."""
    if condition is None:
        return {}
    postgres = condition.format(current='"current"', counted="counted")
    sqlite = condition.format(current='"current" = 1', counted="counted = 1")
    return {"postgresql_where": sa.text(postgres), "sqlite_where": sa.text(sqlite)}


def _set_words(table: BatchOperations, words: Mapping[str, str]) -> None:
    for column, listed in words.items():
        name = op.f(f"ck_assignments_{column}")
        table.drop_constraint(name, type_="check")
        table.create_check_constraint(name, f"{column} IN ({listed})")


def _widen() -> None:
    if op.get_context().dialect.name == "sqlite":  # it never took these for a query
        for name in FLAGGED:
            op.drop_index(name, "assignments")
    with op.batch_alter_table("assignments") as table:
        _set_words(table, NEW_WORDS)
        for name in ("starts_at", "ends_at"):
            table.add_column(sa.Column(name, moment))
        table.add_column(
            sa.Column("counted", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
        for name in (*KEYS, "sticky_user_id", "actor", "note"):
            table.add_column(sa.Column(name, sa.Text()))
        table.create_foreign_key(
            op.f("fk_assignments_sticky_user_id"), "users", ["sticky_user_id"], ["id"]
        )
        for name, condition in CHECKS.items():
            table.create_check_constraint(op.f(f"ck_assignments_{name}"), condition)
    if op.get_context().dialect.name == "sqlite":
        for name, (columns, condition) in FLAGGED.items():
            unique = name.startswith("uq")
            op.create_index(name, "assignments", columns, unique=unique, **_where(condition))


def _fill_in() -> None:
    op.execute("UPDATE assignments SET sticky_user_id = user_id WHERE user_id IS NOT NULL")
    op.execute(
        'UPDATE assignments SET counted = "current" WHERE user_id IS NOT NULL'
        " AND pool_id IS NOT NULL AND reason IN ('rotation', 'owed', 'manual')"
    )
    connection = op.get_bind()
    update = sa.text(
        "UPDATE assignments SET email_key = :email_key, company_key = :company_key,"
        " domain_key = :domain_key WHERE id = :id"
    )
    for page in _people(connection):
        connection.execute(update, page)


def _people(connection: sa.Connection) -> Iterator[list[dict[str, str | None]]]:
    """Read whom rows are about in pages, with the words that look-ups compare."""
    query = sa.text(
        "SELECT id, email, company FROM assignments WHERE id > :after"
        " AND (email IS NOT NULL OR company IS NOT NULL) ORDER BY id LIMIT 1000"
    )
    after = ""
    while rows := connection.execute(query, {"after": after}).all():
        after = rows[-1].id
        yield [
            {
                "id": row.id,
                "email_key": (email := _folded(row.email)),
                "company_key": _folded(row.company),
                "domain_key": _domain(email),
            }
            for row in rows
        ]


def _folded(text: str | None) -> str | None:
    return (text or "").strip().casefold() or None


def _domain(email: str | None) -> str | None:
    domain = (email or "").rpartition("@")[2] if "@" in (email or "") else ""
    return None if domain in FREE_MAIL.split() else domain or None


def _journal() -> None:
    op.create_table(
        "journal",
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("number", number, nullable=False),
        sa.Column("after_sequence", number, nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text()),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('snapshot', 'edited', 'returned', 'amended')", name=op.f("ck_journal_kind")
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_journal_number")),
        sa.CheckConstraint("after_sequence >= 0", name=op.f("ck_journal_after_sequence")),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["round_robin_pools.id"], name=op.f("fk_journal_pool_id")
        ),
        sa.PrimaryKeyConstraint("pool_id", "number", name=op.f("pk_journal")),
    )


def _api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("last_used_at", moment),
        sa.Column("revoked_at", moment),
        sa.CheckConstraint(
            "scope IN ('assign', 'read', 'admin')", name=op.f("ck_api_tokens_scope")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_tokens_hash")),
    )
    op.create_index(
        "uq_api_tokens_live_name",
        "api_tokens",
        ["name"],
        unique=True,
        **_where("revoked_at IS NULL"),
    )
