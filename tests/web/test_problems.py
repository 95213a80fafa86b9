"""Every error is a problem of RFC 9457 that says what to do."""

import io

import pytest
from structlog.testing import capture_logs

from connector.errors import BadInput, Conflict, NotFound, StoreBehind, StoreUnavailable
from connector.web import problems


def test_a_problem_has_all_its_members(api) -> None:
    problem = api.post("/round-robin/pools", {"name": "", "members": [{}]})
    assert problem.status_code == 422
    assert problem.content_type == "application/problem+json"
    assert problem.json == {
        "type": "urn:leadrota:problem:invalid",
        "title": problems.WORDS["invalid"][1],
        "status": 422,
        "detail": problem.json["detail"],
        "code": "invalid",
        "errors": [
            {"pointer": "/name", "detail": "String should have at least 1 character"},
            {"pointer": "/members/0/user_id", "detail": "is needed"},
        ],
    }


def test_a_pointer_escapes_what_rfc_6901_escapes(api) -> None:
    refused = api.post("/round-robin/pools", {"name": "A", "a/b~c": 1})
    assert refused.json["errors"][0]["pointer"] == "/a~1b~0c"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{'a': 1}", b'{"name": NaN}', b'{"name": 1e999}', b"\xff", b"[" * 100_000]
)
def test_what_is_not_json_is_a_400(api, body) -> None:
    refused = api.post("/round-robin/pools", data=body, content_type="application/json")
    assert (refused.status_code, refused.json["code"]) == (400, "not_json")


@pytest.mark.parametrize("body", [b"null", b"[]", b"1", b'"{\\"name\\": \\"A\\"}"'])
def test_json_of_another_form_is_a_422(api, body) -> None:
    refused = api.post("/round-robin/pools", data=body, content_type="application/json")
    assert refused.status_code == 422


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_another_content_type_is_a_415(api, content_type) -> None:
    refused = api.post("/round-robin/pools", data=b"{}", content_type=content_type)
    assert (refused.status_code, refused.json["code"]) == (415, "unsupported_media_type")


def test_a_compressed_body_is_a_415(api) -> None:
    refused = api.post("/round-robin/pools", {"name": "A"}, headers={"Content-Encoding": "gzip"})
    assert refused.status_code == 415


def test_a_large_body_is_a_413(api) -> None:
    refused = api.post("/round-robin/pools", {"name": "A" * 1024 * 1024})
    assert (refused.status_code, refused.json["code"]) == (413, "too_large")


def test_a_large_body_without_a_length_is_a_413_too(api) -> None:
    refused = api.post(
        "/round-robin/pools",
        input_stream=io.BytesIO(b'{"name": "A"}' + b" " * 1024 * 1024),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )
    assert (refused.status_code, refused.json["code"]) == (413, "too_large")


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, ["a\x00"]])
def test_text_that_no_database_keeps_is_refused(api, value) -> None:
    refused = api.assign(api.pool("u1"), "L1", attributes={"a": value})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["pointer"].startswith("/attributes/a")


def test_an_unknown_path_is_a_problem_too(client) -> None:
    for path in ("/nothing", "/round-robin/pools/", "//round-robin/pools"):
        missing = client.get(path)
        assert (missing.status_code, missing.json["code"]) == (404, "not_found")


def test_a_wrong_method_is_told_the_right_ones(client) -> None:
    refused = client.delete("/round-robin/territories")
    assert (refused.status_code, refused.json["code"]) == (405, "method_not_allowed")
    assert {"GET", "PUT"} <= set(refused.headers["Allow"].split(", "))


def test_what_nobody_expected_is_a_500_without_a_trace(world) -> None:
    world.app.add_url_rule("/broken", "broken", lambda: 1 / 0)
    with capture_logs() as logs:
        broken = world.app.test_client().get("/broken")
    assert (broken.status_code, broken.json["code"]) == (500, "internal_error")
    assert b"ZeroDivision" not in broken.data
    assert logs[0]["event"] == "request_failed"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadInput("", code="of_the_store"), 422),
        (NotFound("", code="of_the_store"), 404),
        (Conflict("", code="of_the_store"), 409),
        (StoreUnavailable(""), 503),
        (StoreBehind(""), 503),
    ],
)
def test_a_word_that_is_not_listed_gets_the_status_of_its_kind(error, status) -> None:
    assert problems.status_of(error) == status
