"""The document and its page."""

import re

import pytest

from connector.web import problems


def test_the_document_is_openapi_3_1_with_its_security_scheme(client) -> None:
    document = client.get("/openapi.json").json
    assert document["openapi"] == "3.1.0"
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_every_path_is_in_the_document(world, client) -> None:
    served = {
        re.sub(r"<(.+?)>", r"{\1}", rule.rule)
        for rule in world.app.url_map.iter_rules()
        if not rule.rule.startswith(("/docs", "/openapi.json"))
    }
    assert served == set(client.get("/openapi.json").json["paths"])


def test_every_operation_behind_the_token_says_so(client) -> None:
    for path, item in client.get("/openapi.json").json["paths"].items():
        for operation in item.values():
            behind = path == "/metrics" or path.startswith("/round-robin/")
            assert ("security" in operation) == behind


def test_the_page_loads_nothing_from_elsewhere(client) -> None:
    page = client.get("/docs")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert loaded
    for path in loaded:
        assert path.startswith("/docs/")
        asset = client.get(path)
        assert asset.status_code == 200
        asset.close()


@pytest.mark.parametrize("word", sorted(problems.WORDS))
def test_a_word_has_a_title_and_an_error_status(word) -> None:
    status, title = problems.WORDS[word]
    assert 400 <= status <= 599
    assert title
