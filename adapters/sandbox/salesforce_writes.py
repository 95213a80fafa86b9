"""What the org checks before it lets an API call change a row, in Salesforce's order."""

from __future__ import annotations

from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_schema as schema
from adapters.sandbox.salesforce_ids import MalformedId
from adapters.sandbox.salesforce_owners import check_owner
from adapters.sandbox.salesforce_records import Record, Records
from adapters.sandbox.salesforce_switches import Options, Switches, Values


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
            if not switches.may_transfer and "transfer_right" in records.rules:
                raise say.no_access()
            named["OwnerId"] = check_owner(records, switches, object_type, named["OwnerId"])
        if "validation" in records.rules:
            _check_validation(switches, row, named, all_errors="one_error_many" in records.rules)
        if not how.allow_duplicates:
            _check_duplicates(switches, row, named)
        records.touch(row, named, by=records.integration_user)
        _assign(records, switches, row, auto_assign=how.auto_assign)
        _automate(records, switches, row)
    return row.id


def create(
    records: Records, switches: Switches, object_type: str, values: Values, how: Options
) -> str:
    """Create a row for an API client and return its id, or raise ``Refused``.

    Its owner is the client's user, unless one is named or the assignment rule knows better.
    """
    if switches.is_read_only and "maintenance" in records.rules:
        raise say.read_only()
    with records.lock:
        named = _named(records, object_type, values)
        if records.objects.is_owned(object_type):
            wanted = named.get("OwnerId", records.integration_user)
            named["OwnerId"] = check_owner(records, switches, object_type, wanted)
            rule = switches.assignment_rule
            if rule and how.auto_assign and object_type in schema.ASSIGNMENT_RULE_OBJECTS:
                named["OwnerId"] = rule(object_type, named) or named["OwnerId"]
        return records.add(object_type, named, over_api=True)


def _row(records: Records, object_type: str, raw_id: object) -> Record:
    try:
        wide = records.wide(raw_id)
    except MalformedId:
        raise say.malformed_id(raw_id) from None
    if records.objects.type_of(wide) != object_type and "id_prefix" in records.rules:
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
        raise say.changed_meanwhile()
    wrong_tag = how.tag not in (None, "*", entity_tag(row))
    if row.type == "Account" and wrong_tag and "entity_tags" in records.rules:
        raise say.changed_meanwhile()
    if switches.is_read_only and "maintenance" in records.rules:
        raise say.read_only()
    refused = switches.take_refusal(row.id)
    if refused and "row_lock" in records.rules:
        raise refused
    frozen = row.read("IsConverted") is True and not switches.edit_converted_leads
    if row.type == "Lead" and frozen and "converted_lead" in records.rules:
        message = "cannot reference converted lead"
        raise say.refuse(400, "CANNOT_UPDATE_CONVERTED_LEAD", message)


def entity_tag(row: Record) -> str:
    """What stands for the state of an account; no other object has such a tag."""
    return f'"{row.id}{int(row.modified_at.timestamp())}"'


def _named(records: Records, object_type: str, values: Values) -> dict[str, object]:
    named: dict[str, object] = {}
    for name, value in values.items():
        known = records.objects.seen_field(object_type, name)
        if known is None and "unknown_field" not in records.rules:
            continue
        if known is None:
            message = f"No such column '{name}' on sobject of type {object_type}"
            raise say.refuse(400, "INVALID_FIELD", message)
        if not records.objects.may_change(object_type, known):
            message = f"Unable to create/update fields: {known}."
            raise say.refuse(400, "INVALID_FIELD_FOR_INSERT_UPDATE", message, [known])
        named[known] = value
    return named


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


def _automate(records: Records, switches: Switches, row: Record) -> None:
    if switches.automation is None or "automation" not in records.rules:
        return
    owner = switches.automation(row.type, dict(row.values))
    if owner:
        records.touch(row, {"OwnerId": records.wide(owner)}, by=records.integration_user)
