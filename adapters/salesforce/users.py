"""The users of an org: who is active, and when they can take leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from adapters.salesforce import absences, ids
from adapters.salesforce.client import Call
from adapters.salesforce.settings import SalesforceSettings
from connector.errors import CrmForbidden, CrmNever
from connector.model import Availability, Presence
from connector.ports import CrmUser

IDS_IN_A_QUERY = 400  # 11 KB of an address; Salesforce takes 16 KB, headers included
MOST_USERS = 10_000  # five pages; of a look at all

_FIELDS = "Id,Name,Email,IsActive,TimeZoneSidKey"
_FEWEST_FIELDS = "Id,Name,IsActive"  # an org may hide what is personal

Row = Mapping[str, Any]


class Users:
    """Reads the users of one org. Shared by threads.

    ``problem`` says why less was told of their availability than might be; None: nothing.
    """

    def __init__(
        self,
        settings: SalesforceSettings,
        unassigned: Collection[str],
        *,
        clock: Callable[[], datetime],
    ) -> None:
        """``unassigned`` are users whose records count as unowned."""
        self._settings = settings
        self._unassigned = frozenset(unassigned)
        self._clock = clock
        self.problem: str | None = None

    def read(
        self, connect: Callable[[], Call], owner_ids: Collection[str] | None
    ) -> dict[str, CrmUser]:
        """Those of these owners whom the org knows, by the ids asked for.

        None: all active people with a licence of their own whose records count as owned, up to
        10,000. Raises ``CrmError`` where users cannot be read.
        """
        asked = {raw: id18 for raw in owner_ids or () if (id18 := ids.user_id(raw))}
        if owner_ids is not None and not asked:
            return {}
        reading = _Reading(connect(), None if owner_ids is None else sorted(set(asked.values())))
        rows = reading.users()
        said = self._availability(reading, rows)
        self.problem = " ".join(reading.problems) or None
        people = {owner_id: _person(owner_id, row, said) for owner_id, row in rows.items()}
        if owner_ids is None:
            nobody = self._unassigned | {reading.call.user_id}
            return {one: person for one, person in people.items() if one not in nobody}
        return {raw: people[id18] for raw, id18 in asked.items() if id18 in people}

    def person(self, connect: Callable[[], Call], owner_id: str) -> CrmUser | None:
        """The active user of this id as the org has them now; None when there is none."""
        id18 = ids.user_id(owner_id)
        row = _Reading(connect(), [id18]).users().get(id18) if id18 else None
        found = _person(id18, row, {}) if id18 and row else None
        return found if found and found.active else None

    def _availability(
        self, reading: _Reading, rows: Mapping[str, Row]
    ) -> Mapping[str, Availability]:
        """What the org tells of these users, by id; nothing where it shall not be followed."""
        if not self._settings.availability:
            return {}
        zones = {owner_id: _zone(row.get("TimeZoneSidKey")) for owner_id, row in rows.items()}
        spells = reading.out_of_office()
        online = reading.online() if self._settings.omni_channel else None
        said, now = {}, self._clock()
        unreadable = list(zones.values()).count("")
        for owner_id in rows:
            zone = zones[owner_id] or None
            spans, bad = absences.read(
                spells.get(owner_id, ()), ZoneInfo(zone) if zone else UTC, now
            )
            is_away = online is not None and owner_id not in online
            said[owner_id] = Availability(
                status=Presence.AWAY if is_away else Presence.AVAILABLE,
                time_zone=zone,
                absences=spans,
            )
            unreadable += bad
        if unreadable:
            reading.problems.append(
                "Some out-of-office times or time zones of Salesforce's users make no sense and "
                f"are left out: {unreadable}."
            )
        return said


class _Reading:
    """One look at the users with these checked ids, None: at all; and what it could not see."""

    def __init__(self, call: Call, id18s: Sequence[str] | None) -> None:
        self.call = call
        self.problems: list[str] = []
        self._ids = id18s

    def users(self) -> dict[str, Row]:
        """The users by id; where the org hides some fields, without those."""
        where = "IsActive = true AND UserType = 'Standard'" if self._ids is None else ""
        try:
            rows = self._ask(f"{_FIELDS} FROM User", "Id", where)
        except CrmNever as error:
            if error.code != "INVALID_FIELD":
                raise
            rows = self._ask(f"{_FEWEST_FIELDS} FROM User", "Id", where)
            self.problems.append("Salesforce hides the time zones or e-mails of its users from us.")
        return _by_id(rows, "Id")

    def out_of_office(self) -> dict[str, list[Row]]:
        """The rows of each user who noted an absence, past ones and those switched off too."""
        try:
            rows = self._ask(f"{absences.FIELDS} FROM OutOfOffice", "UserId")
        except (CrmForbidden, CrmNever) as refusal:
            self._miss("out-of-office times", "OutOfOffice", refusal)
            return {}
        of_each = defaultdict(list)
        for row in rows:
            if user_id := ids.user_id(str(row.get("UserId"))):
                of_each[user_id].append(row)
        return of_each

    def online(self) -> Collection[str] | None:
        """Who is online in Omni-Channel and not away there; None where it does not tell."""
        try:
            rows = self._ask(
                "UserId,IsAway FROM UserServicePresence", "UserId", "IsCurrentState = true"
            )
        except (CrmForbidden, CrmNever) as refusal:
            self._miss("presence of Omni-Channel", "UserServicePresence", refusal)
            return None
        return _by_id([row for row in rows if row.get("IsAway") is False], "UserId").keys()

    def _ask(self, what: str, key: str, where: str = "") -> list[Row]:
        """``what`` of our users, whose ids are in the field ``key``; one query for each 400."""
        most = f" LIMIT {MOST_USERS}" if self._ids is None else ""
        return [
            row
            for listed in self._listed(key)
            for row in self.call.query(f"SELECT {what}{_where(where, listed)}{most}")
        ]

    def _listed(self, key: str) -> list[str]:
        """Conditions that name our users, or none. Checked ids are base-62 and safe to quote."""
        if self._ids is None:
            return [""]
        quoted = [f"'{id18}'" for id18 in self._ids]
        parts = (quoted[at : at + IDS_IN_A_QUERY] for at in range(0, len(quoted), IDS_IN_A_QUERY))
        return [f"{key} IN ({','.join(part)})" for part in parts]

    def _miss(self, what: str, object_type: str, refusal: CrmForbidden | CrmNever) -> None:
        said = f": {refusal.crm_message}" if refusal.crm_message else "."
        self.problems.append(
            f"Salesforce does not show the {what} to us ({object_type}, {refusal.code}){said}"
        )


def _person(owner_id: str, row: Row, said: Mapping[str, Availability]) -> CrmUser:
    return CrmUser(
        owner_id=owner_id,
        name=str(row.get("Name") or owner_id),
        email=str(row["Email"]) if row.get("Email") else None,
        active=row.get("IsActive") is True,
        availability=said.get(owner_id),
    )


def _by_id(rows: Iterable[Row], key: str) -> dict[str, Row]:
    # Some references are plain text in the org, and then of 15 characters.
    return {id18: row for row in rows if (id18 := ids.user_id(str(row.get(key))))}


def _zone(key: Any) -> str | None:
    """The IANA name; None where none is told, empty where it is unknown."""
    if not key:
        return None
    try:
        return ZoneInfo(key).key
    except (ValueError, KeyError, OSError, TypeError):
        return ""


def _where(*conditions: str) -> str:
    given = [one for one in conditions if one]
    return f" WHERE {' AND '.join(given)}" if given else ""
