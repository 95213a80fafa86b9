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
            {"pointer": "/name", "detail": "needs at least 1 character"},
            {"pointer": "/members/0/user_id", "detail": "is needed"},
        ],
    }


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("preview?count=0", "/count: must be 1 or more"),
        ("preview?count=x", "/count: must be a whole number"),
        ("history?limit=5000", "/limit: must be 1000 or less"),
        ("history?lead=l1", "/lead: there is no such field"),
        ("fairness?from=2026-11-30", "/from: must be a time such as 2026-10-15T12:00:00Z"),
    ],
)
def test_a_bad_parameter_is_named_also_when_the_content_type_says_json(api, query, told) -> None:
    path = f"/round-robin/pools/{api.pool('u1')}/{query}"
    refused = api.get(path, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json["detail"]) == (422, told)
    pointer, detail = told.split(": ")
    assert refused.json["errors"] == [{"pointer": pointer, "detail": detail}]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"members": [5]}, "/members/0: must be an object"),
        ({"members": {}}, "/members: must be a list"),
        ({"members": [{"user_id": 5}]}, "/members/0/user_id: must be text"),
        (
            {"members": [{"user_id": "u1", "active": "yes"}]},
            "/members/0/active: must be true or false",
        ),
        (
            {"members": [{"user_id": "u1", "weight": 1.5}]},
            "/members/0/weight: must be a whole number",
        ),
        ({"daily_quota": -1}, "/daily_quota: must be 0 or more"),
        ({"accrue_max": 1001}, "/accrue_max: must be 1000 or less"),
        ({"name": ""}, "/name: needs at least 1 character"),
        ({"name": "A" * 201}, "/name: may have 200 characters at most"),
        ({"members": [{"user_id": "u"}] * 1001}, "/members: may have 1000 items at most"),
        ({"skip": "never"}, "/skip: must be 'lose', 'hold' or 'accrue'"),
        ({"sticky_steps": ["mail"]}, "must be 'person', 'company' or 'earlier_assignment'"),
    ],
)
def test_bad_input_is_told_without_words_of_python(api, change, told) -> None:
    refused = api.post("/round-robin/pools", {"name": "A"} | change)
    assert refused.status_code == 422
    assert told in refused.json["detail"]


def test_an_empty_list_is_told_what_it_needs(api) -> None:
    path = f"/round-robin/pools/{api.pool('u1')}/assign/batch"
    refused = api.post(path, {"leads": []})
    assert refused.json["detail"] == "/leads: needs at least 1 item"


def test_a_body_of_the_wrong_form_is_told_as_the_body(api) -> None:
    refused = api.post("/round-robin/pools", [])
    assert refused.json["detail"] == "the body: must be an object"
    assert refused.json["errors"] == [{"pointer": "", "detail": "must be an object"}]


@pytest.mark.parametrize("moment", ["2026-12-24T00:00:00", "2026-12-24T00:00"])
def test_a_time_without_a_zone_is_told_so(api, moment) -> None:
    api.put("/round-robin/users/u1", {})
    absence = {"starts_at": moment, "ends_at": "2026-12-27T00:00:00Z"}
    refused = api.post("/round-robin/users/u1/absences", absence)
    assert refused.json["errors"] == [
        {
            "pointer": "/starts_at",
            "detail": "has no time zone: add Z or an offset, as in 2026-10-15T12:00:00Z",
        }
    ]


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


class BrokenChunks:
    """A body that the server in front cannot take apart."""

    def read(self, *_size: int) -> bytes:
        raise RuntimeError("Invalid chunk size: 'ZZ'")

    readline = readlines = read


def test_a_body_of_broken_chunks_is_a_400(api, client) -> None:
    broken = {
        "wsgi.input": BrokenChunks(),
        "wsgi.input_terminated": True,
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    for call, path in ((api.post, "/round-robin/assign"), (client.post, "/webhooks/knock")):
        answer = call(path, content_type="application/json", environ_overrides=broken)
        assert (answer.status_code, answer.json["code"]) == (400, "bad_request")
