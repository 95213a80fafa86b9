"""Who may be made owner, and how the owners of a batch are written and its reply read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.salesforce import errors, ids
from connector.errors import CrmAgain
from connector.ports import Outcome, Result

# Without the first, Salesforce runs the org's assignment rules on this very update and may give the
# record to someone else. The second lets an owner change pass beside a duplicate. The third marks
# our changes, so that a listener can tell them.
WRITE_HEADERS = {
    "Sforce-Auto-Assign": "FALSE",
    "Sforce-Duplicate-Rule-Header": "allowSave=true",
    "Sforce-Call-Options": "client=leadrota",
}
_FRESH_SECONDS = 60.0
_REMEMBERED = 10_000

Ask = Callable[[Sequence[str]], Sequence[Mapping[str, Any]]]


class Directory:
    """Which owners are active users, remembered for a minute. Shared by threads.

    Salesforce lets an account be given to someone who has left, so asking is up to us.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[datetime, bool | None]] = {}

    def active(self, owner_ids: Collection[str], ask: Ask) -> dict[str, bool | None]:
        """Return for each owner whether the user is active; None when there is no such user."""
        now = self._clock()
        answer = {
            owner_id: entry[1]
            for owner_id in owner_ids
            if (entry := self._seen.get(owner_id)) and _is_fresh(entry[0], now)
        }
        unknown = [owner_id for owner_id in owner_ids if owner_id not in answer]
        if unknown:
            rows = {
                ids.user_id(str(row.get("Id"))): row.get("IsActive") is True for row in ask(unknown)
            }
            learnt = {owner_id: rows.get(owner_id) for owner_id in unknown}
            self._seen.update({owner_id: (now, state) for owner_id, state in learnt.items()})
            answer.update(learnt)
        return answer

    def forget(self) -> None:
        """Ask anew about everyone."""
        self._seen.clear()


class Refusals:
    """Which owner each record was refused, for the two codes that may blame the wrong one.

    An inactive user that the org's own automation touches, or a record that is invisible, gives the
    same code for every owner. The first refusal of a record moves on to the next user; the second,
    with another user whom the directory calls active, is the record's own trouble.
    """

    def __init__(self) -> None:
        self._refused: dict[str, str] = {}

    def judge(self, outcome: Outcome, owner_id: str) -> Outcome:
        """Return the outcome, NEVER in place of a repeated doubtful refusal."""
        if outcome.result is Result.DONE:
            self._refused.pop(outcome.record_id, None)
        if outcome.result is not Result.REFUSED_OWNER:
            return outcome
        if outcome.code not in errors.DOUBTFUL_REFUSALS:
            return outcome
        if self._refused.setdefault(outcome.record_id, owner_id) != owner_id:
            return replace(outcome, result=Result.NEVER)
        while len(self._refused) > _REMEMBERED:
            self._refused.pop(next(iter(self._refused)), None)
        return outcome


def body(object_type: str, owner_by_record: Mapping[str, str]) -> dict[str, Any]:
    """Return the collections request: one type, each record once, nothing but the owner."""
    return {
        "allOrNone": False,
        "records": [
            {"attributes": {"type": object_type}, "id": record_id, "OwnerId": owner_id}
            for record_id, owner_id in owner_by_record.items()
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
    """Return why this owner must not be sent, None if it may."""
    if active:
        return None
    is_unknown = active is None
    return Outcome(
        record_id=record_id,
        result=Result.REFUSED_OWNER,
        code="owner_unknown" if is_unknown else "owner_inactive",
        message=(
            f"Salesforce shows no user {owner_id} to this connection."
            if is_unknown
            else f"User {owner_id} is inactive in Salesforce."
        ),
    )


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
