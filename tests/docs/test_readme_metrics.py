"""The README's table names every metric, with its kind and its labels."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from config import load
from connector import create_app
from connector.ports import Limit
from connector.store import calls, lanes
from connector.web.context import EXTENSION
from tests.store import rows
from tests.store.builders import NOW

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOKEN = "a-token-of-more-than-thirty-two-characters"
ROW = re.compile(r"^\| `(leadrota_\w+)` \| (\w+) \| ([^|]*) \|", re.MULTILINE)


@pytest.fixture
def told(sqlite):
    """What ``/metrics`` tells of a database that has something to tell: (name, kind, labels)."""
    with sqlite.write() as session:
        lanes.ensure(session, ["hubspot"])
        calls.note_limits(session, "hubspot", [Limit(name="daily", most=9, left=5)], now=NOW)
        rows.history(session, rows.pool(session, "SDR"), at=[NOW])
        rows.events(session, "hubspot", "done", at=[NOW])
    settings = load({"DATABASE_URL": str(sqlite.engine.url), "LEADROTA_API_TOKEN": TOKEN})
    app = create_app(settings, clock=lambda: NOW)
    answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    app.extensions[EXTENSION].database.close()
    return {
        (sample.name, family.type, frozenset(sample.labels))
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_the_table_holds_the_metrics_no_more_and_no_less(told):
    table = [
        (name, kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in ROW.findall(README)
    ]

    assert len(table) == len(set(table))
    assert set(table) == told
