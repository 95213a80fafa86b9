"""Who may own a record of the sandbox org: what it checks of a new owner, in Salesforce's words."""

from __future__ import annotations

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_schema as schema
from adapters.sandbox.salesforce_ids import MalformedId
from adapters.sandbox.salesforce_records import Record, Records
from adapters.sandbox.salesforce_switches import Switches


def check_owner(records: Records, switches: Switches, object_type: str, raw: object) -> str:
    """The id of a new owner in 18 characters; raises ``Refused`` for one who may not own it."""
    if raw in (None, "") and "blank_owner" not in records.rules:
        return ""
    if raw in (None, ""):
        message = "Owner ID: owner cannot be blank"
        raise say.refuse(400, "INVALID_CROSS_REFERENCE_KEY", message, ["OwnerId"])
    try:
        wide = records.wide(raw)
    except MalformedId:
        raise say.malformed_id(raw, "OwnerId") from None
    _check_kind(records, object_type, wide)
    owner = records.rows.get(wide)
    if owner is None or owner.is_deleted or owner.values.get("Type", "Queue") != "Queue":
        if "owner_exists" not in records.rules:
            return wide
        raise say.refuse(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
    if owner.type == "User":
        _check_user(records, switches, object_type, owner)
    return wide


def _check_kind(records: Records, object_type: str, owner_id: str) -> None:
    kind = records.objects.type_of(owner_id)
    if kind not in ("User", "Group") and "owner_prefix" in records.rules:
        raise say.wrong_owner_type(owner_id)
    takes_queues = object_type in records.objects.queue_objects
    if kind == "Group" and not takes_queues and "owner_queue" in records.rules:
        raise say.wrong_owner_type(owner_id)


def _check_user(records: Records, switches: Switches, object_type: str, user: Record) -> None:
    takes_inactive = (
        switches.accept_inactive_owner
        or object_type in schema.INACTIVE_OWNER_OBJECTS
        or "owner_active" not in records.rules
    )
    if user.values.get("IsActive") is not True and not takes_inactive:
        message = "operation performed with inactive user"
        raise say.refuse(400, "INACTIVE_OWNER_OR_USER", message)
    if user.values.get("UserType") in schema.NO_OWNERS and "owner_licence" in records.rules:
        message = "operation performed with user of invalid type"
        raise say.refuse(400, "OP_WITH_INVALID_USER_TYPE_EXCEPTION", message)
    if (user.id, object_type) in switches.blind_users and "owner_reads" in records.rules:
        message = "the new owner must have read permission"
        raise say.refuse(400, "TRANSFER_REQUIRES_READ", message)
