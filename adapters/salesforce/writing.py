"""How the owners of a batch are written: together or, where others write too, one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from adapters.salesforce import guarded, ids, owners
from adapters.salesforce.client import Call
from adapters.salesforce.reading import Reader
from connector.ports import CrmRecord, Outcome, OwnerWrite, Result


class Writer:
    """Writes the owners of records of one org. Shared by threads."""

    def __init__(
        self, reader: Reader, guarded_objects: Collection[str], clock: Callable[[], datetime]
    ) -> None:
        """``guarded_objects``: object types, in any case, that other automation writes too."""
        self._reader = reader
        self._guarded = frozenset(name.lower() for name in guarded_objects)
        self._directory = owners.Directory(clock)

    def write(
        self, begin: Callable[[], Call], object_type: str, writes: Sequence[OwnerWrite]
    ) -> list[Outcome]:
        """Write them, after at most one look at the new owners; one outcome for each.

        ``begin`` is called only if there is something to send.
        """
        targets: dict[str, OwnerWrite] = {}
        for one in writes:
            if checked := _checked(object_type, one):
                targets[checked.record_id] = checked  # twice in one update is an error there
        settled = self._settle(begin(), object_type, targets) if targets else {}
        return [_outcome(object_type, one, targets, settled) for one in writes]

    def _settle(
        self, call: Call, object_type: str, targets: Mapping[str, OwnerWrite]
    ) -> dict[str, Outcome]:
        active = self._directory.active({one.owner_id for one in targets.values()}, call.users)
        settled = {
            record_id: refusal
            for record_id, one in targets.items()
            if (refusal := owners.unfit(record_id, one.owner_id, active=active[one.owner_id]))
        }
        fit = [one for record_id, one in targets.items() if record_id not in settled]
        if not fit:
            return settled
        if object_type.lower() in self._guarded:
            sent = guarded.write(call, object_type, fit, look=self._look(call, object_type))
        else:
            reply = call.update(owners.body(object_type, fit))
            sent = owners.outcomes(reply, [one.record_id for one in fit])
        return settled | self._weigh(call, targets, sent)

    def _weigh(
        self, call: Call, targets: Mapping[str, OwnerWrite], sent: Sequence[Outcome]
    ) -> dict[str, Outcome]:
        """Check against the list of users what records say of their new owners."""
        owner_of = {one.record_id: targets[one.record_id].owner_id for one in sent}
        doubted = {owner_of[one.record_id] for one in sent if one.result is Result.INACTIVE_OWNER}
        active = self._directory.look_again(doubted, call.users) if doubted else {}
        return {
            one.record_id: owners.weighed(one, active=active, owner_id=owner_of[one.record_id])
            for one in sent
        }

    def _look(self, call: Call, object_type: str) -> guarded.Look:
        def look(record_ids: Collection[str]) -> Mapping[str, CrmRecord]:
            asked = {record_id: record_id for record_id in record_ids}
            return self._reader.read(call, object_type, asked, fields=())

        return look


def _checked(object_type: str, write: OwnerWrite) -> OwnerWrite | None:
    """The write with both ids in 18 characters, None if one of them cannot be sent."""
    record_id = ids.record_id(object_type, write.record_id)
    owner_id = ids.user_id(write.owner_id)
    if record_id is None or owner_id is None:
        return None
    return replace(write, record_id=record_id, owner_id=owner_id)


def _outcome(
    object_type: str,
    write: OwnerWrite,
    targets: Mapping[str, OwnerWrite],
    settled: Mapping[str, Outcome],
) -> Outcome:
    """Return what became of one write, under the id it came with."""
    checked = _checked(object_type, write)
    if checked is None:
        return _unusable(object_type, write)
    if targets[checked.record_id].owner_id != checked.owner_id:
        return Outcome(
            record_id=write.record_id,
            result=Result.AGAIN,
            code="superseded",
            message="A later write of the same batch gives the record to someone else.",
        )
    return replace(settled[checked.record_id], record_id=write.record_id)


def _unusable(object_type: str, write: OwnerWrite) -> Outcome:
    if ids.record_id(object_type, write.record_id) is None:
        return Outcome(
            record_id=write.record_id,
            result=Result.NEVER,
            code="bad_record_id",
            message=f"That is no id of a Salesforce {object_type}.",
        )
    return Outcome(
        record_id=write.record_id,
        result=Result.INACTIVE_OWNER,
        is_listed=True,  # no list of users ever holds it
        code="bad_owner_id",
        message="The owner must be a Salesforce user: an id that starts with 005.",
    )
