"""The paths under ``/_sandbox`` by which people steer the sandbox HubSpot by hand."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox.control import explained
from adapters.sandbox.hubspot_schema import stamp, type_name
from adapters.sandbox.wire import Handler, json_response

if TYPE_CHECKING:
    from adapters.sandbox.hubspot import HubSpotSandbox


def add_control_routes(sandbox: HubSpotSandbox) -> None:
    """Serve records, links, merges and owners for people."""

    def show_records(_: Request) -> Response:
        with sandbox.lock:
            shown = [
                {
                    "object_type": record.object_type,
                    "id": record.id,
                    "properties": record.properties,
                    "archived": record.archived_at is not None,
                }
                for record in sandbox.portal.records.values()
                if record.object_type != "users"
            ]
        return json_response(shown)

    def create_record(request: Request) -> Response:
        wanted = request.get_json()
        kind = _known(wanted.get("object_type", "contacts"))
        properties = wanted.get("properties", {})
        record_id = wanted.get("record_id")
        created = sandbox.create(
            kind, properties, record_id=record_id, source=wanted.get("source", "FORM")
        )
        return json_response({"object_type": kind, "id": created}, 201)

    def edit_record(request: Request, object_type: str, record_id: str) -> Response:
        kind = _known(object_type)
        sandbox.edit(kind, record_id, request.get_json())
        return json_response(sandbox.get(kind, record_id))

    def delete_record(_: Request, object_type: str, record_id: str) -> Response:
        sandbox.delete(_known(object_type), record_id)
        return Response(status=204)

    def merge_records(request: Request) -> Response:
        wanted = request.get_json()
        kind = _known(wanted.get("object_type", "contacts"))
        survivor = sandbox.merge(
            wanted["primary"],
            wanted["others"],
            new_id=wanted.get("new_id", False),
            object_type=kind,
        )
        return json_response({"object_type": kind, "id": survivor}, 201)

    def show_owners(_: Request) -> Response:
        with sandbox.lock:
            owners = list(sandbox.portal.owners.values())
        return json_response(
            [{**vars(owner), "created_at": stamp(owner.created_at)} for owner in owners]
        )

    def add_owner(request: Request) -> Response:
        return json_response({"id": sandbox.add_owner(**request.get_json())}, 201)

    def edit_owner(request: Request, owner_id: str) -> Response:
        wanted = request.get_json()
        if "archived" in wanted:
            sandbox.archive_owner(owner_id, archived=wanted.pop("archived"))
        if wanted:
            sandbox.set_availability(owner_id, **_availability(wanted))
        return Response(status=204)

    def link_records(request: Request) -> Response:
        sandbox.link(**_ends(request.get_json()))
        return Response(status=204)

    def unlink_records(request: Request) -> Response:
        sandbox.unlink(**_ends(request.get_json()))
        return Response(status=204)

    handlers: list[tuple[str, str, Handler]] = [
        ("GET", "records", show_records),
        ("POST", "records", create_record),
        ("PATCH", "records/<object_type>/<record_id>", edit_record),
        ("DELETE", "records/<object_type>/<record_id>", delete_record),
        ("POST", "merges", merge_records),
        ("POST", "links", link_records),
        ("DELETE", "links", unlink_records),
        ("GET", "owners", show_owners),
        ("POST", "owners", add_owner),
        ("PATCH", "owners/<owner_id>", edit_owner),
    ]
    for method, path, handler in handlers:
        sandbox.route(method, f"/_sandbox/{path}", explained(handler))


def _known(object_type: str) -> str:
    kind = type_name(object_type)
    if kind is None:
        raise ValueError(f"no object type {object_type!r}")
    return kind


def _ends(wanted: dict[str, Any]) -> dict[str, Any]:
    kinds = {name: _known(wanted[name]) for name in ("from_type", "to_type")}
    return {**wanted, **kinds}


def _availability(wanted: dict[str, Any]) -> dict[str, Any]:
    """Moments are ISO texts, spans and working hours are lists of lists."""
    told = dict(wanted)
    if "out_of_office" in told:
        told["out_of_office"] = [
            (datetime.fromisoformat(start), datetime.fromisoformat(end))
            for start, end in told["out_of_office"]
        ]
    return told
