"""Names in a HubSpot portal: object types, their ids, dates and properties."""

from __future__ import annotations

from datetime import datetime

# Type ids and names as HubSpot's guide to the CRM lists them; paths take either.
TYPE_IDS = {
    "contacts": "0-1",
    "companies": "0-2",
    "deals": "0-3",
    "tickets": "0-5",
    "tasks": "0-27",
    "meetings": "0-47",
    "users": "0-115",
    "leads": "0-136",
}
_SINGULARS = {name: "COMPANY" if name == "companies" else name[:-1].upper() for name in TYPE_IDS}
_NAMES = {type_id: name for name, type_id in TYPE_IDS.items()}
# What exists in every portal, for any type; creating a record adds what it names.
KNOWN_PROPERTIES = frozenset(
    {
        "amount",
        "city",
        "company",
        "country",
        "createdate",
        "dealname",
        "domain",
        "email",
        "firstname",
        "hs_availability_status",
        "hs_createdate",
        "hs_email",
        "hs_family_name",
        "hs_given_name",
        "hs_internal_user_id",
        "hs_lastmodifieddate",
        "hs_lead_label",
        "hs_lead_name",
        "hs_lead_status",
        "hs_lead_type",
        "hs_merged_object_ids",
        "hs_object_id",
        "hs_out_of_office_hours",
        "hs_standard_time_zone",
        "hs_working_hours",
        "hubspot_owner_assigneddate",
        "hubspot_owner_id",
        "industry",
        "jobtitle",
        "lastmodifieddate",
        "lastname",
        "lifecyclestage",
        "name",
        "numberofemployees",
        "phone",
        "state",
        "website",
        "zip",
    }
)


def type_name(name: str) -> str | None:
    """The plural name of an object type given by name or id, or None."""
    if name in TYPE_IDS:
        return name
    singulars = {one.lower(): plural for plural, one in _SINGULARS.items()}
    return _NAMES.get(name) or singulars.get(name)


def singular(object_type: str) -> str:
    """The type as HubSpot's messages name it, such as CONTACT."""
    return _SINGULARS[object_type]


def modified_property(object_type: str) -> str:
    """The last-modified property, which contacts spell without a prefix."""
    return "lastmodifieddate" if object_type == "contacts" else "hs_lastmodifieddate"


def created_property(object_type: str) -> str:
    """The property that says when a record was created."""
    prefixed = ("leads", "users", "tasks", "meetings")
    return "hs_createdate" if object_type in prefixed else "createdate"


def binds_2026_09(version: str) -> bool:
    """Whether the rules that came with the API of 2026-09 hold for this version (``v3`` is old)."""
    return version[:1].isdigit() and version[:7] >= "2026-09"


def stamp(at: datetime) -> str:
    """A moment as HubSpot writes it: UTC, milliseconds, Z."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
