"""Whom the person and the company of a record belong to, by its links, e-mail and web domain.

The person is the one that a case, task or event names, else the open lead, else the contact with
the same e-mail. The company is the account that the record names, else that of its contact, else
the one with the same web domain. Of several, one whose owner stays comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial

from adapters.salesforce import clues, lookups, matches
from adapters.salesforce.client import Call
from adapters.salesforce.clues import Clues
from adapters.salesforce.lookups import Found, Lookup
from adapters.salesforce.matches import Pile
from adapters.salesforce.soql import Term
from connector.errors import CrmAgain, CrmError, CrmForbidden, CrmNever
from connector.model import Related, StickyStep, email_key
from connector.ports import CrmRecord

SKIPPED = timedelta(hours=1)
# Searching the websites of a large org can take longer than a lead should wait.
_SLOW = frozenset({"timeout", "QUERY_TIMEOUT", "REQUEST_RUNNING_TOO_LONG"})

_Ask = Callable[[Lookup, Iterable[Term]], Pile]
_Linked = dict[str, list[Found]]  # by record id, the best first


class Links:
    """Looks up what records are linked to. Shared by threads.

    A look-up that is closed to the integration user, or takes too long, is skipped for an hour; the
    others still count.
    """

    def __init__(self, *, unassigned: Collection[str], clock: Callable[[], datetime]) -> None:
        """``unassigned`` are users whose records count as unowned."""
        self._unassigned = frozenset(unassigned)
        self._clock = clock
        self._failed: dict[str, tuple[datetime, CrmError]] = {}

    @property
    def skipped(self) -> Mapping[str, str]:
        """Which look-ups are skipped now, and why."""
        failed = {what: self._failure(what) for what in list(self._failed)}
        return {what: error.message for what, error in failed.items() if error}

    def of(
        self, call: Call, object_type: str, found: Mapping[str, CrmRecord]
    ) -> dict[str, list[Related]]:
        """The persons, then the companies, of each of up to 200 records that has any.

        Raise ``CrmForbidden`` where every look-up that was needed is closed to us.
        """
        told = {record_id: clues.of(object_type, one) for record_id, one in found.items()}
        failures: dict[str, CrmError | None] = {}  # of the look-ups that are needed
        ask = partial(self._ask, call, failures, {one.own_id for one in told.values()})
        persons, companies = _linked(ask, told)
        _check(failures)
        return {
            record_id: related
            for record_id in told
            if (
                related := [
                    *(_related(StickyStep.PERSON, one) for one in persons[record_id]),
                    *(_related(StickyStep.COMPANY, one) for one in companies[record_id]),
                ]
            )
        }

    def _ask(
        self,
        call: Call,
        failures: dict[str, CrmError | None],
        asking: Collection[str | None],
        lookup: Lookup,
        terms: Iterable[Term],
    ) -> Pile:
        """Ask unless there is nothing to ask, or it failed within the hour."""
        wanted = sorted(set(terms))
        if not wanted:
            return Pile()
        failures[lookup.what] = self._failure(lookup.what)
        if failures[lookup.what]:
            return Pile()
        try:
            nobody = self._unassigned | {call.user_id}
            return Pile(lookups.ask(call, lookup, wanted, unassigned=nobody, asking=asking))
        except CrmAgain as slow:
            if lookup is not lookups.WEBSITES or slow.code not in _SLOW:
                raise
            failure: CrmError = slow
        except (CrmForbidden, CrmNever) as closed:
            failure = closed
        failures[lookup.what] = failure
        self._failed[lookup.what] = (self._clock(), failure)
        return Pile()

    def _failure(self, what: str) -> CrmError | None:
        since, failure = self._failed.get(what, (None, None))
        return failure if since and self._clock() - since < SKIPPED else None


def _linked(ask: _Ask, told: Mapping[str, Clues]) -> tuple[_Linked, _Linked]:
    """The persons and the companies of each record."""
    same = [Term("Email", email) for email in _emails(told.values())]
    leads = ask(lookups.LEADS, [*_ids(one.lead_id for one in told.values()), *same])
    contacts = ask(lookups.CONTACTS, [*_ids(one.contact_id for one in told.values()), *same])
    persons = {record_id: matches.persons(one, leads, contacts) for record_id, one in told.items()}
    first = {record_id: found[0] if found else None for record_id, found in persons.items()}

    def companies(accounts: Pile, websites: Pile) -> _Linked:
        return {
            record_id: matches.companies(one, first[record_id], contacts, accounts, websites)
            for record_id, one in told.items()
        }

    through = (id18 for one in told.values() for id18 in matches.account_ids(one, contacts))
    accounts = ask(lookups.ACCOUNTS, _ids(through))
    by_id = companies(accounts, Pile())
    domains = (
        matches.domain(one, first[record_id])
        for record_id, one in told.items()
        if not matches.is_settled(one, by_id[record_id])
    )
    websites = ask(
        lookups.WEBSITES, [Term("Website", name, is_pattern=True) for name in domains if name]
    )
    return persons, companies(accounts, websites)


def _emails(told: Iterable[Clues]) -> Iterable[str]:
    """Each address once, whatever its case."""
    keyed = {email_key(one.email): one.email for one in told}
    return (email for key, email in keyed.items() if key and email)


def _ids(id18s: Iterable[str | None]) -> list[Term]:
    return [Term("Id", id18) for id18 in id18s if id18]


def _check(failures: Mapping[str, CrmError | None]) -> None:
    """Raise when nothing could be looked up, for want of permissions."""
    closed = [error for error in failures.values() if isinstance(error, CrmForbidden | CrmNever)]
    if closed and len(closed) == len(failures):
        raise CrmForbidden(
            closed[0].message, code=closed[0].code, crm_message=closed[0].crm_message
        )


def _related(step: StickyStep, found: Found) -> Related:
    return Related(
        step=step,
        object_type=found.object_type,
        id=found.id,
        name=found.name or found.email,
        email=found.email if step is StickyStep.PERSON else None,
        owner_id=found.owner_id,
        owner_stays=found.owner_stays,
    )
