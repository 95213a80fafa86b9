"""The tables of the README hold what the code has: no more, no less."""

import re
from pathlib import Path

import click
import pytest

from config import names
from connector.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^\| `([^`]+)`", README, re.MULTILINE)  # first cells of table rows
WORDS = set(re.findall(r"`([^`\n]+)`", README))


def commands(group=main, path=("leadrota",)):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            # As the README writes them: --json for an option, NAME for an argument.
            options = [
                option if option.startswith("--") else option.upper()
                for each in command.params
                for option in each.opts
            ]
            yield " ".join((*path, name)), options


@pytest.mark.parametrize("name", names.ALL)
def test_each_setting_is_named(name):
    without_effect = name in names.RESERVED or name in names.TEST_ONLY

    assert name in (WORDS if without_effect else CELLS)


def test_no_setting_is_named_that_is_none():
    shaped = {
        word for word in WORDS if re.fullmatch(r"(LEADROTA|HUBSPOT|SALESFORCE)_[A-Z_]+", word)
    }

    assert shaped - names.KNOWN == set()


@pytest.mark.parametrize("name", sorted(names.SECRETS))
def test_each_secret_is_marked(name):
    assert f"`{name}` 🔒" in README


@pytest.mark.parametrize(("command", "options"), list(commands()), ids=lambda part: str(part))
def test_each_command_is_named_with_its_options(command, options):
    rows = [cell for cell in CELLS if f"{cell} ".startswith(f"{command} ")]

    assert len(rows) == 1
    assert re.findall(r"--[\w-]+|[A-Z]{2,}", rows[0].removeprefix(command)) == options


def test_no_command_is_named_that_is_none():
    known = [command for command, _ in commands()]

    assert [
        cell
        for cell in CELLS
        if cell.startswith("leadrota ")
        and not any(f"{cell} ".startswith(f"{command} ") for command in known)
    ] == []


def test_each_make_target_is_named():
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    targets = set(phony[1].split()) - {"help"}

    assert {cell.removeprefix("make ") for cell in CELLS if cell.startswith("make ")} == targets
