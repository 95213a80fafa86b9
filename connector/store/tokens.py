"""Tokens of the connections, encrypted, how they were got, and who fetches new ones just now."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, Row, select, update

from connector.log_ins import Failure, LogIns
from connector.store.database import Session, insert_on
from connector.store.tables import crm_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is stored of one connection. Both tokens are encrypted."""

    access_token: str | None = field(repr=False)
    expires_at: datetime | None  # of the access token; None: the CRM does not say
    refresh_token: str | None = field(repr=False)
    given_hash: str | None  # of what the settings gave then
    log_ins: LogIns
    lease_until: datetime | None = None  # until then one process alone fetches new ones


def lock(session: Session, connection: str) -> Stored:
    """What is stored, for nobody else to change until the transaction ends."""
    fresh = insert_on(session, crm_tokens).values(connection=connection)
    session.execute(fresh.on_conflict_do_nothing())
    query = select(crm_tokens).where(crm_tokens.c.connection == connection).with_for_update()
    row = session.execute(query).one()
    return Stored(
        access_token=row.access_token,
        expires_at=row.expires_at,
        refresh_token=row.refresh_token,
        given_hash=row.given_hash,
        log_ins=_log_ins(row),
        lease_until=row.lease_until,
    )


def lease(session: Session, connection: str, *, holder: str, until: datetime) -> None:
    """Let ``holder`` alone fetch new tokens until then."""
    session.execute(
        update(crm_tokens)
        .where(crm_tokens.c.connection == connection)
        .values(leased_by=holder, lease_until=until)
    )


def release(session: Session, connection: str, *, holder: str) -> None:
    """Let others try; nothing happens when the lease has passed to somebody else."""
    columns = crm_tokens.c
    session.execute(
        update(crm_tokens)
        .where(columns.connection == connection, columns.leased_by == holder)
        .values(leased_by=None, lease_until=None)
    )


def note(session: Session, connection: str, log_ins: LogIns, *, holder: str | None = None) -> None:
    """Remember how the log-ins go; with a holder only while it has the lease."""
    row = update(crm_tokens).where(crm_tokens.c.connection == connection)
    if holder is not None:
        row = row.where(crm_tokens.c.leased_by == holder)
    session.execute(row.values(_columns(log_ins)))


def keep(session: Session, connection: str, tokens: Stored, *, holder: str | None) -> bool:
    """Store new tokens and end the lease; False when it is not ``holder``'s any more.

    No holder: they replace what is there, and what somebody fetches just now is not taken.
    """
    row = update(crm_tokens).where(crm_tokens.c.connection == connection)
    if holder is not None:
        row = row.where(crm_tokens.c.leased_by == holder)
    kept = session.execute(
        row.values(
            access_token=tokens.access_token,
            expires_at=tokens.expires_at,
            refresh_token=tokens.refresh_token,
            given_hash=tokens.given_hash,
            lease_until=None,
            leased_by=None,
            **_columns(tokens.log_ins),
        )
    )
    return cast("CursorResult[Any]", kept).rowcount == 1


def _log_ins(row: Row[Any]) -> LogIns:
    return LogIns(
        count=row.log_ins,
        last_at=row.logged_in_at,
        made_with=row.made_with_hash,
        refused=row.refused_hash,
        failure=Failure(**json.loads(row.log_in_error)) if row.log_in_error else None,
    )


def _columns(log_ins: LogIns) -> dict[str, Any]:
    failure = log_ins.failure
    return {
        "log_ins": log_ins.count,
        "logged_in_at": log_ins.last_at,
        "made_with_hash": log_ins.made_with,
        "refused_hash": log_ins.refused,
        "log_in_error": json.dumps(asdict(failure)) if failure else None,
    }
