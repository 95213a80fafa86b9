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
        "Address Latitude Longitude Email Phone MobilePhone Website Description LeadSource Status "
        "Industry Rating AnnualRevenue NumberOfEmployees IsConverted ConvertedDate "
        "ConvertedAccountId ConvertedContactId ConvertedOpportunityId IsUnreadByOwner "
        "MasterRecordId"
    ),
    "Contact": (
        "OwnerId FirstName LastName Name Title AccountId Email Phone MobilePhone MailingStreet "
        "MailingCity MailingState MailingPostalCode MailingCountry MailingAddress LeadSource "
        "MasterRecordId"
    ),
    "Account": (
        "OwnerId Name Website Phone Industry BillingStreet BillingCity BillingState "
        "BillingPostalCode BillingCountry BillingAddress AnnualRevenue NumberOfEmployees Type "
        "MasterRecordId"
    ),
    "Opportunity": "OwnerId Name AccountId StageName CloseDate Amount IsClosed IsWon LeadSource",
    "Case": (
        "OwnerId CaseNumber Subject Status Origin Priority AccountId ContactId SuppliedEmail "
        "SuppliedCompany IsClosed MasterRecordId"
    ),
    "Task": "OwnerId Subject Status Priority ActivityDate WhoId WhatId AccountId IsClosed",
    "Event": (
        "OwnerId Subject StartDateTime EndDateTime ActivityDate ActivityDateTime "
        "DurationInMinutes IsAllDayEvent ShowAs WhoId WhatId AccountId"
    ),
    "User": (
        "Name FirstName LastName Email Username IsActive UserType UserRoleId TimeZoneSidKey "
        "ManagerId Title Department"
    ),
    "Group": "Name DeveloperName Type RelatedId Email",
    "GroupMember": "GroupId UserOrGroupId",
    "OutOfOffice": "UserId StartDate EndDate IsEnabled Message",
    "UserServicePresence": (
        "Name UserId IsAway IsCurrentState ServicePresenceStatusId ConfiguredCapacity "
        "StatusStartDate StatusEndDate"
    ),
    "UserLogin": "UserId IsFrozen IsPasswordLocked",
}
FIELDS = {kind: [*SYSTEM_FIELDS, *names.split()] for kind, names in _FIELDS.items()}

# What an org has more of when a feature is switched on.
FEATURE_FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "state_codes": {
        "Lead": ("StateCode", "CountryCode"),
        "Contact": ("MailingStateCode", "MailingCountryCode"),
        "Account": ("BillingStateCode", "BillingCountryCode"),
    },
    "person_accounts": {
        "Account": ("IsPersonAccount", "PersonContactId", "PersonEmail", "FirstName", "LastName"),
        "Contact": ("IsPersonAccount",),
    },
    "omni_channel": {},
}
FEATURE_OBJECTS = {"omni_channel": "UserServicePresence"}

# What ``Owner.X`` may name where the owner is a user or a queue (the polymorphic ``Name``).
NAME_FIELDS = ("Id", "Name", "FirstName", "LastName", "Email", "Type", "IsActive", "Title")

# Objects that a queue may own; the owner of all others is a user.
QUEUE_OBJECTS = frozenset({"Lead", "Case", "Task"})
# Objects whose inactive owners the platform accepts by design since Spring '15.
INACTIVE_OWNER_OBJECTS = frozenset({"Account", "Opportunity"})
# Objects on which assignment rules run unless a request says not to.
ASSIGNMENT_RULE_OBJECTS = frozenset({"Lead", "Case", "Account"})
# Kinds of users whose licence lets them own nothing of this.
NO_OWNERS = frozenset({"CsnOnly", "CSPLitePortal", "Guest"})
# A query cannot filter by these.
UNFILTERABLE = frozenset({("OutOfOffice", "IsEnabled"), ("Lead", "Description")})

READ_ONLY_FIELDS = frozenset(
    {
        *SYSTEM_FIELDS,
        "Address",
        "BillingAddress",
        "MailingAddress",
        "IsConverted",
        "ConvertedDate",
        "ConvertedAccountId",
        "ConvertedContactId",
        "ConvertedOpportunityId",
        "MasterRecordId",
        "CaseNumber",
    }
)

_TARGETS = {
    "CreatedBy": "User",
    "LastModifiedBy": "User",
    "Account": "Account",
    "Contact": "Contact",
    "Manager": "User",
    "User": "User",
    "Group": "Group",
    "UserOrGroup": "Name",
    "ConvertedAccount": "Account",
    "ConvertedContact": "Contact",
    "ConvertedOpportunity": "Opportunity",
    "PersonContact": "Contact",
    # A lead or contact, and any record that is no person.
    "Who": "Name",
    "What": "Name",
}
_TYPES = {
    "boolean": (
        "IsDeleted IsConverted IsUnreadByOwner IsClosed IsWon IsAllDayEvent IsActive IsEnabled "
        "IsAway IsCurrentState IsFrozen IsPasswordLocked IsPersonAccount"
    ),
    "datetime": (
        "CreatedDate LastModifiedDate SystemModstamp StartDateTime EndDateTime ActivityDateTime "
        "StartDate EndDate StatusStartDate StatusEndDate"
    ),
    "date": "ConvertedDate CloseDate ActivityDate",
    "address": "Address BillingAddress MailingAddress",
    "int": "NumberOfEmployees DurationInMinutes ConfiguredCapacity",
    "currency": "AnnualRevenue Amount",
    "double": "Latitude Longitude",
    "email": "Email SuppliedEmail PersonEmail",
    "phone": "Phone MobilePhone",
    "url": "Website",
    "picklist": (
        "LeadSource Status Industry Rating StageName Origin Priority ShowAs StateCode CountryCode "
        "MailingStateCode MailingCountryCode BillingStateCode BillingCountryCode UserType "
        "TimeZoneSidKey"
    ),
    "textarea": "Description Street MailingStreet BillingStreet",
    "id": "Id",
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names.split()}


def field_type(name: str) -> str:
    """The type that ``describe`` tells of a field of a plain org."""
    return _TYPE_OF.get(name, "reference" if is_reference(name) else "string")


def is_reference(name: str) -> bool:
    """Whether a field of a plain org holds a record id."""
    return name == "Id" or (name.endswith("Id") and not name.endswith("__c"))


def relation_target(object_type: str, relation: str, *, to_queues: bool) -> str | None:
    """The entity behind a relationship name such as ``Owner``; None if there is no such one."""
    if relation == "Owner":
        return "Name" if to_queues else "User"
    if relation == "MasterRecord":
        return object_type
    return _TARGETS.get(relation)
