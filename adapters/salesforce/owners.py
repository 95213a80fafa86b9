"""Who may be made owner, and what is sent to Salesforce and read from its reply to make it so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.salesforce import errors, ids
from connector.errors import CrmAgain, CrmError, CrmForbidden, CrmNever
from connector.ports import Outcome, OwnerWrite, Result

# Without the first, Salesforce runs the org's assignment rules on this very update and may give the
# record to someone else. The second lets an owner change pass beside a duplicate. The third marks
# our changes, so that a listener can tell them.
WRITE_HEADERS = {
    "Sforce-Auto-Assign": "FALSE",
    "Sforce-Duplicate-Rule-Header": "allowSave=true",
    "Sforce-Call-Options": "client=leadrota",
}
_FRESH_SECONDS = 60.0

Ask = Callable[[Sequence[str]], Sequence[Mapping[str, Any]]]


class Directory:
    """Which owners are active users, remembered for a minute. Shared by threads.

    Salesforce lets an account be given to someone who has left, so asking is up to us.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[datetime, bool | None]] = {}

    def active(self, owner_ids: Collection[str], ask: Ask) -> dict[str, bool | None]:
        """Return for each owner whether the user is active; None when there is no such user.

        Where this connection may not see users, all count as active: Salesforce itself still
        refuses most that are not.
        """
        now = self._clock()
        answer = {
            owner_id: entry[1]
            for owner_id in owner_ids
            if (entry := self._seen.get(owner_id)) and _is_fresh(entry[0], now)
        }
        unknown = [owner_id for owner_id in owner_ids if owner_id not in answer]
        if unknown:
            learnt = _states(unknown, ask)
            self._seen.update({owner_id: (now, state) for owner_id, state in learnt.items()})
            answer.update(learnt)
        return answer

    def look_again(self, owner_ids: Collection[str], ask: Ask) -> dict[str, bool | None]:
        """Ask anew about these, whatever is remembered; nothing when it cannot be told now."""
        for owner_id in owner_ids:
            self._seen.pop(owner_id, None)
        try:
            learnt = _listed(owner_ids, ask)
        except CrmError:
            return {}
        now = self._clock()
        self._seen.update({owner_id: (now, state) for owner_id, state in learnt.items()})
        return learnt


def body(object_type: str, writes: Sequence[OwnerWrite]) -> dict[str, Any]:
    """Return the collections request: one type, each record once, nothing but the owner."""
    return {
        "allOrNone": False,
        "records": [
            {"attributes": {"type": object_type}, "id": one.record_id, "OwnerId": one.owner_id}
            for one in writes
        ],
    }


def outcomes(reply: object, record_ids: Sequence[str]) -> list[Outcome]:
    """Read the reply by position, since a failed entry has no id."""
    if not isinstance(reply, list) or len(reply) != len(record_ids):
        raise CrmAgain(
            "Salesforce's reply does not have one result for each record.", code="wrong_results"
        )
    return [_outcome(entry, record_id) for entry, record_id in zip(reply, record_ids, strict=True)]


def unfit(record_id: str, owner_id: str, *, active: bool | None) -> Outcome | None:
    """Return why the list of users speaks against this owner, None if he may be sent."""
    if active:
        return None
    is_unknown = active is None
    return Outcome(
        record_id=record_id,
        result=Result.INACTIVE_OWNER,
        is_listed=True,
        code="owner_unknown" if is_unknown else "owner_inactive",
        message=(
            f"Salesforce shows no user {owner_id} to this connection."
            if is_unknown
            else f"User {owner_id} is inactive in Salesforce."
        ),
    )


def weighed(outcome: Outcome, *, active: Mapping[str, bool | None], owner_id: str) -> Outcome:
    """What to make of a record's word that a user is inactive, given a fresh look at the users.

    The word may be about another user whom automation of the org touches on this record.
    """
    if outcome.result is not Result.INACTIVE_OWNER or owner_id not in active:
        return outcome
    if not active[owner_id]:
        return replace(outcome, is_listed=True)
    note = f"User {owner_id} is active, so this is about another user or automation of the org."
    return replace(
        outcome, result=Result.REFUSED_OWNER, message=f"{outcome.message or ''} {note}".strip()
    )


def _states(owner_ids: Collection[str], ask: Ask) -> dict[str, bool | None]:
    try:
        return _listed(owner_ids, ask)
    except (CrmNever, CrmForbidden):
        return dict.fromkeys(owner_ids, True)


def _listed(owner_ids: Collection[str], ask: Ask) -> dict[str, bool | None]:
    rows = ask(sorted(owner_ids))
    found = {ids.user_id(str(row.get("Id"))): row.get("IsActive") is True for row in rows}
    return {owner_id: found.get(owner_id) for owner_id in owner_ids}


def _outcome(entry: object, record_id: str) -> Outcome:
    if not isinstance(entry, dict):
        return Outcome(record_id=record_id, result=Result.AGAIN, code="wrong_results")
    if entry.get("success") is not True:
        return errors.outcome(record_id, entry)
    if ids.full_id(str(entry.get("id") or record_id)) != record_id:
        return Outcome(
            record_id=record_id,
            result=Result.AGAIN,
            code="wrong_results",
            message="Salesforce reported another record in this place.",
        )
    return Outcome(record_id=record_id, result=Result.DONE)


def _is_fresh(seen_at: datetime, now: datetime) -> bool:
    return 0 <= (now - seen_at).total_seconds() < _FRESH_SECONDS
