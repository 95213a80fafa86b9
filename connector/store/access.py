"""Tokens of the REST API: shown once, kept as a hash, gone the moment they are revoked."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Row, or_, select, update

from connector.errors import Conflict, NotFound
from connector.model import Scope
from connector.store.database import Session, insert_on
from connector.store.tables import api_tokens

PREFIX = "lrt_"  # lets people and secret scanners see what it is
USE_IS_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is known of a token; the token itself is known to its owner only."""

    id: str
    name: str
    scope: Scope
    created_at: datetime
    last_used_at: datetime | None  # up to a minute old

    def use_is_worth_noting(self, now: datetime) -> bool:
        """Tell whether the last use that was noted is so old that this one is news."""
        return self.last_used_at is None or self.last_used_at <= now - USE_IS_NOTED_EVERY


def hash_of(token: str) -> str:
    """The form in which a token is stored. It has 256 random bits, so it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def create(session: Session, name: str, *, scope: Scope, now: datetime) -> str:
    """Make a token and return it; nobody can read it again.

    Raises ``Conflict`` when a token that is not revoked has the name.
    """
    token = f"{PREFIX}{secrets.token_urlsafe(32)}"
    fresh = insert_on(session, api_tokens).values(
        id=str(uuid4()), name=name, scope=scope, hash=hash_of(token), created_at=now
    )
    made = session.execute(fresh.on_conflict_do_nothing().returning(api_tokens.c.id)).first()
    if made is None:
        raise Conflict(
            f"There is a token {name!r} already. Choose another name, or revoke that one first.",
            code="token_exists",
        )
    return token


def find(session: Session, token: str) -> Token | None:
    """The token behind these characters; None when it is unknown or revoked."""
    query = select(api_tokens).where(api_tokens.c.hash == hash_of(token), _is_live())
    row = session.execute(query).first()
    return _token(row) if row else None


def listed(session: Session) -> list[Token]:
    """All tokens that are not revoked, by name."""
    rows = session.execute(select(api_tokens).where(_is_live()).order_by(api_tokens.c.name))
    return [_token(row) for row in rows]


def revoke(session: Session, name: str, *, now: datetime) -> None:
    """Make a token worthless from now on. Raises ``NotFound`` when there is none of the name."""
    here = update(api_tokens).where(api_tokens.c.name == name, _is_live())
    gone = session.execute(here.values(revoked_at=now).returning(api_tokens.c.id)).first()
    if gone is None:
        raise NotFound(
            f"There is no token {name!r}. `leadrota token list` shows the tokens.",
            code="token_not_found",
        )


def note_use(session: Session, token_id: str, *, now: datetime) -> None:
    """Remember that a token is in use, unless another request noted it within the minute."""
    columns = api_tokens.c
    session.execute(
        update(api_tokens)
        .where(
            columns.id == token_id,
            or_(
                columns.last_used_at.is_(None),
                columns.last_used_at <= now - USE_IS_NOTED_EVERY,
            ),
        )
        .values(last_used_at=now)
    )


def _is_live() -> ColumnElement[bool]:
    revoked_at: ColumnElement[datetime] = api_tokens.c.revoked_at
    return revoked_at.is_(None)


def _token(row: Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scope=Scope(row.scope),
        created_at=row.created_at,
        last_used_at=row.last_used_at,
    )
