"""What the org checks before it lets an API call change a row, in Salesforce's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_schema as schema
from adapters.sandbox.salesforce_ids import MalformedId, type_of
from adapters.sandbox.salesforce_records import Record, Records

Values = Mapping[str, object]


class Switches:
    """How this org behaves where orgs differ; a test sets what it needs."""

    accept_inactive_owner = False  # "Update Records with Inactive Owners"
    edit_converted_leads = False  # "View and Edit Converted Leads"
    validation_rule: Callable[[str, Values], list[tuple[str, str]]] | None = None
    duplicate_rule: Callable[[str, Values], str | None] | None = None  # id of the twin
    assignment_rule: Callable[[str, Values], str | None] | None = None  # id of the owner
    write_hook: Callable[[str, str, Values], None] | None = None
    page_size = 2_000  # most rows of a query's page, whatever the caller asks for
    daily_limit = 100_000
    trailing_slash = False  # of the instance_url in a token's answer
    row_locks: dict[str, int]  # record id: so many writes more fail


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the headers of a request ask for."""

    auto_assign: bool = True
    allow_duplicates: bool = False
    unmodified_since: float | None = None  # seconds since 1970, as the header has no more


def update(
    records: Records, switches: Switches, target: tuple[str, object], values: Values, how: Options
) -> str:
    """Change one row for an API client and return its id, or raise ``Refused``.

    ``target`` is object type and id. The assignment rule runs afterwards when ``how`` lets it.
    Listeners are the caller's business, who may still take the change back.
    """
    object_type, raw_id = target
    row = _row(records, object_type, raw_id)
    if switches.write_hook:
        switches.write_hook(object_type, row.id, values)
    with records.lock:
        _check_row(records, switches, row, how)
        named = _named(records, object_type, values)
        if "OwnerId" in named:
            owner = named["OwnerId"]
            named["OwnerId"] = _owner(records, object_type, owner, switches.accept_inactive_owner)
        if "validation" in records.rules:
            _check_validation(switches, row, named, all_errors="one_error_many" in records.rules)
        if not how.allow_duplicates:
            _check_duplicates(switches, row, named)
        records.touch(row, named, by=records.integration_user)
        _assign(records, switches, row, auto_assign=how.auto_assign)
    return row.id


def create(
    records: Records, switches: Switches, object_type: str, values: Values, how: Options
) -> str:
    """Create a row for an API client and return its id, or raise ``Refused``.

    Its owner is the client's user, unless one is named or the assignment rule knows better.
    """
    with records.lock:
        named = _named(records, object_type, values)
        if records.is_owned(object_type):
            wanted = named.get("OwnerId", records.integration_user)
            accepts = switches.accept_inactive_owner
            named["OwnerId"] = _owner(records, object_type, wanted, accepts)
            rule = switches.assignment_rule
            if rule and how.auto_assign and object_type in schema.ASSIGNMENT_RULE_OBJECTS:
                named["OwnerId"] = rule(object_type, named) or named["OwnerId"]
        return records.add(object_type, named, over_api=True)


def _row(records: Records, object_type: str, raw_id: object) -> Record:
    try:
        wide = records.wide(raw_id)
    except MalformedId:
        raise say.malformed_id(raw_id) from None
    if type_of(wide) != object_type and "id_prefix" in records.rules:
        raise say.malformed_id(raw_id)
    row = records.rows.get(wide)
    if row is None:
        raise say.refuse(404, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
    return row


def _check_row(records: Records, switches: Switches, row: Record, how: Options) -> None:
    if row.is_deleted and "deleted" in records.rules:
        raise say.refuse(404, "ENTITY_IS_DELETED", "entity is deleted")
    since = how.unmodified_since
    if since is not None and int(row.modified_at.timestamp()) > since:
        raise say.refuse(412, "PRECONDITION_FAILED", "the record was modified since", None)
    if switches.row_locks.get(row.id, 0) > 0 and "row_lock" in records.rules:
        switches.row_locks[row.id] -= 1
        raise say.row_locked(row.id)
    frozen = row.read("IsConverted") is True and not switches.edit_converted_leads
    if row.type == "Lead" and frozen and "converted_lead" in records.rules:
        message = "cannot reference converted lead"
        raise say.refuse(400, "CANNOT_UPDATE_CONVERTED_LEAD", message)


def _named(records: Records, object_type: str, values: Values) -> dict[str, object]:
    named: dict[str, object] = {}
    for name, value in values.items():
        known = records.canonical_field(object_type, name)
        if known is None and "unknown_field" not in records.rules:
            continue
        if known is None:
            message = f"No such column '{name}' on sobject of type {object_type}"
            raise say.refuse(400, "INVALID_FIELD", message)
        if known in schema.READ_ONLY_FIELDS and "read_only" in records.rules:
            message = f"Unable to create/update fields: {known}."
            raise say.refuse(400, "INVALID_FIELD_FOR_INSERT_UPDATE", message, [known])
        named[known] = value
    return named


def _owner(records: Records, object_type: str, raw: object, accept_inactive: bool) -> str:
    if raw in (None, "") and "blank_owner" not in records.rules:
        return ""
    if raw in (None, ""):
        message = "Owner ID: owner cannot be blank"
        raise say.refuse(400, "INVALID_CROSS_REFERENCE_KEY", message, ["OwnerId"])
    try:
        wide = records.wide(raw)
    except MalformedId:
        raise say.malformed_id(raw, "OwnerId") from None
    _check_owner_kind(records, object_type, wide)
    owner = records.rows.get(wide)
    if owner is None or owner.is_deleted or owner.values.get("Type", "Queue") != "Queue":
        if "owner_exists" not in records.rules:
            return wide
        raise say.refuse(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
    by_design = accept_inactive or object_type in schema.INACTIVE_OWNER_OBJECTS
    refuses = not by_design and "owner_active" in records.rules
    if owner.type == "User" and owner.values.get("IsActive") is not True and refuses:
        message = "operation performed with inactive user"
        raise say.refuse(400, "INACTIVE_OWNER_OR_USER", message)
    return wide


def _check_owner_kind(records: Records, object_type: str, owner_id: str) -> None:
    kind = type_of(owner_id)
    if kind not in ("User", "Group") and "owner_prefix" in records.rules:
        raise say.wrong_owner_type(owner_id)
    takes_queues = object_type in schema.QUEUE_OBJECTS
    if kind == "Group" and not takes_queues and "owner_queue" in records.rules:
        raise say.wrong_owner_type(owner_id)


def _check_validation(switches: Switches, row: Record, named: Values, *, all_errors: bool) -> None:
    if switches.validation_rule is None:
        return
    broken = switches.validation_rule(row.type, row.values | dict(named))
    entries: list[say.Entry] = [
        {"message": text, "errorCode": "FIELD_CUSTOM_VALIDATION_EXCEPTION", "fields": [name]}
        for text, name in broken
    ]
    if entries:
        raise say.Refused(400, entries if all_errors else entries[:1])


def _check_duplicates(switches: Switches, row: Record, named: Values) -> None:
    if switches.duplicate_rule is None:
        return
    twin = switches.duplicate_rule(row.type, row.values | dict(named))
    if twin:
        raise say.duplicates(twin, row.type, "Sandbox_Rule")


def _assign(records: Records, switches: Switches, row: Record, *, auto_assign: bool) -> None:
    rule = switches.assignment_rule
    if rule is None or row.type not in schema.ASSIGNMENT_RULE_OBJECTS:
        return
    if not auto_assign or "assignment_rules" not in records.rules:
        return
    owner = rule(row.type, dict(row.values))
    if owner:
        records.touch(row, {"OwnerId": records.wide(owner)}, by=records.integration_user)
