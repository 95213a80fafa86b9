"""The README's tables name every endpoint and every error word."""

import ast
import re
from pathlib import Path

import pytest

from config import load
from connector import create_app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CELLS = set(re.findall(r"^\| `([^`]+)`", README, re.MULTILINE))  # first cells of table rows


def endpoints(app):
    """As the README writes them: ``GET /round-robin/pools/{pool_id}``."""
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule.rule)
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            if rule.endpoint != "static":
                yield f"{method} {path}"


def error_words():
    """Every ``code`` that a class of errors has or that an error is raised with."""
    folders = ("connector", "adapters/hubspot", "adapters/salesforce")
    words = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=str(word))):
                    words.add(word)
                case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(word))):
                    words.add(word)
    return sorted(words)


def test_each_endpoint_has_a_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    missing = set(endpoints(create_app(load({})))) - CELLS

    assert sorted(missing) == []


def test_no_endpoint_is_named_that_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shaped = {cell for cell in CELLS if re.match(r"(GET|POST|PUT|PATCH|DELETE) /", cell)}

    assert sorted(shaped - set(endpoints(create_app(load({}))))) == []


@pytest.mark.parametrize("word", error_words())
def test_each_error_word_has_a_row(word):
    assert word in CELLS
