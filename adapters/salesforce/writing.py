"""How the owners of a batch are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adapters.salesforce import ids, owners
from adapters.salesforce.client import Call
from connector.ports import Outcome, OwnerWrite, Result


def write(
    begin: Callable[[], Call],
    object_type: str,
    writes: Sequence[OwnerWrite],
    directory: owners.Directory,
) -> list[Outcome]:
    """One collections update, preceded by at most one look at the new owners.

    ``begin`` is called only if there is something to send.
    """
    targets: dict[str, str] = {}
    for one in writes:
        record_id, owner_id = _checked(object_type, one)
        if record_id and owner_id:
            targets[record_id] = owner_id  # a record twice in one update is an error there
    settled = _update(begin(), object_type, targets, directory) if targets else {}
    return [_outcome(object_type, one, targets, settled) for one in writes]


def _update(
    call: Call, object_type: str, targets: Mapping[str, str], directory: owners.Directory
) -> dict[str, Outcome]:
    active = directory.active(sorted(set(targets.values())), call.users)
    settled: dict[str, Outcome] = {}
    fit: dict[str, str] = {}
    for record_id, owner_id in targets.items():
        refusal = owners.unfit(record_id, owner_id, active=active[owner_id])
        if refusal:
            settled[record_id] = refusal
        else:
            fit[record_id] = owner_id
    if not fit:
        return settled
    reply = call.update(owners.body(object_type, fit))
    for outcome in owners.outcomes(reply, list(fit)):
        if outcome.result is Result.INACTIVE_OWNER:
            directory.forget()
        settled[outcome.record_id] = outcome
    return settled


def _checked(object_type: str, write: OwnerWrite) -> tuple[str | None, str | None]:
    return ids.record_id(object_type, write.record_id), ids.user_id(write.owner_id)


def _outcome(
    object_type: str,
    write: OwnerWrite,
    targets: Mapping[str, str],
    settled: Mapping[str, Outcome],
) -> Outcome:
    """Return what became of one write, under the id it came with."""
    record_id, owner_id = _checked(object_type, write)
    if record_id is None:
        return Outcome(
            record_id=write.record_id,
            result=Result.NEVER,
            code="bad_record_id",
            message=f"That is no id of a Salesforce {object_type}.",
        )
    if owner_id is None:
        return Outcome(
            record_id=write.record_id,
            result=Result.INACTIVE_OWNER,
            is_listed=True,  # no list of users ever holds it
            code="bad_owner_id",
            message="The owner must be a Salesforce user: an id that starts with 005.",
        )
    if targets[record_id] != owner_id:
        return Outcome(
            record_id=write.record_id,
            result=Result.AGAIN,
            code="superseded",
            message="A later write of the same batch gives the record to someone else.",
        )
    return replace(settled[record_id], record_id=write.record_id)
