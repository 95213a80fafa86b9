"""What the directory of a CRM tells of our users: who is active there, and when they take leads.

It is read every few minutes, and at once where an owner id is new. Only what changed since is
written, as an edit: so the journals tell of it, and held leads find whoever is back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from connector import edits
from connector.ports import Crm, CrmUser
from connector.store import availability, lanes
from connector.store.availability import Told
from connector.store.database import Database
from connector.store.lanes import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What reading the users of a connection came to."""

    asked: int  # users of ours with an owner id there
    found: int  # of these, whom the CRM knows, active or not
    changed: int


def refresh(database: Database, claim: Claim, crm: Crm, *, now: datetime) -> Refreshed | None:
    """Read the CRM's users of a claimed connection; None when the claim was lost meanwhile.

    Whom the CRM does not list as active is inactive there until it does again. A CRM that knows
    none of our users is another account, or broken: then nothing changes. Raises ``CrmError`` when
    it cannot be read; nothing changes then either.
    """
    with database.read() as session:
        known = availability.known(session, claim.connection)
    # No database connection is held during the call.
    found = crm.people({one.owner_id for one in known.values()}) if known else {}
    changed = _changes(known, found) if found else {}
    with database.write() as session:
        if not lanes.release(session, claim, now=now):
            return None
        lanes.plan_directory(session, claim, now + crm.capabilities.people_every)
        if changed:
            edits.follow_directory(session, claim.connection, changed, now=now)
    return Refreshed(asked=len(known), found=len(found), changed=len(changed))


def _changes(known: Mapping[str, Told], found: Mapping[str, CrmUser]) -> dict[str, Told]:
    """What is to be remembered of those users of whom the CRM tells something else than before.

    A CRM that does not tell a user's availability any more takes back what it told: else who was
    away once would be so for ever.
    """
    told = {user_id: _told(one.owner_id, found.get(one.owner_id)) for user_id, one in known.items()}
    return {user_id: one for user_id, one in told.items() if one != known[user_id]}


def _told(owner_id: str, person: CrmUser | None) -> Told:
    return Told(
        owner_id=owner_id,
        listed=bool(person and person.active),
        availability=person.availability if person else None,
    )
