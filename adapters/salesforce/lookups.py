"""The four look-ups behind sticky routing, and how their rows are read.

The newest rows come first and are all that is read: a mailbox that thousands of leads share must
not be paged through, and not hide the others of its batch either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.salesforce import clues, ids, records, soql
from adapters.salesforce.client import Call

MOST_ROWS = 2_000  # one page


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One question about many records at once."""

    what: str  # "contacts of the same e-mail"
    object_type: str
    fields: tuple[str, ...]
    condition: str = ""


LEADS = Lookup(
    what="open leads",
    object_type="Lead",
    fields=("Name", "Email"),
    condition="IsConverted = false AND ",
)
CONTACTS = Lookup(what="contacts", object_type="Contact", fields=("Name", "Email", "AccountId"))
ACCOUNTS = Lookup(what="accounts", object_type="Account", fields=("Name",))
WEBSITES = Lookup(what="accounts by website", object_type="Account", fields=("Name", "Website"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A lead, contact or account that a look-up came upon. Ids have 18 characters."""

    object_type: str
    id: str
    name: str | None
    email: str | None
    account_id: str | None
    host: str | None
    owner_id: str | None  # None for a queue and for users whose records count as unowned
    owner_stays: bool
    modified_at: datetime


def ask(
    call: Call,
    lookup: Lookup,
    terms: Sequence[soql.Term],
    *,
    unassigned: Collection[str | None],
    asking: Collection[str | None],
) -> list[Found]:
    """Look up all that any of the terms holds for, in one call if it fits into one address.

    ``asking`` are the records for which it is done; none of them is an answer to its own question.
    """
    names = ",".join(("Id", "OwnerId", "Owner.IsActive", "LastModifiedDate", *lookup.fields))
    start = f"SELECT {names} FROM {lookup.object_type} WHERE {lookup.condition}"  # noqa: S608
    end = f" ORDER BY LastModifiedDate DESC LIMIT {MOST_ROWS}"
    rows: list[Mapping[str, Any]] = []
    for group in soql.groups(terms, around=start + end):
        found = call.query(start + soql.any_of(group) + end)
        rows += found
        others = [row for row in found if ids.full_id(str(row.get("Id"))) not in asking]
        if len(found) >= MOST_ROWS and (hidden := list(_unanswered(group, others))):
            rows += call.query(start + soql.any_of(hidden) + end)
    read = (_found(lookup.object_type, row, unassigned) for row in rows)
    return list({one.id: one for one in read if one}.values())


def _unanswered(
    terms: Sequence[soql.Term], rows: Sequence[Mapping[str, Any]]
) -> Iterator[soql.Term]:
    for term in terms:
        told = {_told(term, row.get(term.field)) for row in rows}
        if term.value.casefold() not in told:
            yield term


def _told(term: soql.Term, value: object) -> str:
    return (clues.host(value) or "") if term.is_pattern else str(value or "").casefold()


def _found(
    object_type: str, row: Mapping[str, Any], unassigned: Collection[str | None]
) -> Found | None:
    id18 = ids.record_id(object_type, str(row.get("Id")))
    if id18 is None:
        return None
    owner_id = ids.user_id(str(row.get("OwnerId") or ""))
    return Found(
        object_type=object_type,
        id=id18,
        name=_text(row.get("Name")),
        email=_text(row.get("Email")),
        account_id=ids.record_id("Account", str(row.get("AccountId") or "")),
        host=clues.host(row.get("Website")),
        owner_id=None if owner_id in unassigned else owner_id,
        owner_stays=records.owner_stays(owner_id, row.get("Owner"), unassigned),
        modified_at=records.moment(row.get("LastModifiedDate")) or datetime.min.replace(tzinfo=UTC),
    )


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
