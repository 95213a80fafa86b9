"""Which of the records that look-ups came upon is a record's person, and which its company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from adapters.salesforce.clues import Clues, email_domain
from adapters.salesforce.lookups import Found
from connector.model import email_key


class Pile:
    """What one look-up came upon, by what records are found by."""

    def __init__(self, found: Iterable[Found] = ()) -> None:
        self.by_id: dict[str | None, Found] = {}
        self.by_email: dict[str | None, list[Found]] = defaultdict(list)
        self.by_host: dict[str | None, list[Found]] = defaultdict(list)
        for one in found:
            self.by_id[one.id] = one
            if one.email:
                self.by_email[email_key(one.email)].append(one)
            if one.host:
                self.by_host[one.host].append(one)


def person(clues: Clues, leads: Pile, contacts: Pile) -> Found | None:
    """Whom the record names, else who has its e-mail: leads before contacts."""
    named = leads.by_id.get(clues.lead_id) or contacts.by_id.get(clues.contact_id)
    if named:
        return named
    key = email_key(clues.email)
    return _preferred(
        _best(leads.by_email.get(key, ()), but=clues.own_id),
        _best(contacts.by_email.get(key, ()), but=clues.own_id),
    )


def account_ids(clues: Clues, contacts: Pile) -> set[str]:
    """The account that the record names and those of its contacts."""
    of_email = contacts.by_email.get(email_key(clues.email), ())
    named = contacts.by_id.get(clues.contact_id)
    through = [one.account_id for one in (*of_email, named) if one and one.id != clues.own_id]
    return {id18 for id18 in (clues.account_id, *through) if id18}


def domain(clues: Clues, who: Found | None) -> str | None:
    """The web domain of the company: the record's own, else of its person's e-mail."""
    return clues.domain or email_domain(who.email if who else None)


def company(
    clues: Clues, who: Found | None, contacts: Pile, accounts: Pile, websites: Pile
) -> Found | None:
    """The account that the record names, else that of a contact, else that of the web domain."""
    if named := accounts.by_id.get(clues.account_id):
        return named
    of_contacts = [accounts.by_id.get(id18) for id18 in account_ids(clues, contacts)]
    return _preferred(
        _best(filter(None, of_contacts), but=clues.own_id),
        _best(websites.by_host.get(domain(clues, who), ()), but=clues.own_id),
    )


def is_settled(clues: Clues, company: Found | None) -> bool:
    """Whether no other account could come before this one."""
    return company is not None and (company.owner_stays or company.id == clues.account_id)


def _best(found: Iterable[Found], *, but: str | None) -> Found | None:
    """One whose owner stays, then the one that was changed last, then the lowest id."""
    return min(
        (one for one in found if one.id != but),
        key=lambda one: (not one.owner_stays, -one.modified_at.timestamp(), one.id),
        default=None,
    )


def _preferred(*found: Found | None) -> Found | None:
    """The first whose owner stays, else the first."""
    there = [one for one in found if one]
    return next((one for one in there if one.owner_stays), there[0] if there else None)
