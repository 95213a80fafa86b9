"""Each module is short, says what it is for, and has a name that is a noun."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path
    for package in ("connector", "adapters", "config")
    for path in (ROOT / package).rglob("*.py")
)
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "*.toml", "Makefile", "Procfile", ".ci/*", "docs/**/*.md")
    for path in ROOT.glob(pattern)
)
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "base", "data", "info", "misc"}
# Work that was put off, and paths of somebody's machine.
UNFIT = re.compile(r"\b(TODO|FIXME|XXX)\b|/home/\w|/Users/\w|/root/|/tmp/\w")

module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def public(body: list[ast.stmt]) -> list[ast.FunctionDef | ast.ClassDef]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node for node in body if isinstance(node, kinds) and not node.name.startswith("_")]


@module
def test_a_module_is_shorter_than_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


@module
def test_a_module_says_what_it_is_for(path):
    tree = tree_of(path)

    assert ast.get_docstring(tree) or not tree.body
    assert not VAGUE & set(path.relative_to(ROOT).with_suffix("").parts)


@module
def test_public_functions_and_classes_say_what_they_promise(path):
    missing = []
    for node in public(tree_of(path).body):
        within = public(node.body) if isinstance(node, ast.ClassDef) else []
        missing += [each.name for each in (node, *within) if not ast.get_docstring(each)]

    assert not missing, f"{path.name}: no docstring on {', '.join(missing)}"


@pytest.mark.parametrize(
    "path", [*MODULES, *DOCUMENTS], ids=lambda path: str(path.relative_to(ROOT))
)
def test_nothing_is_put_off_or_bound_to_one_machine(path):
    found = UNFIT.search(path.read_text(encoding="utf-8"))

    assert found is None, f"{path.name} holds {found[0]!r}"
