"""OAuth tokens of the connections, encrypted, and who fetches new ones just now."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, select, update

from connector.store.database import Session, insert_on
from connector.store.tables import crm_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is stored of one connection. Both tokens are encrypted."""

    access_token: str | None = field(repr=False)
    expires_at: datetime | None  # of the access token
    refresh_token: str | None = field(repr=False)
    given_hash: str | None  # of the refresh token that stood in the settings then
    lease_until: datetime | None  # until then one process alone fetches new ones


def lock(session: Session, connection: str) -> Stored:
    """What is stored, for nobody else to change until the transaction ends."""
    fresh = insert_on(session, crm_tokens).values(connection=connection)
    session.execute(fresh.on_conflict_do_nothing())
    columns = crm_tokens.c
    row = session.execute(
        select(
            columns.access_token,
            columns.expires_at,
            columns.refresh_token,
            columns.given_hash,
            columns.lease_until,
        )
        .where(columns.connection == connection)
        .with_for_update()
    ).one()
    return Stored(**row._mapping)


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
        )
    )
    return cast("CursorResult[Any]", kept).rowcount == 1
