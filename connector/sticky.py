"""Look up who already has a lead, its person or its company, for many leads at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from connector.model import (
    Assignment,
    Candidate,
    Decision,
    Lead,
    Reason,
    Record,
    Related,
    SkipReason,
    Status,
    StickyStep,
    User,
)
from connector.model.keys import company_key, domain_key, email_key
from connector.store import assignments, users
from connector.store.database import Session
from connector.store.facts import lead_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holder:
    """Who got a lead."""

    lead_id: str
    user_id: str | None


@dataclass(slots=True, kw_only=True)
class Known:
    """What the history knows of some leads, kept up as they are decided.

    So the second lead of a person in one batch follows the first, as it would by itself.
    """

    people: dict[str, User] = field(default_factory=dict)
    by_email: dict[str, _Holder] = field(default_factory=dict)
    by_company: dict[str, _Holder] = field(default_factory=dict)
    by_domain: dict[str, _Holder] = field(default_factory=dict)
    earlier: dict[str, Assignment] = field(default_factory=dict)  # lead id -> its newest row
    by_owner: dict[str, dict[str, User]] = field(default_factory=dict)  # connection -> owner id

    def complete(self, lead: Lead) -> Lead:
        """The lead with who has it, and with those who gave it back before."""
        row = self._newest(lead)
        lead = replace(
            lead, candidates=(self._person(lead), self._company(lead), self._earlier(lead, row))
        )
        if row is None:
            return lead
        # Nobody has it, so the CRM may still show who had it before.
        replaces = lead_of(row).replaces if row.owner_id is None else ()
        return replace(
            lead,
            excluded={**lead.excluded, **gave_back(row)},
            replaces=lead.replaces or replaces,
        )

    def note(self, decision: Decision) -> None:
        """Remember who got a lead just now."""
        if decision.user is None:
            return
        lead = decision.lead
        self.people[decision.user.id] = decision.user
        holder = _Holder(lead_id=lead.id, user_id=decision.stands_in_for or decision.user.id)
        for known, key in (
            (self.by_email, email_key(lead.email)),
            (self.by_company, company_key(lead.company)),
            (self.by_domain, domain_key(lead.email)),
        ):
            if key:
                known[key] = holder

    def _newest(self, lead: Lead) -> Assignment | None:
        """The newest row of the lead, by its own id or by that of its record."""
        ids = {lead.id, lead.record.lead_id if lead.record else lead.id}
        rows = [self.earlier[one] for one in ids if one in self.earlier]
        return max(rows, key=lambda row: row.id, default=None)

    def _person(self, lead: Lead) -> Candidate:
        linked = self._linked(StickyStep.PERSON, lead)
        if linked and linked.user:
            return linked
        key = email_key(lead.email)
        if key is None:
            return linked or self._candidate(StickyStep.PERSON, None, "the lead has no e-mail")
        holder = _of_another(self.by_email.get(key), lead)
        if holder is None:
            nobody = self._candidate(StickyStep.PERSON, None, "nobody has this e-mail yet")
            return linked or nobody
        found = f"has {holder.lead_id} of the same e-mail"
        return self._candidate(StickyStep.PERSON, holder, found)

    def _company(self, lead: Lead) -> Candidate:
        linked = self._linked(StickyStep.COMPANY, lead)
        if linked and linked.user:
            return linked
        name, domain = company_key(lead.company), domain_key(lead.email)
        if name is None and domain is None:
            nobody = self._candidate(StickyStep.COMPANY, None, "the lead names no company")
            return linked or nobody
        if name and (holder := _of_another(self.by_company.get(name), lead)):
            found = f"has {holder.lead_id} of the same company"
            return self._candidate(StickyStep.COMPANY, holder, found)
        if domain and (holder := _of_another(self.by_domain.get(domain), lead)):
            found = f"has {holder.lead_id} of the same mail domain"
            return self._candidate(StickyStep.COMPANY, holder, found)
        return linked or self._candidate(StickyStep.COMPANY, None, "nobody has this company yet")

    def _linked(self, step: StickyStep, lead: Lead) -> Candidate | None:
        """Who owns the record of the person or company that the CRM links the lead to.

        Of several the first that a user of ours owns; without one, what is wrong with the first.
        """
        if lead.record is None:
            return None
        owners = self.by_owner.get(lead.record.connection, {})
        found = [
            (one, owners.get(one.owner_id or "") if one.owner_stays else None)
            for one in lead.related
            if one.step is step
        ]
        of_users = ((linked, user) for linked, user in found if user and user.active)
        linked, user = next(of_users, found[0] if found else (None, None))
        return Candidate(step=step, user=user, found=_link(linked, user)) if linked else None

    def _earlier(self, lead: Lead, row: Assignment | None) -> Candidate:
        step = StickyStep.EARLIER_ASSIGNMENT
        if lead.heir and lead.heir_of:
            found = f"{lead.heir.name} had {lead.heir_of.lead_id}, which was merged into this one"
            return Candidate(step=step, user=lead.heir, found=found, binds=True)
        if lead.anew:
            return self._candidate(step, None, lead.anew)
        user_id = (row.stands_in_for or row.user_id) if row else None
        if row is None or user_id is None:
            undone = row is not None and row.status is Status.UNDONE
            found = "its assignment was undone" if undone else "this lead was not assigned before"
            return self._candidate(step, None, found)
        holder = _Holder(lead_id=lead.id, user_id=user_id)
        return self._candidate(step, holder, "had this lead before")

    def _candidate(self, step: StickyStep, holder: _Holder | None, found: str) -> Candidate:
        """What a step found; of somebody who has it, ``found`` says what they have."""
        user = self.people.get(holder.user_id) if holder and holder.user_id else None
        return Candidate(step=step, user=user, found=f"{user.name} {found}" if user else found)


def look_up(session: Session, leads: Sequence[Lead]) -> Known:
    """Read what the history knows of the leads: a constant number of statements."""
    known = Known(
        by_email=_holders(assignments.by_email(session, _keys(email_key(x.email) for x in leads))),
        by_company=_holders(
            assignments.by_company(session, _keys(company_key(x.company) for x in leads))
        ),
        by_domain=_holders(
            assignments.by_domain(session, _keys(domain_key(x.email) for x in leads))
        ),
        earlier=assignments.last_of_leads(session, [lead.id for lead in leads], _records(leads)),
    )
    holders = (*known.by_email.values(), *known.by_company.values(), *known.by_domain.values())
    wanted = {holder.user_id for holder in holders if holder.user_id}
    for row in known.earlier.values():
        wanted |= {one for one in (row.user_id, row.stands_in_for) if one}
    known.people = users.find(session, wanted)
    for connection, owner_ids in _owners(leads).items():
        known.by_owner[connection] = users.by_owner(session, connection, owner_ids)
        known.people |= {user.id: user for user in known.by_owner[connection].values()}
    known.people |= {lead.heir.id: lead.heir for lead in leads if lead.heir}
    return known


def lead_again(row: Assignment) -> Lead:
    """The lead of a row that waits, for another try.

    Whom the CRM refused may be as good as new by now; who gave the lead back stays out.
    """
    return replace(lead_of(row), excluded=gave_back(row))


def gave_back(row: Assignment) -> dict[str, SkipReason]:
    """Who gave the lead back, up to this row, and so never gets it again."""
    excluded: dict[str, SkipReason] = {
        who: why for who, why in lead_of(row).excluded.items() if why is SkipReason.EXCLUDED
    }
    if row.status is Status.REASSIGNED and row.reason is not Reason.MANUAL and row.gives_back:
        # Somebody else was to have it this once: no reason against a later turn.
        excluded.pop(row.gives_back.user_id or "", None)
    return excluded


def _holders(found: dict[str, assignments.Found]) -> dict[str, _Holder]:
    return {key: _Holder(lead_id=one.lead_id, user_id=one.user_id) for key, one in found.items()}


def _of_another(holder: _Holder | None, lead: Lead) -> _Holder | None:
    """The lead's own row says nothing here; the step for earlier assignments tells of it."""
    return None if holder is None or holder.lead_id == lead.id else holder


def _link(linked: Related, user: User | None) -> str:
    """What the CRM says of the linked record's owner."""
    which = f"the {linked.step} {linked.name or linked.id} in the CRM"
    if linked.owner_id is None:
        return f"nobody owns {which}"
    if not linked.owner_stays:
        return f"the owner of {which} is no longer active"
    if user is None:
        return f"owner {linked.owner_id} of {which} is no user here"
    return f"{user.name} owns {which}"


def _owners(leads: Iterable[Lead]) -> dict[str, set[str]]:
    """The owners of the linked records, by connection."""
    found: dict[str, set[str]] = defaultdict(set)
    for lead in leads:
        for linked in lead.related if lead.record else ():
            if lead.record and linked.owner_id and linked.owner_stays:
                found[lead.record.connection].add(linked.owner_id)
    return found


def _keys(found: Iterable[str | None]) -> set[str]:
    return {key for key in found if key}


def _records(leads: Iterable[Lead]) -> list[Record]:
    return [lead.record for lead in leads if lead.record]
