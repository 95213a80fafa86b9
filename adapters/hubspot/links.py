"""Whom the person and the company of a record belong to, by HubSpot's associations.

https://developers.hubspot.com/docs/guides/api/crm/associations/associations-v4
A contact's company is its primary one. Other records have a contact, which has a company; a deal or
a ticket without a contact has a company of its own. Each step is one call for all records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from adapters.hubspot import errors, objects, records
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.exchange import Errand
from connector.errors import CrmAgain, CrmForbidden
from connector.model import Related, StickyStep

FORGET_SECONDS = 3_600

Clock = Callable[[], float]
# HubSpot's own types of an association, the best first; without one of them, the first record told.
_BEST = {
    ("contacts", "companies"): (1,),
    ("deals", "companies"): (5,),
    ("tickets", "companies"): (26,),
    ("leads", "contacts"): (578, 608),
}
_WITH_CONTACTS = ("leads", "deals", "tickets", "tasks", "meetings")
_WITH_COMPANIES = ("deals", "tickets")
_PERSON = ("firstname", "lastname", "email", "hubspot_owner_id")
_COMPANY = ("name", "domain", "hubspot_owner_id")


class Links:
    """Looks up what records are linked to. Safe to share by threads.

    An account's own type need not be linked with contacts at all, which HubSpot answers with an
    error; that is remembered for an hour.
    """

    def __init__(self, client: HubSpotClient, *, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._unlinked: dict[str, float] = {}  # own type -> when that was said

    def of(
        self, object_type: str, ids: Collection[str], *, errand: Errand
    ) -> dict[str, list[Related]]:
        """The person, then the company, of each of up to 100 records that has one.

        Whether their owners stay is not told. Companies that are closed to us cost only themselves,
        where persons were found.
        """
        asked = list(dict.fromkeys(ids))
        contact_of: dict[str, str] = {}
        if object_type in _WITH_CONTACTS or not objects.is_standard(object_type):
            contact_of = self._nearest(object_type, "contacts", asked, errand)
        elif object_type != "contacts":
            return {}
        people = self._read(StickyStep.PERSON, contact_of, errand)
        try:
            company_of = self._companies(object_type, asked, contact_of, errand)
            companies = self._read(StickyStep.COMPANY, company_of, errand)
        except CrmForbidden:
            if not people:
                raise
            companies = {}
        both = {one: [links[one] for links in (people, companies) if one in links] for one in asked}
        return {one: links for one, links in both.items() if links}

    def _companies(
        self,
        object_type: str,
        asked: Sequence[str],
        contact_of: Mapping[str, str],
        errand: Errand,
    ) -> dict[str, str]:
        if object_type == "contacts":
            return self._nearest("contacts", "companies", asked, errand)
        contacts = list(dict.fromkeys(contact_of.values()))
        company_of = self._nearest("contacts", "companies", contacts, errand)
        found = {
            one: company_of[contact] for one, contact in contact_of.items() if contact in company_of
        }
        if object_type in _WITH_COMPANIES:
            alone = [one for one in asked if one not in contact_of]
            found |= self._nearest(object_type, "companies", alone, errand)
        return found

    def _nearest(self, of: str, to: str, ids: Sequence[str], errand: Errand) -> dict[str, str]:
        """Which record of the type ``to`` each is linked to; those that are linked to none lack."""
        if not ids or self._clock() < self._unlinked.get(of, 0):
            return {}
        try:
            answer = self._client.links(of, to, ids, errand=errand)
        except errors.CallRefused:
            if objects.is_standard(of):
                raise
            self._unlinked[of] = self._clock() + FORGET_SECONDS
            return {}
        _check_errors(answer)
        nearest: dict[str, str] = {}
        for result in answer["results"]:
            # One page holds hundreds of links, the primary one included; of a record with more
            # than that nobody could say who its person is.
            one, others = _sides(result)
            if one and one in ids and (other := _best(others, _BEST.get((of, to), ()))):
                nearest[one] = other
        return nearest

    def _read(
        self, step: StickyStep, other_of: Mapping[str, str], errand: Errand
    ) -> dict[str, Related]:
        if not other_of:
            return {}
        is_person = step is StickyStep.PERSON
        object_type = "contacts" if is_person else "companies"
        rows = records.read(
            self._client,
            object_type,
            list(dict.fromkeys(other_of.values())),
            properties=_PERSON if is_person else _COMPANY,
            errand=errand,
        )
        by_id = {row.asked_id: row for row in rows}
        return {
            one: Related(
                step=step,
                object_type=object_type,
                id=by_id[other].survivor_id or other,
                name=_name(by_id[other].values, is_person=is_person),
                email=by_id[other].values.get("email") if is_person else None,
                owner_id=by_id[other].owner_id,
            )
            for one, other in other_of.items()
            if other in by_id
        }


def _name(values: Mapping[str, str], *, is_person: bool) -> str | None:
    if not is_person:
        return values.get("name") or values.get("domain")
    names = (values.get("firstname"), values.get("lastname"))
    return " ".join(filter(None, names)) or values.get("email")


def _check_errors(answer: Mapping[str, Any]) -> None:
    """Raise for errors that say nothing of a link; a record named by any other has none."""
    records.check_scopes(answer)
    for error in records.error_items(answer):
        if error.get("category") in errors.MOMENTARY:
            text = errors.message(error)
            raise CrmAgain(
                f"HubSpot could not read some associations: {text}",
                code=errors.machine_word(error),
                crm_message=text,
            )


def _sides(result: Any) -> tuple[str | None, list[Mapping[str, Any]]]:
    if not isinstance(result, dict) or not isinstance(result.get("from"), dict):
        return None, []
    others = result.get("to")
    listed = others if isinstance(others, list) else []
    return _id(result["from"].get("id")), [other for other in listed if isinstance(other, dict)]


def _best(others: Sequence[Mapping[str, Any]], types: Sequence[int]) -> str | None:
    def rank(other: Mapping[str, Any]) -> int:
        own = [types.index(number) for number in _own_types(other) if number in types]
        return min(own, default=len(types))

    usable = [other for other in others if _id(other.get("toObjectId"))]
    return _id(min(usable, key=rank).get("toObjectId")) if usable else None


def _own_types(other: Mapping[str, Any]) -> list[Any]:
    """The numbers of the types that HubSpot defines; an account's own may use the same numbers."""
    types = other.get("associationTypes")
    return [
        kind.get("typeId")
        for kind in (types if isinstance(types, list) else ())
        if isinstance(kind, dict) and kind.get("category", "HUBSPOT_DEFINED") == "HUBSPOT_DEFINED"
    ]


def _id(value: Any) -> str | None:
    """An id, which is a number on the wire and up to 64 bits long."""
    is_one = isinstance(value, str | int) and not isinstance(value, bool)
    return (str(value).strip() or None) if is_one else None
