"""What sticky look-ups and quotas find in the history; the journal; tokens of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    "ix_assignments_waiting": (["id"], "{current} AND status = 'held'"),
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
# Mailboxes that anybody may have. The names in the last row have a domain in many countries.
FREE_MAIL = """
    126.com 139.com 163.com a1.net abv.bg alice.it aol.com arcor.de att.net bellsouth.net
    bigpond.com bk.ru blueyonder.co.uk bluewin.ch bol.com.br btinternet.com centrum.cz
    charter.net comcast.net cox.net daum.net docomo.ne.jp duck.com earthlink.net eircom.net
    email.com ezweb.ne.jp fastmail.com fastmail.fm foxmail.com free.fr freenet.de gmail.com
    hanmail.net hey.com hushmail.com ig.com.br inbox.com inbox.ru interia.pl juno.com kpnmail.nl
    laposte.net libero.it list.ru mac.com mail.com mail.ee mail.ru mailbox.org me.com naver.com
    nifty.com ntlworld.com o2.pl onet.pl online.no op.pl optonline.net orange.fr planet.nl pm.me
    posteo.de prodigy.net.mx proton.me protonmail.com qq.com rambler.ru rediffmail.com
    rogers.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.com sky.com skynet.be
    sohu.com sympatico.ca t-online.de talktalk.net telefonica.net telenet.be telia.com
    terra.com.br tiscali.it tutamail.com tutanota.com tutanota.de ukr.net uol.com.br verizon.net
    virgilio.it virginmedia.com walla.co.il wanadoo.fr web.de wp.pl xtra.co.nz ya.ru ziggo.nl
    zoho.com zohomail.com
    gmx googlemail hotmail icloud live msn outlook rocketmail yahoo yandex ymail
"""
FREE = frozenset(FREE_MAIL.split())
LONGEST_EMAIL, LONGEST_COMPANY = 320, 200  # an index takes no longer text
OLD_SKIPS = ("inactive", "weight_zero", "no_owner", "excluded", "refused_by_crm")
HISTORY = sa.table(
    "assignments",
    *(sa.column(name, sa.Text()) for name in ("id", "email", "company", *KEYS)),
    *(sa.column(name, sa.Text()) for name in NEAREST),
    sa.column("trace", sa.JSON()),
)


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
    op.execute("UPDATE pool_state SET entries = 0")  # the next upgrade begins journals anew
    for name in ADDED:
        op.drop_index(name, "assignments")
    for column, nearest in NEAREST.items():
        for word, older in nearest.items():
            said = HISTORY.c[column]
            op.execute(sa.update(HISTORY).where(said == word).values({column: older}))
    _tell_in_old_words()
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
    op.execute(
        'UPDATE assignments SET sticky_user_id = user_id, counted = "current"'
        " AND pool_id IS NOT NULL AND reason IN ('rotation', 'owed', 'manual')"
        " WHERE user_id IS NOT NULL"
    )
    columns = HISTORY.c
    told = columns.email.is_not(None) | columns.company.is_not(None)
    for page in _pages(sa.select(columns.id, columns.email, columns.company).where(told)):
        _change(
            [
                {
                    "row": row.id,
                    "email_key": _email(row.email),
                    "company_key": (_folded(row.company) or "")[:LONGEST_COMPANY] or None,
                    "domain_key": _domain(row.email),
                }
                for row in page
            ]
        )


def _tell_in_old_words() -> None:
    """The older program reads three words of each skip, and knows fewer reasons."""
    for page in _pages(sa.select(HISTORY.c.id, HISTORY.c.trace)):
        changed = [{"row": row.id, "trace": _old_trace(row.trace)} for row in page]
        _change([new for new, row in zip(changed, page, strict=True) if new["trace"] != row.trace])


def _old_trace(trace: dict[str, Any]) -> dict[str, Any]:
    skipped = [
        [user_id, reason, detail]
        if reason in OLD_SKIPS
        else [user_id, "excluded", f"{reason}: {detail}" if detail else reason]
        for user_id, reason, detail, *_ in trace.get("skipped", ())
    ]
    steps = NEAREST["sticky_step"]
    checks = [[steps.get(step, step), *rest] for step, *rest in trace.get("checks", ())]
    told = {"skipped": skipped, "checks": checks}
    return trace | {name: told[name] for name in told if name in trace}


def _pages(query: sa.Select[Any]) -> Iterator[Sequence[sa.Row[Any]]]:
    """Read the history in pages by id, however long it is."""
    after = ""
    page = query.order_by(HISTORY.c.id).limit(1000)
    while rows := op.get_bind().execute(page.where(HISTORY.c.id > after)).all():
        after = rows[-1].id
        yield rows


def _change(rows: list[dict[str, Any]]) -> None:
    """Write each row's values over those of the history row with the id ``row``."""
    if rows:
        here = sa.update(HISTORY).where(HISTORY.c.id == sa.bindparam("row"))
        op.get_bind().execute(here, rows)


def _folded(text: str | None) -> str | None:
    return (text or "").strip().casefold() or None


def _email(email: str | None) -> str | None:
    folded = _folded(email)
    return folded if folded and len(folded) <= LONGEST_EMAIL else None


def _domain(email: str | None) -> str | None:
    name, _, domain = (_email(email) or "").rpartition("@")
    free = domain in FREE or domain.split(".")[0] in FREE
    return domain if name and "." in domain and not free else None


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
