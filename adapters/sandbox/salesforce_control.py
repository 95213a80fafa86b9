"""The paths under ``/_sandbox`` by which people steer the sandbox Salesforce by hand.

- ``POST records``; ``GET``, ``PATCH`` or ``DELETE records/ID``; ``POST records/ID/undelete``,
  ``records/ID/convert``, ``records/ID/merge`` with ``{"loser": ID}``, ``records/ID/refusals`` with
  ``{"code": ..., "tries": 1}``.
- ``POST users``; ``PATCH users/ID`` with ``{"active": false}``, ``{"presence": "away"}`` (or
  ``online``, ``offline``) or ``{"out_of_office": [START, END]}``.
- ``POST expire-tokens``; ``PUT automation`` with ``{"owner_id": ID}``, to whom a flow of the org
  gives every record that is saved over the API, or null.
- ``POST presets/NAME`` fills the org with ready-made data (see ``salesforce_data``).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from adapters.sandbox.control import explained
from adapters.sandbox.salesforce_data import fill
from adapters.sandbox.wire import Handler, json_response

if TYPE_CHECKING:
    from adapters.sandbox.salesforce import SalesforceSandbox


def add_control_routes(sandbox: SalesforceSandbox) -> None:
    """Serve records, users and automation for people."""
    routes = [*_records(sandbox), *_users(sandbox), *_org(sandbox)]
    for method, path, handler in routes:
        sandbox.route(method, f"/_sandbox/{path}", explained(handler))


def _records(sandbox: SalesforceSandbox) -> list[tuple[str, str, Handler]]:
    def create(request: Request) -> Response:
        wanted = request.get_json()
        record_id = sandbox.create(wanted.get("object_type", "Lead"), wanted.get("fields", {}))
        return json_response(sandbox.get(record_id), 201)

    def show(_: Request, record_id: str) -> Response:
        return json_response(sandbox.get(record_id))

    def change(request: Request, record_id: str) -> Response:
        sandbox.change(record_id, request.get_json())
        return json_response(sandbox.get(record_id))

    def delete(_: Request, record_id: str) -> Response:
        sandbox.delete(record_id)
        return Response(status=204)

    def undelete(_: Request, record_id: str) -> Response:
        sandbox.undelete(record_id)
        return json_response(sandbox.get(record_id))

    def convert(request: Request, record_id: str) -> Response:
        sandbox.convert(record_id, **(request.get_json(silent=True) or {}))
        return json_response(sandbox.get(record_id))

    def merge(request: Request, record_id: str) -> Response:
        sandbox.merge(record_id, request.get_json()["loser"])
        return json_response(sandbox.get(record_id))

    def refuse(request: Request, record_id: str) -> Response:
        sandbox.fail_row(record_id, **request.get_json())
        return Response(status=204)

    return [
        ("POST", "records", create),
        ("GET", "records/<record_id>", show),
        ("PATCH", "records/<record_id>", change),
        ("DELETE", "records/<record_id>", delete),
        ("POST", "records/<record_id>/undelete", undelete),
        ("POST", "records/<record_id>/convert", convert),
        ("POST", "records/<record_id>/merge", merge),
        ("POST", "records/<record_id>/refusals", refuse),
    ]


def _users(sandbox: SalesforceSandbox) -> list[tuple[str, str, Handler]]:
    def add(request: Request) -> Response:
        return json_response({"id": sandbox.add_user(**request.get_json())}, 201)

    def change(request: Request, user_id: str) -> Response:
        for name, value in request.get_json().items():
            _change_user(sandbox, user_id, name, value)
        return json_response(sandbox.get(user_id))

    return [("POST", "users", add), ("PATCH", "users/<user_id>", change)]


def _change_user(sandbox: SalesforceSandbox, user_id: str, name: str, value: Any) -> None:
    match name, value:
        case "active", bool():
            (sandbox.activate if value else sandbox.deactivate)(user_id)
        case "presence", "offline":
            sandbox.end_presence(user_id)
        case "presence", "online" | "away":
            sandbox.set_presence(user_id, is_away=value == "away")
        case "out_of_office", [str(start), str(end)]:
            times = (datetime.fromisoformat(start), datetime.fromisoformat(end))
            sandbox.set_out_of_office(user_id, *times)
        case _:
            raise ValueError(f"a user has no {name} that may be {value!r}")


def _org(sandbox: SalesforceSandbox) -> list[tuple[str, str, Handler]]:
    def expire_tokens(_: Request) -> Response:
        sandbox.expire_tokens()
        return Response(status=204)

    def automate(request: Request) -> Response:
        owner = request.get_json()["owner_id"]
        sandbox.automation = (lambda _kind, _fields: sandbox.records.wide(owner)) if owner else None
        return Response(status=204)

    def load(_: Request, name: str) -> Response:
        return json_response(fill(sandbox, name), 201)

    return [
        ("POST", "expire-tokens", expire_tokens),
        ("PUT", "automation", automate),
        ("POST", "presets/<name>", load),
    ]
