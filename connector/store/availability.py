"""What the directory of a CRM tells of our users: who is active there, and when they take leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update

from connector.model import Availability
from connector.store.database import Session, chunks
from connector.store.tables import user_availability, user_owners
from connector.store.user_rows import (
    availability_of,
    columns_of_availability,
    owners_and_reports,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a CRM tells of one owner id."""

    owner_id: str
    listed: bool  # as a real, active person
    availability: Availability | None


def known(session: Session, connection: str) -> dict[str, Told]:
    """Read what the connection's directory told last of each user with an owner id, by user id."""
    rows = session.execute(owners_and_reports().where(user_owners.c.connection == connection))
    return {
        row.user_id: Told(
            owner_id=row.owner_id, listed=not row.unlisted, availability=availability_of(row)
        )
        for row in rows
    }


def keep(session: Session, connection: str, told: Mapping[str, Told], now: datetime) -> None:
    """Take over what the directory tells of these users, by user id.

    Nothing of those whose owner id is another by now.
    """
    for chunk in chunks(sorted(told)):
        owned = user_owners.c
        rows = session.execute(
            select(owned.user_id, owned.owner_id).where(
                owned.connection == connection, owned.user_id.in_(chunk)
            )
        )
        still = [row.user_id for row in rows if told[row.user_id].owner_id == row.owner_id]
        _keep(session, connection, {user_id: told[user_id] for user_id in still}, now)


def _keep(session: Session, connection: str, told: Mapping[str, Told], now: datetime) -> None:
    if not told:
        return
    session.execute(
        update(user_owners).where(
            user_owners.c.connection == connection, user_owners.c.user_id == bindparam("of_user")
        ),
        [{"of_user": user_id, "unlisted": not one.listed} for user_id, one in told.items()],
    )
    here = user_availability.c
    session.execute(
        delete(user_availability).where(
            here.connection == connection, here.user_id.in_(sorted(told))
        )
    )
    rows = [
        {"user_id": user_id, "connection": connection, "read_at": now}
        | columns_of_availability(one.availability)
        for user_id, one in told.items()
        if one.availability
    ]
    if rows:
        session.execute(insert(user_availability), rows)
