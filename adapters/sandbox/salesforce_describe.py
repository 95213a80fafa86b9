"""What ``describe`` tells of an org's objects and fields, as far as its API client may see them."""

from __future__ import annotations

from adapters.sandbox import salesforce_schema as schema
from adapters.sandbox.salesforce_objects import Objects

Told = dict[str, object]


def describe_all(objects: Objects) -> Told:
    """``GET …/sobjects``: each object in short."""
    told = [_summary(objects, kind) for kind in objects.fields if objects.seen_object(kind)]
    return {"encoding": "UTF-8", "maxBatchSize": 200, "sobjects": told}


def describe(objects: Objects, object_type: str) -> Told:
    """``GET …/sobjects/{Object}/describe``: one object with its fields."""
    seen = [name for name in objects.fields[object_type] if objects.is_seen(object_type, name)]
    fields = [_field(objects, object_type, name) for name in seen]
    return {**_summary(objects, object_type), "fields": fields}


def _summary(objects: Objects, object_type: str) -> Told:
    is_locked = object_type in objects.locked_objects and "field_security" in objects.rules
    return {
        "name": object_type,
        "label": object_type.removesuffix("__c"),
        "keyPrefix": objects.prefixes[object_type],
        "custom": object_type.endswith("__c"),
        "queryable": True,
        "createable": not is_locked,
        "updateable": not is_locked,
    }


def _field(objects: Objects, object_type: str, name: str) -> Told:
    kind = objects.field_type(object_type, name)
    target = objects.target(object_type, name) if kind == "reference" else None
    relation = objects.relationship_name(name) if target else None
    entities = _entities(objects, name) if target == "Name" else [target] if target else []
    return {
        "name": name,
        "label": name.removesuffix("__c"),
        "type": kind,
        "custom": name.endswith("__c"),
        "filterable": kind != "address" and (object_type, name) not in schema.UNFILTERABLE,
        "nillable": name not in ("Id", "OwnerId", *schema.SYSTEM_FIELDS),
        "updateable": objects.may_change(object_type, name),
        "relationshipName": relation,
        "referenceTo": entities,
    }


def _entities(objects: Objects, name: str) -> list[str]:
    match name:
        case "OwnerId":
            return ["Group", "User"]
        case "WhoId":
            return ["Contact", "Lead"]
        case _:
            custom = [kind for kind in objects.fields if kind.endswith("__c")]
            return ["Account", "Case", "Opportunity", *custom]
