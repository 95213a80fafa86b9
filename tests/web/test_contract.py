"""The whole OpenAPI document against the running app, with made-up and with broken input."""

from __future__ import annotations

import zlib

import pytest
import schemathesis
from hypothesis import settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from connector.store import schema as tables
from connector.store.database import connect
from tests.web.conftest import TOKEN, Caller, World

KEY = "Idempotency-Key"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
CONFIG = {
    "seed": 1,
    "operations": [
        # Conditions nest: listing their corner cases by rule gives thousands. They are drawn.
        {
            "include-path": "/round-robin/territories",
            "include-method": "PUT",
            "phases": {"coverage": {"enabled": False}},
            "generation": {"max-examples": 100},
        }
    ],
}


class Front:
    """The app that is asked now: the tests are collected before there is a database."""

    def __init__(self) -> None:
        self.app = World(connect("sqlite:///never-opened.db")).app

    def __call__(self, environ, start_response):
        return self.app(environ, start_response)


front = Front()
document = schemathesis.openapi.from_wsgi(
    "/openapi.json", front, config=SchemathesisConfig.from_dict(CONFIG)
)


class Known:
    """Things that exist, for the parameters of a path."""

    def __init__(self, api: Caller) -> None:
        self.api = api
        self.pool_id = api.pool("u1", "u2", "0")  # every made-up text begins as 0
        self.quiet_pool_id = api.pool("u3", "u4")  # nobody edits it
        self.spare_pool_id = api.pool("u1")
        absence = {"starts_at": "2026-12-24T00:00:00Z", "ends_at": "2026-12-27T00:00:00Z"}
        self.absence_id = api.post("/round-robin/users/u1/absences", absence).json["id"]
        api.put("/round-robin/users/u1", {"owners": {"knock": "5501"}})
        self.leads = 0

    def assignment_id(self) -> str:
        """A fresh one: one that was changed before cannot be changed again."""
        self.leads += 1
        return self.api.assign(self.quiet_pool_id, f"known-{self.leads}").json["assignment_id"]

    def of(self, case: Case, name: str) -> str:
        if name == "assignment_id":
            return self.assignment_id()
        ids = {
            "pool_id": self.spare_pool_id if case.method == "DELETE" else self.pool_id,
            "user_id": "u1",
            "absence_id": self.absence_id,
            "connection": "knock",
        }
        return ids[name]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory):
    database = connect(f"sqlite:///{tmp_path_factory.mktemp('contract')}/leadrota.db")
    tables.upgrade(database)
    front.app = World(database).app
    yield Known(Caller(front.app.test_client(), {"Authorization": f"Bearer {TOKEN}"}))
    database.close()


@document.parametrize()
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
def test_the_app_keeps_to_its_document(case: Case, known: Known) -> None:
    parts = case.meta.components if case.meta else {}
    drawn = zlib.crc32(f"{case.path_parameters} {case.query} {case.body}".encode(errors="replace"))
    path, header = parts.get(ParameterLocation.PATH), parts.get(ParameterLocation.HEADER)
    if path and path.mode.is_positive and drawn % 4:
        # Made-up ids lead nowhere; let most of the good ones lead to something.
        case.path_parameters |= {name: known.of(case, name) for name in case.path_parameters}
    if header and header.mode.is_positive and KEY in case.headers:
        # A key that came with another body before would be all that is looked at.
        case.headers[KEY] = f"{drawn}"
    case.call_and_validate(headers={"Authorization": f"Bearer {TOKEN}"}, checks=CHECKS)
