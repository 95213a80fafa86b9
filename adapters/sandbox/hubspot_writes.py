"""What the sandbox HubSpot lets a caller write: known properties, text values, real owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapters.sandbox import hubspot_answers as answers
from adapters.sandbox.hubspot_portal import Record
from adapters.sandbox.hubspot_schema import binds_2026_09

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox


def check_form(sandbox: HubSpotSandbox, properties: Mapping[str, Any]) -> None:
    """Refuse the whole request for a property that does not exist or a value that is no text."""
    for name, value in properties.items():
        if name not in sandbox.portal.properties and "unknown_property" in sandbox.rules:
            message = f'Property "{name}" does not exist'
            raise answers.Refusal(
                400,
                answers.bad_property(name=name, code="PROPERTY_DOESNT_EXIST", message=message),
            )
        if not isinstance(value, str) and "text_values" in sandbox.rules:
            raise answers.invalid(f"Invalid input JSON: the value of {name} must be a string")


def value_problem(
    sandbox: HubSpotSandbox, record: Record, properties: Mapping[str, Any], *, version: str
) -> dict[str, Any] | None:
    """The error body for values that this record cannot take, or None."""
    needed = sandbox.admin_rule
    bound = needed and (binds_2026_09(version) or "admin_rule_dated" not in sandbox.rules)
    if needed and bound and not (properties.get(needed) or record.properties.get(needed)):
        message = f"Property {needed} is required"
        return answers.bad_property(name=needed, code="REQUIRED_PROPERTY", message=message)
    owner_id = properties.get("hubspot_owner_id")
    if not owner_id or _takes_owner(sandbox, str(owner_id)):
        return None
    message = f"Owner {owner_id} does not exist"
    return answers.bad_property(name="hubspot_owner_id", code="INVALID_OWNER_ID", message=message)


def _takes_owner(sandbox: HubSpotSandbox, owner_id: str) -> bool:
    owner = sandbox.portal.owners.get(owner_id)
    if owner is not None:
        return (
            not owner.archived
            or sandbox.accept_archived_owner
            or "archived_owner" not in sandbox.rules
        )
    if any(owner_id == str(one.user_id) for one in sandbox.portal.owners.values()):
        return "user_id_owner" not in sandbox.rules
    if ("users", owner_id) in sandbox.portal.records:
        return "user_record_owner" not in sandbox.rules
    return "unknown_owner" not in sandbox.rules
