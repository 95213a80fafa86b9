"""First answers of POST requests, kept for a day under the caller's own key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update

from connector.store.database import Session, insert_on
from connector.store.tables import idempotency_keys

KEPT = timedelta(hours=24)
# A request is answered within 30 seconds; one that runs longer died with its process.
RUNNING = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is known of a key; ``status`` None: the first request is still running."""

    path: str
    body_hash: str
    status: int | None
    body: bytes | None
    headers: Mapping[str, str] | None


def begin(
    session: Session, token: str, key: str, path: str, body_hash: str, now: datetime
) -> Stored | None:
    """Take the key for this request (None: it is ours now) or tell what is there.

    Comparing path and hash is the caller's. Keys older than a day count as gone, and so do those
    of requests that never ended. On PostgreSQL it waits for another transaction that is just taking
    the same key.
    """
    columns = idempotency_keys.c
    fresh = insert_on(session, idempotency_keys).values(
        token=token, key=key, path=path, body_hash=body_hash, created_at=now
    )
    gone = or_(
        columns.created_at <= now - KEPT,
        columns.status.is_(None) & (columns.created_at <= now - RUNNING),
    )
    taken = session.execute(
        fresh.on_conflict_do_update(
            index_elements=["token", "key"],
            set_={
                "path": path,
                "body_hash": body_hash,
                "status": None,
                "body": None,
                "headers": None,
                "created_at": now,
            },
            where=gone,
        ).returning(columns.token)
    ).first()
    if taken:
        return None
    row = session.execute(
        select(idempotency_keys).where(columns.token == token, columns.key == key)
    ).one()
    return Stored(
        path=row.path,
        body_hash=row.body_hash,
        status=row.status,
        body=row.body,
        headers=row.headers,
    )


def finish(
    session: Session, token: str, key: str, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    """Keep the answer. Belongs in the transaction of the work that it tells of."""
    session.execute(
        update(idempotency_keys)
        .where(idempotency_keys.c.token == token, idempotency_keys.c.key == key)
        .values(status=status, body=body, headers=dict(headers))
    )


def drop(session: Session, token: str, key: str) -> None:
    """Forget the key, so that the same request may be tried anew."""
    session.execute(
        delete(idempotency_keys).where(
            idempotency_keys.c.token == token, idempotency_keys.c.key == key
        )
    )
