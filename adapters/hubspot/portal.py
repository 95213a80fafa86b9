"""The outbound half of one portal, by the promises of ``connector.ports.Crm``."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from adapters.hubspot import actions, backlog, objects, outcomes, paging, records, users
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.errors import CallRefused
from adapters.hubspot.exchange import Errand, Renew
from adapters.hubspot.links import Links
from adapters.hubspot.owners import OwnerDirectory
from adapters.hubspot.settings import HubSpotSettings
from adapters.hubspot.transport import Clock
from connector.errors import CrmForbidden
from connector.model import Related
from connector.ports import (
    Capabilities,
    Changes,
    Concern,
    CrmRecord,
    CrmUser,
    Mark,
    Ours,
    Outcome,
    OwnerWrite,
    Shared,
    Verdict,
)


class HubSpotCrm:
    """One portal. ``clock`` is monotonic; the tests move it. ``renew`` asks for OAuth tokens."""

    capabilities = Capabilities(read_batch=100, write_batch=100, related=True, people=True)

    def __init__(
        self,
        settings: HubSpotSettings,
        shared: Shared,
        *,
        renew: Renew,
        clock: Clock = time.monotonic,
    ) -> None:
        self.availability_problem: str | None = None
        self._settings = settings
        self._clock = clock
        self._client = HubSpotClient(settings, shared, clock=clock, renew=renew)
        self._owners = OwnerDirectory(self._client.owners_page, clock=clock)
        self._links = Links(self._client, clock=clock)

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        """Read up to 100 records by one batch read; owners are judged by the owners list."""
        if not ids:
            return {}
        errand = Errand(self._clock)
        rows = records.read(
            self._client,
            object_type,
            list(dict.fromkeys(ids)),
            properties=objects.properties(object_type, fields),
            errand=errand,
        )
        owners = {row.owner_id for row in rows if row.owner_id}
        active = self._owners.active(owners, errand=errand)
        return {row.asked_id: _record(object_type, row, active) for row in rows}

    def related(
        self, object_type: str, records: Mapping[str, CrmRecord]
    ) -> Mapping[str, Sequence[Related]]:
        """By batch reads of associations and of the records they lead to, one of each a step."""
        errand = Errand(self._clock)
        linked = self._links.of(object_type, list(records), errand=errand)
        owners = {link.owner_id for links in linked.values() for link in links if link.owner_id}
        active = self._owners.active(owners, errand=errand)
        return {
            record_id: [replace(link, owner_stays=link.owner_id in active) for link in links]
            for record_id, links in linked.items()
        }

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        """From both lists of owners, read now, and the users' records."""
        errand = Errand(self._clock)
        owners = self._owners.everybody(errand)
        said = self._availabilities(errand)
        wanted = owners if owner_ids is None else owners.keys() & set(owner_ids)
        return {
            owner_id: users.person(owners[owner_id], said.of(owners[owner_id]))
            for owner_id in sorted(wanted)
        }

    def person(self, owner_id: str) -> CrmUser | None:
        """From the list of active owners that is kept in memory."""
        owner = self._owners.find(owner_id, errand=Errand(self._clock))
        return users.person(owner, None) if owner else None

    def tell(self, callback_id: str, verdict: Verdict) -> None:
        """Complete the callback; HubSpot calls one that waits no longer unknown."""
        fields = actions.output_fields(verdict)
        self._client.complete(callback_id, fields, errand=Errand(self._clock))

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """Set up to 100 owners by one batch update; one outcome for each write, in order."""
        errand = Errand(self._clock)
        active = self._owners.active({write.owner_id for write in writes}, errand=errand)
        sent = [write for write in writes if write.owner_id in active]
        told = self._update(object_type, sent, errand) if sent else {}
        return [
            told[write.record_id] if write.owner_id in active else outcomes.inactive(write)
            for write in writes
        ]

    def unowned(
        self, object_type: str, since: datetime, *, after: str | None = None
    ) -> Sequence[str]:
        """By a search that begins behind ``after``; up to 200 ids."""
        body = backlog.question(object_type, since, after)
        answer = self._client.search(object_type, body, errand=Errand(self._clock))
        return backlog.found(answer, after)

    def changes(self, object_type: str, mark: Mark) -> Changes:  # noqa: ARG002
        """Nothing: HubSpot's webhooks are resent for a day; see ``capabilities``."""
        return Changes(events=(), mark=mark, is_all=True)

    def concerns(self, ours: Ours) -> Sequence[Concern]:  # noqa: ARG002
        """None that the other looks do not find."""
        return ()

    def account_id(self) -> str | None:
        """The portal's id: as set, else read once from the account's details."""
        if self._settings.portal_id is not None:
            return self._settings.portal_id
        return str(self._client.account(Errand(self._clock))["portalId"])

    def close(self) -> None:
        """Close connections. Calling it twice is fine."""
        self._client.close()

    def _availabilities(self, errand: Errand) -> users.Availabilities:
        """What the users' records say; nothing where HubSpot closes them to us."""
        self.availability_problem = None
        if not self._settings.availability:
            return users.Availabilities()
        read_page = partial(self._client.users_page, errand=errand, properties=users.PROPERTIES)
        try:
            read = users.availabilities(paging.items(read_page))
        except (CrmForbidden, CallRefused) as refusal:
            self.availability_problem = refusal.message
            return users.Availabilities()
        if read.unreadable:
            self.availability_problem = (
                "Some working hours, out-of-office times or time zones of HubSpot's users make no"
                f" sense and are left out: {read.unreadable}."
            )
        return read

    def _update(
        self, object_type: str, writes: Sequence[OwnerWrite], errand: Errand
    ) -> dict[str, Outcome]:
        try:
            answer = self._client.update_owners(object_type, writes, errand=errand)
        except CallRefused as refusal:
            if len(writes) > 1:
                raise  # HubSpot refuses a whole batch for one bad item: the caller tries halves
            return {writes[0].record_id: outcomes.refused(writes[0], refusal)}
        records.check_scopes(answer)  # what was written all the same is found by the next read
        alone = len(writes) == 1
        return {write.record_id: outcomes.told(write, answer, alone=alone) for write in writes}


def _record(object_type: str, row: records.Row, active: frozenset[str]) -> CrmRecord:
    return CrmRecord(
        id=row.asked_id,
        owner_id=row.owner_id,
        owner_stays=row.owner_id in active,
        email=objects.email(row.values),
        company=objects.company(row.values),
        attributes=row.values,
        kind=objects.kind(object_type),
        slot=objects.slot(row.values) if object_type == "meetings" else None,
        survivor_id=row.survivor_id,
        merged_ids=row.merged_ids,
    )
