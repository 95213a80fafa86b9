"""``leadrota token``: made once, shown once, revoked at once."""

import json
import re
from contextlib import closing

import pytest
from click.testing import CliRunner

from config import load
from connector import create_app
from connector.cli import main
from connector.store import schema
from connector.store.database import connect
from connector.web.context import EXTENSION
from tests.cli.test_commands import leadrota


@pytest.fixture
def token(tmp_path):
    """Run ``leadrota token`` in a folder whose database is up to date."""
    with closing(connect(f"sqlite:///{tmp_path}/leadrota.db")) as database:
        schema.upgrade(database)
    return lambda *arguments: leadrota(tmp_path, "token", *arguments)


def status(tmp_path, bearer):
    """How the REST API answers a holder of this token."""
    app = create_app(load({"DATABASE_URL": f"sqlite:///{tmp_path}/leadrota.db"}))
    headers = {"Authorization": f"Bearer {bearer}"}
    answer = app.test_client().get("/metrics", headers=headers)
    app.extensions[EXTENSION].database.close()
    return answer.status_code


def test_a_token_is_made_used_listed_and_revoked(tmp_path, token):
    made = token("create", "forms", "--scope", "read")
    assert made.returncode == 0, made.stderr
    assert re.fullmatch(r"lrt_[\w-]{43}\n", made.stdout)
    bearer = made.stdout.strip()
    assert bearer not in made.stderr
    assert status(tmp_path, bearer) == 200

    listed = token("list")
    assert re.fullmatch(r"forms  read    made 20\S+Z  used 20\S+Z\n", listed.stdout)

    revoked = token("revoke", "forms")
    assert revoked.returncode == 0, revoked.stderr
    assert status(tmp_path, bearer) == 401


def test_with_json_each_command_prints_json_and_nothing_else(token):
    made = json.loads(token("create", "forms", "--scope", "assign", "--json").stdout)
    (listed,) = json.loads(token("list", "--json").stdout)
    revoked = json.loads(token("revoke", "forms", "--json").stdout)

    assert (made["name"], made["scope"], made["token"][:4]) == ("forms", "assign", "lrt_")
    created_at = made["created_at"]
    assert listed == {
        "name": "forms",
        "scope": "assign",
        "created_at": created_at,
        "last_used_at": None,
    }
    assert (revoked["name"], revoked["revoked_at"][-1]) == ("forms", "Z")


def test_a_name_that_exists_or_does_not_ends_with_1_in_plain_words(token):
    token("create", "forms", "--scope", "read")

    for arguments in (("create", "forms", "--scope", "admin"), ("revoke", "other")):
        result = token(*arguments)

        assert result.returncode == 1
        assert result.stdout == ""
        assert result.stderr.startswith("leadrota: There is ")


def test_tables_that_are_not_there_are_told_with_the_way_out(tmp_path):
    result = leadrota(tmp_path, "token", "list")

    assert result.returncode == 1
    assert "leadrota db upgrade" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "forms"),
        ("create", "forms", "--scope", "all"),
        ("create", "--scope", "read"),
        ("create", "", "--scope", "read"),
        ("create", " forms", "--scope", "read"),
        ("create", "two\nlines", "--scope", "read"),
        ("create", "x" * 201, "--scope", "read"),
        ("create", "LEADROTA_API_TOKEN", "--scope", "read"),
        ("revoke",),
        ("list", "forms"),
    ],
    ids=lambda arguments: repr(arguments)[:40],
)
def test_wrong_use_ends_with_2_before_any_database_is_opened(arguments):
    assert CliRunner().invoke(main, ["token", *arguments]).exit_code == 2
