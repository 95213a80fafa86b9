"""``leadrota audit``: 0 when nothing differs from the rules, else 1 and a sentence."""

import json
from contextlib import closing
from datetime import timedelta

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from connector import dispatch, edits
from connector.cli import main
from connector.model import Lead
from connector.store import schema
from connector.store.database import connect
from connector.store.pools import NewMember, NewPool
from connector.store.tables import assignments, pool_members
from tests.builders import NOON
from tests.cli.test_commands import leadrota


@pytest.fixture
def database(tmp_path):
    """A folder's database with two pools that gave out leads."""
    with closing(connect(f"sqlite:///{tmp_path}/leadrota.db")) as made:
        schema.upgrade(made)
        with made.write() as session:
            for hour, name in enumerate(("Sales", "Service")):
                now = NOON + timedelta(hours=hour)
                members = [NewMember(user_id=one) for one in "AB"]
                new = NewPool(values={"name": name}, members=members)
                pool = edits.create_pool(session, new, now=now, actor="boss")
                leads = [Lead(id=f"L{number}") for number in range(1, 4)]
                dispatch.assign(session, pool.id, leads, now=now)
        yield made


def test_an_untouched_history_ends_with_0(tmp_path, database):
    result = leadrota(tmp_path, "audit")

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "Sales: nothing differs (decisions: 3, journal rows: 1).",
        "Service: nothing differs (decisions: 3, journal rows: 1).",
    ]


def test_the_first_difference_of_each_pool_is_named_and_ends_with_1(tmp_path, database):
    with database.write() as session:
        session.execute(update(assignments).where(assignments.c.sequence == 2).values(user_id="A"))
        session.execute(update(pool_members).values(weight=7))

    result = leadrota(tmp_path, "audit")

    assert result.returncode == 1
    assert result.stderr == ""
    first, second = result.stdout.splitlines()
    assert first.startswith("Sales (")
    assert first.endswith("): sequence 2: user is recorded as A, the rules say B.")
    assert second.startswith("Service (")


def test_one_pool_is_audited_by_name_or_id(tmp_path, database):
    (found,) = json.loads(leadrota(tmp_path, "audit", "--pool", "Service", "--json").stdout)
    assert (found["pool_name"], found["decisions"], found["differs"]) == ("Service", 3, None)

    (again,) = json.loads(leadrota(tmp_path, "audit", "--pool", found["pool_id"], "--json").stdout)
    assert again == found


def test_an_unknown_pool_ends_with_1_in_plain_words(tmp_path, database):
    result = leadrota(tmp_path, "audit", "--pool", "Nowhere")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "leadrota: There is no pool named 'Nowhere'.\n"


@pytest.mark.parametrize("arguments", [("Sales",), ("--pool",), ("--nonsense",)])
def test_wrong_use_ends_with_2_before_any_database_is_opened(arguments):
    assert CliRunner().invoke(main, ["audit", *arguments]).exit_code == 2
