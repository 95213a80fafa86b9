"""The paths under ``/_sandbox`` by which people steer the sandbox Salesforce by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from adapters.sandbox.control import explained
from adapters.sandbox.wire import Handler, json_response

if TYPE_CHECKING:
    from adapters.sandbox.salesforce import SalesforceSandbox


def add_control_routes(sandbox: SalesforceSandbox) -> None:
    """Serve records and users for people."""

    def create_record(request: Request) -> Response:
        wanted = request.get_json()
        record_id = sandbox.create(wanted.get("object_type", "Lead"), wanted.get("fields", {}))
        return json_response(sandbox.get(record_id), 201)

    def show_record(_: Request, record_id: str) -> Response:
        return json_response(sandbox.get(record_id))

    def change_record(request: Request, record_id: str) -> Response:
        sandbox.change(record_id, request.get_json())
        return json_response(sandbox.get(record_id))

    def delete_record(_: Request, record_id: str) -> Response:
        sandbox.delete(record_id)
        return Response(status=204)

    def add_user(request: Request) -> Response:
        return json_response({"id": sandbox.add_user(**request.get_json())}, 201)

    handlers: list[tuple[str, str, Handler]] = [
        ("POST", "records", create_record),
        ("GET", "records/<record_id>", show_record),
        ("PATCH", "records/<record_id>", change_record),
        ("DELETE", "records/<record_id>", delete_record),
        ("POST", "users", add_user),
    ]
    for method, path, handler in handlers:
        sandbox.route(method, f"/_sandbox/{path}", explained(handler))
