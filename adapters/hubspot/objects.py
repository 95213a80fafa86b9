"""HubSpot's object types: the name we keep, its type id, and the properties we read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from adapters.hubspot import moments
from connector.model import LeadKind, Slot

# https://developers.hubspot.com/docs/guides/crm/understanding-the-crm
_NAMES = {
    "0-1": "contacts",
    "0-2": "companies",
    "0-3": "deals",
    "0-5": "tickets",
    "0-7": "products",
    "0-8": "line_items",
    "0-27": "tasks",
    "0-46": "notes",
    "0-47": "meetings",
    "0-48": "calls",
    "0-49": "emails",
    "0-115": "users",
    "0-136": "leads",
}
_SINGULARS = {
    "contact": "contacts",
    "company": "companies",
    "deal": "deals",
    "ticket": "tickets",
    "product": "products",
    "line_item": "line_items",
    "task": "tasks",
    "note": "notes",
    "meeting": "meetings",
    "call": "calls",
    "email": "emails",
    "user": "users",
    "lead": "leads",
}
# First half of a classic subscription type such as ``contact.creation``.
_CLASSIC = frozenset(("contact", "company", "deal", "ticket", "product", "line_item"))
_ALWAYS = ("hubspot_owner_id", "hs_merged_object_ids")
# At most 20 each. A property that an account does not have is silently left out of the answer.
_PROPERTIES = {
    "contacts": (
        "email company firstname lastname jobtitle website country state city zip industry"
        " numberofemployees annualrevenue lifecyclestage hs_lead_status hs_analytics_source"
        " hs_language"
    ),
    "companies": (
        "name domain website country state city zip industry type numberofemployees"
        " annualrevenue lifecyclestage hs_lead_status"
    ),
    "deals": "dealname amount pipeline dealstage dealtype hs_priority",
    "tickets": (
        "subject hs_pipeline hs_pipeline_stage hs_ticket_priority hs_ticket_category source_type"
    ),
    "leads": (
        "hs_lead_name hs_lead_type hs_lead_label hs_pipeline hs_pipeline_stage"
        " hs_associated_contact_email hs_associated_contact_firstname"
        " hs_associated_contact_lastname hs_associated_company_name hs_associated_company_domain"
    ),
    "tasks": "hs_task_subject hs_task_status hs_task_priority hs_task_type hs_timestamp",
    "meetings": (
        "hs_meeting_title hs_meeting_outcome hs_meeting_start_time hs_meeting_end_time"
        " hs_activity_type"
    ),
}
_KINDS = {"tasks": LeadKind.TASK, "meetings": LeadKind.MEETING}
_NAME = re.compile("[a-z][a-z0-9_]{0,99}")  # of a property
_EMAIL = ("email", "hs_associated_contact_email")
_COMPANY = ("company", "name", "hs_associated_company_name")


def canonical(name_or_id: str) -> str:
    """The plural name of an object type given by name, singular or type id, in any case.

    An unknown one, such as an account's own type, is kept as it is.
    """
    given = name_or_id.strip().lower()
    name = _NAMES.get(given) or _SINGULARS.get(given) or given
    return name if name in _NAMES.values() else name_or_id


def of_classic(prefix: str) -> str | None:
    """The object type behind a classic subscription's prefix, None when it names no record."""
    return _SINGULARS[prefix] if prefix in _CLASSIC else None


def is_standard(object_type: str) -> bool:
    """Whether every account has this type, given by the name we keep."""
    return object_type in _NAMES.values()


def properties(object_type: str, wanted: Collection[str] = ()) -> list[str]:
    """Which properties to read of a record of this type: ours, then the wanted ones by name.

    HubSpot's names are lower case; what can be no name of a property is left out.
    """
    names = {name.strip().lower() for name in wanted}
    more = sorted(name for name in names if _NAME.fullmatch(name))
    return list(dict.fromkeys([*_PROPERTIES.get(object_type, "").split(), *_ALWAYS, *more]))


def kind(object_type: str) -> LeadKind:
    """What a record of this type is when it is handed out."""
    return _KINDS.get(object_type, LeadKind.LEAD)


def slot(values: Mapping[str, str]) -> Slot | None:
    """When a meeting takes place; None for what is no meeting, or has no times to go by."""
    start = moments.of_text(values.get("hs_meeting_start_time", ""))
    end = moments.of_text(values.get("hs_meeting_end_time", ""))
    return Slot(starts_at=start, ends_at=end) if start and end and start < end else None


def email(values: Mapping[str, str]) -> str | None:
    """The e-mail address among a record's properties."""
    return next((values[name] for name in _EMAIL if name in values), None)


def company(values: Mapping[str, str]) -> str | None:
    """The company's name among a record's properties."""
    return next((values[name] for name in _COMPANY if name in values), None)
