"""The command line as a person uses it: exit status, plain lines, nothing secret."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from config import load
from connector import wiring
from connector.cli import main

ROOT = Path(__file__).parents[2]


def commands(group=main, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def leadrota(folder, *arguments, **env):
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "connector.cli", *arguments],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_help_lists_the_commands():
    result = CliRunner().invoke(main, ["--help"])

    assert result.exit_code == 0
    for word in ("serve", "worker", "db", "sandbox", "demo"):
        assert word in result.output


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_each_command_has_help_with_an_example(command):
    result = CliRunner().invoke(main, [*command, "--help"])

    assert result.exit_code == 0
    assert f"Example: leadrota {' '.join(command)}" in result.output


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("serve", "--port", "x"), ("serve", "--port", "70000"), ("db", "nonsense")],
)
def test_wrong_use_ends_with_2(arguments):
    assert CliRunner().invoke(main, arguments).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [("serve",), ("worker",), ("worker", "--drain"), ("db", "upgrade"), ("db", "check")],
)
def test_wrong_settings_are_told_one_a_line_and_end_with_1(tmp_path, arguments):
    result = leadrota(
        tmp_path, *arguments, PORT="hidden", LEADROTA_API_TOKEN="hidden", HUBSPOT_PORTAL="hidden"
    )

    assert result.returncode == 1
    assert [line.split()[:2] for line in result.stderr.splitlines()] == [
        ["leadrota:", "PORT"],
        ["leadrota:", "LEADROTA_API_TOKEN"],
        ["leadrota:", "HUBSPOT_PORTAL"],
    ]
    assert "hidden" not in result.stderr
    assert result.stdout == ""


def test_a_database_without_tables_is_told_with_the_way_out(tmp_path):
    result = leadrota(tmp_path, "db", "check")

    assert result.returncode == 1
    assert "leadrota db upgrade" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_upgraded_database_passes_the_check_and_may_be_upgraded_again(tmp_path):
    for command in ("upgrade", "upgrade", "check"):
        result = leadrota(tmp_path, "db", command)

        assert result.returncode == 0, result.stderr
        assert result.stdout == "The database is up to date.\n"


def test_a_database_that_cannot_be_reached_is_told_without_its_password(tmp_path):
    url = "postgres://leads:hidden@127.0.0.1:1/leads"

    result = leadrota(tmp_path, "db", "check", DATABASE_URL=url)

    assert result.returncode == 1
    assert result.stderr.startswith("leadrota: ")
    assert "Traceback" not in result.stderr
    assert "hidden" not in result.stderr


def test_drain_prints_what_it_worked_off(tmp_path):
    leadrota(tmp_path, "db", "upgrade")

    result = leadrota(tmp_path, "worker", "--drain")

    assert result.returncode == 0, result.stderr
    assert "events: 0" in result.stdout.splitlines()
    assert "written: 0" in result.stdout.splitlines()


def test_the_worker_does_not_start_on_a_postgresql_it_cannot_reach(tmp_path):
    result = leadrota(tmp_path, "worker", DATABASE_URL="postgres://127.0.0.1:1/leads")

    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_warnings_of_the_settings_are_logged_at_start(tmp_path):
    result = leadrota(tmp_path, "db", "upgrade", HUBSPOT_PORTAL="hidden")

    assert "HUBSPOT_PORTAL is no setting" in result.stderr
    assert "hidden" not in result.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "No default pool is set: leads that no territory claims are held"),
        (
            {"LEADROTA_DEFAULT_POOL": "Inbound"},
            "There is no pool 'Inbound', which LEADROTA_DEFAULT_POOL names: leads",
        ),
    ],
    ids=["none", "not there"],
)
def test_a_start_without_its_default_pool_says_which_one_it_lacks(tmp_path, given, words):
    settings = load({"DATABASE_URL": f"sqlite:///{tmp_path}/leadrota.db"} | given)
    wiring._prepare(settings)

    with capture_logs() as logs:
        wiring._announce(settings, "127.0.0.1", 8000)

    (line,) = [line for line in logs if "leads that no territory claims" in line["event"]]
    assert line["event"].startswith(words)
    assert line.keys() == {"event", "log_level"}
