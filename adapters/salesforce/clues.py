"""What a record itself tells of its person and its company."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.salesforce import ids
from connector.model import domain_key
from connector.ports import CrmRecord

# Many companies have a page there, so such a host is none of theirs.
_SHARED_HOSTS = {
    "facebook.com",
    "instagram.com",
    "linkedin.com",
    "linktr.ee",
    "sites.google.com",
    "twitter.com",
    "x.com",
    "youtube.com",
}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/+")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+")
_LONGEST_HOST = 253


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """Ids have 18 characters and stand for records that the CRM itself links."""

    own_id: str | None
    lead_id: str | None = None
    contact_id: str | None = None
    account_id: str | None = None
    email: str | None = None
    domain: str | None = None  # of the company's e-mail or else its website


def of(object_type: str, record: CrmRecord) -> Clues:
    """Read the clues of a record as it was read."""
    told = record.attributes
    website = told.get("Website") if object_type in ("Lead", "Account") else None
    return Clues(
        own_id=ids.full_id(record.survivor_id or record.id),
        lead_id=_id("Lead", told, "WhoId"),
        contact_id=_id("Contact", told, "WhoId", "ContactId"),
        account_id=_id("Account", told, "AccountId", "WhatId"),
        email=record.email,
        domain=email_domain(record.email) or _own_domain(host(website)),
    )


def email_domain(email: str | None) -> str | None:
    """The domain of an e-mail address if it is a company's own."""
    domain = domain_key(email)
    usable = domain and len(domain) <= _LONGEST_HOST and _HOST.fullmatch(domain)
    return domain if usable and domain not in _SHARED_HOSTS else None


def host(website: object) -> str | None:
    """The host of a web address as people type it: ``HTTPS://www.Acme.example:8080/shop``."""
    text = website.strip().casefold() if isinstance(website, str) else ""
    if found := _SCHEME.match(text):
        text = text[found.end() :]
    text = re.split(r"[/?#\\]", text, maxsplit=1)[0]
    name = text.partition(":")[0].removeprefix("www.").rstrip(".")
    return name if len(name) <= _LONGEST_HOST and _HOST.fullmatch(name) else None


def _own_domain(name: str | None) -> str | None:
    """A host that is a company's own, by the rules for e-mail."""
    return email_domain(f"x@{name}") if name else None


def _id(object_type: str, told: Mapping[str, Any], *names: str) -> str | None:
    found = (ids.record_id(object_type, str(told.get(name) or "")) for name in names)
    return next(filter(None, found), None)
