"""The object types of a plain org: their fields, and which of them point at other records."""

from __future__ import annotations

SYSTEM_FIELDS = (
    "Id",
    "IsDeleted",
    "CreatedDate",
    "CreatedById",
    "LastModifiedDate",
    "LastModifiedById",
    "SystemModstamp",
)

_FIELDS = {
    "Lead": (
        "OwnerId FirstName LastName Name Title Company Street City State PostalCode Country "
        "Latitude Longitude Email Phone MobilePhone Website Description LeadSource Status Industry "
        "Rating AnnualRevenue NumberOfEmployees IsConverted ConvertedDate ConvertedAccountId "
        "ConvertedContactId ConvertedOpportunityId IsUnreadByOwner MasterRecordId"
    ),
    "Contact": (
        "OwnerId FirstName LastName Name Title AccountId Email Phone MobilePhone MailingStreet "
        "MailingCity MailingState MailingPostalCode MailingCountry LeadSource MasterRecordId"
    ),
    "Account": (
        "OwnerId Name Website Phone Industry BillingStreet BillingCity BillingState "
        "BillingPostalCode BillingCountry AnnualRevenue NumberOfEmployees Type MasterRecordId"
    ),
    "Opportunity": "OwnerId Name AccountId StageName CloseDate Amount IsClosed IsWon LeadSource",
    "Case": (
        "OwnerId CaseNumber Subject Status Origin Priority AccountId ContactId SuppliedEmail "
        "SuppliedCompany IsClosed MasterRecordId"
    ),
    "Task": "OwnerId Subject Status Priority ActivityDate WhoId WhatId AccountId IsClosed",
    "Event": "OwnerId Subject StartDateTime EndDateTime IsAllDayEvent ShowAs WhoId WhatId",
    "User": (
        "Name FirstName LastName Email Username IsActive UserType UserRoleId TimeZoneSidKey "
        "ManagerId Title Department"
    ),
    "Group": "Name DeveloperName Type RelatedId Email",
}
FIELDS = {kind: [*SYSTEM_FIELDS, *names.split()] for kind, names in _FIELDS.items()}

# What ``Owner.X`` may name where the owner is a user or a queue (the polymorphic ``Name``).
NAME_FIELDS = ("Id", "Name", "FirstName", "LastName", "Email", "Type", "IsActive", "Title")

# Objects that a queue may own; the owner of all others is a user.
QUEUE_OBJECTS = frozenset({"Lead", "Case", "Task"})
# Objects whose inactive owners the platform accepts by design since Spring '15.
INACTIVE_OWNER_OBJECTS = frozenset({"Account", "Opportunity"})
# Objects on which assignment rules run unless a request says not to.
ASSIGNMENT_RULE_OBJECTS = frozenset({"Lead", "Case", "Account"})

READ_ONLY_FIELDS = frozenset(
    {*SYSTEM_FIELDS, "IsConverted", "ConvertedDate", "MasterRecordId", "CaseNumber"}
)

_TARGETS = {
    "CreatedBy": "User",
    "LastModifiedBy": "User",
    "Account": "Account",
    "Contact": "Contact",
    "Manager": "User",
    "ConvertedAccount": "Account",
    "ConvertedContact": "Contact",
}
_BOOLEANS = frozenset(
    {"IsDeleted", "IsConverted", "IsUnreadByOwner", "IsClosed", "IsWon", "IsAllDayEvent"}
)


def field_default(name: str) -> object:
    """What a field holds that nobody filled in: false for a checkbox, else null."""
    return False if name in _BOOLEANS else None


def is_reference(name: str) -> bool:
    """Whether a field holds a record id."""
    return name == "Id" or (name.endswith("Id") and not name.endswith("__c"))


def relation_target(object_type: str, relation: str, *, polymorphic: bool = True) -> str | None:
    """The entity behind a relationship name such as ``Owner``; None if there is no such one."""
    if f"{relation}Id" not in FIELDS[object_type]:
        return None
    if relation == "Owner":
        return "Name" if polymorphic and object_type in QUEUE_OBJECTS else "User"
    if relation == "MasterRecord":
        return object_type
    return _TARGETS.get(relation)
