"""Users, their owner ids in each connected CRM, and when they are away."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from connector.errors import Conflict
from connector.model import Absence, User
from connector.store.database import Session, chunks, insert_on
from connector.store.tables import absences as absence_rows
from connector.store.tables import user_availability, user_owners, users
from connector.store.user_rows import absences_of, columns_of, read


def get(session: Session, user_id: str) -> User | None:
    """Read one user."""
    return find(session, [user_id]).get(user_id)


def find(session: Session, ids: Iterable[str], *, now: datetime | None = None) -> dict[str, User]:
    """Read the users that exist among these ids, by id.

    With all their absences; with ``now`` without those that ended more than a day before it.
    """
    found: dict[str, User] = {}
    for chunk in chunks(sorted(set(ids))):
        found |= read(session, chunk, now)
    return found


def by_owner(session: Session, connection: str, owner_ids: Iterable[str]) -> dict[str, User]:
    """Read the users who have these owner ids on a connection, by owner id."""
    user_ids: dict[str, str] = {}
    for chunk in chunks(sorted(set(owner_ids))):
        rows = session.execute(
            select(user_owners.c.owner_id, user_owners.c.user_id).where(
                user_owners.c.connection == connection, user_owners.c.owner_id.in_(chunk)
            )
        )
        user_ids |= {row.owner_id: row.user_id for row in rows}
    known = find(session, user_ids.values())
    return {owner_id: known[user_id] for owner_id, user_id in user_ids.items()}


def ensure(
    session: Session, people: Iterable[tuple[str, str | None, str | None]], now: datetime
) -> None:
    """Make the users that are not known yet, from (id, name, e-mail); known ones stay as they are.

    The name defaults to the id.
    """
    wanted = {
        user_id: {"id": user_id, "name": name or user_id, "email": email, "created_at": now}
        for user_id, name, email in people
    }
    if wanted:
        # Always in the same order, so that two transactions cannot wait for each other.
        rows = [wanted[user_id] for user_id in sorted(wanted)]
        session.execute(insert_on(session, users).on_conflict_do_nothing(), rows)


def put(session: Session, user: User, now: datetime) -> bool:
    """Replace a user, owner ids included, or make it; True when it was made.

    Absences stay as they are: ``user.absences`` is not read, nor are ``user.refused_by`` and
    ``user.reported``. Forgets what a CRM refused: for each owner id that changed and, when the user
    is active, for all; what its directory tells only for those that changed. Raises ``Conflict``
    (``owner_taken``) when another user has one of the owner ids.
    """
    made = insert_on(session, users).on_conflict_do_nothing().returning(users.c.id)
    created = session.execute(made, [columns_of(user) | {"created_at": now}]).first() is not None
    if not created:
        session.execute(update(users).where(users.c.id == user.id).values(columns_of(user)))
    _refuse_taken(session, user)
    before = session.execute(select(user_owners).where(user_owners.c.user_id == user.id))
    same = {row.connection: row for row in before if _has(user, row.connection, row.owner_id)}
    session.execute(delete(user_owners).where(user_owners.c.user_id == user.id))
    told = user_availability.c
    session.execute(
        delete(user_availability).where(
            told.user_id == user.id, told.connection.not_in(sorted(same))
        )
    )
    rows = [
        {
            "user_id": user.id,
            "connection": connection,
            "owner_id": owner_id,
            "refused": connection in same and same[connection].refused and not user.active,
            "unlisted": connection in same and same[connection].unlisted,
        }
        for connection, owner_id in sorted(user.owners.items())
    ]
    if rows:
        try:
            with session.begin_nested():
                session.execute(insert(user_owners), rows)
        except IntegrityError as error:  # another transaction was quicker
            raise Conflict(
                f"An owner id of user {user.id} was given to another user just now.",
                code="owner_taken",
            ) from error
    return created


def listed(session: Session, after: str | None, limit: int) -> list[User]:
    """Read users by id, behind the id ``after``."""
    query = select(users.c.id).order_by(users.c.id).limit(limit)
    if after is not None:
        query = query.where(users.c.id > after)
    return list(find(session, session.scalars(query)).values())


def refuse(session: Session, user_id: str, connection: str, *, unlisted: bool = False) -> None:
    """Remember that this connection's CRM will not have the user own records.

    ``unlisted``: its directory says so, and may say otherwise when it is read again.
    """
    session.execute(
        update(user_owners)
        .where(user_owners.c.user_id == user_id, user_owners.c.connection == connection)
        .values({"unlisted" if unlisted else "refused": True})
    )


def absences(
    session: Session, user_id: str, after: str | None = None, limit: int | None = None
) -> list[Absence]:
    """Read when a user is or was away, by start, behind the absence with the id ``after``."""
    return absences_of(session, user_id, after, limit)


def add_absence(session: Session, user_id: str, absence: Absence) -> None:
    """Note when a user is away. The user exists."""
    session.execute(
        insert(absence_rows).values(
            id=absence.id,
            user_id=user_id,
            starts_at=absence.starts_at,
            ends_at=absence.ends_at,
            reason=absence.reason,
        )
    )


def remove_absence(session: Session, user_id: str, absence_id: str) -> bool:
    """Forget an absence; False when the user has none of this id."""
    gone = session.execute(
        delete(absence_rows)
        .where(absence_rows.c.id == absence_id, absence_rows.c.user_id == user_id)
        .returning(absence_rows.c.id)
    )
    return gone.first() is not None


def _has(user: User, connection: str, owner_id: str) -> bool:
    return user.owners.get(connection) == owner_id


def _refuse_taken(session: Session, user: User) -> None:
    pairs = list(user.owners.items())
    if not pairs:
        return
    taken = session.execute(
        select(user_owners).where(
            tuple_(user_owners.c.connection, user_owners.c.owner_id).in_(pairs),
            user_owners.c.user_id != user.id,
        )
    ).first()
    if taken:
        raise Conflict(
            f"Owner {taken.owner_id} of connection {taken.connection} belongs to user "
            f"{taken.user_id}. Take it from there first.",
            code="owner_taken",
        )
