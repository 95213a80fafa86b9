"""Which of the records that look-ups came upon is a record's person, and which its company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from adapters.salesforce.clues import Clues, email_domain
from adapters.salesforce.lookups import Found
from connector.model import email_key

MOST = 5  # of one step of a record


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


def persons(clues: Clues, leads: Pile, contacts: Pile) -> list[Found]:
    """Whom the record names, else who has its e-mail: leads before contacts."""
    named = leads.by_id.get(clues.lead_id) or contacts.by_id.get(clues.contact_id)
    if named:
        return [named]
    key = email_key(clues.email)
    return _ranked(leads.by_email.get(key, ()), contacts.by_email.get(key, ()), but=clues.own_id)


def account_ids(clues: Clues, contacts: Pile) -> set[str]:
    """The account that the record names and those of its contacts."""
    of_email = contacts.by_email.get(email_key(clues.email), ())
    named = contacts.by_id.get(clues.contact_id)
    through = [one.account_id for one in (*of_email, named) if one and one.id != clues.own_id]
    return {id18 for id18 in (clues.account_id, *through) if id18}


def domain(clues: Clues, who: Found | None) -> str | None:
    """The web domain of the company: the record's own, else of its person's e-mail."""
    return clues.domain or email_domain(who.email if who else None)


def companies(
    clues: Clues, who: Found | None, contacts: Pile, accounts: Pile, websites: Pile
) -> list[Found]:
    """The account that the record names, else that of a contact, else that of the web domain."""
    if named := accounts.by_id.get(clues.account_id):
        return [named]
    of_contacts = (accounts.by_id.get(id18) for id18 in account_ids(clues, contacts))
    of_domain = websites.by_host.get(domain(clues, who), ())
    return _ranked(filter(None, of_contacts), of_domain, but=clues.own_id)


def is_settled(clues: Clues, found: Sequence[Found]) -> bool:
    """Whether no other account could come before the first of these."""
    return bool(found) and (found[0].owner_stays or found[0].id == clues.account_id)


def _ranked(*groups: Iterable[Found], but: str | None) -> list[Found]:
    """Those whose owner stays first, then group by group, then the one that was changed last.

    One for each owner, since the next is of use only where the owner before is no user here.
    """
    ranked = sorted(
        ((place, one) for place, group in enumerate(groups) for one in group if one.id != but),
        key=lambda at: (not at[1].owner_stays, at[0], -at[1].modified_at.timestamp(), at[1].id),
    )
    by_owner: dict[str | None, Found] = {}
    for _, one in ranked:
        by_owner.setdefault(one.owner_id if one.owner_stays else None, one)
    return list(by_owner.values())[:MOST]
