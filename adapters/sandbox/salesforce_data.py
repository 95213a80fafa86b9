"""Ready-made data for a sandbox org: what real orgs hold and tidy tests forget.

``fill(org, "leads")`` adds records and returns their ids by name. Every set can be added to any
org, once; ``everything`` adds them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.sandbox.salesforce import SalesforceSandbox

Ids = dict[str, str]

LONGEST = 255
WIDE_NAME = "Żółć 雪 Ñandú & Søn "


def fill(org: SalesforceSandbox, name: str) -> Ids:
    """Add one set of data and return the ids by name; raises ``ValueError`` for an unknown one."""
    if name not in SETS:
        raise ValueError(f"no data {name!r}; there are: {', '.join(SETS)}")
    return SETS[name](org)


def add_team(org: SalesforceSandbox) -> Ids:
    """Users who may own records, and some who may not or are not there."""
    now = org.records.now()
    day = timedelta(days=1)
    ids = {
        name: org.add_user(name.title(), f"{name}@sales.example", time_zone=zone)
        for name, zone in (
            ("ann", "Europe/Copenhagen"),
            ("bob", "America/Los_Angeles"),
            ("frozen", "UTC"),
            ("away", "Asia/Tokyo"),
            ("back", "UTC"),
            ("soon", "UTC"),
            ("undecided", "UTC"),
        )
    }
    ids["gone"] = org.add_user("Gone", "gone@sales.example", active=False)
    ids["chatter"] = org.add_user("Chatter", "chatter@sales.example", user_type="CsnOnly")
    org.freeze(ids["frozen"])
    org.set_out_of_office(ids["away"], now - day, now + day)
    org.set_out_of_office(ids["back"], now - 3 * day, now - 2 * day)
    org.set_out_of_office(ids["soon"], now + 2 * day, now + 3 * day)
    org.set_out_of_office(ids["undecided"], now - day, now + day, is_enabled=False)
    return ids


def add_groups(org: SalesforceSandbox) -> Ids:
    """A queue whose members are a user, a group in a group and a role; two groups in a circle."""
    ids = {
        "member": org.add_user("Member", "member@sales.example"),
        "queue": org.add_queue("Team leads"),
        "outer": org.add_group("Outer"),
        "inner": org.add_group("Inner"),
        "role": org.add_group("Sales", "RoleAndSubordinates"),
        "left": org.add_group("Left"),
        "right": org.add_group("Right"),
    }
    for group, member in (
        ("queue", "member"),
        ("queue", "outer"),
        ("queue", "role"),
        ("outer", "inner"),
        ("inner", "member"),
        ("left", "right"),
        ("right", "left"),
    ):
        org.create("GroupMember", {"GroupId": ids[group], "UserOrGroupId": ids[member]})
    return ids


def add_leads(org: SalesforceSandbox) -> Ids:
    """Leads in each state that routing must tell apart, and two whose ids differ in case only."""
    owners = {
        "queue_owned": org.add_queue("Unassigned"),
        "integration_owned": org.integration_user,
        "default_owned": org.default_owner,
        "rep_owned": org.add_user("Rep", "rep@sales.example"),
        "inactive_owned": org.add_user("Left", "left@sales.example", active=False),
    }
    ids = {name: _lead(org, name, OwnerId=owner) for name, owner in owners.items()}
    ids["merged"], ids["winner"] = _lead(org, "merged"), _lead(org, "winner")
    org.merge(ids["winner"], ids["merged"])
    ids["deleted"] = _lead(org, "deleted")
    org.delete(ids["deleted"])
    ids["converted"] = _lead(org, "converted", OwnerId=owners["rep_owned"])
    ids["converted_contact"] = org.convert(ids["converted"], with_opportunity=True)
    ids["small"] = org.create("Lead", {"LastName": "small"}, record_id="00QRR00000aBcDe2AK")
    ids["big"] = org.create("Lead", {"LastName": "big"}, record_id="00QRR00000AbCdE2AV")
    return ids


def add_texts(org: SalesforceSandbox) -> Ids:
    """Leads with names of all scripts, of the longest kind, and with nothing filled in."""
    longest = (WIDE_NAME * LONGEST)[:LONGEST]
    quotes = 'O\'Hara \\ "Sons" <b>&amp;</b>\nSecond line'
    return {
        "wide": _lead(org, "wide", Company=WIDE_NAME.strip(), City="København"),
        "longest": _lead(org, "longest", Company=longest),
        "quotes": _lead(org, "quotes", Company=quotes),
        "empty": org.create("Lead", {}),
    }


def add_accounts(org: SalesforceSandbox) -> Ids:
    """A contact whose account has another owner, and a person account with its contact."""
    org.features = {*org.features, "person_accounts"}
    ids = {
        "account_owner": org.add_user("Account Owner", "accounts@sales.example"),
        "contact_owner": org.add_user("Contact Owner", "contacts@sales.example"),
    }
    account = {"Name": "Acme", "Website": "https://www.acme.example/about"}
    person = {"LastName": "Example", "Email": "example@acme.example"}
    ids["account"] = org.create("Account", account | {"OwnerId": ids["account_owner"]})
    of_account = {"AccountId": ids["account"], "OwnerId": ids["contact_owner"]}
    ids["contact"] = org.create("Contact", person | of_account)
    alone = {"Name": "Pat Alone", "IsPersonAccount": True, "PersonEmail": "pat@home.example"}
    ids["person_account"] = org.create("Account", alone)
    twin = {"LastName": "Alone", "Email": "pat@home.example", "IsPersonAccount": True}
    ids["person_contact"] = org.create("Contact", twin | {"AccountId": ids["person_account"]})
    org.change(ids["person_account"], {"PersonContactId": ids["person_contact"]})
    return ids


def add_everything(org: SalesforceSandbox) -> Ids:
    """All of it."""
    return {name: each for add in _PARTS.values() for name, each in add(org).items()}


def _lead(org: SalesforceSandbox, name: str, **fields: object) -> str:
    return org.create("Lead", {"LastName": name, "Company": "Acme"} | fields)


_PARTS: Mapping[str, Callable[[SalesforceSandbox], Ids]] = {
    "team": add_team,
    "groups": add_groups,
    "leads": add_leads,
    "texts": add_texts,
    "accounts": add_accounts,
}
SETS = {**_PARTS, "everything": add_everything}
